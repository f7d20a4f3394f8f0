//! Requests for new images whose client leaves: they are free, a client that comes back gets the
//! image, and they are no way to make the farm render for free.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use std::time::Duration;

/// Number of unfinished images that an account may leave in a day.
const FREE: usize = 3;

/// The model and the view of an image. Each model has another look, so no two numbers are one
/// image.
fn shown(number: usize) -> (&'static str, &'static str) {
    let models = ["civic", "accord", "cr-v", "fit", "odyssey", "pilot", "ridgeline", "hr-v"];
    let views = ["front", "rear", "side", "front-3-4", "rear-3-4"];
    (models[number / 2 % models.len()], views[number % 2 + number / 2 / models.len() * 2])
}

fn picture(number: usize) -> String {
    let (model, view) = shown(number);
    format!("make=honda&model={model}&year=2016&view={view}")
}

/// True if the image is being made, or was made.
async fn is_begun(service: &Service, number: usize) -> bool {
    let (model, view) = shown(number);
    counted(service, &format!("vehicle_key like 'honda/{model}%' and view = '{view}'")).await > 0
}

/// Number of jobs that fulfil a condition in SQL.
async fn counted(service: &Service, condition: &str) -> i64 {
    let sql = format!("select count(*) from jobs where {condition}");
    let mut database = service.database().await.unwrap();
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut database).await.unwrap()
}

async fn until_counted(service: &Service, condition: &str, expected: i64) {
    for _ in 0..300 {
        if counted(service, condition).await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("there were never {expected} jobs that are {condition}");
}

async fn held(service: &Service, customer: &Customer) -> Value {
    service.operator(&["account", "show", &customer.account_id]).unwrap()["held"].clone()
}

/// Requests a new image and leaves when its credit is on hold and the render has begun. `Some` if
/// it was answered before.
async fn leave(service: &Service, customer: &Customer, number: usize) -> Option<Response> {
    let request = service.get(customer, &format!("/api/v1/images/car?{}", picture(number)));
    let mut asking = tokio::spawn(request.send());
    while held(service, customer).await == 0 || !is_begun(service, number).await {
        tokio::select! {
            answer = &mut asking => return Some(answer.unwrap().unwrap()),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    asking.abort();
    // Its credit is back before the next one is requested.
    service.account_at_rest(customer).await.unwrap();
    None
}

async fn is_there(service: &Service, number: usize) -> bool {
    let answer = service.visit(&format!("/images/car.png?{}&mode=cached", picture(number))).send().await.unwrap();
    answer.status() == StatusCode::OK
}

async fn until_there(service: &Service, number: usize) {
    for _ in 0..300 {
        if is_there(service, number).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("picture {number} was not rendered");
}

async fn refused(answer: Response) -> Value {
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(answer.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["code"], "renders_abandoned", "{problem}");
    problem
}

on_both_databases! {
    async fn one_credit_that_is_never_spent_renders_a_few_pictures_and_no_more(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", FREE);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(2))).await.unwrap();
        let (customer, other) = (service.customer(1).unwrap(), service.customer(1).unwrap());
        for number in 0..FREE {
            assert!(leave(&service, &customer, number).await.is_none(), "{number}");
        }
        for number in FREE..FREE + 5 {
            let answer = leave(&service, &customer, number).await.expect("it is answered at once");
            assert_eq!(refused(answer).await["abandoned_today"], FREE);
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 1, "leaving is free, and so is being refused");
        for number in 0..FREE {
            until_there(&service, number).await;
        }
        for number in FREE..FREE + 5 {
            assert!(!is_there(&service, number).await, "{number} was rendered for nothing");
        }
        // This concerns this account alone.
        let answer = service.get(&other, &format!("/api/v1/images/car?{}", picture(FREE))).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);

        // An existing image is still delivered, and a payment raises the limit.
        let answer = service.get(&customer, &format!("/api/v1/images/car?{}", picture(0))).send().await.unwrap();
        assert_eq!((answer.status(), answer.headers()["x-credits-charged"].to_str().unwrap()), (StatusCode::OK, "1"));
        service.operator(&["account", "grant", &customer.account_id, "1", "--reason", "more"]).unwrap();
        assert!(leave(&service, &customer, FREE + 1).await.is_none());
        refused(leave(&service, &customer, FREE + 2).await.expect("it is answered at once")).await;
        assert!(service.operator(&["ledger", "verify"]).is_ok());
    }

    async fn a_client_that_comes_back_gets_every_picture_for_one_credit(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", 1);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(2))).await.unwrap();
        let customer = service.customer(5).unwrap();
        for number in 0..4 {
            assert!(leave(&service, &customer, number).await.is_none(), "{number}");
            let again = service.get(&customer, &format!("/api/v1/images/car?{}", picture(number))).send().await.unwrap();
            // The one that may be left is left already, but an image that is being made can still
            // be waited for.
            assert_eq!(again.status(), StatusCode::OK, "{number}");
            assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 4 - number);
        }
    }

    async fn what_no_node_takes_and_what_others_began_uses_up_nothing(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", 1);
        let service = Service::start_with(db, options).await.unwrap();
        let (customer, other) = (service.customer(5).unwrap(), service.customer(5).unwrap());
        // An impatient client requests one image repeatedly while there is no node.
        for _ in 0..4 {
            assert!(leave(&service, &customer, 0).await.is_none());
        }
        assert!(leave(&service, &other, 0).await.is_none());
        assert!(leave(&service, &other, 1).await.is_none(), "the first one is of somebody else");
        refused(leave(&service, &other, 2).await.expect("it is answered at once")).await;
        // Nobody waits for them any more.
        let mut database = service.database().await.unwrap();
        let lapse = "update jobs set deadline_ms = 0 where state = 'queued'";
        sqlx::query(lapse).execute(&mut database).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        for (customer, number) in [(&customer, 3), (&other, 4)] {
            let answer = service.get(customer, &format!("/api/v1/images/car?{}", picture(number))).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
        }
    }

    async fn a_render_that_is_stopped_because_its_client_left_counts_all_the_same(db: DatabaseChoice) {
        let options = Options::default()
            .set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", 1)
            .set("CYCLORAMA_RENDER_WAIT_SECONDS", 2);
        let service = Service::start_with(db, options).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(20))).await.unwrap();
        let customer = service.customer(1).unwrap();
        let asking = service.get(&customer, &format!("/api/v1/images/car?{}", picture(0)));
        let asking = tokio::spawn(asking.send());
        node.until_renders(1).await.unwrap();
        asking.abort();
        until_counted(&service, "state = 'lapsed' and fence = 1", 1).await;
        service.account_at_rest(&customer).await.unwrap();
        let problem = refused(leave(&service, &customer, 1).await.expect("it is answered at once")).await;
        assert_eq!(problem["abandoned_today"], 1, "the day's budget has paid for a part of it");
    }

    async fn however_soon_a_client_leaves_its_render_is_counted(db: DatabaseChoice) {
        const LEFT: usize = 30;
        let options = Options::default().set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", FREE);
        let service = Service::start_with(db, options).await.unwrap();
        let customer = service.customer(1).unwrap();
        let mut database = service.database().await.unwrap();
        for number in 0..LEFT {
            let asking = service.get(&customer, &format!("/api/v1/images/car?{}", picture(number)));
            let mut asking = tokio::spawn(asking.send());
            let held = format!("select held from balances where account_id = '{}'", customer.account_id);
            let is_held = async {
                while sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(held.clone())).fetch_one(&mut database).await.unwrap() == 0 {}
            };
            tokio::select! {
                // Refused: nothing was begun.
                _ = &mut asking => continue,
                () = is_held => tokio::time::sleep(Duration::from_millis(number as u64 % 20)).await,
            }
            asking.abort();
            while sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(held.clone())).fetch_one(&mut database).await.unwrap() != 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        // Renders that begin late have begun by then.
        tokio::time::sleep(Duration::from_secs(1)).await;
        // A job that expired before any node had it cost nothing, and another may take its place.
        // On a slow machine the first jobs expire meanwhile.
        let begun = counted(&service, "state <> 'lapsed'").await;
        assert!(begun <= FREE as i64, "{begun} renders were begun for a client that left them all");
    }

    async fn what_was_paid_for_is_not_counted_when_another_colour_is_left(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_ABANDONED_RENDERS_PER_DAY", 1);
        let service = Service::start_with(db, options).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(1))).await.unwrap();
        let customer = service.customer(5).unwrap();
        let path = |colour: &str| format!("/api/v1/images/car?{}&color={colour}", picture(0));
        let paid = service.get(&customer, &path("white")).send().await.unwrap();
        assert_eq!(paid.status(), StatusCode::OK);
        let asking = tokio::spawn(service.get(&customer, &path("red")).send());
        while node.paints.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        asking.abort();
        service.account_at_rest(&customer).await.unwrap();
        // One may be left, and one more for the image that was paid for.
        assert!(leave(&service, &customer, 2).await.is_none());
        let problem = refused(leave(&service, &customer, 4).await.expect("it is answered at once")).await;
        assert_eq!(problem["abandoned_today"], 2);
    }
}

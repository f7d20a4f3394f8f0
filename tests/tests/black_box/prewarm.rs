//! Prewarming: images that an operator has rendered before anybody requests them.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, times};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Civics of three looks in two views and three colours: six rows, eighteen images.
const CIVICS: [&str; 5] =
    ["make=honda", "model=civic", "years=2002,2010,2018", "views=front,side", "colors=red,white,black"];

fn prewarm(service: &Service, arguments: &[&str]) -> Value {
    service.operator(&[&["prewarm"], arguments].concat()).unwrap()
}

fn status(service: &Service, batch_id: &str) -> Value {
    prewarm(service, &["status", batch_id])
}

async fn until(service: &Service, batch_id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..400 {
        let batch = status(service, batch_id);
        if is_so(&batch) {
            return batch;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what}: {}", status(service, batch_id));
}

async fn until_done(service: &Service, batch_id: &str) -> Value {
    until(service, batch_id, "is not done", |batch| batch["state"] == "done").await
}

fn start(service: &Service, arguments: &[&str]) -> String {
    prewarm(service, &[&["start"], arguments].concat())["batch_id"].as_str().unwrap().to_owned()
}

/// Number of finished cold renders, by the database.
async fn renders_done(service: &Service) -> i64 {
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(service.database_url()).await.unwrap();
    sqlx::query_scalar("select count(*) from jobs where kind = 'render' and state = 'done'")
        .fetch_one(&pool)
        .await
        .unwrap()
}

on_both_databases! {
    async fn a_batch_is_planned_rendered_once_and_then_cached(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(30).unwrap();
        let red = "/api/v1/images/car?make=honda&model=civic&year=2018&view=side&color=red";
        assert_eq!(service.get(&customer, red).send().await.unwrap().status(), StatusCode::OK);

        let plan = prewarm(&service, &[&["plan"], CIVICS.as_slice()].concat());
        let expected = json!({ "rows": 6, "pictures": 18, "cached_pictures": 1, "cold_renders": 5, "paint_jobs": 1 });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(plan[name], *value, "{plan}");
        }
        assert_eq!((&plan["cost_usd"], &plan["percent_of_a_day"]), (&json!(0.01), &json!(0.02)));
        assert!(plan["minutes"].as_f64().is_some_and(|minutes| minutes < 10.0), "{plan}");
        assert_eq!(node.renders.load(Ordering::SeqCst), 1, "a plan renders nothing");

        let batch_id = start(&service, &[&["--name", "civics"], CIVICS.as_slice()].concat());
        let batch = until_done(&service, &batch_id).await;
        assert_eq!((&batch["rows"], &batch["done"], &batch["failed"], &batch["percent"]), (&json!(6), &json!(6), &json!(0), &json!(100)));
        assert_eq!(renders_done(&service).await, 6, "one diffusion for each vehicle and view, none for what existed");
        for year in [2002, 2010, 2018, 2017] {
            for color in ["red", "white", "black"] {
                let car = format!("/api/v1/images/car?make=honda&model=civic&year={year}&view=front&color={color}");
                let answer = service.get(&customer, &car).send().await.unwrap();
                assert_eq!(answer.headers()["x-image-source"], "cache", "{car}");
            }
        }
        let again = start(&service, &CIVICS);
        until_done(&service, &again).await;
        assert_eq!(renders_done(&service).await, 6);
        let plan = prewarm(&service, &[&["plan"], CIVICS.as_slice()].concat());
        assert_eq!((&plan["cached_pictures"], &plan["cold_renders"], &plan["paint_jobs"]), (&json!(18), &json!(0), &json!(0)));
        let rows = prewarm(&service, &["report", &batch_id, "--state", "done"])["rows"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 6);
        assert_eq!((&rows[0]["vehicle"], &rows[0]["view"], &rows[0]["colors"]), (&json!("honda/civic/2002"), &json!("front"), &json!(["white", "black", "red"])));
    }

    async fn a_service_that_is_killed_again_and_again_renders_each_row_once(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_LEASE_SECONDS", 2).set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let years_wanted = format!("years={}..2018", 2019 - times(14, 29));
        let batch_id = start(&service, &["make=honda", "model=civic", &years_wanted, "views=all", "colors=red,blue"]);
        let rows = status(&service, &batch_id)["rows"].as_i64().unwrap();
        assert!(rows >= 18 && rows % 6 == 0, "six views of each look: {rows}");
        for _ in 0..times(2, 5) {
            let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(20))).await.unwrap();
            let before = node.renders.load(Ordering::SeqCst);
            for _ in 0..200 {
                if node.renders.load(Ordering::SeqCst) >= before + 8 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            service.kill();
            drop(node);
            service.launch().await.unwrap();
        }
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let batch = until_done(&service, &batch_id).await;
        assert_eq!((&batch["done"], &batch["failed"]), (&json!(rows), &json!(0)));
        assert_eq!(renders_done(&service).await, rows);
    }

    async fn a_paused_batch_waits_a_cancelled_one_is_over(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let batch_id = start(&service, &["make=honda", "years=2018", "views=all"]);
        let rows = status(&service, &batch_id)["rows"].as_i64().unwrap();
        until(&service, &batch_id, "nothing is queued", |batch| batch["queued"].as_i64() > Some(0)).await;
        assert_eq!(prewarm(&service, &["pause", &batch_id])["state"], "paused");
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let paused = until(&service, &batch_id, "what is queued is not made", |batch| batch["queued"] == 0).await;
        assert!(paused["waiting"].as_i64() > Some(0) && paused["state"] == "paused", "{paused}");
        assert_eq!(paused["done"].as_i64().unwrap() + paused["waiting"].as_i64().unwrap(), rows);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(status(&service, &batch_id)["done"], paused["done"]);

        assert_eq!(prewarm(&service, &["resume", &batch_id])["state"], "running");
        until(&service, &batch_id, "does not go on", |batch| batch["done"].as_i64() > paused["done"].as_i64()).await;
        assert_eq!(prewarm(&service, &["cancel", &batch_id])["state"], "cancelled");
        drop(node);
        let refused = service.operator(&["prewarm", "resume", &batch_id]).unwrap_err().to_string();
        assert!(refused.contains("cancelled"), "{refused}");
        assert_eq!(prewarm(&service, &["status"])["batches"][0]["batch_id"], batch_id.as_str());
    }

    async fn a_batch_takes_its_share_of_the_budget_and_waits_for_more(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        // Ten renders a day, of which the batch may take four.
        service.operator(&["budget", "set", "--usd-per-day", "0.02"]).unwrap();
        let batch_id = start(&service, &["--budget-percent", "40", "make=honda", "model=civic", "years=2018", "views=all"]);
        let waiting = until(&service, &batch_id, "its share is not used", |batch| batch["done"] == 4).await;
        assert_eq!((&waiting["state"], &waiting["waiting"]), (&json!("running"), &json!(2)));
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(status(&service, &batch_id)["done"], 4);
        let customer = service.customer(3).unwrap();
        let corolla = "/api/v1/images/car?make=toyota&model=corolla&year=2018";
        assert_eq!(service.get(&customer, corolla).send().await.unwrap().status(), StatusCode::OK, "the rest is for those who wait");
        service.operator(&["budget", "set", "--usd-per-day", "0.04"]).unwrap();
        until_done(&service, &batch_id).await;
    }

    async fn what_cannot_be_drawn_is_in_the_report(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(cyclorama_core::wire::FailureKind::Model)).await.unwrap();
        let batch_id = start(&service, &["make=honda", "model=civic", "years=2018"]);
        let batch = until_done(&service, &batch_id).await;
        assert_eq!((&batch["done"], &batch["failed"]), (&json!(0), &json!(1)));
        let rows = prewarm(&service, &["report", &batch_id])["rows"].clone();
        assert_eq!((&rows[0]["state"], &rows[0]["failure_kind"]), (&json!("failed"), &json!("model")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_means_nothing_is_refused_by_line_and_member() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let csv = write(
        "good.csv",
        "make,model,years,views,colors\nhonda,civic,2018,\"front,side\",all\ntoyota,corolla,2018,,\n",
    );
    let plan = prewarm(&service, &["plan", "--list", &csv]);
    assert_eq!((&plan["rows"], &plan["pictures"], &plan["minutes"]), (&json!(3), &json!(31), &Value::Null));
    let lines = write("good.jsonl", "{\"make\":\"honda\",\"model\":\"civic\",\"years\":\"2018\"}\n");
    assert_eq!(prewarm(&service, &["plan", "--list", &lines])["rows"], 1);
    for (text, says) in [
        ("make,model,years\nhonda,civic,2018\nhonda,nothing,2018\n", "Request 2"),
        ("make,model,year\nhonda,civic,2018\n", "line 2"),
        ("make,model,years\n", "1 to 10000"),
        ("make,model,views\nhonda,civic,above\n", "above"),
    ] {
        let path = write("bad.csv", text);
        let refused = service.operator(&["prewarm", "start", "--list", &path]).unwrap_err().to_string();
        assert!(refused.contains(says), "{says}: {refused}");
    }
    assert_eq!(prewarm(&service, &["status"])["batches"], json!([]));
    let unknown = service.operator(&["prewarm", "status", "no-such-batch"]).unwrap_err().to_string();
    assert!(unknown.contains("no-such-batch"), "{unknown}");
}

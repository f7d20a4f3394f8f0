//! Credits: one delivered image costs exactly one credit, whatever happens at the same time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::mailbox::Mailbox;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Options, Service, on_both_databases, secrets};
use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::Value;

const CAR: &str = "/api/v1/images/car?make=ford&model=mustang&year=2020";

on_both_databases! {
    async fn forty_requests_for_one_new_variant(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(400))).await.unwrap();
        let customer = service.customer(100).unwrap();
        let answers = join_all((0..40).map(|_| service.get(&customer, CAR).send())).await;
        let mut pictures = 0;
        for answer in answers {
            let answer = answer.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
            image::load_from_memory(&answer.bytes().await.unwrap()).unwrap();
            pictures += 1;
        }
        assert_eq!(pictures, 40);
        assert_eq!(node.renders.load(Ordering::SeqCst), 1, "one diffusion pass for all");
        assert_eq!(node.paints.load(Ordering::SeqCst), 0);
        assert_eq!(service.balance(&customer).await.unwrap(), 60);
    }

    async fn fifty_requests_on_a_balance_of_five(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(200))).await.unwrap();
        let customer = service.customer(5).unwrap();
        let answers = join_all((0..50).map(|_| service.get(&customer, CAR).send())).await;
        let mut delivered = 0;
        for answer in answers {
            let answer = answer.unwrap();
            match answer.status() {
                StatusCode::OK => delivered += 1,
                StatusCode::PAYMENT_REQUIRED => {
                    let body: Value = answer.json().await.unwrap();
                    assert_eq!(body["required_credits"], 1);
                }
                other => panic!("{other}: {}", answer.text().await.unwrap()),
            }
        }
        assert_eq!(delivered, 5);
        assert_eq!(service.balance(&customer).await.unwrap(), 0);
    }

    async fn fifty_requests_on_a_balance_of_five_when_cached(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let first = service.customer(1).unwrap();
        assert_eq!(service.get(&first, CAR).send().await.unwrap().status(), StatusCode::OK);
        let customer = service.customer(5).unwrap();
        let answers = join_all((0..50).map(|_| service.get(&customer, CAR).send())).await;
        let delivered = answers.into_iter().filter(|a| a.as_ref().unwrap().status() == StatusCode::OK).count();
        assert_eq!(delivered, 5);
        assert_eq!(service.balance(&customer).await.unwrap(), 0);
    }

    async fn a_failed_render_is_refunded_to_each_waiter_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Internal)).await.unwrap();
        let customer = service.customer(10).unwrap();
        let answers = join_all((0..8).map(|_| service.get(&customer, CAR).send())).await;
        for answer in answers {
            let answer = answer.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
            assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("application/problem+json"));
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 10);
    }

    async fn no_node_is_503_and_charges_nothing(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 2)).await.unwrap();
        let customer = service.customer(3).unwrap();
        let answer = service.get(&customer, CAR).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["code"], "at_capacity", "{body}");
        assert_eq!(service.balance(&customer).await.unwrap(), 3);
    }

    async fn a_spent_budget_stops_cold_renders_only(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        assert_eq!(service.get(&customer, CAR).send().await.unwrap().status(), StatusCode::OK);
        service.operator(&["budget", "set", "--usd-per-day", "0"]).unwrap();
        let cached = service.get(&customer, CAR).send().await.unwrap();
        assert_eq!(cached.status(), StatusCode::OK);
        let cold = service.get(&customer, &format!("{CAR}&view=rear")).send().await.unwrap();
        assert_eq!(cold.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body: Value = cold.json().await.unwrap();
        assert_eq!(body["code"], "daily_budget_spent", "{body}");
        assert!(body["reset_at"].is_string(), "{body}");
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn an_operator_hears_when_the_budget_runs_low(db: DatabaseChoice) {
        let mailbox = Mailbox::open().await.unwrap();
        let options = Options::default()
            .set("CYCLORAMA_SMTP_URL", &mailbox.smtp_url)
            .set("CYCLORAMA_MAIL_FROM", "Cyclorama <no-reply@example.com>")
            .set("CYCLORAMA_OPERATOR_EMAIL", "operations@example.com")
            .set("CYCLORAMA_DAILY_BUDGET_USD", "0.01")
            .set("CYCLORAMA_BUDGET_ACCOUNT_PERCENT", 60);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        // Each render counts 0.002 dollars, a fifth of the day's budget; an account may use three
        // fifths.
        let (first, second) = (service.customer(10).unwrap(), service.customer(10).unwrap());
        for view in ["front", "side", "rear"] {
            let answer = service.get(&first, &format!("{CAR}&view={view}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{view}");
        }
        let over = service.get(&first, &format!("{CAR}&view=rear-3-4")).send().await.unwrap();
        assert_eq!(over.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body: Value = over.json().await.unwrap();
        assert_eq!(body["code"], "daily_budget_spent", "{body}");
        assert!(body["detail"].as_str().unwrap().contains("this account may use"), "{body}");
        assert_eq!(service.balance(&first).await.unwrap(), 7);
        let letters = mailbox.wait_for(1).await.unwrap();
        assert_eq!(letters[0].to, "operations@example.com");
        assert!(letters[0].text.contains("$0.01") && letters[0].text.contains("50 %"), "{}", letters[0].text);

        let answer = service.get(&second, &format!("{CAR}&view=rear-3-4")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "the others have theirs");
        let letters = mailbox.wait_for(2).await.unwrap();
        assert!(letters[1].text.contains("80 %"), "{}", letters[1].text);
        let shown = service.operator(&["budget", "show"]).unwrap();
        let reached = |place: usize| (shown["thresholds"][place]["percent"].clone(), shown["thresholds"][place]["reached_at"].is_string());
        assert_eq!([reached(0), reached(1), reached(2)], [(50.into(), true), (80.into(), true), (100.into(), false)], "{shown}");
        assert_eq!((&shown["settled_usd"], &shown["account_percent"]), (&0.008.into(), &60.into()), "{shown}");
        assert!(shown["forecast_usd"].as_f64().unwrap() >= 0.008, "{shown}");
    }

    async fn accounts_with_free_credits_have_a_share_of_the_budget(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_DAILY_BUDGET_USD", "0.012").set("CYCLORAMA_BUDGET_FREE_PERCENT", 50);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let mut free = Vec::new();
        for name in ["ada", "bob"] {
            let email = format!("{name}@example.com");
            Browser::new(&service).sign_up(&email, "a long way to Tipperary").await.unwrap();
            let account_id = service.operator(&["account", "show", &email]).unwrap()["account_id"].as_str().unwrap().to_owned();
            let key = service.operator(&["key", "create", "--account", &account_id]).unwrap();
            let text = |name: &str| key[name].as_str().unwrap().to_owned();
            secrets::note(&text("key"));
            free.push(Customer { account_id, key_id: text("key_id"), key: text("key") });
        }
        let paying = service.customer(10).unwrap();
        let ask = async |customer: &Customer, view: &str| service.get(customer, &format!("{CAR}&view={view}")).send().await.unwrap();
        // Each render counts a sixth of the day's budget; accounts that have never paid may use
        // three of the six.
        for (customer, view) in [(&free[0], "front"), (&free[0], "side"), (&free[1], "rear")] {
            assert_eq!(ask(customer, view).await.status(), StatusCode::OK, "{view}");
        }
        for customer in &free {
            let over = ask(customer, "rear-3-4").await;
            assert_eq!(over.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(over.headers().contains_key("retry-after"));
            let body: Value = over.json().await.unwrap();
            assert_eq!(body["code"], "daily_budget_spent", "{body}");
            assert!(body["detail"].as_str().unwrap().contains("free credits"), "{body}");
            assert_eq!(ask(customer, "side").await.status(), StatusCode::OK, "what exists is delivered as ever");
        }
        assert_eq!(ask(&paying, "rear-3-4").await.status(), StatusCode::OK, "who pays has the rest");
        // Credits that the operator grants, and those that are bought, are not free ones.
        service.operator(&["account", "grant", &free[0].account_id, "5", "--reason", "a trial"]).unwrap();
        assert_eq!(ask(&free[0], "front-3-4").await.status(), StatusCode::OK);
        let purchase = ["account", "purchase", &free[1].account_id, "5", "--reference", "order-1"];
        service.operator(&purchase).unwrap();
        let other = service.get(&free[1], "/api/v1/images/car?make=honda&model=civic&year=2018&view=side").send().await.unwrap();
        assert_eq!(other.status(), StatusCode::OK);
        let shown = service.operator(&["budget", "show"]).unwrap();
        assert_eq!((&shown["settled_usd"], &shown["free_percent"]), (&0.012.into(), &50.into()), "{shown}");
    }

    async fn a_render_costs_what_its_nodes_hour_costs(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join_priced(&service, Behaviour::DeliverAfter(Duration::from_millis(300)), Some(36.0)).await.unwrap();
        let customer = service.customer(10).unwrap();
        assert_eq!(service.get(&customer, CAR).send().await.unwrap().status(), StatusCode::OK);
        let listed = service.operator(&["node", "list"]).unwrap();
        assert!(listed.to_string().contains("36.0"), "{listed}: {}", node.node_id);
        let shown = service.operator(&["budget", "show"]).unwrap();
        // A quarter of the node for at least 0.3 s.
        let settled = shown["settled_usd"].as_f64().unwrap();
        assert!((0.000_75..0.05).contains(&settled) && settled != 0.002, "{shown}");
        assert_eq!(shown["reserved_usd"], 0.0, "{shown}");
    }

    async fn a_client_that_leaves_pays_for_nothing(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 3)).await.unwrap();
        let customer = service.customer(3).unwrap();
        let gone = service.get(&customer, CAR).timeout(Duration::from_millis(300)).send().await;
        assert!(gone.is_err());
        let mut balance = -1;
        for _ in 0..60 {
            balance = service.balance(&customer).await.unwrap();
            if balance == 3 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(balance, 3);
    }

    async fn an_unreachable_store_is_503_and_charges_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        assert_eq!(service.get(&customer, CAR).send().await.unwrap().status(), StatusCode::OK);
        // The store's folder becomes a plain file: nothing can be read from or written to it.
        let objects = service.data_dir().join("objects");
        let away = service.data_dir().join("objects-away");
        std::fs::rename(&objects, &away).unwrap();
        std::fs::write(&objects, b"not a folder").unwrap();
        // A size that is in no memory cache, so it must be read from the store.
        let answer = service.get(&customer, &format!("{CAR}&w=123")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["code"], "dependency_down", "{body}");
        assert_eq!(service.balance(&customer).await.unwrap(), 9);

        std::fs::remove_file(&objects).unwrap();
        std::fs::rename(&away, &objects).unwrap();
        let again = service.get(&customer, &format!("{CAR}&w=123")).send().await.unwrap();
        assert_eq!(again.status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }
}

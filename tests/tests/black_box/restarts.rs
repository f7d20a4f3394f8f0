//! Death and restart of the service: afterwards balances are right without a person's help.

use std::time::Duration;

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, times};
use futures::future::join_all;
use reqwest::StatusCode;

const CAR: &str = "/api/v1/images/car?make=honda&model=civic&year=2018";

/// Waits until the balance is as expected, because the sweeper works in the background.
async fn balance_becomes(service: &Service, customer: &cyclorama_tests::service::Customer, expected: i64) {
    let mut balance = i64::MIN;
    for _ in 0..300 {
        balance = service.balance(customer).await.unwrap();
        if balance == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the balance stayed {balance} instead of {expected}");
}

on_both_databases! {
    async fn killed_while_clients_wait(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_LEASE_SECONDS", 2).set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let customer = service.customer(20).unwrap();
        let waiting: Vec<_> = ["front", "rear", "side"]
            .iter()
            .map(|view| tokio::spawn(service.get(&customer, &format!("{CAR}&view={view}")).send()))
            .collect();
        tokio::time::sleep(Duration::from_millis(600)).await;
        service.kill();
        for request in waiting {
            assert!(request.await.unwrap().is_err(), "the connection broke");
        }
        service.launch().await.unwrap();
        balance_becomes(&service, &customer, 20).await;

        // The variants can be requested afterwards.
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let answer = service.get(&customer, &format!("{CAR}&view=front")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 19);
    }

    async fn killed_again_and_again_under_load(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_LEASE_SECONDS", 2).set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let customer = service.customer(10_000).unwrap();
        let mut delivered = 0i64;
        for round in 0..times(3, 6) {
            let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
            let requests: Vec<_> = (0..30)
                .map(|n| {
                    let view = ["front", "rear", "side", "side-right", "rear-3-4"][n % 5];
                    let colour = ["red", "blue", "white"][(n / 5 + round as usize) % 3];
                    let request = service.get(&customer, &format!("{CAR}&view={view}&color={colour}&size=thumb"));
                    tokio::spawn(async move {
                        let answer = request.send().await?;
                        let status = answer.status();
                        answer.bytes().await.map(|_| status)
                    })
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(40 + 90 * round)).await;
            service.kill();
            drop(node);
            for outcome in join_all(requests).await {
                if let Ok(StatusCode::OK) = outcome.unwrap() {
                    delivered += 1;
                }
            }
            service.launch().await.unwrap();
        }
        // An image may have been paid for and sent while its last bytes were lost with the process.
        // The ledger then counts it as delivered, and the client does not. Nothing else may be
        // missing.
        let shown = service.account_at_rest(&customer).await.unwrap();
        let deliveries = shown["deliveries"].as_i64().unwrap();
        assert_eq!(shown["credits"], 10_000 - deliveries, "{shown}");
        assert!(deliveries >= delivered, "{deliveries} recorded, {delivered} received");
    }

    async fn terminated_gracefully(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(700))).await.unwrap();
        let customer = service.customer(5).unwrap();
        let waiting = tokio::spawn(service.get(&customer, CAR).send());
        node.until_renders(1).await.unwrap();
        let status = service.terminate().await.unwrap();
        assert!(status.success(), "{status}");
        let answer = waiting.await.unwrap().unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "a request that was running is finished");
        service.launch().await.unwrap();
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn the_same_signal_twice_is_one(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(1500))).await.unwrap();
        let customer = service.customer(5).unwrap();
        let waiting = tokio::spawn(service.get(&customer, CAR).send());
        node.until_renders(1).await.unwrap();
        // To the process, and to its group, as `timeout` and a terminal send it.
        service.signal_stop().unwrap();
        let status = service.terminate().await.unwrap();
        assert!(status.success(), "{status}");
        assert_eq!(waiting.await.unwrap().unwrap().status(), StatusCode::OK);
        assert!(!service.log().contains("second signal"), "{}", service.log());
    }

    async fn served_until_load_balancers_have_turned_away(db: DatabaseChoice) {
        let mut service = Service::start_with(db, Options::default().set("CYCLORAMA_UNREADY_SECONDS", 3)).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let http = cyclorama_tests::service::http_client().unwrap();
        let (readiness, picture) = (format!("{}/readyz", service.base_url), service.get(&customer, CAR));
        let visit = async {
            while http.get(&readiness).send().await.unwrap().status() == StatusCode::OK {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            picture.send().await.unwrap().status()
        };
        let (stopped, status) = tokio::join!(service.terminate(), visit);
        assert_eq!(status, StatusCode::OK, "somebody whom the load balancer still sent");
        assert!(stopped.unwrap().success());
    }
}

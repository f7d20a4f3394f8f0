//! The node protocol: leases, fences, verified uploads, lost nodes (DESIGN: node protocol, version
//! 1).

use std::time::Duration;

use cyclorama_core::wire::{FailureKind, JobProgress, NodeOrder};
use cyclorama_tests::fake_node::NodeClient;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::StatusCode;

const CAR: &str = "/api/v1/images/car?make=toyota&model=prius&year=2012";

fn short_leases() -> Options {
    Options::default().set("CYCLORAMA_LEASE_SECONDS", 2).set("CYCLORAMA_HEARTBEAT_SECONDS", 1)
}

on_both_databases! {
    async fn a_vanished_node_loses_its_lease_and_the_client_still_gets_its_picture(db: DatabaseChoice) {
        let service = Service::start_with(db, short_leases()).await.unwrap();
        let lost = FakeNode::join(&service, Behaviour::Vanish).await.unwrap();
        let customer = service.customer(3).unwrap();
        let request = tokio::spawn(service.get(&customer, CAR).send());
        lost.until_renders(1).await.unwrap();
        let good = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let answer = request.await.unwrap().unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(good.renders.load(std::sync::atomic::Ordering::SeqCst), 1);
        assert_eq!(service.balance(&customer).await.unwrap(), 2);
    }

    async fn a_stale_fence_changes_nothing(db: DatabaseChoice) {
        let service = Service::start_with(db, short_leases()).await.unwrap();
        let slow = NodeClient::join(&service, "slow").await.unwrap();
        let customer = service.customer(3).unwrap();
        let request = tokio::spawn(service.get(&customer, CAR).send());
        let stale = slow.lease(10).await.unwrap().remove(0);
        tokio::time::sleep(Duration::from_secs(4)).await;

        let quick = NodeClient::join(&service, "quick").await.unwrap();
        let fresh = quick.lease(10).await.unwrap().remove(0);
        assert_eq!(fresh.job_id, stale.job_id);
        assert!(fresh.fence > stale.fence);
        assert_eq!(fresh.attempt, stale.attempt + 1);

        // The late node's upload URLs are dead or harmless; its report is refused and settles
        // nothing.
        let late_objects = slow.upload(&stale).await.unwrap_or_default();
        assert_eq!(slow.result(&stale, late_objects).await.unwrap(), 409);
        assert_eq!(slow.failure(&stale, FailureKind::Internal).await.unwrap(), 409);
        assert_eq!(service.balance(&customer).await.unwrap(), 2, "still held by the waiting request");

        let objects = quick.upload(&fresh).await.unwrap();
        assert_eq!(quick.result(&fresh, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 2);
    }

    async fn results_are_verified(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = NodeClient::join(&service, "careless").await.unwrap();
        let customer = service.customer(3).unwrap();
        let request = tokio::spawn(service.get(&customer, CAR).send());
        let job = node.lease(10).await.unwrap().remove(0);
        let names: Vec<_> = job.uploads.iter().map(|u| u.name.to_string()).collect();
        assert!(names.contains(&"layers".to_owned()) && names.contains(&"master.silver.png".to_owned()), "{names:?}");
        for side in [256, 512, 768, 1024] {
            for format in ["png", "webp", "jpg"] {
                assert!(names.contains(&format!("{side}.silver.{format}")), "{names:?}");
            }
        }

        let objects = node.upload(&job).await.unwrap();
        let mut lying = objects.clone();
        lying[1].sha256 = "0".repeat(64);
        assert_eq!(node.result(&job, lying).await.unwrap(), 422);
        assert_eq!(node.result(&job, objects[1..].to_vec()).await.unwrap(), 422, "an object is missing");
        // The same URLs accept the objects again.
        let objects = node.upload(&job).await.unwrap();
        assert_eq!(node.result(&job, objects.clone()).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        assert_eq!(node.result(&job, objects).await.unwrap(), 409, "a job ends once");

        // The operator sees what made the render.
        let listed = service.operator(&["render", "list", "--limit", "5"]).unwrap();
        let render = &listed["renders"][0];
        assert_eq!(render["vehicle"], "toyota/prius/2012");
        assert_eq!(render["receipt"]["device"], "fake");
        let shown = service.operator(&["render", "show", render["render_id"].as_str().unwrap()]).unwrap();
        assert_eq!(&shown, render);
    }

    async fn three_failures_are_final(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Fail(FailureKind::OutOfMemory)).await.unwrap();
        let customer = service.customer(3).unwrap();
        let answer = service.get(&customer, CAR).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        assert_eq!(node.renders.load(std::sync::atomic::Ordering::SeqCst), 3);
        assert_eq!(service.balance(&customer).await.unwrap(), 3);
    }

    async fn a_draining_node_gets_no_more_work(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 6)).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        assert_eq!(service.get(&customer, CAR).send().await.unwrap().status(), StatusCode::OK);
        service.operator(&["node", "drain", &node.node_id]).unwrap();
        let answer = service.get(&customer, &format!("{CAR}&view=rear")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        service.operator(&["node", "resume", &node.node_id]).unwrap();
        let answer = service.get(&customer, &format!("{CAR}&view=rear")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
    }

    async fn what_a_draining_node_has_not_finished_in_time_is_given_to_another(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let slow = NodeClient::join(&service, "slow").await.unwrap();
        let customer = service.customer(3).unwrap();
        let request = tokio::spawn(service.get(&customer, CAR).send());
        let job = slow.lease(10).await.unwrap().remove(0);
        let progress = || {
            let (job_id, fence, stage) = (job.job_id.clone(), job.fence, "diffusion".into());
            vec![JobProgress { job_id, fence, stage, progress: 0.5 }]
        };

        service.operator(&["node", "drain", &slow.node_id, "--within", "60"]).unwrap();
        let answer = slow.heartbeat(progress()).await.unwrap();
        assert_eq!((answer.state, answer.cancel), (NodeOrder::Draining, vec![]), "it has a minute");
        service.operator(&["node", "drain", &slow.node_id, "--within", "0"]).unwrap();
        let answer = slow.heartbeat(progress()).await.unwrap();
        assert_eq!((answer.state, answer.cancel), (NodeOrder::Draining, vec![job.job_id.clone()]));

        let _quick = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 2);
        assert!(service.operator(&["node", "drain", &slow.node_id, "--within", "604801"]).is_err());
    }

    async fn node_tokens_guard_the_protocol(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        for token in ["", "cycn_nonsense", customer.key.as_str()] {
            let answer = service
                .http
                .post(format!("{}/node/v1/nodes", service.base_url))
                .bearer_auth(token)
                .json(&serde_json::json!({}))
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
        }
    }
}

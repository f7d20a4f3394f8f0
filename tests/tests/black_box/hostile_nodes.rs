//! Nodes with a valid token and bad intentions.

use cyclorama_core::wire::JobKind;
use cyclorama_tests::bucket::names_below;
use cyclorama_tests::fake_node::NodeClient;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Bucket, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::StatusCode;
use sha2::{Digest, Sha256};
use std::time::Duration;

const CAR: &str = "/api/v1/images/car?make=toyota&model=prius&year=2012";

/// In every view, and in a colour that nobody had before: a race that is lost once may be won
/// another time.
const RENDERS: [(&str, &str); 5] =
    [("front", "red"), ("rear", "blue"), ("side", "white"), ("front-3-4", "green"), ("rear-3-4", "orange")];

/// Number of objects of one render: layers, a master, twelve sizes.
const OBJECTS: usize = 14;

/// Has one image rendered by a node that sends other bytes to all its upload URLs while its result
/// is verified. When that was noticed, the node uploads the right bytes.
async fn attacked_render(
    service: &Service,
    customer: &Customer,
    node: &NodeClient,
    (view, colour): (&str, &str),
    pause: Duration,
) {
    let request = tokio::spawn(service.get(customer, &format!("{CAR}&view={view}&color={colour}")).send());
    let job = node.lease(10).await.unwrap().remove(0);
    assert_eq!(job.kind, JobKind::Render);
    let objects = node.upload(&job).await.unwrap();
    let attack = async {
        tokio::time::sleep(pause).await;
        loop {
            for upload in job.uploads.iter().rev() {
                let _ = node.put(upload, b"<html>not what was verified</html>".to_vec()).await;
            }
        }
    };
    let mut accepted = tokio::select! {
        status = node.result(&job, objects) => status.unwrap(),
        () = attack => unreachable!("it goes on for ever"),
    };
    // The last of the other bytes may still be on their way.
    for _ in 0..5 {
        if accepted != 204 {
            assert_eq!(accepted, 422, "{view}");
            let objects = node.upload(&job).await.unwrap();
            accepted = node.result(&job, objects).await.unwrap();
        }
    }
    assert_eq!(accepted, 204, "{view}");
    assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK, "{view}");
}

/// An object with a digest in its name has that digest; everything else is an image.
fn keeps_its_word(name: &str, bytes: &[u8]) {
    let digest = hex::encode(Sha256::digest(bytes));
    match name.split('/').next() {
        Some("masters" | "layers") => assert!(name.contains(&digest), "{name} holds {digest}"),
        _ => drop(image::load_from_memory(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))),
    }
}

/// Requests a size that no node makes, which shows that the master can be read.
async fn every_size_is_made(service: &Service, customer: &Customer) {
    for (view, colour) in RENDERS {
        let path = format!("{CAR}&view={view}&color={colour}&w=700&format=webp");
        let answer = service.get(customer, &path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{view}");
        image::load_from_memory(&answer.bytes().await.unwrap()).unwrap();
    }
}

on_both_databases! {
    async fn one_token_that_asks_for_work_all_the_time_leaves_turns_for_others(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16).set("CYCLORAMA_CLIENT_TIMEOUT_SECONDS", 4);
        let service = Service::start_with(db, options).await.unwrap();
        let (stolen, customer) = (service.node_token().unwrap(), service.customer(5).unwrap());
        let mut nodes = Vec::new();
        for number in 0..8 {
            let node = NodeClient::join_at(&service.base_url, &stolen, &format!("n{number}"), 1).await.unwrap();
            // The node takes no jobs, and waits as long as it may.
            service.operator(&["node", "lock", &node.node_id]).unwrap();
            nodes.push(node);
        }
        let mut asking = tokio::task::JoinSet::new();
        for node in &nodes {
            for _ in 0..4 {
                let node = node.clone();
                asking.spawn(async move {
                    loop {
                        let _ = node.lease(30).await;
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                });
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.expect("another token finds a turn");
        for (view, colour) in &RENDERS[..3] {
            let answer = service.get(&customer, &format!("{CAR}&view={view}&color={colour}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{view}");
        }
        asking.abort_all();
    }

    async fn what_is_published_is_what_was_verified_in_a_folder(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let (node, customer) = (NodeClient::join(&service, "hostile").await.unwrap(), service.customer(50).unwrap());
        for (n, render) in RENDERS.into_iter().enumerate() {
            attacked_render(&service, &customer, &node, render, Duration::from_millis(4 * n as u64)).await;
        }
        every_size_is_made(&service, &customer).await;
        let root = service.data_dir().join("objects");
        let found: Vec<String> =
            ["masters/", "layers/", "derived/"].iter().flat_map(|folder| names_below(&root, folder)).collect();
        assert!(found.len() >= OBJECTS * RENDERS.len(), "{}", found.len());
        found.iter().for_each(|name| keeps_its_word(name, &std::fs::read(root.join(name)).unwrap()));
        assert_eq!(service.balance(&customer).await.unwrap(), 50 - 2 * RENDERS.len() as i64);
    }

    async fn what_is_published_is_what_was_verified_in_a_bucket(db: DatabaseChoice) {
        let bucket = Bucket::start().await.unwrap();
        let service = Service::start_with(db, bucket.options()).await.unwrap();
        let (node, customer) = (NodeClient::join(&service, "hostile").await.unwrap(), service.customer(50).unwrap());
        for (n, render) in RENDERS.into_iter().enumerate() {
            attacked_render(&service, &customer, &node, render, Duration::from_millis(10 * n as u64)).await;
        }
        every_size_is_made(&service, &customer).await;
        let mut found = 0;
        for folder in ["masters", "layers", "derived"] {
            for name in bucket.names(&format!("cyclorama/test/{folder}/")) {
                keeps_its_word(name.strip_prefix("cyclorama/test/").unwrap(), &bucket.bytes_of(&name).unwrap());
                found += 1;
            }
        }
        assert!(found >= OBJECTS * RENDERS.len(), "{found}");
        assert_eq!(service.balance(&customer).await.unwrap(), 50 - 2 * RENDERS.len() as i64);
    }

    async fn a_token_fills_neither_table_nor_pages(db: DatabaseChoice) {
        let options = Options::default()
            .set("CYCLORAMA_NODES_PER_TOKEN", 3)
            .set("CYCLORAMA_LEASE_SECONDS", 3)
            .set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let service = Service::start_with(db, options).await.unwrap();
        let (token, other) = (service.node_token().unwrap(), service.node_token().unwrap());
        let join = async |token: &str, device: &str| {
            let node = serde_json::json!({
                "name": "hostile", "version": "1", "slots": 64, "pipelines": [{"id": "builtin", "digest": "0"}],
                "device": {"name": device, "backend": "none"},
            });
            service.http.post(format!("{}/node/v1/nodes", service.base_url)).bearer_auth(token).json(&node).send().await.unwrap()
        };
        let long = join(&token, &"x".repeat(14_000)).await;
        assert_eq!(long.status(), StatusCode::BAD_REQUEST);
        assert_eq!(long.json::<serde_json::Value>().await.unwrap()["parameter"], "device.name");

        let answers = futures::future::join_all((0..20).map(|_| join(&token, "card"))).await;
        let (taken, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status() == StatusCode::CREATED);
        assert_eq!((taken.len(), refused.len()), (3, 17));
        for answer in refused {
            assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
            assert!(answer.headers().contains_key("retry-after"));
            assert_eq!(answer.json::<serde_json::Value>().await.unwrap()["code"], "too_many_nodes");
        }
        assert_eq!(join(&other, "card").await.status(), StatusCode::CREATED, "other tokens are not held back");
        let status = service.visit("/status").send().await.unwrap().text().await.unwrap();
        assert!(status.contains("4 render nodes at work"), "{status}");

        // Nodes that went silent give way to later ones, however often that happens.
        for round in 0..2 {
            let mut joined = 0;
            for _ in 0..100 {
                joined += usize::from(join(&token, "card").await.status() == StatusCode::CREATED);
                if joined == 3 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            assert_eq!(joined, 3, "round {round}");
        }
        let listed = service.operator(&["node", "list"]).unwrap();
        assert!(listed["nodes"].as_array().unwrap().len() <= 4, "{listed}");
    }

    async fn uploads_go_to_the_disk_and_the_newest_of_an_object_counts(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let (node, customer) = (NodeClient::join(&service, "hostile").await.unwrap(), service.customer(5).unwrap());
        let request = tokio::spawn(service.get(&customer, &format!("{CAR}&view=side")).send());
        let job = node.lease(10).await.unwrap().remove(0);
        let upload = |name: &str| job.uploads.iter().find(|upload| upload.name.to_string().contains(name)).unwrap();
        let layers = upload("layers");
        let partial_folder = service.data_dir().join("objects/.partial");
        let partials = || -> Vec<u64> {
            let files = std::fs::read_dir(&partial_folder).unwrap();
            files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).collect()
        };
        let until = async |expected: &[u64]| {
            for _ in 0..100 {
                if partials() == expected {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            assert_eq!(partials(), expected);
        };
        let begin = |upload: &cyclorama_core::wire::Upload| {
            let (pieces, body) = futures::channel::mpsc::unbounded::<Result<Vec<u8>, std::io::Error>>();
            let put = service.http.put(&upload.url).body(reqwest::Body::wrap_stream(body)).send();
            (pieces, tokio::spawn(put))
        };

        // The part that was sent is on the disk before the rest arrives.
        let (pieces, first) = begin(layers);
        pieces.unbounded_send(Ok(vec![7; 3 << 20])).unwrap();
        until(&[3 << 20]).await;
        assert_eq!(node.put(upload("master"), vec![9; 10]).await.unwrap(), 204, "another object's upload goes on beside it");
        // Its connection is dead, and the node sends it again: the first upload ends, and frees its
        // permit.
        assert_eq!(node.put(layers, vec![8; 10]).await.unwrap(), 204);
        let replaced = first.await.unwrap().unwrap();
        assert_eq!(replaced.status(), StatusCode::CONFLICT);
        assert_eq!(replaced.json::<serde_json::Value>().await.unwrap()["code"], "upload_replaced");
        drop(pieces);
        until(&[]).await;

        // An upload that breaks off leaves nothing, and frees its permit.
        let (pieces, broken) = begin(layers);
        pieces.unbounded_send(Ok(vec![7; 1 << 20])).unwrap();
        until(&[1 << 20]).await;
        broken.abort();
        until(&[]).await;

        // The limit also holds for bodies without a length.
        let (pieces, large) = begin(upload("master"));
        for _ in 0..9 {
            let _ = pieces.unbounded_send(Ok(vec![7; 1 << 20]));
        }
        assert_eq!(large.await.unwrap().unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
        until(&[]).await;

        let objects = node.upload(&job).await.unwrap();
        assert_eq!(node.result(&job, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
    }

    async fn a_node_that_takes_longer_than_people_wait_gets_no_more(db: DatabaseChoice) {
        let options = Options::default()
            .set("CYCLORAMA_LEASE_SECONDS", 4)
            .set("CYCLORAMA_HEARTBEAT_SECONDS", 1)
            .set("CYCLORAMA_RENDER_WAIT_SECONDS", 2);
        let service = Service::start_with(db, options).await.unwrap();
        let slow = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(3600))).await.unwrap();
        let hung = NodeClient::join(&service, "hung").await.unwrap();
        let customer = service.customer(20).unwrap();
        let state_of = |node_id: &str| {
            let listed = service.operator(&["node", "list"]).unwrap();
            let nodes = listed["nodes"].as_array().cloned().unwrap_or_default();
            nodes.into_iter().find(|node| node["node_id"] == node_id).unwrap()
        };
        // Its only slot is taken forever, and the node reports that.
        let request = tokio::spawn(service.get(&customer, &format!("{CAR}&view=side")).send());
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(slow.renders.load(std::sync::atomic::Ordering::SeqCst), 1);
        let mut reported = String::new();
        for _ in 0..150 {
            reported = state_of(&slow.node_id)["reported_state"].as_str().unwrap_or_default().to_owned();
            if reported == "unhealthy" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(reported, "unhealthy", "{}", service.log());

        // This node gives the job up when the service says so, and leases the next, which fails as
        // well.
        for view in ["front", "rear", "front-3-4"] {
            let request = tokio::spawn(service.get(&customer, &format!("{CAR}&view={view}")).send());
            let job = hung.lease(10).await.unwrap().remove(0);
            loop {
                let progress = cyclorama_core::wire::JobProgress {
                    job_id: job.job_id.clone(), fence: job.fence, stage: "diffusion".into(), progress: 0.1,
                };
                if hung.heartbeat(vec![progress]).await.unwrap().cancel == [job.job_id.clone()] {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE, "{view}");
        }
        assert_eq!(state_of(&hung.node_id)["state"], "quarantined");
        assert_eq!(service.balance(&customer).await.unwrap(), 20);
    }
}

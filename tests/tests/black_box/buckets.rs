//! Objects in a bucket: nodes upload to it with presigned URLs, every process of the service
//! delivers from it, and while it fails nothing is charged.

use cyclorama_core::wire::{Job, JobKind};
use cyclorama_tests::bucket::{BucketBehaviour, Moto, SECRET_ACCESS_KEY};
use cyclorama_tests::fake_node::NodeClient;
use cyclorama_tests::gateway::Gateway;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Bucket, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::{Value, json};

pub const CAR: &str = "/api/v1/images/car?make=toyota&model=prius&year=2012";

/// The prefix of the service's objects in the bucket.
pub const PREFIX: &str = "cyclorama/test";

/// Starts a request whose render `node` then leases.
async fn leased(
    service: &Service,
    customer: &Customer,
    node: &NodeClient,
    query: &str,
) -> (tokio::task::JoinHandle<reqwest::Result<reqwest::Response>>, Job) {
    let request = tokio::spawn(service.get(customer, &format!("{CAR}{query}")).send());
    (request, node.lease(10).await.unwrap().remove(0))
}

async fn bytes(service: &Service, customer: &Customer, query: &str) -> Vec<u8> {
    let answer = service.get(customer, &format!("{CAR}{query}")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{query}: {}", service.log());
    answer.bytes().await.unwrap().to_vec()
}

on_both_databases! {
    async fn a_picture_goes_from_a_node_through_the_bucket_to_every_process(db: DatabaseChoice) {
        let bucket = Bucket::start().await.unwrap();
        // A service that ends with a secret or a signature in its log fails the test.
        let options = bucket.options().set("CYCLORAMA_LOG_LEVEL", "debug");
        let mut service = Service::start_with(db, options).await.unwrap();
        let node = NodeClient::join(&service, "by hand").await.unwrap();
        let customer = service.customer(20).unwrap();

        let (request, job) = leased(&service, &customer, &node, "&color=red").await;
        for upload in &job.uploads {
            let path = format!("{}/pictures/{PREFIX}/staging/{}/{}/{}?", bucket.endpoint, job.job_id, job.fence, upload.name);
            assert!(upload.url.starts_with(&path), "{} does not lead to {path}", upload.name);
            assert_eq!(upload.headers, [("content-type".to_owned(), upload.media_type.clone())]);
        }
        let objects = node.upload(&job).await.unwrap();
        assert_eq!(bucket.names(&format!("{PREFIX}/staging/")).len(), 14);
        let mut lying = objects.clone();
        lying[1].sha256 = "0".repeat(64);
        assert_eq!(node.result(&job, lying).await.unwrap(), 422);
        let mut too_large = objects.clone();
        too_large[1].bytes = 1 << 40;
        assert_eq!(node.result(&job, too_large).await.unwrap(), 422);
        assert!(bucket.names(&format!("{PREFIX}/masters/")).is_empty(), "nothing is visible before all of it is verified");
        // The same URLs accept the objects again.
        let objects = node.upload(&job).await.unwrap();
        assert_eq!(node.result(&job, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        for (folder, count) in [("staging", 0), ("masters", 1), ("derived", 12), ("layers", 1), ("probe", 0)] {
            assert_eq!(bucket.names(&format!("{PREFIX}/{folder}/")).len(), count, "{folder}");
        }

        // A further colour is painted from the layers, which the node also reads from the bucket.
        let (request, paint) = leased(&service, &customer, &node, "&color=blue").await;
        assert_eq!((paint.kind, paint.uploads.len()), (JobKind::Paint, 13));
        let layers_url = paint.layers_url.clone().unwrap();
        assert!(layers_url.starts_with(&format!("{}/pictures/{PREFIX}/layers/toyota/prius/2012/", bucket.endpoint)));
        let layers = service.http.get(&layers_url).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(layers, format!("layers of {} {}", job.vehicle.key(), job.view));
        let objects = node.upload(&paint).await.unwrap();
        assert_eq!(node.result(&paint, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);

        // A size that no node made is made by the service and stored in the bucket.
        let made = bytes(&service, &customer, "&color=red&w=300&format=webp").await;
        let kept = || ["derived", "sizes/paid"].map(|folder| bucket.names(&format!("{PREFIX}/{folder}/")).len());
        assert_eq!(kept(), [24, 1]);

        let body = json!({"images": [{"make": "toyota", "model": "prius", "year": 2012, "color": "red", "width": 256}]});
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&body);
        let minted: Value = minted.send().await.unwrap().json().await.unwrap();
        let loaded = service.http.get(minted["data"][0]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(loaded.status(), StatusCode::OK);
        let small = loaded.bytes().await.unwrap();

        // Another process has nothing in memory. SQLite allows only one process at a time.
        let other = match db {
            DatabaseChoice::Postgres => {
                let options = bucket.options().set("CYCLORAMA_DATABASE_URL", service.database_url());
                Service::start_with(db, options).await.unwrap()
            }
            DatabaseChoice::Sqlite => {
                assert!(service.terminate().await.unwrap().success());
                service.launch().await.unwrap();
                service
            }
        };
        assert_eq!(bytes(&other, &customer, "&color=red&w=300&format=webp").await, made);
        assert_eq!(bytes(&other, &customer, "&color=red&w=256&format=png").await, small);
        assert_eq!(kept(), [24, 1], "all of it was there");
        assert_eq!(other.balance(&customer).await.unwrap(), 20 - 6);
    }

    async fn a_bucket_below_a_path_of_its_endpoint_does_all_of_it(db: DatabaseChoice) {
        let gateway = Gateway::start().await.unwrap();
        let service = Service::start_with(db, gateway.options()).await.unwrap();
        let node = NodeClient::join(&service, "by hand").await.unwrap();
        let customer = service.customer(20).unwrap();
        let (request, job) = leased(&service, &customer, &node, "&color=red").await;
        assert!(job.uploads.iter().all(|upload| upload.url.starts_with(&format!("{}/pictures/", gateway.endpoint))));
        let objects = node.upload(&job).await.unwrap();
        assert_eq!(node.result(&job, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        for (folder, count) in [("staging", 0), ("masters", 1), ("derived", 12), ("layers", 1), ("probe", 0)] {
            assert_eq!(gateway.names(&format!("{PREFIX}/{folder}/")).len(), count, "{folder}");
        }
        // Layers are read from it, a further size is stored there, and all objects are listed for a
        // backup.
        let (request, paint) = leased(&service, &customer, &node, "&color=blue").await;
        let layers = service.http.get(paint.layers_url.clone().unwrap()).send().await.unwrap();
        assert_eq!(layers.status(), StatusCode::OK);
        let objects = node.upload(&paint).await.unwrap();
        assert_eq!(node.result(&paint, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        bytes(&service, &customer, "&color=red&w=300&format=webp").await;
        let folder = tempfile::tempdir().unwrap();
        let saved = service.operator(&["backup", folder.path().to_str().unwrap()]).unwrap();
        // Sizes that were made on demand are made again after a restore.
        let made = gateway.names(&format!("{PREFIX}/sizes/")).len();
        assert_eq!(made, 1);
        assert_eq!(saved["objects_copied"], gateway.names(&format!("{PREFIX}/")).len() - made, "{saved}");
        assert!(service.operator(&["doctor"]).unwrap()["checks"].to_string().contains("/storage/v1/s3"));
        let (verified, refused) = gateway.counts();
        assert!(verified > 60 && refused == 0, "{verified}, {refused}");

        // The gateway does verify: neither another path nor another object matches the signature.
        let url = &job.uploads[0].url;
        for forged in [url.replace("/storage/v1/s3/pictures/", "/storage/v1/s3/pictures/x/"), url.replace("/layers?", "/master.red.png?")] {
            let answer = service.http.put(forged).header("content-type", "application/octet-stream").body("x").send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        }
        let stranger = gateway.options().set("AWS_SECRET_ACCESS_KEY", "hushOfNobody");
        let Err(error) = Service::start_with(db, stranger).await else { panic!("it started") };
        assert!(format!("{error:#}").contains("SignatureDoesNotMatch"), "{error:#}");
    }

    async fn a_late_upload_touches_nothing_but_its_own_folder(db: DatabaseChoice) {
        let bucket = Bucket::start().await.unwrap();
        let options = bucket.options().set("CYCLORAMA_LEASE_SECONDS", 6).set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let service = Service::start_with(db, options).await.unwrap();
        let (slow, quick) = (NodeClient::join(&service, "slow").await.unwrap(), NodeClient::join(&service, "quick").await.unwrap());
        let customer = service.customer(5).unwrap();
        let (request, stale) = leased(&service, &customer, &slow, "").await;
        let fresh = loop {
            if let Some(job) = quick.lease(10).await.unwrap().pop() {
                break job;
            }
        };
        assert!(fresh.job_id == stale.job_id && fresh.fence > stale.fence);
        // Before the objects of the new lease are verified, and after, because presigned URLs stay
        // valid.
        let late = slow.upload(&stale).await.unwrap();
        let objects = quick.upload(&fresh).await.unwrap();
        let ours = format!("{PREFIX}/staging/{}/{}/", stale.job_id, stale.fence);
        let theirs = format!("{PREFIX}/staging/{}/{}/", fresh.job_id, fresh.fence);
        assert_eq!((bucket.names(&ours).len(), bucket.names(&theirs).len()), (14, 14));
        assert_eq!(slow.result(&stale, late).await.unwrap(), 409);
        assert_eq!(quick.result(&fresh, objects).await.unwrap(), 204);
        assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
        let visible = bucket.names(&format!("{PREFIX}/"));
        slow.upload(&stale).await.unwrap();
        assert_eq!(bucket.names(&format!("{PREFIX}/")), visible);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn without_its_bucket_nothing_is_charged(db: DatabaseChoice) {
        let bucket = Bucket::start().await.unwrap();
        let service = Service::start_with(db, bucket.options()).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        bytes(&service, &customer, "").await;
        let faults = [
            BucketBehaviour::Answers(503, "SlowDown"),
            BucketBehaviour::Answers(403, "AccessDenied"),
            BucketBehaviour::Resets,
        ];
        for (count, fault) in faults.into_iter().enumerate() {
            bucket.feel(fault);
            // A size that is not in memory, a colour that needs painting, and a vehicle that needs
            // rendering.
            let width = format!("&w={}", 301 + count);
            for query in [width.as_str(), "&color=orange", "&view=rear"] {
                let answer = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
                assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{fault:?} {query}");
                assert!(answer.headers().contains_key("retry-after"));
                let body: Value = answer.json().await.unwrap();
                assert_eq!(body["code"], "dependency_down", "{fault:?} {query}: {body}");
                let told = body.to_string();
                assert!(!told.contains("AccessDenied") && !told.contains("s3://"), "an operator's affair: {told}");
            }
            let account = service.account_at_rest(&customer).await.unwrap();
            assert_eq!((&account["credits"], &account["held"]), (&json!(19 - count), &json!(0)), "{fault:?}");
            bucket.feel(BucketBehaviour::Well);
            bytes(&service, &customer, &width).await;
        }
        assert!(service.log().contains("GET was answered 403 AccessDenied"), "an operator can tell what it is");
        // Renders that failed then succeed now.
        for query in ["&color=orange", "&view=rear"] {
            bytes(&service, &customer, query).await;
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 20 - 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_cannot_be_used_stops_the_start_with_a_line_and_doctor_says_what_to_do() {
    let bucket = Bucket::start().await.unwrap();
    let service = Service::start_with(DatabaseChoice::Sqlite, bucket.options()).await.unwrap();
    let told = service.operator(&["doctor"]).unwrap();
    let store = told["checks"].as_array().unwrap().iter().find(|check| check["name"] == "object store").unwrap();
    assert!(
        store["ok"] == true && store["detail"].as_str().unwrap().contains("s3://pictures/cyclorama/test"),
        "{store}"
    );
    assert!(bucket.names("").is_empty(), "what was tried was taken away");

    // The other server creates buckets when they are named.
    let moto = Moto::start().await.unwrap();
    let missing = moto.address("x").replace("s3://pictures", "s3://others");
    let stranger = bucket.options().set("AWS_SECRET_ACCESS_KEY", "hushOfNobody");
    for (options, says) in [
        (bucket.options().set("CYCLORAMA_OBJECTS", missing), "NoSuchBucket"),
        (stranger, "SignatureDoesNotMatch"),
        (without_credentials(&bucket), "credentials"),
    ] {
        let error = match Service::start_with(DatabaseChoice::Sqlite, options).await {
            Ok(_) => panic!("{says}: it started"),
            Err(error) => format!("{error:#}"),
        };
        assert!(error.contains("CYCLORAMA_OBJECTS") && error.contains(says), "{says}: {error}");
        assert!(!error.contains("hush") && !error.contains(SECRET_ACCESS_KEY), "{error}");
    }
}

/// No credentials in the environment, no profile, and no instance role.
fn without_credentials(bucket: &Bucket) -> Options {
    Options::default()
        .set("CYCLORAMA_OBJECTS", bucket.address("x"))
        .set("AWS_EC2_METADATA_DISABLED", "true")
        .set("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
        .set("AWS_CONFIG_FILE", "/nowhere")
}

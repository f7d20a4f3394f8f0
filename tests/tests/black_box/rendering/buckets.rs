//! The real render node and a bucket.

use crate::buckets::{CAR, PREFIX};
use cyclorama_tests::bucket::SECRET_ACCESS_KEY;
use cyclorama_tests::{Bucket, DatabaseChoice, Service};
use reqwest::StatusCode;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn the_real_node_uploads_to_the_bucket_and_reads_layers_from_it() {
    let bucket = Bucket::start().await.unwrap();
    let service = Service::start_with(DatabaseChoice::Sqlite, bucket.options().with_embedded_node()).await.unwrap();
    let customer = service.customer(5).unwrap();
    for colour in ["red", "blue"] {
        let path = format!("{CAR}&view=side&color={colour}");
        let answer = service.get(&customer, &path).timeout(Duration::from_secs(180)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{}", service.log());
        let picture = image::load_from_memory(&answer.bytes().await.unwrap()).unwrap().to_rgba8();
        assert_eq!(picture.dimensions(), (1024, 1024));
    }
    assert_eq!(bucket.names(&format!("{PREFIX}/staging/")).len(), 0);
    let log = service.log();
    assert!(!log.contains("X-Amz-") && !log.contains(SECRET_ACCESS_KEY), "addresses of leases are permissions: {log}");
}

//! A bucket whose server is in trouble, and presigned addresses.

use super::s3::{ATTEMPTS_MAX, aws_chain};
use super::tests::key;
use super::*;
use crate::clock::Clock;
use crate::config::SettingsSource;
use aws_sdk_s3::config::Credentials;
use cyclorama_tests::bucket::{ACCESS_KEY_ID, Bucket, BucketBehaviour, Moto, SECRET_ACCESS_KEY};
use cyclorama_tests::gateway::{self, Gateway};
use futures::future::join_all;
use std::error::Error;

/// Number of requests to a server in trouble: enough to see that all fail alike.
const TIMES: usize = 10;

/// Short limits, so that a server that hangs is given up soon.
const IMPATIENT: Patience = Patience {
    connect: Duration::from_secs(5),
    attempt: Duration::from_millis(700),
    operation: Duration::from_secs(20),
    body: Duration::from_secs(5),
    backoff: Duration::from_millis(20),
};

async fn opened_with(address: &str, secret: &str, patience: Patience) -> Result<ObjectStore, ObjectError> {
    let setting = [("CYCLORAMA_OBJECTS".to_owned(), address.to_owned())];
    let source = SettingsSource::gather(None, setting).unwrap();
    let Objects::S3(bucket) = Objects::read(&source, std::path::Path::new("none")).unwrap() else {
        panic!("{address} is no bucket");
    };
    let credentials = Credentials::new(ACCESS_KEY_ID, secret, None, None, "test");
    let chain = aws_chain().credentials_provider(credentials);
    Ok(ObjectStore::S3(S3Store::open(&bucket, patience, chain).await?))
}

pub(crate) async fn opened(address: &str) -> Result<ObjectStore, ObjectError> {
    opened_with(address, SECRET_ACCESS_KEY, Patience::default()).await
}

/// The error and its causes, as an operator reads them.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

/// Performs each operation of a store once.
async fn ask(store: &ObjectStore, verb: &str) -> Result<(), ObjectError> {
    let (a, b) = (key("masters/a.png"), key("masters/b.png"));
    match verb {
        "PUT" => store.put(&a, "x".into()).await,
        "PUT new" => store.put_new(&a, "x".into()).await.map(drop),
        "GET" => store.get(&a).await.map(drop),
        "HEAD" => store.size(&a).await.map(drop),
        "DELETE" => store.delete(&a).await,
        "COPY" => store.pin(&a, &b).await,
        other => panic!("{other}"),
    }
}

const VERBS: [&str; 6] = ["PUT", "PUT new", "GET", "HEAD", "DELETE", "COPY"];

#[tokio::test(flavor = "multi_thread")]
async fn trouble_is_told_and_attempts_are_bounded() {
    let many = ATTEMPTS_MAX as usize;
    // The server's behaviour, the number of attempts of one request, whether it is full, and the
    // expected text.
    for (mood, attempts, is_full, expected) in [
        (BucketBehaviour::Answers(500, "InternalError"), many, false, "500"),
        (BucketBehaviour::Answers(503, "SlowDown"), many, false, "503"),
        (BucketBehaviour::Resets, many, false, "dispatch failure"),
        (BucketBehaviour::Hangs, many, false, "timeout"),
        (BucketBehaviour::Answers(403, "AccessDenied"), 1, false, "403"),
        (BucketBehaviour::Answers(507, "XMinioStorageFull"), 1, true, "507"),
        (BucketBehaviour::Answers(403, "QuotaExceeded"), 1, true, "403"),
    ] {
        for verb in VERBS {
            // Each case has a server of its own: retries that one case has used up are missing in
            // the next.
            let bucket = Bucket::start().await.unwrap();
            let store = opened_with(&bucket.address("x"), SECRET_ACCESS_KEY, IMPATIENT).await.unwrap();
            bucket.feel(mood);
            let before = bucket.requests();
            for asked in join_all((0..TIMES).map(|_| ask(&store, verb))).await {
                let error = asked.expect_err(verb);
                let text = told(&error);
                // An answer to HEAD has no body that could name a code.
                let full_expected = is_full && (verb != "HEAD" || text.contains("507"));
                match &error {
                    ObjectError::Full { .. } => assert!(full_expected, "{mood:?} {verb}: {text}"),
                    ObjectError::Unreachable { .. } => assert!(!full_expected, "{mood:?} {verb}: {text}"),
                    _ => panic!("{mood:?} {verb}: {text}"),
                }
                assert!(text.contains("masters/a.png") && text.contains(expected), "{mood:?} {verb}: {text}");
                assert!(!text.contains("hush"), "{mood:?} {verb}: {text}");
            }
            assert_eq!(bucket.requests() - before, TIMES * attempts, "{mood:?} {verb}");
            bucket.feel(BucketBehaviour::Well);
            store.put(&key("masters/a.png"), "x".into()).await.expect("well again");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_asked_again_until_it_is_over_and_not_for_ever() {
    let bucket = Bucket::start().await.unwrap();
    let store = opened(&bucket.address("x")).await.unwrap();
    bucket.feel(BucketBehaviour::Answers(409, "ConditionalRequestConflict"));
    let before = bucket.requests();
    let error = ask(&store, "PUT new").await.expect_err("a conflict");
    assert!(matches!(error, ObjectError::Unreachable { .. }) && told(&error).contains("409"), "{}", told(&error));
    assert_eq!(bucket.requests() - before, 5);

    let putting = tokio::spawn({
        let store = store.clone();
        async move { store.put_new(&key("masters/a.png"), "x".into()).await }
    });
    while bucket.requests() - before < 6 {
        tokio::task::yield_now().await;
    }
    bucket.feel(BucketBehaviour::Well);
    assert!(putting.await.unwrap().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_no_object() {
    let bucket = Bucket::start().await.unwrap();
    let store = opened(&bucket.address("x")).await.unwrap();
    store.put(&key("masters/a.png"), "whole".into()).await.unwrap();
    bucket.feel(BucketBehaviour::Breaks);
    for _ in 0..TIMES {
        let error = store.get(&key("masters/a.png")).await.expect_err("half an object");
        assert!(matches!(error, ObjectError::Unreachable { .. }), "{}", told(&error));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_too_large_is_not_read() {
    let bucket = Bucket::start().await.unwrap();
    let store = opened(&bucket.address("x")).await.unwrap();
    let put = store.presigned_put(&key("staging/a"), "image/png", Clock::SYSTEM.now(), Duration::from_secs(60)).await;
    let body = vec![0; OBJECT_BYTES_MAX as usize + 1];
    assert_eq!(sent(reqwest::Method::PUT, put.unwrap().unwrap(), &[], body).await.0, 200);
    let error = store.get(&key("staging/a")).await.expect_err("too large");
    assert!(matches!(error, ObjectError::TooLarge { .. }), "{}", told(&error));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_cannot_be_used_is_named_at_once() {
    let bucket = Bucket::start().await.unwrap();
    // The server of `bucket` creates buckets on demand, and moto checks no signatures, so each case
    // needs the other server.
    let moto = Moto::start().await.unwrap();
    let nowhere = "s3://pictures?endpoint=http://127.0.0.1:9";
    let missing = moto.address("x").replace("s3://pictures", "s3://others");
    for (address, secret, expected) in [
        (bucket.address("x"), "hush", "403 SignatureDoesNotMatch"),
        (missing, SECRET_ACCESS_KEY, "404 NoSuchBucket"),
        (nowhere.to_owned(), SECRET_ACCESS_KEY, "dispatch failure"),
    ] {
        let error = opened_with(&address, secret, IMPATIENT).await.expect_err(expected);
        let text = told(&error);
        assert!(matches!(error, ObjectError::Open { .. }) && text.contains(expected), "{text}");
        assert!(text.contains("s3://") && !text.contains("hush") && !text.contains('\n'), "{text}");
    }
    // The bucket vanishes later: a missing object is distinguished from a bucket that cannot be
    // used.
    let store = opened(&moto.address("x")).await.unwrap();
    moto.forget().await.unwrap();
    for verb in ["PUT", "PUT new", "GET", "COPY"] {
        let error = ask(&store, verb).await.expect_err(verb);
        assert!(matches!(error, ObjectError::Unreachable { .. }), "{verb}: {}", told(&error));
    }
}

/// Sends a presigned request, with `changed` headers in place of its own. Returns status and body.
async fn sent(
    method: reqwest::Method,
    presigned: PresignedUrl,
    changed: &[(&str, &str)],
    body: Vec<u8>,
) -> (u16, Vec<u8>) {
    let mut request = cyclorama_tests::service::http_client().unwrap().request(method, &presigned.url);
    for (name, value) in &presigned.headers {
        let value = changed.iter().find(|(changed, _)| changed == name).map_or(value.as_str(), |(_, value)| value);
        request = request.header(name, value);
    }
    let answer = request.body(body).send().await.unwrap();
    (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_presigned_address_opens_one_object_for_a_while() {
    let (bucket, moto) = (Bucket::start().await.unwrap(), Moto::start().await.unwrap());
    let gateway = Gateway::start().await.unwrap();
    let (put, get) = (reqwest::Method::PUT, reqwest::Method::GET);
    let minute = Duration::from_secs(60);
    let staged = key("staging/job/1/256.red.png");
    // moto checks no credentials, so it would refuse nothing.
    for (address, refuses) in
        [(bucket.address("deep"), true), (gateway.address("deep"), true), (moto.address("deep"), false)]
    {
        let store = opened(&address).await.unwrap();
        let address_of_gateway = address.contains(gateway::PATH);
        let address =
            || async { store.presigned_put(&staged, "image/png", Clock::SYSTEM.now(), minute).await.unwrap().unwrap() };
        assert_eq!(address().await.headers, [("content-type".to_owned(), "image/png".to_owned())]);
        // The holder may use an address any number of times.
        for body in ["one", "two"] {
            assert_eq!(sent(put.clone(), address().await, &[], body.into()).await.0, 200);
            assert_eq!(store.get(&staged).await.unwrap(), body);
        }
        let read = store.presigned_get(&staged, Clock::SYSTEM.now(), minute).await.unwrap().unwrap();
        assert_eq!((read.headers.len(), sent(get.clone(), read, &[], vec![]).await), (0, (200, b"two".to_vec())));
        if !refuses {
            continue;
        }
        let early = Clock::SYSTEM.now().plus_ms(-120_000);
        let over = store.presigned_put(&staged, "image/png", early, minute).await.unwrap().unwrap();
        let mut elsewhere = address().await;
        elsewhere.url = elsewhere.url.replace("/1/256.red.png", "/2/256.red.png");
        let text = [("content-type", "text/html")];
        // The tests' gateway does not check the time.
        if !address_of_gateway {
            assert_eq!(sent(put.clone(), over, &[], "late".into()).await.0, 403, "it is over");
        }
        for (what, answer) in [
            ("another object", sent(put.clone(), elsewhere, &[], "late".into()).await),
            ("another media type", sent(put.clone(), address().await, &text, "late".into()).await),
            ("to read", sent(get.clone(), address().await, &[], vec![]).await),
        ] {
            assert_eq!(answer.0, 403, "{what}");
        }
        assert_eq!(store.get(&staged).await.unwrap(), "two");
        assert_eq!(store.size(&key("staging/job/2/256.red.png")).await.unwrap(), None);
    }
}

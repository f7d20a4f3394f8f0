//! Traces: one for each request, through the queue and the render node to its stages, sent to an
//! OpenTelemetry collector.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::collector::Span;
use cyclorama_tests::{Behaviour, Collector, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::StatusCode;
use std::time::Duration;

pub const CALLER: (&str, &str) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
pub const REQUEST: &str = "GET /api/v1/images/car";

pub fn traced(collector: &str) -> Options {
    // The trace ids of these tests' callers are accepted, as those of a proxy are.
    Options::default()
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        .set("OTEL_BSP_SCHEDULE_DELAY", 50)
        .set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1")
}

pub fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no `{name}` in {spans:#?}"))
}

on_both_databases! {
    async fn a_failed_render_is_a_failed_span(db: DatabaseChoice) {
        let collector = Collector::open().await.unwrap();
        let service = Service::start_with(db, traced(&collector.endpoint)).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let customer = service.customer(1).unwrap();
        let (trace_id, caller_id) = CALLER;
        let request = service.get(&customer, "/api/v1/images/car?make=honda&model=civic&year=2020");
        let answer = request.header("traceparent", format!("00-{trace_id}-{caller_id}-01")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        let spans = collector.wait_for(trace_id, &[REQUEST, "queued"]).await.unwrap();
        let request = named(&spans, REQUEST);
        assert_eq!((request.failed.as_deref(), request.parent_id.as_str()), (Some("render_failed"), caller_id));
        assert_eq!(request.attributes["error.type"], "render_failed");
        assert_eq!(named(&spans, "queued").parent_id, request.span_id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_not_there_or_never_answers_costs_nobody_a_picture_or_the_service_its_stop() {
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // Nobody listens on port 9.
    for collector in ["http://127.0.0.1:9".to_owned(), format!("http://{}", mute.local_addr().unwrap())] {
        let mut service = Service::start_with(DatabaseChoice::Sqlite, traced(&collector)).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(1).unwrap();
        let request = service.get(&customer, "/api/v1/images/car?make=honda&model=civic&year=2020");
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
        assert!(service.terminate().await.unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_caller_begins_a_trace_and_no_client_makes_up_names_of_spans() {
    let collector = Collector::open().await.unwrap();
    let service = Service::start_with(DatabaseChoice::Sqlite, traced(&collector.endpoint)).await.unwrap();
    for (method, path) in [("BREW", "/api/v1/images/options"), ("GET", "/made/up"), ("GET", "/api/v1/images/options")] {
        service.http.request(method.parse().unwrap(), format!("{}{path}", service.base_url)).send().await.unwrap();
    }
    let expected = ["HTTP /api/v1/images/options", "GET", "GET /api/v1/images/options"];
    for _ in 0..200 {
        if collector.spans().len() >= expected.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let spans = collector.spans();
    assert_eq!(spans.iter().map(|span| span.name.as_str()).collect::<Vec<_>>(), expected);
    assert!(spans.iter().all(|span| span.parent_id.is_empty()), "{spans:#?}");
    assert_eq!(spans[0].attributes["http.request.method"], "_OTHER");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_decides_nothing_about_traces() {
    let collector = Collector::open().await.unwrap();
    let options = traced(&collector.endpoint)
        .set("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/8")
        .set("OTEL_TRACES_SAMPLER", "parentbased_always_off");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let (trace_id, caller_id) = CALLER;
    let customer = service.customer(1).unwrap();
    for (method, path) in [
        ("GET", "/api/v1/images/options"),
        ("GET", "/docs/errors"),
        ("POST", "/node/v1/nodes"),
        ("POST", "/node/v1/jobs/x/failure"),
    ] {
        let request = service.http.request(method.parse().unwrap(), format!("{}{path}", service.base_url));
        let request = request.bearer_auth(&customer.key).header("x-forwarded-for", "10.0.0.1");
        request.header("traceparent", format!("00-{trace_id}-{caller_id}-01")).send().await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let spans = collector.spans();
    assert!(spans.is_empty(), "{spans:#?}");

    // Where everything is recorded, their spans are in traces of our own.
    let options = traced(&collector.endpoint).set("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/8");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let request =
        service.visit("/api/v1/images/options").header("traceparent", format!("00-{trace_id}-{caller_id}-00"));
    request.send().await.unwrap();
    for _ in 0..200 {
        if !collector.spans().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let spans = collector.spans();
    let span = named(&spans, "GET /api/v1/images/options");
    assert!(span.parent_id.is_empty(), "{span:?}");
    assert!(span.attributes["cyclorama.caller_traceparent"].contains(trace_id), "{span:?}");
}

//! The agent against a control plane played by the test: a real HTTP server that answers as the
//! protocol says and records the requests it receives. The engine is the real one, on the software
//! device with the built-in model.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use axum::body::Bytes;
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use cyclorama_core::encoding::{Probe, probe};
use cyclorama_core::wire::{
    FailureRequest, HeartbeatRequest, Job, JobKind, JoinRequest, LeaseRequest, ResultRequest, Upload,
};
use cyclorama_core::{BodyClass, Colour, Format, View};
use cyclorama_node::config::{Config, environment};
use cyclorama_node::engine::Engine;
use cyclorama_node::finish::write_layers;
use cyclorama_node::service::agent::Agent;
use cyclorama_node::service::control_plane::ControlPlane;
use cyclorama_node::studio::Layers;
use cyclorama_node::vehicle::typical::typical;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// State of a test's control plane: the answers it will give and the requests it has received.
#[derive(Default)]
struct Plane {
    base: OnceLock<String>,
    script: Mutex<Script>,
    heard: Mutex<Heard>,
    changed: Notify,
}

#[derive(Default)]
struct Script {
    jobs: VecDeque<Job>,
    layers: Vec<u8>,
    /// Sent in answers to heartbeats.
    cancel: Vec<String>,
    order: Option<&'static str>,
    /// Statuses with which the next uploads and results are answered instead of success.
    upload_answers: VecDeque<(StatusCode, &'static str)>,
    result_answers: VecDeque<(StatusCode, serde_json::Value)>,
    /// True if the next heartbeat is answered as from an unknown node.
    forget_node: bool,
    hold_layers: Option<oneshot::Receiver<()>>,
}

#[derive(Default, Clone)]
struct Heard {
    joins: Vec<JoinRequest>,
    left: usize,
    heartbeats: Vec<HeartbeatRequest>,
    lease_calls: usize,
    objects: HashMap<String, Vec<u8>>,
    uploads: usize,
    /// Headers of every upload and every reading of layers.
    headers_elsewhere: Vec<HeaderMap>,
    results: Vec<ResultRequest>,
    failures: Vec<FailureRequest>,
}

type Shared = State<Arc<Plane>>;

impl Plane {
    #[expect(clippy::disallowed_methods, reason = "serves one agent, for the time of a test")]
    async fn start() -> Arc<Self> {
        let plane = Arc::new(Plane::default());
        let routes = Router::new()
            .route("/node/v1/nodes", post(join))
            .route("/node/v1/nodes/{id}/leases", post(lease))
            .route("/node/v1/nodes/{id}/heartbeat", post(heartbeat))
            .route("/node/v1/nodes/{id}", delete(leave))
            .route("/node/v1/jobs/{id}/result", post(result))
            .route("/node/v1/jobs/{id}/failure", post(failure))
            .route("/uploads/{name}", put(upload))
            .route("/layers", get(layers))
            .with_state(plane.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        plane.base.set(format!("http://{}", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async { axum::serve(listener, routes).await });
        plane
    }

    fn base(&self) -> &str {
        self.base.get().unwrap()
    }

    fn hear(&self, note: impl FnOnce(&mut Heard)) {
        note(&mut self.heard.lock().unwrap());
        self.changed.notify_waiters();
    }

    fn heard(&self) -> Heard {
        self.heard.lock().unwrap().clone()
    }

    /// Waits until the control plane has received requests for which `enough` returns true.
    async fn until(&self, what: &str, enough: impl Fn(&Heard) -> bool) -> Heard {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                let heard = self.heard();
                if enough(&heard) {
                    return heard;
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(120), wait).await.unwrap_or_else(|_| panic!("never heard: {what}"))
    }

    /// Queues a paint job whose layers are withheld until the sender is used.
    fn queue_held(&self, job_id: &str) -> oneshot::Sender<()> {
        let (release, hold) = oneshot::channel();
        let job = self.paint_job(job_id);
        let mut script = self.script.lock().unwrap();
        script.layers = stored_layers();
        script.hold_layers = Some(hold);
        script.jobs.push_back(job);
        release
    }

    fn paint_job(&self, id: &str) -> Job {
        let upload = |name: &str, format: Format, side: u32| Upload {
            name: name.into(),
            url: format!("{}/uploads/{name}", self.base()),
            headers: vec![
                ("content-type".to_owned(), format.media_type().to_owned()),
                ("x-lease".to_owned(), "one".to_owned()),
            ],
            media_type: format.media_type().to_owned(),
            width: side,
            height: side,
        };
        Job {
            job_id: id.to_owned(),
            fence: 7,
            deadline: i64::MAX,
            attempt: 1,
            kind: JobKind::Paint,
            vehicle: typical(BodyClass::Sedan),
            view: View::Side,
            colours: vec![Colour::Red.into()],
            pipeline: "any".to_owned(),
            seed: 1,
            uploads: vec![
                upload("master.red.png", Format::Png, 64),
                upload("32.red.webp", Format::Webp, 32),
                upload("32.red.jpg", Format::Jpg, 32),
            ],
            layers_url: Some(format!("{}/layers", self.base())),
            layers_sha256: Some(hex::encode(Sha256::digest(stored_layers()))),
            traceparent: None,
        }
    }
}

async fn join(State(plane): Shared, Json(request): Json<JoinRequest>) -> Response {
    let mut count = 0;
    plane.hear(|heard| {
        heard.joins.push(request);
        count = heard.joins.len();
    });
    let answer = json!({"node_id": format!("node-{count}"), "heartbeat_seconds": 1, "lease_seconds": 5});
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn lease(State(plane): Shared, UrlPath(_): UrlPath<String>, Json(request): Json<LeaseRequest>) -> Response {
    plane.hear(|heard| heard.lease_calls += 1);
    let jobs: Vec<Job> = {
        let mut script = plane.script.lock().unwrap();
        let count = (request.free as usize).min(script.jobs.len());
        script.jobs.drain(..count).collect()
    };
    if jobs.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
        return StatusCode::NO_CONTENT.into_response();
    }
    Json(json!({"jobs": jobs})).into_response()
}

async fn heartbeat(
    State(plane): Shared,
    UrlPath(_): UrlPath<String>,
    Json(report): Json<HeartbeatRequest>,
) -> Response {
    plane.hear(|heard| heard.heartbeats.push(report));
    let mut script = plane.script.lock().unwrap();
    if std::mem::take(&mut script.forget_node) {
        return (StatusCode::NOT_FOUND, Json(json!({"detail": "who?"}))).into_response();
    }
    Json(json!({"state": script.order.unwrap_or("active"), "cancel": script.cancel})).into_response()
}

async fn leave(State(plane): Shared, UrlPath(_): UrlPath<String>) -> StatusCode {
    plane.hear(|heard| heard.left += 1);
    StatusCode::NO_CONTENT
}

async fn layers(State(plane): Shared, headers: HeaderMap) -> Vec<u8> {
    plane.hear(|heard| heard.headers_elsewhere.push(headers));
    let (layers, hold) = {
        let mut script = plane.script.lock().unwrap();
        (script.layers.clone(), script.hold_layers.take())
    };
    if let Some(hold) = hold {
        let _ = hold.await;
    }
    layers
}

async fn upload(
    State(plane): Shared,
    UrlPath(name): UrlPath<String>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let answer = plane.script.lock().unwrap().upload_answers.pop_front().unwrap_or((StatusCode::NO_CONTENT, ""));
    plane.hear(|heard| {
        heard.uploads += 1;
        heard.headers_elsewhere.push(headers);
        if answer.0.is_success() {
            heard.objects.insert(name, body.to_vec());
        }
    });
    answer
}

async fn result(State(plane): Shared, UrlPath(_): UrlPath<String>, Json(request): Json<ResultRequest>) -> Response {
    plane.hear(|heard| heard.results.push(request));
    match plane.script.lock().unwrap().result_answers.pop_front() {
        Some((status, body)) => (status, Json(body)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn failure(State(plane): Shared, UrlPath(_): UrlPath<String>, Json(request): Json<FailureRequest>) -> StatusCode {
    plane.hear(|heard| heard.failures.push(request));
    StatusCode::NO_CONTENT
}

/// A node that works for the control plane until `stop`.
struct Node {
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Node {
    /// Stops the node and waits until it has left.
    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

/// Returns one engine for all tests of this file, because a second device would only take time.
fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let start = || {
        // Fails only if another test installed it first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let models = std::path::absolute("../models/builtin").unwrap();
        let variables = HashMap::from([
            ("CYCLORAMA_NODE_MODELS", models.to_str().unwrap().to_owned()),
            ("CYCLORAMA_NODE_ADAPTER", "cpu".to_owned()),
        ]);
        let config = Config::load(None, |name| variables.get(name).cloned().or_else(|| environment(name))).unwrap();
        Engine::start(config.local, 2).unwrap()
    };
    ENGINE.get_or_init(start).clone()
}

async fn start(plane: &Arc<Plane>) -> Node {
    let engine = tokio::task::spawn_blocking(engine).await.unwrap();
    let variables = [
        ("CYCLORAMA_NODE_TOKEN", "cycn_test"),
        ("CYCLORAMA_NODE_NAME", "under-test"),
        ("CYCLORAMA_NODE_USD_PER_HOUR", "1.25"),
    ];
    let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let config = Config::load(None, value).unwrap();
    let control_plane = ControlPlane::new(plane.base(), config.token.clone().unwrap()).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let agent = Agent::new(control_plane, engine, &config);
    let running = tokio::spawn(async move { agent.run(async { stopped.await.unwrap() }).await.unwrap() });
    plane.until("a join", |heard| !heard.joins.is_empty()).await;
    Node { stop, running }
}

/// Layers with half paint and half glass, all covered.
fn stored_layers() -> Vec<u8> {
    let count = 64 * 64;
    let paint: Vec<f32> = (0..count).map(|i| if i % 64 < 32 { 1.0 } else { 0.0 }).collect();
    let layers = Layers {
        side_px: 64,
        // Brighter row by row, because the quality gate refuses paint without form.
        diffuse: paint.iter().enumerate().map(|(i, p)| [(0.3 + 0.6 * (i / 64) as f32 / 63.0) * p; 3]).collect(),
        gloss: paint.iter().map(|p| [0.02 * p; 3]).collect(),
        rest: paint.iter().map(|p| [0.1 * (1.0 - p); 3]).collect(),
        coverage: vec![1.0; count],
        paint,
        shadow: vec![0.0; count],
        scale_um_per_px: None,
    };
    write_layers(&layers).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paint_job_is_composed_encoded_uploaded_and_reported() {
    let plane = Plane::start().await;
    let job = plane.paint_job("j1");
    {
        let mut script = plane.script.lock().unwrap();
        script.layers = stored_layers();
        script.jobs.push_back(job.clone());
        // A transient error of the object store is retried.
        script.upload_answers.push_back((StatusCode::SERVICE_UNAVAILABLE, "<Error><Code>SlowDown</Code></Error>"));
    }
    let node = start(&plane).await;
    let heard = plane.until("a result", |heard| !heard.results.is_empty()).await;

    let result = &heard.results[0];
    assert_eq!((result.fence, result.objects.len(), heard.uploads), (7, 3, 4));
    for upload in &job.uploads {
        let bytes = &heard.objects[&upload.name.to_string()];
        let Probe { format, width, height } = probe(bytes).unwrap();
        assert_eq!((format.media_type(), width, height), (upload.media_type.as_str(), upload.width, upload.height));
        let object = result.objects.iter().find(|o| o.name == upload.name).unwrap();
        assert_eq!((object.bytes, &object.sha256), (bytes.len() as u64, &hex::encode(Sha256::digest(bytes))));
    }
    let master = cyclorama_core::encoding::decode_master(&heard.objects["master.red.png"], 64).unwrap();
    let [r, g, b, a] = master.pixels().nth(32 * 64 + 8).unwrap();
    assert!(a == 255 && r > 2 * g && r > 2 * b, "the painted half is red: {r} {g} {b} {a}");
    let receipt = result.receipt.document();
    for stage in ["fetch", "compose", "encode", "upload"] {
        assert!(receipt["timings_ms"][stage].is_u64(), "{stage}: {receipt}");
    }
    assert!(receipt["software"].as_str().unwrap().starts_with("cyclorama-node "));

    // The layers, and four attempts of three uploads: each has the given headers once, and none
    // that identifies the node.
    assert_eq!(heard.headers_elsewhere.len(), 5);
    for headers in &heard.headers_elsewhere {
        assert!(!headers.contains_key("authorization"), "the node's token went to where objects are kept: {headers:?}");
        assert!(!headers.values().any(|value| value.as_bytes().windows(5).any(|part| part == b"cycn_")), "{headers:?}");
    }
    for headers in &heard.headers_elsewhere[1..] {
        for name in ["content-type", "x-lease"] {
            assert_eq!(headers.get_all(name).iter().count(), 1, "{name} is a signed header: {headers:?}");
        }
    }

    let join = &heard.joins[0];
    assert_eq!((join.name.as_str(), join.slots, join.pipelines[0].digest.len()), ("under-test", 2, 64));
    assert_eq!(join.usd_per_hour, Some(1.25));
    assert_eq!((join.batch_max, join.device.execution_provider.as_deref()), (1, Some("CPUExecutionProvider")));
    node.stop().await;
    assert_eq!(plane.heard().left, 1);
}

/// An object store knows nothing of nodes and leases: a refusal fails the attempt, and the reported
/// text contains no signature.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_a_bucket_is_an_upload_failure() {
    const SIGNED: &str = "<Error><Code>SignatureDoesNotMatch</Code><StringToSign>hush</StringToSign></Error>";
    let plane = Plane::start().await;
    let node = start(&plane).await;
    for (count, (status, body, told)) in [
        (StatusCode::FORBIDDEN, SIGNED, "SignatureDoesNotMatch"),
        (StatusCode::NOT_FOUND, "<Error><Code>NoSuchBucket</Code></Error>", "NoSuchBucket"),
        (StatusCode::CONFLICT, "hush", "no reason given"),
        (StatusCode::UNAUTHORIZED, "<Code>hush hush</Code>", "no reason given"),
        (StatusCode::NOT_FOUND, r#"{"detail": "this address is closed."}"#, "this address is closed."),
    ]
    .into_iter()
    .enumerate()
    {
        let job = plane.paint_job(&format!("j{count}"));
        {
            let mut script = plane.script.lock().unwrap();
            script.layers = stored_layers();
            script.upload_answers = [(status, body); 3].into();
            script.jobs.push_back(job);
        }
        let heard = plane.until("a failure", |heard| heard.failures.len() == count + 1).await;
        let failure = &heard.failures[count];
        assert_eq!(failure.kind.as_str(), "upload", "{}", failure.detail);
        assert!(failure.detail.contains(told) && !failure.detail.contains("hush"), "{}", failure.detail);
        assert_eq!((heard.joins.len(), heard.results.len()), (1, 0), "the node is still known");
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_object_is_uploaded_again() {
    let plane = Plane::start().await;
    {
        let mut script = plane.script.lock().unwrap();
        script.layers = stored_layers();
        let job = plane.paint_job("j1");
        script.jobs.push_back(job);
        let rejected = json!({"detail": "object `32.red.webp` was not uploaded.", "object": "32.red.webp"});
        script.result_answers.push_back((StatusCode::UNPROCESSABLE_ENTITY, rejected));
        script.result_answers.push_back((StatusCode::SERVICE_UNAVAILABLE, json!({})));
    }
    let node = start(&plane).await;
    let heard = plane.until("three results", |heard| heard.results.len() == 3).await;
    assert_eq!((heard.uploads, heard.failures.len()), (4, 0), "only what was rejected goes again");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_is_given_up_without_a_word_and_a_hopeless_job_with_one() {
    let plane = Plane::start().await;
    {
        let mut script = plane.script.lock().unwrap();
        script.layers = stored_layers();
        let lost = plane.paint_job("lost");
        script.jobs.push_back(lost);
        script.result_answers.push_back((StatusCode::CONFLICT, json!({})));
    }
    let node = start(&plane).await;
    plane.until("the lost job's result", |heard| heard.results.len() == 1).await;

    let broken = b"not layers".to_vec();
    let mut hopeless = plane.paint_job("hopeless");
    hopeless.layers_sha256 = Some(hex::encode(Sha256::digest(&broken)));
    {
        let mut script = plane.script.lock().unwrap();
        script.layers = broken;
        script.jobs.push_back(hopeless);
    }
    let heard = plane.until("a failure", |heard| !heard.failures.is_empty()).await;
    assert_eq!((heard.failures.len(), heard.failures[0].kind.as_str(), heard.results.len()), (1, "internal", 1));
    assert!(heard.failures[0].detail.contains("the stored layers cannot be used"), "{}", heard.failures[0].detail);

    let mut unknown = plane.paint_job("unknown");
    unknown.kind = JobKind::Render;
    unknown.pipeline = "no-such-model".to_owned();
    plane.script.lock().unwrap().jobs.push_back(unknown);
    let heard = plane.until("another failure", |heard| heard.failures.len() == 2).await;
    assert!(heard.failures[1].detail.contains("no-such-model"), "{}", heard.failures[1].detail);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_that_were_altered_in_the_store_are_not_painted() {
    let plane = Plane::start().await;
    {
        let mut altered = plane.paint_job("altered");
        altered.layers_sha256 = Some(hex::encode(Sha256::digest(b"what was stored")));
        let mut script = plane.script.lock().unwrap();
        script.layers = stored_layers();
        script.jobs.push_back(altered);
    }
    let node = start(&plane).await;
    let heard = plane.until("a failure", |heard| !heard.failures.is_empty()).await;
    assert_eq!((heard.failures[0].kind.as_str(), heard.results.len(), heard.uploads), ("upload", 0, 0));
    assert!(heard.failures[0].detail.contains("digest"), "{}", heard.failures[0].detail);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_name_the_held_job_and_carry_its_cancel() {
    let plane = Plane::start().await;
    let release = plane.queue_held("j1");
    let node = start(&plane).await;
    let holds =
        |heard: &Heard| heard.heartbeats.iter().any(|h| h.jobs.iter().any(|job| job.job_id == "j1" && job.fence == 7));
    let heard = plane.until("a heartbeat with the job", holds).await;
    assert_eq!(heard.heartbeats.last().unwrap().state.as_str(), "busy");

    plane.script.lock().unwrap().cancel = vec!["j1".to_owned()];
    let seen = plane.heard().heartbeats.len();
    // The heartbeat under way may have been answered before; the one after it carries the
    // cancellation.
    plane.until("two more heartbeats", |heard| heard.heartbeats.len() >= seen + 2).await;
    release.send(()).unwrap();
    let idle = |heard: &Heard| heard.heartbeats.last().is_some_and(|h| h.jobs.is_empty());
    let heard = plane.until("an idle heartbeat", idle).await;
    assert_eq!((heard.uploads, heard.results.len(), heard.failures.len()), (0, 0, 0));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_node_joins_again_and_keeps_its_job() {
    let plane = Plane::start().await;
    let release = plane.queue_held("j1");
    let node = start(&plane).await;
    plane.until("a busy heartbeat", |heard| heard.heartbeats.iter().any(|h| !h.jobs.is_empty())).await;
    plane.script.lock().unwrap().forget_node = true;
    plane.until("a second join", |heard| heard.joins.len() == 2).await;
    let seen = plane.heard().heartbeats.len();
    let again =
        move |heard: &Heard| heard.heartbeats[seen..].iter().any(|h| h.jobs.iter().any(|job| job.job_id == "j1"));
    plane.until("the job in a new heartbeat", again).await;
    release.send(()).unwrap();
    plane.until("the result", |heard| heard.results.len() == 1).await;
    node.stop().await;
    assert_eq!(plane.heard().joins.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn told_to_stop_it_finishes_what_it_holds_and_takes_no_more() {
    let plane = Plane::start().await;
    let release = plane.queue_held("j1");
    let node = start(&plane).await;
    plane.until("a busy heartbeat", |heard| heard.heartbeats.iter().any(|h| !h.jobs.is_empty())).await;
    let stopping = tokio::spawn(node.stop());
    let draining = |heard: &Heard| heard.heartbeats.last().is_some_and(|h| h.state.as_str() == "draining");
    plane.until("a draining heartbeat", draining).await;
    let late = plane.paint_job("late");
    plane.script.lock().unwrap().jobs.push_back(late);
    release.send(()).unwrap();
    stopping.await.unwrap();
    let heard = plane.heard();
    assert_eq!((heard.results.len(), heard.left), (1, 1));
    assert_eq!(plane.script.lock().unwrap().jobs.len(), 1, "the late job was left alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_node_asks_for_nothing_until_it_may_again() {
    let plane = Plane::start().await;
    plane.script.lock().unwrap().order = Some("draining");
    let node = start(&plane).await;
    plane.until("two heartbeats", |heard| heard.heartbeats.len() >= 2).await;
    // The long poll that was under way when the order arrived has ended by the next heartbeat.
    let heard = plane.until("three heartbeats", |heard| heard.heartbeats.len() >= 3).await;
    let asked = heard.lease_calls;
    plane.until("two more heartbeats", move |later| later.heartbeats.len() >= heard.heartbeats.len() + 2).await;
    assert_eq!(plane.heard().lease_calls, asked);
    plane.script.lock().unwrap().order = Some("active");
    plane.until("another call for work", |heard| heard.lease_calls > asked).await;
    node.stop().await;
}

//! Compares every message with its example in `docs/node-protocol.md`: the examples of the
//! documentation are the snapshots of the protocol. `CYCLORAMA_UPDATE_PROTOCOL=1 cargo
//! test --workspace --lib wire` rewrites the examples from the types; a changed example
//! means a changed protocol.

#![allow(clippy::disallowed_methods, reason = "a test is told by the environment to write what it compares")]

use super::*;
use crate::{BodyClass, Colour, Dimensions, Format, Vehicle, VehicleType, View};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

const DOCUMENT_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/node-protocol.md");
const DOCUMENT: &str = include_str!("../../../docs/node-protocol.md");

/// Returns the JSON under each heading `### Message`.
fn documented() -> BTreeMap<String, Value> {
    let sections = DOCUMENT.split("\n### ").skip(1);
    let messages = sections.filter_map(|section| {
        let name = section.lines().next()?.trim();
        let (_, rest) = section.split_once("```json\n")?;
        let (example, _) = rest.split_once("```")?;
        let example = serde_json::from_str(example).unwrap_or_else(|error| panic!("the example of {name}: {error}"));
        Some((name.to_owned(), example))
    });
    messages.collect()
}

fn digest(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn vehicle() -> Vehicle {
    Vehicle {
        make: "volkswagen".to_owned(),
        model: "golf".to_owned(),
        year: 2018,
        vehicle_type: VehicleType::ALL[0],
        body: BodyClass::Hatchback,
        dimensions: Dimensions {
            length_mm: 4258,
            width_mm: 1790,
            height_mm: 1492,
            wheelbase_mm: 2620,
            front_track_mm: 1549,
        },
    }
}

fn uploads() -> Vec<Upload> {
    let headers = |media_type: &str| vec![("content-type".to_owned(), media_type.to_owned())];
    let preset = ObjectName::Preset { side_px: 256, paint: Colour::Silver.into(), format: Format::Webp };
    [
        (ObjectName::Layers, "application/octet-stream", 0),
        (ObjectName::Master(Colour::Silver.into()), "image/png", 1024),
        (preset, "image/webp", 256),
    ]
    .map(|(name, media_type, side_px)| Upload {
        url: format!("https://cars.example.com/node/v1/uploads/5f0c/{name}"),
        name,
        headers: headers(media_type),
        media_type: media_type.to_owned(),
        width: side_px,
        height: side_px,
    })
    .into()
}

fn job(kind: JobKind) -> Job {
    let is_paint = kind == JobKind::Paint;
    let uploads = uploads().into_iter().filter(|upload| !is_paint || upload.name != ObjectName::Layers).collect();
    Job {
        job_id: "0199f0aa-6f0e-7c3e-9d0a-3a1f6b0c2d11".to_owned(),
        fence: 1,
        deadline: 1_795_219_200_000,
        attempt: 1,
        kind,
        vehicle: vehicle(),
        view: View::FrontThreeQuarter,
        colours: vec![Colour::Silver.into()],
        pipeline: "builtin".to_owned(),
        seed: 7_046_029_254_386_353,
        uploads,
        layers_url: is_paint.then(|| "https://cars.example.com/node/v1/layers/5f0c".to_owned()),
        layers_sha256: is_paint.then(|| digest('a')),
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
    }
}

fn receipt() -> Receipt {
    Receipt {
        model: Some(ModelReceipt {
            id: "builtin".to_owned(),
            digest: digest('b'),
            license: json!("MIT OR Apache-2.0"),
            precision: json!("float32"),
            files: vec![ModelFileReceipt { path: "denoiser.onnx".to_owned(), sha256: digest('c') }],
        }),
        gbuffer_digest: Some(digest('d')),
        triangles: Some(182_404),
        seed: Some(7_046_029_254_386_353),
        scheduler: Some(json!({"kind": "euler"})),
        steps: Some(1),
        batch: Some(2),
        execution_provider: Some("CPUExecutionProvider".to_owned()),
        onnx_runtime: Some("1.31.1".to_owned()),
        layers_sha256: None,
        device: Some(DeviceReceipt { name: "NVIDIA H200".to_owned(), backend: "vulkan".to_owned() }),
        light: Some(Light::Diffusion),
        quality: Some(QualityReceipt { figures: json!({"form": 0.31}), refused: Some(Vec::new()) }),
        timings_ms: [
            (Stage::Geometry, 86.0),
            (Stage::Gbuffer, 70.0),
            (Stage::Turn, 12.0),
            (Stage::Diffusion, 20.0),
            (Stage::Gate, 23.0),
            (Stage::Compose, 9.0),
            (Stage::Encode, 184.0),
            (Stage::Upload, 31.0),
        ]
        .into(),
        software: Some("cyclorama-node 0.1.0".to_owned()),
        encode_recipe: Some(json!("2")),
        attempt: Some(1),
    }
}

/// Compares a message with its documented example, in both directions.
fn check<T: Serialize + DeserializeOwned + Debug>(documented: &mut BTreeMap<String, Value>, name: &str, message: &T) {
    let example =
        documented.remove(name).unwrap_or_else(|| panic!("docs/node-protocol.md has no example under `### {name}`"));
    let sent = serde_json::to_value(message).expect("JSON");
    if std::env::var_os("CYCLORAMA_UPDATE_PROTOCOL").is_some() {
        return write_example(name, message);
    }
    assert_eq!(sent, example, "{name} is not what docs/node-protocol.md shows; it is\n{sent:#}");
    let read: T = serde_json::from_value(example).unwrap_or_else(|error| panic!("the example of {name}: {error}"));
    assert_eq!(format!("{read:?}"), format!("{message:?}"), "{name} is read as something else");
}

/// Replaces the example of a message in the document.
fn write_example<T: Serialize>(name: &str, message: &T) {
    let text = std::fs::read_to_string(DOCUMENT_PATH).expect("the document");
    let (before, rest) = text.split_once(&format!("\n### {name}\n\n```json\n")).expect("its heading");
    let (_, after) = rest.split_once("\n```").expect("its end");
    let example = serde_json::to_string_pretty(message).expect("JSON");
    let text = format!("{before}\n### {name}\n\n```json\n{example}\n```{after}");
    std::fs::write(DOCUMENT_PATH, text).expect("writes");
}

#[test]
fn every_message_is_as_the_documentation_shows_it() {
    let mut examples = documented();
    let known = &mut examples;
    let device = Device {
        name: "NVIDIA H200".to_owned(),
        backend: "vulkan".to_owned(),
        card_memory_mb: Some(143_771),
        execution_provider: Some("CUDAExecutionProvider".to_owned()),
    };
    let load = MachineLoad {
        process_memory_mb: Some(2310),
        card: CardLoad {
            gpu_memory_used_mb: Some(5120),
            gpu_memory_total_mb: Some(143_771),
            gpu_utilisation: Some(0.25),
        },
    };
    let joining = JoinRequest {
        name: "card-1".to_owned(),
        version: "0.1.0".to_owned(),
        slots: 2,
        batch_max: 4,
        pipelines: vec![Pipeline { id: "builtin".to_owned(), digest: digest('b') }],
        paints: vec![CUSTOM_PAINTS.to_owned()],
        device,
        usd_per_hour: Some(2.5),
    };
    check(known, "JoinRequest", &joining);
    let node_id = "0199f0aa-1111-7c3e-9d0a-3a1f6b0c2d11".to_owned();
    check(known, "JoinResponse", &JoinResponse { node_id, heartbeat_seconds: 5, lease_seconds: 30 });
    check(known, "LeaseRequest", &LeaseRequest { free: 2, wait_seconds: 30 });
    check(known, "LeaseResponse", &LeaseResponse { jobs: vec![job(JobKind::Render), job(JobKind::Paint)] });
    let progress =
        JobProgress { job_id: job(JobKind::Render).job_id, fence: 1, stage: Stage::Diffusion.into(), progress: 0.5 };
    let beat = HeartbeatRequest { state: NodeState::Busy, jobs: vec![progress], device: Unparsed::from(&load) };
    check(known, "HeartbeatRequest", &beat);
    let cancel = vec![job(JobKind::Paint).job_id];
    check(known, "HeartbeatResponse", &HeartbeatResponse { state: NodeOrder::Active, cancel });
    let objects =
        uploads().into_iter().map(|upload| UploadedObject { name: upload.name, sha256: digest('e'), bytes: 48_213 });
    let result = ResultRequest { fence: 1, objects: objects.collect(), receipt: Unparsed::from(&receipt()) };
    check(known, "ResultRequest", &result);
    let failure =
        FailureRequest { fence: 1, kind: FailureKind::OutOfMemory, detail: "the card has no memory left".to_owned() };
    check(known, "FailureRequest", &failure);
    assert!(examples.is_empty(), "docs/node-protocol.md shows messages that are none: {:?}", examples.keys());
    assert_eq!(Unparsed::from(&receipt()).read(), receipt(), "a receipt is read as it was written");
}

/// Messages of an earlier version of the node or of the service can be read.
#[test]
fn what_may_be_absent_may_be_absent() {
    let joining: JoinRequest = serde_json::from_value(json!({
        "name": "n", "version": "0", "slots": 1, "pipelines": [], "device": {"name": "d", "backend": "b"}
    }))
    .expect("a request to join");
    assert_eq!((joining.batch_max, joining.paints.len(), joining.usd_per_hour), (1, 0, None));
    let beat: HeartbeatRequest = serde_json::from_value(json!({"state": "ready", "later": true})).expect("a heartbeat");
    assert!(beat.jobs.is_empty() && beat.device.read() == MachineLoad::default());
    let progress: JobProgress = serde_json::from_value(json!({"job_id": "j", "fence": 1})).expect("progress");
    assert_eq!(progress.stage.to_string(), "");
    let result: ResultRequest = serde_json::from_value(json!({"fence": 1, "objects": []})).expect("a result");
    assert_eq!(result.receipt.read(), Receipt::default());
    let mut of_later = serde_json::to_value(job(JobKind::Render)).expect("JSON");
    of_later["uploads"][0]["name"] = json!("depth.exr");
    let of_later: Job = serde_json::from_value(of_later).expect("a job");
    assert_eq!(of_later.uploads[0].name, ObjectName::Other("depth.exr".to_owned()));
}

/// The names of the protocol are documented word for word: renaming one would
/// make another protocol.
#[test]
fn names_are_those_of_the_protocol() {
    let words = |names: &[&'static str]| names.join(" ");
    let stages: Vec<_> = Stage::ALL.iter().map(|stage| stage.as_str()).collect();
    assert_eq!(
        words(&stages),
        "leased fetch geometry gbuffer batch turn diffusion layers compose gate encode upload result"
    );
    let documented: BTreeSet<&str> = DOCUMENT.split('`').skip(1).step_by(2).collect();
    let of = |names: Vec<&'static str>| names.into_iter().filter(|name| !documented.contains(name)).collect::<Vec<_>>();
    for (what, missing) in [
        ("stages", of(stages)),
        ("lights", of(Light::ALL.iter().map(|name| name.as_str()).collect())),
        ("kinds of jobs", of(JobKind::ALL.iter().map(|name| name.as_str()).collect())),
        ("states", of(NodeState::ALL.iter().map(|name| name.as_str()).collect())),
        ("orders", of(NodeOrder::ALL.iter().map(|name| name.as_str()).collect())),
        ("failures", of(FailureKind::ALL.iter().map(|name| name.as_str()).collect())),
    ] {
        assert_eq!(missing, Vec::<&str>::new(), "{what} that docs/node-protocol.md does not name");
    }
}

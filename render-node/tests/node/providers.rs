//! An execution provider other than the CPU's own, for real: OpenVINO, in the build of ONNX Runtime
//! that has it. A process loads one build, so each image is made by a program of its own.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use crate::support::runtime::{self, fetched};
use std::path::Path;
use std::process::{Command, Output};

/// Runs the node. `library` is the build of ONNX Runtime, or `None` for that of the other tests.
fn node(library: Option<&Path>, provider: &str, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cyclorama-node"));
    program.args(arguments).env("CYCLORAMA_NODE_MODELS", "../models/builtin").env("CYCLORAMA_NODE_PROVIDER", provider);
    program.env("ORT_DYLIB_PATH", library.map_or_else(runtime::library, Path::to_path_buf)).output().unwrap()
}

#[test]
fn doctor_tells_the_provider_that_is_used_and_says_so_when_there_is_none() {
    let library = fetched(&["openvino"]);
    for (library, provider, works, says) in [
        (None, "auto", true, "CPUExecutionProvider"),
        (Some(library.as_path()), "auto", true, "OpenVINOExecutionProvider"),
        (Some(library.as_path()), "cpu", true, "CPUExecutionProvider"),
        (
            Some(library.as_path()),
            "cuda",
            false,
            "has no provider `cuda`: CYCLORAMA_NODE_PROVIDER can be auto, cpu, openvino",
        ),
        (None, "openvino", false, "has no provider `openvino`: CYCLORAMA_NODE_PROVIDER can be auto, cpu"),
    ] {
        let examined = node(library, provider, &["doctor"]);
        let told = String::from_utf8(examined.stdout).unwrap();
        let line = told.lines().find(|line| line.contains(" provider ")).unwrap_or_default();
        assert_eq!(examined.status.success(), works, "{told}");
        assert!(line.ends_with(says) && line.starts_with(if works { "ok" } else { "FAIL" }), "{told}");
    }
}

#[test]
fn bench_tells_what_each_batch_size_takes_on_which_provider() {
    let measured =
        node(Some(&fetched(&["openvino"])), "auto", &["bench", "--turns", "1", "--batch-max", "2", "--json"]);
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    let figures: Vec<serde_json::Value> = serde_json::from_slice(&measured.stdout).unwrap();
    assert_eq!(figures.iter().map(|one| one["batch"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    for one in figures {
        assert_eq!(one["execution_provider"], "OpenVINOExecutionProvider");
        for name in ["step_ms", "renders_per_minute", "memory_mb"] {
            assert!(one[name].as_f64().is_some_and(|figure| figure > 0.0), "{one}");
        }
    }
}

#[test]
fn pictures_of_openvino_are_those_of_the_cpu_to_within_what_bf16_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let picture = |library: Option<&Path>, name: &str| {
        let file = folder.path().join(name);
        let drawn =
            node(library, "auto", &["render", "--body", "suv", "--color", "red", "--out", file.to_str().unwrap()]);
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        image::open(file).unwrap().to_rgba8()
    };
    let (of_cpu, of_openvino) = (picture(None, "cpu.png"), picture(Some(&fetched(&["openvino"])), "openvino.png"));
    let differences: Vec<u8> = of_cpu.iter().zip(of_openvino.iter()).map(|(a, b)| a.abs_diff(*b)).collect();
    let mean = differences.iter().map(|d| f64::from(*d)).sum::<f64>() / differences.len() as f64;
    assert!(mean < 0.1 && differences.iter().all(|d| *d <= 4), "mean {mean}, most {:?}", differences.iter().max());
}

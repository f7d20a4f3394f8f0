//! The ONNX Runtime library that tests run on.

use cyclorama_node::config::{Config, environment};
use cyclorama_node::diffusion::OnnxRuntime;
use std::path::PathBuf;
use std::process::Command;

pub fn runtime() -> OnnxRuntime {
    OnnxRuntime::load(Some(&library())).unwrap()
}

/// Returns the library that a node in this environment would load, or otherwise the pinned one.
pub fn library() -> PathBuf {
    let configured = Config::load(None, environment).unwrap().local.onnx_runtime;
    configured.unwrap_or_else(|| fetched(&[]))
}

/// Returns a pinned build of the library, fetched on first use. `arguments` name the build, as for
/// `scripts/onnxruntime.sh`.
pub fn fetched(arguments: &[&str]) -> PathBuf {
    let output = Command::new("../scripts/onnxruntime.sh").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

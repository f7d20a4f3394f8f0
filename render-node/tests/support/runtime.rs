//! The ONNX Runtime library that tests run on.

use cyclorama_node::config::environment;
use cyclorama_node::diffusion::OnnxRuntime;
use std::path::Path;

pub fn runtime() -> OnnxRuntime {
    let path = environment("ORT_DYLIB_PATH").expect("ORT_DYLIB_PATH names the ONNX Runtime library: run `make test`, or export ORT_DYLIB_PATH=$(scripts/onnxruntime.sh)");
    OnnxRuntime::load(Some(Path::new(&path))).unwrap()
}

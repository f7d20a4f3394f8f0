//! The node program: its path, and the environment with which it is started.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (Environment variables of the embedded node).

use crate::config::farm::FarmSettings;
use std::path::PathBuf;
use tokio::process::Command;

const NAME: &str = "cyclorama-node";

/// Variables of the service's environment that a node gets: a process that loads graphics drivers
/// and models gets those that they read, and none of the service's secrets, whatever their names. A
/// name that ends in `*` stands for all names with this prefix.
const GIVEN: &[&str] = &[
    // Paths of programs and files, and the language.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_*",
    // Libraries and memory.
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "GLIBC_TUNABLES",
    "MALLOC_*",
    "MIMALLOC_*",
    // Logs and threads.
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "OMP_*",
    "KMP_*",
    "MKL_*",
    // Graphics: the Vulkan loader, Mesa, wgpu, displays.
    "VK_*",
    "MESA_*",
    "LP_*",
    "GALLIUM_*",
    "LIBGL_*",
    "DRI_PRIME",
    "NODEVICE_SELECT",
    "RADV_*",
    "ANV_*",
    "INTEL_*",
    "AMD_*",
    "__EGL_*",
    "__GL_*",
    "__GLX_*",
    "__NV_*",
    "EGL_*",
    "WGPU_*",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    // Models: ONNX Runtime and the libraries with which it runs them.
    "ORT_*",
    "CUDA_*",
    "CUDNN_*",
    "CUBLAS_*",
    "NVIDIA_*",
    "TENSORRT_*",
    "ROCR_*",
    "ROCM_*",
    "HIP_*",
    "HSA_*",
    "GPU_*",
    "OPENVINO_*",
    "OV_*",
    "ZE_*",
    "ONEAPI_*",
    "SYCL_*",
    "OCL_*",
    "OPENCL_*",
    // The network path to a bucket, to which nodes upload themselves.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // The node's own settings, and traces.
    "CYCLORAMA_NODE_*",
    "OTEL_*",
];

/// Returns true for names that match [`GIVEN`] but are withheld all the same: the service's own
/// name, and headers, which contain a collector's key.
fn is_kept(name: &str) -> bool {
    name == "OTEL_SERVICE_NAME" || (name.starts_with("OTEL_") && name.ends_with("_HEADERS"))
}

fn is_given(name: &str) -> bool {
    let matches = |given: &&str| match given.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *given,
    };
    GIVEN.iter().any(matches) && !is_kept(name)
}

/// Returns the configured path, else that of the program beside this one, else the bare name, which
/// the system looks up in PATH.
pub fn path(farm: &FarmSettings) -> PathBuf {
    if let Some(set) = &farm.node_binary {
        return set.clone();
    }
    let beside = std::env::current_exe().ok().and_then(|own| own.parent().map(|folder| folder.join(NAME)));
    match beside {
        Some(beside) if beside.is_file() => beside,
        _ => PathBuf::from(NAME),
    }
}

/// Limits glibc's allocator to two pools of memory instead of eight for each core. Every thread of
/// a node comes to hold planes of megabytes, and an idle pool keeps its memory: a sixth of a node's
/// memory. Other C libraries ignore the variable.
const ALLOCATOR: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2");

/// Returns a command of the node program with the service's settings for it. Children are
/// killed when dropped.
#[expect(clippy::disallowed_methods, reason = "hands parts of this process's environment on to a child")]
pub fn command(farm: &FarmSettings) -> Command {
    let mut command = Command::new(path(farm));
    command.kill_on_drop(true);
    command.env_clear();
    // Names that are not valid text match none of the given ones.
    command.envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_given)));
    if std::env::var_os(ALLOCATOR.0).is_none() {
        command.env(ALLOCATOR.0, ALLOCATOR.1);
    }
    // Mesa's layer that puts one card first searches for a display, and complains on standard error
    // if there is none. Nodes choose the card themselves.
    if ["MESA_VK_DEVICE_SELECT", "NODEVICE_SELECT"].iter().all(|name| std::env::var_os(name).is_none()) {
        command.env("NODEVICE_SELECT", "1");
    }
    if let Some(library) = &farm.ort_dylib_path {
        command.env("ORT_DYLIB_PATH", library);
    }
    if let Some(models) = &farm.models {
        command.env("CYCLORAMA_NODE_MODELS", models);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_given_what_drivers_look_for_and_no_secret() {
        for name in [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "LD_LIBRARY_PATH",
            "VK_DRIVER_FILES",
            "LP_NUM_THREADS",
            "ORT_DYLIB_PATH",
            "CUDA_VISIBLE_DEVICES",
            "NVIDIA_VISIBLE_DEVICES",
            "WGPU_BACKEND",
            "CYCLORAMA_NODE_ADAPTER",
            "OTEL_TRACES_SAMPLER",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        ] {
            assert!(is_given(name), "{name}");
        }
        for name in [
            "CYCLORAMA_DATABASE_URL",
            "CYCLORAMA_OPERATOR_TOKEN",
            "CYCLORAMA_STRIPE_SECRET_KEY",
            "CYCLORAMA_SMTP_URL",
            "CYCLORAMA_KEY",
            "CYCLORAMA_NODE",
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "OTEL_SERVICE_NAME",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "HUSH",
            "",
        ] {
            assert!(!is_given(name), "{name}");
        }
    }
}

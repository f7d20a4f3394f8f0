//! The execution provider that runs a model's graph inside ONNX Runtime: the one that the operator
//! chose, and never another one in its place.
//!
//! Why: `docs/decisions/diffusion-and-models.md` (Which ONNX Runtime provider runs models).

use crate::diffusion::run_memory::RunMemory;
use ort::ep::{self, ArbitrarilyConfigurableExecutionProvider, ExecutionProvider, ExecutionProviderDispatch};
use ort::memory::AllocationDevice;
use std::fmt;

/// An execution provider of ONNX Runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Cpu,
    Cuda,
    /// TensorRT runs what it can, and CUDA the rest.
    TensorRt,
    /// OpenVINO, which runs on the CPU here.
    OpenVino,
    WebGpu,
}

/// The operator's choice of an execution provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderChoice {
    /// The first of [`Provider::AUTO`] that the library was built with.
    Auto,
    Only(Provider),
}

impl Provider {
    pub const ALL: [Provider; 5] =
        [Provider::Cpu, Provider::Cuda, Provider::TensorRt, Provider::OpenVino, Provider::WebGpu];

    /// Providers that `auto` tries, best first. A library built with one of the first two is
    /// installed for its sake. TensorRT takes minutes to prepare a model, so it must be chosen
    /// explicitly, and WebGPU is slower than the others where one of them runs.
    pub(super) const AUTO: [Provider; 3] = [Provider::Cuda, Provider::OpenVino, Provider::Cpu];

    /// Returns the name that settings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provider::Cpu => "cpu",
            Provider::Cuda => "cuda",
            Provider::TensorRt => "tensorrt",
            Provider::OpenVino => "openvino",
            Provider::WebGpu => "webgpu",
        }
    }

    /// Returns the name that ONNX Runtime uses.
    pub const fn onnx_name(self) -> &'static str {
        match self {
            Provider::Cpu => ep::CPU::NAME,
            Provider::Cuda => ep::CUDA::NAME,
            Provider::TensorRt => ep::TensorRT::NAME,
            Provider::OpenVino => ep::OpenVINO::NAME,
            Provider::WebGpu => ep::WebGPU::NAME,
        }
    }

    /// Returns true if the library was built with this provider. The machine may still lack what
    /// the provider needs.
    pub(super) fn is_built_in(self) -> bool {
        let built_in = match self {
            Provider::Cpu => ep::CPU::is_available(),
            Provider::Cuda => ep::CUDA::is_available(),
            Provider::TensorRt => ep::TensorRT::is_available(),
            Provider::OpenVino => ep::OpenVINO::is_available(),
            Provider::WebGpu => ep::WebGPU::is_available(),
        };
        built_in.unwrap_or(false)
    }

    /// Returns the device on which graphs leave outputs that only other graphs read.
    pub(super) fn memory(self) -> AllocationDevice<'static> {
        match self {
            Provider::Cuda | Provider::TensorRt => AllocationDevice::CUDA,
            Provider::Cpu | Provider::OpenVino => AllocationDevice::CPU,
            Provider::WebGpu => AllocationDevice::WEBGPU_BUFFER,
        }
    }

    /// Returns the registrations of the provider for a session of its own with `threads` threads.
    /// Creating the session fails if the provider does not start.
    pub(super) fn registrations(self, threads: usize, memory: RunMemory) -> Vec<ExecutionProviderDispatch> {
        let registrations = match self {
            Provider::Cpu => {
                vec![ep::CPU::default().with_arena_allocator(memory == RunMemory::Kept).build()]
            }
            Provider::Cuda => vec![ep::CUDA::default().build()],
            Provider::TensorRt => vec![ep::TensorRT::default().build(), ep::CUDA::default().build()],
            Provider::OpenVino => {
                let openvino = ep::OpenVINO::default().with_device_type("CPU").with_num_threads(threads);
                // OpenVINO computes in bf16 where the processor has instructions for it, and in f32
                // elsewhere.
                let precision = r#"{"CPU": {"INFERENCE_PRECISION_HINT": "bf16"}}"#;
                vec![openvino.with_arbitrary_config("load_config", precision).build()]
            }
            Provider::WebGpu => vec![ep::WebGPU::default().build()],
        };
        registrations.into_iter().map(ExecutionProviderDispatch::error_on_failure).collect()
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! One ONNX graph of a model: opened on the operator's provider, its tensors checked against those
//! that a pipeline expects, run with bound inputs, and its failures classified. The owner of a
//! graph knows what the tensors mean.

use super::diffusion_error::DiffusionError;
use super::onnx_file::OnnxFile;
use super::run_memory::RunMemory;
use super::{ModelFolder, OnnxRuntime, Provider, fused_attention};
use half::f16;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{IoBinding, Session};
use ort::value::{DynValue, Outlet, Tensor, TensorElementType, ValueType};
use std::fmt;
use std::path::Path;

/// Session option: the folder with the external weights of a graph that is loaded from memory.
const WEIGHTS_FOLDER: &str = "session.model_external_initializers_file_folder_path";

/// An opened graph with the names that its errors report.
pub struct Graph {
    pub session: Session,
    provider: Provider,
    model: String,
    /// Path in the model's folder.
    file: String,
}

/// Types of numbers that a tensor may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    Float32,
    /// Floats of 16 or 32 bits.
    Floats,
    /// Integers of 32 or 64 bits.
    Integers,
    /// Any of the above.
    Any,
}

/// A tensor that a pipeline gives to a graph or takes from it. `None` stands for any size; a
/// dynamic dimension of the graph fits every size.
#[derive(Debug, Clone)]
pub struct ExpectedTensor {
    pub name: String,
    pub numbers: Numbers,
    pub shape: Vec<Option<usize>>,
}

/// Treatment of outputs of a graph that are not expected. No code reads such outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherOutputs {
    Refused,
    Ignored,
}

pub fn expected(name: &str, numbers: Numbers, shape: &[Option<usize>]) -> ExpectedTensor {
    ExpectedTensor { name: name.to_owned(), numbers, shape: shape.to_vec() }
}

impl Graph {
    /// Opens the graph `file` of a model folder. Returns an error if the lock does not list it, the
    /// provider does not start, or ONNX Runtime cannot load it.
    pub fn open(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        file: &str,
        memory: RunMemory,
    ) -> Result<Self, DiffusionError> {
        folder.expect_listed(file)?;
        // As many threads as this process may use (containers and cpusets counted). More would only
        // compete with each other.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let prepare = || -> ort::Result<SessionBuilder> {
            Ok(Session::builder(&runtime.environment)?
                .with_no_environment_execution_providers()?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_intra_threads(threads)?
                .with_inter_threads(1)?
                .with_memory_pattern(memory == RunMemory::GivenBack)?
                .with_device_allocated_initializers()?
                // Idle threads sleep, because a service on the same machine answers requests
                // between renders.
                .with_intra_op_spinning(false)?)
        };
        let load =
            |source| DiffusionError::Load { model: folder.id().to_owned(), file: folder.with_weights(file), source };
        let builder = prepare().map_err(load)?;
        let registered = builder.with_execution_providers(provider.registrations(threads, memory));
        let builder = registered.map_err(|error| DiffusionError::Provider { provider, source: error.into() })?;
        let session = commit(builder, provider, &folder.path(file)).map_err(load)?;
        Ok(Self { session, provider, model: folder.id().to_owned(), file: file.to_owned() })
    }

    pub fn has_input(&self, name: &str) -> bool {
        self.session.inputs().iter().any(|input| input.name() == name)
    }

    /// Returns the name of the graph's output. Returns an error unless there is exactly one.
    pub fn only_output(&self) -> Result<String, DiffusionError> {
        match self.session.outputs() {
            [only] => Ok(only.name().to_owned()),
            several => {
                let names: Vec<&str> = several.iter().map(Outlet::name).collect();
                Err(self.signature(format!("it has the outputs {}, where one is expected", names.join(", "))))
            }
        }
    }

    /// Returns the first dimension of input `name` if the file fixes it.
    pub fn fixed_batch(&self, name: &str) -> Option<usize> {
        let input = self.session.inputs().iter().find(|input| input.name() == name)?;
        shape_of(input).first().and_then(|batch| usize::try_from(*batch).ok())
    }

    /// Returns the size of dimension `axis` of output `name`, or `None` if it does not exist or is
    /// dynamic.
    pub fn output_size(&self, name: &str, axis: usize) -> Option<usize> {
        let output = self.session.outputs().iter().find(|output| output.name() == name)?;
        shape_of(output).get(axis).and_then(|size| usize::try_from(*size).ok())
    }

    /// Returns true if input `name` takes 16-bit floats.
    pub fn input_is_half(&self, name: &str) -> bool {
        let is_half =
            |input: &Outlet| matches!(input.dtype(), ValueType::Tensor { ty: TensorElementType::Float16, .. });
        self.session.inputs().iter().any(|input| input.name() == name && is_half(input))
    }

    /// Returns the number of dimensions of input `name`.
    pub fn input_rank(&self, name: &str) -> usize {
        self.session.inputs().iter().find(|input| input.name() == name).map_or(0, |input| shape_of(input).len())
    }

    /// Returns an error unless every expected input exists with its numbers and shape, and no
    /// other, and the same holds for outputs. `other_outputs` may allow more outputs.
    pub fn check(
        &self,
        inputs: &[ExpectedTensor],
        outputs: &[ExpectedTensor],
        other_outputs: OtherOutputs,
    ) -> Result<(), DiffusionError> {
        let extra = |kind: &str, found: &[Outlet], expected: &[ExpectedTensor]| {
            let extra = found.iter().find(|o| !expected.iter().any(|expected| expected.name == o.name()));
            extra.map(|extra| {
                let names: Vec<String> = expected.iter().map(|expected| format!("`{}`", expected.name)).collect();
                format!("it has an {kind} `{}`; expected are {}", extra.name(), names.join(", "))
            })
        };
        let mut wrong = extra("input", self.session.inputs(), inputs);
        if other_outputs == OtherOutputs::Refused {
            wrong = wrong.or_else(|| extra("output", self.session.outputs(), outputs));
        }
        let wrong = wrong
            .or_else(|| misfit("input", self.session.inputs(), inputs))
            .or_else(|| misfit("output", self.session.outputs(), outputs));
        wrong.map_or(Ok(()), |detail| Err(self.signature(detail)))
    }

    pub fn signature(&self, detail: String) -> DiffusionError {
        DiffusionError::Signature { model: self.model.clone(), file: self.file.clone(), detail }
    }

    /// Returns the error for a failed run: out of memory, or any other failure.
    pub fn failed(&self, source: ort::Error) -> DiffusionError {
        let (model, file) = (self.model.clone(), self.file.clone());
        // ONNX Runtime has no error code for exhausted memory; these are the messages of its
        // allocators.
        let exhausted = ["Failed to allocate memory", "bad_alloc", "out of memory"]
            .iter()
            .any(|text| source.message().contains(text));
        if exhausted {
            DiffusionError::OutOfMemory { model, file, source }
        } else {
            DiffusionError::Inference { model, file, source }
        }
    }

    /// Returns `values`, which were computed from the graph's outputs, or an error if one of them
    /// is not a finite number.
    pub fn finite(&self, values: Vec<f32>) -> Result<Vec<f32>, DiffusionError> {
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(DiffusionError::NotFinite { model: self.model.clone(), file: self.file.clone() }),
        }
    }

    /// Returns a binding of inputs and outputs by name. A tensor that stays the same between runs
    /// is bound once, and copied to the device once.
    pub fn binding(&self) -> Result<IoBinding, DiffusionError> {
        self.session.create_binding().map_err(|source| self.failed(source))
    }

    /// Binds `values` to input `name`, converted to the numbers that the input takes.
    pub fn bind(
        &self,
        binding: &mut IoBinding,
        name: &str,
        shape: &[usize],
        values: &[f32],
    ) -> Result<(), DiffusionError> {
        let input = self.session.inputs().iter().find(|input| input.name() == name).map(Outlet::dtype);
        let numbers = match input {
            Some(ValueType::Tensor { ty, .. }) => *ty,
            _ => return Err(self.signature(format!("it has no input `{name}`"))),
        };
        let tensor = || -> ort::Result<DynValue> {
            Ok(match numbers {
                TensorElementType::Float16 => {
                    Tensor::from_array((shape, values.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>()))?
                        .into_dyn()
                }
                TensorElementType::Int64 => {
                    Tensor::from_array((shape, values.iter().map(|v| *v as i64).collect::<Vec<_>>()))?.into_dyn()
                }
                TensorElementType::Int32 => {
                    Tensor::from_array((shape, values.iter().map(|v| *v as i32).collect::<Vec<_>>()))?.into_dyn()
                }
                _ => Tensor::from_array((shape, values.to_vec()))?.into_dyn(),
            })
        };
        let bound = tensor().and_then(|tensor| binding.bind_input(name, &tensor));
        bound.map_err(|source| self.failed(source))
    }

    /// Binds the output of another graph on the same device to input `name`.
    pub fn bind_value(&self, binding: &mut IoBinding, name: &str, value: &DynValue) -> Result<(), DiffusionError> {
        binding.bind_input(name, value).map_err(|source| self.failed(source))
    }

    /// Leaves output `name` on the device, where the next graph reads it.
    pub fn bind_output_on_device(&self, binding: &mut IoBinding, name: &str) -> Result<(), DiffusionError> {
        self.bind_output(binding, name, self.provider.memory())
    }

    /// Copies output `name` to memory that the CPU can read.
    pub fn bind_output_here(&self, binding: &mut IoBinding, name: &str) -> Result<(), DiffusionError> {
        self.bind_output(binding, name, AllocationDevice::CPU)
    }

    fn bind_output(
        &self,
        binding: &mut IoBinding,
        name: &str,
        device: AllocationDevice<'static>,
    ) -> Result<(), DiffusionError> {
        let memory_type = if device == AllocationDevice::CPU { MemoryType::CPUOutput } else { MemoryType::Default };
        let bound = MemoryInfo::new(device, 0, AllocatorType::Device, memory_type)
            .and_then(|memory| binding.bind_output_to_device(name, &memory));
        bound.map_err(|source| self.failed(source))
    }

    /// Runs the graph with what is bound, and returns the named outputs, in their order.
    pub fn run(&mut self, binding: &IoBinding, names: &[&str]) -> Result<Vec<DynValue>, DiffusionError> {
        let taken = match self.session.run_binding(binding) {
            Ok(mut outputs) => Ok(names.iter().map(|name| outputs.remove(name)).collect::<Option<Vec<_>>>()),
            Err(source) => Err(source),
        };
        match taken {
            Ok(Some(values)) => Ok(values),
            Ok(None) => Err(self.signature(format!("it does not return {}", names.join(", ")))),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Returns the numbers of an output, or an error unless there are `count` of them.
    pub fn floats(&self, name: &str, value: &DynValue, count: usize) -> Result<Vec<f32>, DiffusionError> {
        let floats = match value.dtype() {
            ValueType::Tensor { ty: TensorElementType::Float16, .. } => {
                value.try_extract_tensor::<f16>().map(|(_, values)| values.iter().map(|v| v.to_f32()).collect())
            }
            _ => value.try_extract_tensor::<f32>().map(|(_, values)| values.to_vec()),
        };
        let floats: Vec<f32> = floats.map_err(|source| self.failed(source))?;
        // Only now is the size of a dynamic output known.
        if floats.len() != count {
            return Err(self.signature(format!("output `{name}` has {} values, not {count}", floats.len())));
        }
        Ok(floats)
    }
}

/// Loads the graph. On the CPU each attention becomes one node, and weights stay in the file, from
/// which the system reads them when they are needed, without a second copy in memory. Elsewhere,
/// and if the file is not understood, the graph is loaded as it is.
fn commit(mut builder: SessionBuilder, provider: Provider, path: &Path) -> ort::Result<Session> {
    let read = if provider == Provider::Cpu { OnnxFile::read(path).ok() } else { None };
    match (read, path.parent().and_then(Path::to_str)) {
        (Some(mut graph), Some(folder)) => {
            let attentions = fused_attention::fuse(&mut graph);
            tracing::debug!(graph = %path.display(), attentions, "weights stay in the file, attentions are one node each");
            builder.with_config_entry(WEIGHTS_FOLDER, folder)?.commit_from_memory(&graph.encode())
        }
        _ => builder.commit_from_file(path),
    }
}

fn shape_of(outlet: &Outlet) -> &[i64] {
    match outlet.dtype() {
        ValueType::Tensor { shape, .. } => shape,
        _ => &[],
    }
}

fn misfit(kind: &str, found: &[Outlet], expected: &[ExpectedTensor]) -> Option<String> {
    expected.iter().find_map(|expected| {
        let Some(outlet) = found.iter().find(|o| o.name() == expected.name) else {
            return Some(format!("it has no {kind} `{}`", expected.name));
        };
        let fits = match outlet.dtype() {
            ValueType::Tensor { ty, shape, .. } => {
                let sizes = shape.iter().zip(&expected.shape);
                expected.numbers.include(*ty)
                    && shape.len() == expected.shape.len()
                    && sizes.into_iter().all(|(found, wanted)| *found < 0 || wanted.is_none_or(|w| *found == w as i64))
            }
            _ => false,
        };
        (!fits).then(|| format!("{kind} `{}` is {}, not {expected}", expected.name, outlet.dtype()))
    })
}

impl Numbers {
    fn include(self, found: TensorElementType) -> bool {
        use TensorElementType::{Float16, Float32, Int32, Int64};
        match self {
            Numbers::Float32 => found == Float32,
            Numbers::Floats => matches!(found, Float32 | Float16),
            Numbers::Integers => matches!(found, Int32 | Int64),
            Numbers::Any => matches!(found, Float32 | Float16 | Int32 | Int64),
        }
    }
}

impl fmt::Display for ExpectedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = match self.numbers {
            Numbers::Float32 => "32-bit floats",
            Numbers::Floats => "floats",
            Numbers::Integers => "integers",
            Numbers::Any => "numbers",
        };
        let sizes: Vec<String> = self.shape.iter().map(|d| d.map_or("N".to_owned(), |d| d.to_string())).collect();
        write!(f, "{numbers} of [{}]", sizes.join(", "))
    }
}

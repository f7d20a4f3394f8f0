//! The UNet and its ControlNet. No other module knows their tensor names.
//!
//! A ControlNet is a graph of its own, whose outputs the UNet takes as further inputs, or is part
//! of the UNet's graph, which then takes the control image itself. The names are those of Optimum's
//! export and of the scripts by which ControlNets are exported. Where those differ, the order and
//! the number of dimensions tell what a tensor is.

use super::layout::{self, PipelineLayout};
use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::graph::{ExpectedTensor, Graph, Numbers, OtherOutputs, expected};
use crate::diffusion::model_folder::ModelFolder;
use crate::diffusion::run_memory::RunMemory;
use crate::diffusion::{OnnxRuntime, Provider};
use ort::session::IoBinding;

const SAMPLE: &str = "sample";
const TIMESTEP: &str = "timestep";
const TIMESTEP_COND: &str = "timestep_cond";
const HIDDEN_STATES: &str = "encoder_hidden_states";
const TEXT_EMBEDS: &str = "text_embeds";
const TIME_IDS: &str = "time_ids";
const CONTROL_PICTURES: [&str; 2] = ["controlnet_cond", "controlnet_conds"];
const CONTROL_SCALES: [&str; 3] = ["conditioning_scale", "conditioning_scales", "controlnet_scales"];
/// Prefixes of the names of inputs that a UNet takes from a ControlNet: for its downward blocks,
/// and for its middle block.
const RESIDUALS: [&str; 2] = ["down_block_additional_residual", "mid_block_additional_residual"];

/// Height, width, and where they were cut from: twice the size of the image, from its corner.
const TIME_IDS_WIDTH: usize = 6;
const CONTROL_CHANNELS: usize = 3;

/// The denoiser, with its ControlNet if the pipeline has one.
pub struct Unet {
    graph: Graph,
    output: String,
    control: ControlNet,
    /// Channels and side of the latents.
    channels: usize,
    side: usize,
    tokens: usize,
    width: usize,
    pooled_width: usize,
    guidance_width: Option<usize>,
    control_side: usize,
}

enum ControlNet {
    None,
    /// In the UNet's graph.
    Fused,
    Separate {
        graph: Graph,
        outputs: Vec<String>,
        residuals: Vec<String>,
    },
}

/// Inputs that stay the same in all steps, for a batch: rows one after the other.
pub struct Conditions {
    pub hidden: Vec<f32>,
    /// Pooled embeddings and sizes, for SDXL.
    pub pooled: Vec<f32>,
    pub time_ids: Vec<f32>,
    /// The guidance's embedding, if the guidance is distilled into the model.
    pub guidance: Vec<f32>,
    /// Red, green and blue planes, 0 to 1.
    pub control: Vec<f32>,
    pub control_scale: f32,
}

/// A run of several steps with the same conditions.
pub struct Run {
    count: usize,
    unet: IoBinding,
    control_net: Option<IoBinding>,
}

/// Sizes of a denoiser's inputs.
pub struct UnetSize {
    /// Number of tokens of a prompt.
    pub tokens: usize,
    /// Width of the pooled embedding; 0 without one.
    pub pooled_width: usize,
    /// Side of the image in pixels.
    pub picture_side: usize,
}

impl Unet {
    /// Opens the graphs. Returns an error if their tensors are not those that the layout requires.
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        layout: &PipelineLayout,
        UnetSize { tokens, pooled_width, picture_side }: UnetSize,
    ) -> Result<Self, DiffusionError> {
        let graph = Graph::open(runtime, provider, folder, layout::UNET, RunMemory::Kept)?;
        let output = graph.only_output()?;
        let channels = layout.unet.in_channels;
        let width = layout.unet.cross_attention_dim;
        let guidance_width = layout.unet.time_cond_proj_dim;
        let mut unet = Self {
            graph,
            output,
            control: ControlNet::None,
            channels,
            side: picture_side / layout.pixels_per_latent(),
            tokens,
            width,
            pooled_width,
            guidance_width,
            control_side: picture_side,
        };
        let residuals = unet.residuals();
        let fused = has_any(&unet.graph, &CONTROL_PICTURES);
        let mut inputs = unet.expected(&unet.graph);
        inputs.extend(guidance_width.map(|width| expected(TIMESTEP_COND, Numbers::Floats, &[None, Some(width)])));
        if fused {
            inputs.extend(unet.expected_control(&unet.graph));
        }
        let four = |name: &String| expected(name, Numbers::Floats, &[None; 4]);
        inputs.extend(residuals.iter().map(four));
        let outputs = [expected(&unet.output, Numbers::Floats, &unet.latents())];
        unet.graph.check(&inputs, &outputs, OtherOutputs::Refused)?;
        if layout.control_net {
            unet.control = unet.load_control_net(runtime, provider, folder, residuals)?;
        } else if fused {
            unet.control = ControlNet::Fused;
        } else if !residuals.is_empty() {
            let detail = format!(
                "it takes `{}` and {} more from a ControlNet, and there is no {}",
                residuals[0],
                residuals.len() - 1,
                layout::CONTROL_NET
            );
            return Err(unet.graph.signature(detail));
        }
        Ok(unet)
    }

    /// Returns `fp16` or `fp32`: the type of numbers it takes.
    pub fn precision(&self) -> &'static str {
        if self.graph.input_is_half(SAMPLE) { "fp16" } else { "fp32" }
    }

    /// Returns true if it takes a control image.
    pub fn is_controlled(&self) -> bool {
        !matches!(self.control, ControlNet::None)
    }

    /// Returns true if the ControlNet's outputs can be scaled.
    pub fn scales_control(&self) -> bool {
        match &self.control {
            ControlNet::None => false,
            ControlNet::Fused => has_any(&self.graph, &CONTROL_SCALES),
            ControlNet::Separate { graph, .. } => has_any(graph, &CONTROL_SCALES),
        }
    }

    /// Returns the number of samples in a batch if the files fix it.
    pub fn fixed_batch(&self) -> Option<usize> {
        let control_net = match &self.control {
            ControlNet::Separate { graph, .. } => graph.fixed_batch(SAMPLE),
            ControlNet::None | ControlNet::Fused => None,
        };
        self.graph.fixed_batch(SAMPLE).or(control_net)
    }

    /// Binds the inputs that stay the same, for `count` samples.
    pub fn begin(&self, conditions: &Conditions, count: usize) -> Result<Run, DiffusionError> {
        let mut unet = self.graph.binding()?;
        self.bind_conditions(&self.graph, &mut unet, conditions, count)?;
        if let Some(width) = self.guidance_width {
            self.graph.bind(&mut unet, TIMESTEP_COND, &[count, width], &conditions.guidance)?;
        }
        self.graph.bind_output_here(&mut unet, &self.output)?;
        let control_net = match &self.control {
            ControlNet::None | ControlNet::Fused => None,
            ControlNet::Separate { graph, outputs, .. } => {
                let mut binding = graph.binding()?;
                self.bind_conditions(graph, &mut binding, conditions, count)?;
                for output in outputs {
                    graph.bind_output_on_device(&mut binding, output)?;
                }
                Some(binding)
            }
        };
        Ok(Run { count, unet, control_net })
    }

    /// Returns the model's output for each sample, one after the other.
    pub fn predict(&mut self, run: &mut Run, samples: &[f32], timestep: f32) -> Result<Vec<f32>, DiffusionError> {
        let shape = [run.count, self.channels, self.side, self.side];
        if let (ControlNet::Separate { graph, outputs, residuals }, Some(binding)) =
            (&mut self.control, &mut run.control_net)
        {
            bind_step(graph, binding, &shape, samples, timestep)?;
            let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
            for (residual, value) in residuals.iter().zip(graph.run(binding, &names)?) {
                self.graph.bind_value(&mut run.unet, residual, &value)?;
            }
        }
        bind_step(&self.graph, &mut run.unet, &shape, samples, timestep)?;
        let values = self.graph.run(&run.unet, &[self.output.as_str()])?;
        self.graph.floats(&self.output, &values[0], samples.len())
    }

    /// Returns `values`, which were computed from its outputs, or an error if one of them is not a
    /// finite number.
    pub fn finite(&self, values: Vec<f32>) -> Result<Vec<f32>, DiffusionError> {
        self.graph.finite(values)
    }

    fn load_control_net(
        &self,
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        residuals: Vec<String>,
    ) -> Result<ControlNet, DiffusionError> {
        let graph = Graph::open(runtime, provider, folder, layout::CONTROL_NET, RunMemory::Kept)?;
        // The outputs are in their own order, which is that of the residuals.
        let outputs: Vec<String> = graph.session.outputs().iter().map(|output| output.name().to_owned()).collect();
        let mut inputs = self.expected(&graph);
        inputs.extend(self.expected_control(&graph));
        let four: Vec<ExpectedTensor> =
            outputs.iter().map(|name| expected(name, Numbers::Floats, &[None; 4])).collect();
        graph.check(&inputs, &four, OtherOutputs::Refused)?;
        if outputs.len() != residuals.len() {
            let detail =
                format!("it has {} outputs where {} takes {} residuals", outputs.len(), layout::UNET, residuals.len());
            return Err(graph.signature(detail));
        }
        Ok(ControlNet::Separate { graph, outputs, residuals })
    }

    /// Returns the names of the UNet's inputs that a ControlNet provides, in the order of the
    /// ControlNet's outputs.
    fn residuals(&self) -> Vec<String> {
        let names = || self.graph.session.inputs().iter().map(|input| input.name());
        let number = |name: &str| name.rsplit('_').next().and_then(|end| end.parse::<u32>().ok());
        let starting = |start: &str| {
            let mut found: Vec<&str> = names().filter(|name| name.starts_with(start)).collect();
            found.sort_by_key(|name| number(name));
            found
        };
        RESIDUALS.iter().flat_map(|start| starting(start)).map(str::to_owned).collect()
    }

    fn latents(&self) -> [Option<usize>; 4] {
        [None, Some(self.channels), Some(self.side), Some(self.side)]
    }

    /// Returns the inputs that the UNet and its ControlNet both take. A time may be one for all
    /// samples or a scalar.
    fn expected(&self, graph: &Graph) -> Vec<ExpectedTensor> {
        let time = vec![None; graph.input_rank(TIMESTEP).min(1)];
        let mut inputs = vec![
            expected(SAMPLE, Numbers::Floats, &self.latents()),
            expected(TIMESTEP, Numbers::Any, &time),
            expected(HIDDEN_STATES, Numbers::Floats, &[None, Some(self.tokens), Some(self.width)]),
        ];
        if self.pooled_width > 0 {
            inputs.push(expected(TEXT_EMBEDS, Numbers::Floats, &[None, Some(self.pooled_width)]));
            inputs.push(expected(TIME_IDS, Numbers::Floats, &[None, Some(TIME_IDS_WIDTH)]));
        }
        inputs
    }

    fn expected_control(&self, graph: &Graph) -> Vec<ExpectedTensor> {
        let picture = CONTROL_PICTURES.into_iter().find(|name| graph.has_input(name)).unwrap_or(CONTROL_PICTURES[0]);
        let scale = CONTROL_SCALES.into_iter().find(|name| graph.has_input(name));
        // Exports for several ControlNets have one more dimension.
        let mut shape = vec![None; graph.input_rank(picture).clamp(4, 5) - 3];
        shape.extend([Some(CONTROL_CHANNELS), Some(self.control_side), Some(self.control_side)]);
        let scale = scale.map(|name| expected(name, Numbers::Floats, &vec![None; graph.input_rank(name)]));
        std::iter::once(expected(picture, Numbers::Floats, &shape)).chain(scale).collect()
    }

    /// Binds those conditions that `graph`, the UNet's or the ControlNet's, takes.
    fn bind_conditions(
        &self,
        graph: &Graph,
        binding: &mut IoBinding,
        conditions: &Conditions,
        count: usize,
    ) -> Result<(), DiffusionError> {
        graph.bind(binding, HIDDEN_STATES, &[count, self.tokens, self.width], &conditions.hidden)?;
        if self.pooled_width > 0 {
            graph.bind(binding, TEXT_EMBEDS, &[count, self.pooled_width], &conditions.pooled)?;
            graph.bind(binding, TIME_IDS, &[count, TIME_IDS_WIDTH], &conditions.time_ids)?;
        }
        if let Some(name) = CONTROL_PICTURES.into_iter().find(|name| graph.has_input(name)) {
            let shape = [1, count, CONTROL_CHANNELS, self.control_side, self.control_side];
            let rank = graph.input_rank(name).min(shape.len());
            graph.bind(binding, name, &shape[shape.len() - rank..], &conditions.control)?;
        }
        if let Some(name) = CONTROL_SCALES.into_iter().find(|name| graph.has_input(name)) {
            graph.bind(binding, name, &vec![1; graph.input_rank(name)], &[conditions.control_scale])?;
        }
        Ok(())
    }
}

fn bind_step(
    graph: &Graph,
    binding: &mut IoBinding,
    shape: &[usize],
    samples: &[f32],
    timestep: f32,
) -> Result<(), DiffusionError> {
    graph.bind(binding, SAMPLE, shape, samples)?;
    graph.bind(binding, TIMESTEP, &vec![1; graph.input_rank(TIMESTEP)], &[timestep])
}

fn has_any(graph: &Graph, names: &[&str]) -> bool {
    names.iter().any(|name| graph.has_input(name))
}

//! A render in progress: a job on its way through the renderer.

use crate::diffusion::DiffusionError;
use crate::engine::order::{RenderRequest, Watch, WatchedRequest};
use crate::engine::render_error::RenderError;
use crate::engine::stages::Stages;
use crate::gate::{self, GateReport};
use crate::studio::{Exposure, Layers, Studio, StudioError};
use cyclorama_core::wire::Stage;
use serde_json::Value;

/// A job that is being rendered, with its intermediate results.
pub struct RenderInProgress<'a> {
    /// Index of the job in its batch.
    pub place: usize,
    pub order: &'a RenderRequest,
    pub watch: Box<Watch<'a>>,
    pub stages: Stages,
    pub triangles: usize,
    /// Number of jobs that went through the model together with this one, itself included.
    pub batch: usize,
    pub shot: Option<StudioState>,
    pub lit: Option<Result<(), RenderError>>,
    pub report: GateReport,
    /// Findings of the gate, one entry for each refused attempt.
    pub refused: Vec<Value>,
}

/// The studio's state of an image: exposed, and developed once its layers are read.
pub struct StudioState {
    pub exposure: Exposure,
    pub developed: Option<RenderLayers>,
}

/// Layers, first in the base shading and then in the model's light.
pub struct RenderLayers {
    pub layers: Layers,
    /// Taken from the base shading.
    pub reference: gate::LightReference,
}

impl StudioState {
    /// Develops the layers unless that is done already.
    pub fn develop(&mut self, studio: &Studio, stages: &mut Stages) -> Result<(), StudioError> {
        Self::developed(&self.exposure, &mut self.developed, studio, stages).map(|_| ())
    }

    /// Returns the content of `developed`, after developing the exposure if it is empty.
    pub fn developed<'a>(
        exposure: &Exposure,
        developed: &'a mut Option<RenderLayers>,
        studio: &Studio,
        stages: &mut Stages,
    ) -> Result<&'a mut RenderLayers, StudioError> {
        let made = match developed.take() {
            Some(made) => made,
            None => {
                let layers = studio.develop(exposure)?;
                stages.end(Stage::Gbuffer);
                let reference = gate::LightReference::of(&layers, &exposure.conditioning);
                stages.end(Stage::Gate);
                RenderLayers { layers, reference }
            }
        };
        Ok(developed.insert(made))
    }
}

impl<'a> RenderInProgress<'a> {
    pub fn new((place, watched): (usize, WatchedRequest<'a>)) -> Self {
        RenderInProgress {
            place,
            stages: Stages::of(&watched.order.trace),
            order: watched.order,
            watch: watched.watch,
            triangles: 0,
            batch: 0,
            shot: None,
            lit: None,
            report: GateReport::default(),
            refused: Vec::new(),
        }
    }

    /// Reports a stage to the job's watch. Returns [`RenderError::Cancelled`] if the job is no
    /// longer wanted.
    pub fn go_on(&mut self, stage: Stage, ratio: f32) -> Result<(), RenderError> {
        if (self.watch)(stage, ratio) { Ok(()) } else { Err(RenderError::Cancelled) }
    }

    /// Attributes the time since the last stage to waiting for the others of the batch.
    pub fn waited(&mut self) {
        self.stages.end_waiting(Stage::Batch);
    }

    /// Runs the gate on the model's light.
    pub fn check_light(&mut self) -> Result<(), RenderError> {
        self.waited();
        match self.lit.take() {
            Some(Err(error @ RenderError::Diffusion(DiffusionError::NotFinite { .. }))) => {
                self.report.findings.push(error.to_string());
            }
            Some(Err(error)) => return Err(error),
            Some(Ok(())) | None => {
                if let Some(StudioState { developed: Some(RenderLayers { layers, reference }), .. }) = &self.shot {
                    self.report = reference.check(layers);
                }
            }
        }
        self.stages.end(Stage::Gate);
        Ok(())
    }
}

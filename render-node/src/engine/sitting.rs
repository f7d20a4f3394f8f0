//! A commission on its way through the renderer.

use crate::diffusion::DiffusionError;
use crate::engine::order::{Commission, Order, Watch};
use crate::engine::render_error::RenderError;
use crate::engine::stages::Stages;
use crate::gate::{self, Verdict};
use crate::studio::{Exposure, Layers, Studio, StudioError};
use cyclorama_core::wire::Stage;
use serde_json::Value;

/// A commission on its way.
pub struct Sitting<'a> {
    /// Among the commissions.
    pub place: usize,
    pub order: &'a Order,
    pub watch: Box<Watch<'a>>,
    pub stages: Stages,
    pub triangles: usize,
    /// How many went through the model with it, itself included.
    pub batch: usize,
    pub shot: Option<Shot>,
    pub lit: Option<Result<(), RenderError>>,
    pub verdict: Verdict,
    /// What the gate found, by attempt.
    pub refused: Vec<Value>,
}

/// A picture in the studio.
pub struct Shot {
    pub exposure: Exposure,
    pub developed: Option<Developed>,
}

/// Layers, first in the base shading and then in the model's light.
pub struct Developed {
    pub layers: Layers,
    /// Of the base shading.
    pub reference: gate::Reference,
}

impl Shot {
    pub fn develop(&mut self, studio: &Studio, stages: &mut Stages) -> Result<(), StudioError> {
        Self::developed(&self.exposure, &mut self.developed, studio, stages).map(|_| ())
    }

    /// What is in `developed`, or is put there.
    pub fn developed<'a>(
        exposure: &Exposure,
        developed: &'a mut Option<Developed>,
        studio: &Studio,
        stages: &mut Stages,
    ) -> Result<&'a mut Developed, StudioError> {
        let made = match developed.take() {
            Some(made) => made,
            None => {
                let layers = studio.develop(exposure)?;
                stages.end(Stage::Gbuffer);
                let reference = gate::Reference::of(&layers, &exposure.conditioning);
                stages.end(Stage::Gate);
                Developed { layers, reference }
            }
        };
        Ok(developed.insert(made))
    }
}

impl<'a> Sitting<'a> {
    pub fn new((place, commission): (usize, Commission<'a>)) -> Self {
        Sitting {
            place,
            stages: Stages::of(&commission.order.trace),
            order: commission.order,
            watch: commission.watch,
            triangles: 0,
            batch: 0,
            shot: None,
            lit: None,
            verdict: Verdict::default(),
            refused: Vec::new(),
        }
    }

    pub fn go_on(&mut self, stage: Stage, share: f32) -> Result<(), RenderError> {
        if (self.watch)(stage, share) { Ok(()) } else { Err(RenderError::Cancelled) }
    }

    /// What was done meanwhile was done for the others of its batch.
    pub fn waited(&mut self) {
        self.stages.end_waiting(Stage::Batch);
    }

    /// The gate for the model's light.
    pub fn judge_light(&mut self) -> Result<(), RenderError> {
        self.waited();
        match self.lit.take() {
            Some(Err(error @ RenderError::Diffusion(DiffusionError::NotFinite { .. }))) => {
                self.verdict.findings.push(error.to_string());
            }
            Some(Err(error)) => return Err(error),
            Some(Ok(())) | None => {
                if let Some(Shot { developed: Some(Developed { layers, reference }), .. }) = &self.shot {
                    self.verdict = reference.judge(layers);
                }
            }
        }
        self.stages.end(Stage::Gate);
        Ok(())
    }
}

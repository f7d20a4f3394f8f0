//! The input and the output of a renderer: jobs, and finished renders.

use crate::studio::Layers;
use cyclorama_core::encoding::Pixmap;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Receipt, Stage};
use cyclorama_core::{Paint, Vehicle, View};

/// A job for the renderer: a vehicle and view to render in one or more paints.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    pub vehicle: Vehicle,
    pub view: View,
    pub colours: Vec<Paint>,
    /// Id of the model.
    pub pipeline: String,
    pub seed: u64,
    /// The trace to which the stages belong.
    pub trace: Trace,
}

/// A finished render.
pub struct Render {
    pub layers: Layers,
    /// In the order of the job's `colours`.
    pub pictures: Vec<(Paint, Pixmap)>,
    /// Record of how the render was made: model and G-buffer digests, seed, steps, device, stage
    /// timings in milliseconds.
    pub receipt: Receipt,
}

/// Called with each stage and the ratio of the whole job that is done (0 to 1); returns true to
/// continue.
pub type Watch<'a> = dyn FnMut(Stage, f32) -> bool + 'a;

/// A job, and the callback that watches it.
pub struct WatchedRequest<'a> {
    pub order: &'a RenderRequest,
    pub watch: Box<Watch<'a>>,
}

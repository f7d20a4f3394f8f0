//! What is asked of a renderer, and what it answers.

use crate::studio::Layers;
use cyclorama_core::encoding::Picture;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Receipt, Stage};
use cyclorama_core::{Paint, Vehicle, View};

/// What to render.
#[derive(Debug, Clone)]
pub struct Order {
    pub vehicle: Vehicle,
    pub view: View,
    pub colours: Vec<Paint>,
    /// Id of the model.
    pub pipeline: String,
    pub seed: u64,
    /// Whose stages these are.
    pub trace: Trace,
}

pub struct Render {
    pub layers: Layers,
    /// In the order's order.
    pub pictures: Vec<(Paint, Picture)>,
    /// What made them: model and G-buffer digests, seed, steps, device, stage timings in milliseconds.
    pub receipt: Receipt,
}

/// Hears of each stage and the share of the whole that is done (0 to 1); answers whether to go on.
pub type Watch<'a> = dyn FnMut(Stage, f32) -> bool + 'a;

/// An order and who watches it.
pub struct Commission<'a> {
    pub order: &'a Order,
    pub watch: Box<Watch<'a>>,
}

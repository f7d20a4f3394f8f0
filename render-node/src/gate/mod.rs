//! The quality gate: the checks that a render must pass before it is stored. Geometry knows where
//! the vehicle is, what is flat and where edges are, and the base shading is right about most of
//! the light: `light` compares a model's layers with them, `picture` compares each finished image
//! with its layers and its paint. The renderer decides what happens to a render that fails.
//!
//! Why: `docs/decisions/quality-gate.md` (Bounds of the quality gate).

mod grey_light;
mod light;
mod outline;
mod picture;

pub use light::LightReference;
pub use picture::check_picture;

use cyclorama_core::Paint;
use serde_json::{Map, Value};

/// The range in which a measured value must lie.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtMost(f32),
    AtLeast(f32),
}

/// Measured values by name, and one line for each that is out of its bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateReport {
    pub figures: Map<String, Value>,
    pub findings: Vec<String>,
}

impl GateReport {
    /// Returns true if every value is within its bounds.
    pub fn passes(&self) -> bool {
        self.findings.is_empty()
    }

    /// Adds the report on one of the images, with its paint as prefix.
    pub fn add_picture(&mut self, paint: Paint, found: GateReport) {
        self.figures.insert(paint.to_string(), found.figures.into());
        self.findings.extend(found.findings.into_iter().map(|finding| format!("{paint}: {finding}")));
    }

    /// Records a measured value, and a finding if it is out of its bound.
    fn hold(&mut self, name: &str, value: f32, bound: Bound) {
        // Three decimals say all there is to say, and people read receipts.
        let rounded = (f64::from(value) * 1000.0).round() / 1000.0;
        self.figures.insert(name.to_owned(), rounded.into());
        // Written so that a value that is not a number fails.
        let (holds, limit) = match bound {
            Bound::AtMost(limit) => (value <= limit, format!("at most {limit}")),
            Bound::AtLeast(limit) => (value >= limit, format!("at least {limit}")),
        };
        if !holds {
            self.findings.push(format!("{name} is {rounded}, {limit} is allowed"));
        }
    }
}

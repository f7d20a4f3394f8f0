//! The quality gate: what has to hold of a render before it is stored. Geometry knows where the vehicle is, what is flat and where
//! edges are, and the base shading is right about most of the light: `light` holds a model's layers against them, `picture`
//! holds each finished picture against its layers and its paint. What happens to a render that fails is the renderer's affair.
//!
//! Why: `docs/decisions/quality-gate.md` (Bounds of the quality gate).

mod grey_light;
mod light;
mod outline;
mod picture;

pub use light::Reference;
pub use picture::judge_picture;

use cyclorama_core::Paint;
use serde_json::{Map, Value};

/// A figure must lie in this range.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtMost(f32),
    AtLeast(f32),
}

/// Figures by name, and one line for each that is out of its bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    pub figures: Map<String, Value>,
    pub findings: Vec<String>,
}

impl Verdict {
    pub fn passes(&self) -> bool {
        self.findings.is_empty()
    }

    /// Takes in what was found on one of the pictures.
    pub fn add_picture(&mut self, paint: Paint, found: Verdict) {
        self.figures.insert(paint.to_string(), found.figures.into());
        self.findings.extend(found.findings.into_iter().map(|finding| format!("{paint}: {finding}")));
    }

    fn hold(&mut self, name: &str, value: f32, bound: Bound) {
        // Three digits tell what there is to tell; a receipt is read by people.
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

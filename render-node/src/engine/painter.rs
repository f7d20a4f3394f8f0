//! Makes images from stored layers, on the CPU: other paints of a vehicle and view that were
//! rendered before.

use crate::engine::stages::Stages;
use crate::finish::{self, Lacquers};
use crate::gate::{self, GateReport};
use cyclorama_core::Paint;
use cyclorama_core::encoding::Pixmap;
use cyclorama_core::wire::{DeviceReceipt, QualityReceipt, Receipt, Stage};

#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    #[error("the stored layers cannot be used")]
    Layers(#[from] finish::StoreError),
    #[error(transparent)]
    Compose(#[from] finish::ComposeError),
    #[error("the picture failed its checks: {0}")]
    Quality(String),
}

/// Layers as `finish::write_layers` packs them.
pub struct StoredLayers {
    pub bytes: bytes::Bytes,
    /// SHA-256 of `bytes`, in hex.
    pub sha256: String,
}

/// The images that a paint job has made.
pub struct PaintedImages {
    /// In the order of the paints.
    pub pictures: Vec<(Paint, Pixmap)>,
    /// Record of how the images were made: the layers' digest, device, stage timings in
    /// milliseconds.
    pub receipt: Receipt,
}

/// Composes and checks an image in each of the paints. `stages` are those of the job so far.
/// Returns an error if the layers cannot be read, an image cannot be composed, or one does not pass
/// the gate.
pub fn paint(layers: &StoredLayers, paints: Vec<Paint>, mut stages: Stages) -> Result<PaintedImages, PaintError> {
    let read = finish::read_layers(&layers.bytes)?;
    let lacquers = Lacquers::over(&read);
    stages.end(Stage::Layers);
    let pictures = paints
        .into_iter()
        .map(|paint| Ok((paint, finish::compose_on_cpu(&lacquers, paint)?)))
        .collect::<Result<Vec<_>, finish::ComposeError>>()?;
    stages.end(Stage::Compose);
    let mut report = GateReport::default();
    for (paint, picture) in &pictures {
        report.add_picture(*paint, gate::check_picture(&lacquers, *paint, picture));
    }
    stages.end(Stage::Gate);
    if !report.passes() {
        return Err(PaintError::Quality(report.findings.join("; ")));
    }
    let receipt = Receipt {
        layers_sha256: Some(layers.sha256.clone()),
        // Paint jobs use no other device, whatever device the node joined with.
        device: Some(DeviceReceipt { name: "cpu".to_owned(), backend: "cpu".to_owned() }),
        quality: Some(QualityReceipt { figures: report.figures.into(), refused: None }),
        timings_ms: stages.timings,
        ..Receipt::default()
    };
    Ok(PaintedImages { pictures, receipt })
}

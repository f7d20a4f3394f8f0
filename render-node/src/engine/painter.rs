//! From stored layers to pictures, on the CPU: other paints of a vehicle and view that were rendered before.

use crate::engine::stages::Stages;
use crate::finish::{self, Lacquers};
use crate::gate::{self, Verdict};
use cyclorama_core::Paint;
use cyclorama_core::encoding::Picture;
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
    /// Of the bytes, in hex.
    pub sha256: String,
}

pub struct Painted {
    /// In the order of the paints.
    pub pictures: Vec<(Paint, Picture)>,
    /// What made them: the layers' digest, device, stage timings in milliseconds.
    pub receipt: Receipt,
}

/// Composes and judges a picture in each of the paints; `stages` are those of the job so far.
pub fn paint(layers: &StoredLayers, paints: Vec<Paint>, mut stages: Stages) -> Result<Painted, PaintError> {
    let read = finish::read_layers(&layers.bytes)?;
    let lacquers = Lacquers::over(&read);
    stages.end(Stage::Layers);
    let pictures = paints
        .into_iter()
        .map(|paint| Ok((paint, finish::compose_on_cpu(&lacquers, paint)?)))
        .collect::<Result<Vec<_>, finish::ComposeError>>()?;
    stages.end(Stage::Compose);
    let mut verdict = Verdict::default();
    for (paint, picture) in &pictures {
        verdict.add_picture(*paint, gate::judge_picture(&lacquers, *paint, picture));
    }
    stages.end(Stage::Gate);
    if !verdict.passes() {
        return Err(PaintError::Quality(verdict.findings.join("; ")));
    }
    let receipt = Receipt {
        layers_sha256: Some(layers.sha256.clone()),
        // Paint jobs use no other device, whatever the node has joined with.
        device: Some(DeviceReceipt { name: "cpu".to_owned(), backend: "cpu".to_owned() }),
        quality: Some(QualityReceipt { figures: verdict.figures.into(), refused: None }),
        timings_ms: stages.timings,
        ..Receipt::default()
    };
    Ok(Painted { pictures, receipt })
}

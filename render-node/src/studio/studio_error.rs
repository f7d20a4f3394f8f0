//! Reasons why the studio has no image of a vehicle.

use super::camera::NothingToSee;
use super::rig::RigError;
use crate::gpu::GpuError;
use cyclorama_core::MASTER_SIDE_PX;

#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// The device failed or ran out of memory.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The mesh has no triangles, or no extent.
    #[error(transparent)]
    Nothing(#[from] NothingToSee),
    /// The mesh contradicts itself or is too large.
    #[error("the vehicle's mesh is broken: {0}")]
    Mesh(String),
    /// The conditioning's side does not divide the master's.
    #[error("a picture of {0} px cannot be made: the side must divide {MASTER_SIDE_PX}")]
    Side(u32),
    /// The exposure is not the studio's latest, so its layers are gone.
    #[error("the studio has taken another picture since")]
    Replaced,
}

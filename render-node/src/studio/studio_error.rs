//! Why the studio has no picture of a vehicle.

use super::camera::NothingToSee;
use super::rig::RigError;
use crate::gpu::GpuError;
use cyclorama_core::MASTER_SIDE_PX;

#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Rig(#[from] RigError),
    #[error(transparent)]
    Nothing(#[from] NothingToSee),
    #[error("the vehicle's mesh is broken: {0}")]
    Mesh(String),
    #[error("a picture of {0} px cannot be made: the side must divide {MASTER_SIDE_PX}")]
    Side(u32),
    #[error("the studio has taken another picture since")]
    Replaced,
}

//! Messages of the node protocol, version 1: JSON over `/node/v1` with a node token as bearer token
//! (see `docs/node-protocol.md`).
//!
//! Both sides ignore unknown fields and allow optional ones to be absent, so either side may be
//! newer. Names that a newer side may add (objects, stages), and documents that every node fills as
//! it likes (receipts, loads), are read as far as they are understood and stored as they were sent.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (Wire types shared by node and control plane).

mod jobs;
mod load;
mod nodes;
mod objects;
mod receipt;
mod stage;
#[cfg(test)]
mod tests;
mod unparsed;

pub use jobs::{
    FailureKind, FailureRequest, Job, JobKind, LeaseRequest, LeaseResponse, ResultRequest, Upload, UploadedObject,
};
pub use load::{CardLoad, MachineLoad};
pub use nodes::{
    CUSTOM_PAINTS, Device, HeartbeatRequest, HeartbeatResponse, JobProgress, JoinRequest, JoinResponse, NodeOrder,
    NodeState, Pipeline,
};
pub use objects::{OBJECT_BYTES_MAX, ObjectName};
pub use receipt::{DeviceReceipt, Light, ModelFileReceipt, ModelReceipt, QualityReceipt, Receipt};
pub use stage::{Stage, StageName};
pub use unparsed::Unparsed;

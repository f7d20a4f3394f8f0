//! The node protocol, version 1 (`docs/node-protocol.md`). Calls carry a node token. Upload and
//! layer URLs carry a secret of the lease instead, as presigned URLs of a bucket would.

pub mod jobs;
pub mod layers;
pub mod nodes;
pub mod uploads;

use super::error::Problem;
use crate::logs::causes;
use crate::objects::ObjectError;
use crate::renders::{NodeError, Stale, UploadError};
use axum::http::StatusCode;

impl From<NodeError> for Problem {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Unknown => Problem::not_found("unknown_node", "This token has no such node: join again."),
            NodeError::Invalid { field, .. } => Problem::bad_parameter(field, format!("{error}.")),
            NodeError::TooMany => Problem::unavailable("at_capacity", format!("{error}.")).retry_after(5),
            NodeError::Store(error) => error.into(),
            NodeError::Database(error) => error.into(),
        }
    }
}

impl From<Stale> for Problem {
    fn from(stale: Stale) -> Self {
        Problem::conflict("stale_fence", format!("{stale}."))
    }
}

impl From<UploadError> for Problem {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Closed => Problem::not_found("closed_address", format!("{error}.")),
            UploadError::Replaced => Problem::conflict("upload_replaced", format!("{error}.")),
            UploadError::TooMany => Problem::unavailable("at_capacity", format!("{error}.")).retry_after(1),
            UploadError::TooLarge { bytes_max } => Problem::too_large(bytes_max),
            UploadError::Unreadable => Problem::bad_request("body_unreadable", format!("{error}.")),
            UploadError::Store(error) => error.into(),
            UploadError::Database(error) => error.into(),
        }
    }
}

/// An error of the store concerns the operator: it is logged here, once, and
/// the node learns only the status.
impl From<ObjectError> for Problem {
    fn from(error: ObjectError) -> Self {
        tracing::error!(error = causes(&error), "the object store failed");
        metrics::counter!("cyclorama_dependency_failures_total", "dependency" => "store").increment(1);
        let (status, retry_after_seconds) = match error {
            ObjectError::Full { .. } => (StatusCode::INSUFFICIENT_STORAGE, 60),
            _ => (StatusCode::SERVICE_UNAVAILABLE, 5),
        };
        Problem::new(status, "dependency_down", "The object store cannot be used at the moment.")
            .retry_after(retry_after_seconds)
    }
}

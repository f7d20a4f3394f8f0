//! Accepting a node's result. All objects are verified, then they get their final keys (`verify`),
//! then the rows change.
//!
//! In this order a row never names an object that was not fully written. A crash in between leaves
//! objects that no row names.

use super::accepting::Accepting;
use super::error::ResultError;
use super::record::ResultOutcome;
use super::verify::VerifiedUpload;
use crate::logs::causes;
use crate::objects::keys;
use crate::renders::Renders;
use crate::renders::signals::Signal;
use crate::renders::staging::owed;
use cyclorama_core::wire::ResultRequest;

/// Maximum size of a receipt that is stored, in bytes. A receipt holds digests and timings: a few
/// kilobytes.
const RECEIPT_BYTES_MAX: usize = 64 * 1024;

impl Renders {
    /// Accepts the result of a job: verifies and publishes its objects and changes the rows.
    /// Returns true if images that existed before have been replaced by a newer revision. Fails
    /// with [`ResultError`] if the lease is over, or if an object is missing or not what the job
    /// requires.
    pub async fn accept(&self, token_id: &str, job_id: &str, result: &ResultRequest) -> Result<bool, ResultError> {
        let job = self.begin_accepting(token_id, job_id, result.fence).await?;
        let closed = self.close_uploads(&job.job_id, job.fence);
        let accepted = self.accept_objects(&job, result).await;
        // A node whose result is refused may upload again. A lease that has ended needs its uploads
        // no more.
        let is_over = matches!(accepted, Ok(_) | Err(ResultError::Stale(_)));
        self.clear_pinned(&job, is_over).await;
        drop(closed);
        accepted
    }

    /// Accepts a result without reading objects, for simulations, which render none: the rows then
    /// name objects that do not exist.
    pub async fn accept_without_objects(&self, token_id: &str, job_id: &str, fence: i64) -> Result<(), ResultError> {
        let job = self.begin_accepting(token_id, job_id, fence).await?;
        let verified = owed(job.kind, &job.colours).into_iter();
        let verified = verified.map(|owed| (owed.name, VerifiedUpload { sha256: "0".repeat(64), bytes: 1 }));
        self.record(&job, &verified.collect(), "{}").await.map(drop)
    }

    async fn accept_objects(&self, job: &Accepting, result: &ResultRequest) -> Result<bool, ResultError> {
        let verified = self.verify_uploads(job, result).await?;
        self.publish(job, &verified).await?;
        let receipt = serde_json::to_string(&result.receipt).unwrap_or_default();
        let receipt =
            if receipt.len() > RECEIPT_BYTES_MAX { "{\"dropped\":\"too large\"}".to_owned() } else { receipt };
        let ResultOutcome { leftovers, replaced } = self.record(job, &verified, &receipt).await?;
        let (vehicle_key, view) = (job.vehicle_key.clone(), job.view.as_str().to_owned());
        self.0.signals.give(Signal::Ended { vehicle_key, view });
        if leftovers {
            self.0.signals.give(Signal::Queued);
        }
        tracing::info!(
            job_id = job.job_id, kind = %job.kind, vehicle = job.vehicle_key, view = %job.view, node_id = job.node_id,
            "a result was accepted"
        );
        Ok(replaced)
    }

    /// Deletes the objects that were pinned for this check of a result, and with `uploads` also
    /// those that the node had uploaded. A failure is logged: the sweep removes what remains.
    async fn clear_pinned(&self, job: &Accepting, uploads: bool) {
        let owed = owed(job.kind, &job.colours).into_iter();
        let removing = async {
            let mut unneeded = Vec::new();
            for owed in owed {
                unneeded.push(keys::pinned(&job.job_id, job.fence, &job.attempt, &owed.name)?);
                if uploads {
                    unneeded.push(keys::staging(&job.job_id, job.fence, &owed.name)?);
                }
            }
            self.remove_all(unneeded).await
        };
        if let Err(error) = removing.await {
            tracing::warn!(job_id = job.job_id, error = causes(&error), "uploads could not be removed");
        }
    }
}

//! The jobs on which this node holds leases: the heartbeat reports them, and a cancellation reaches
//! them.

use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Job, JobProgress, Stage};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One leased job. `(job_id, fence)` identifies the lease.
#[derive(Debug)]
pub struct HeldJob {
    job_id: String,
    fence: i64,
    cancelled: AtomicBool,
    /// The span of the work on the job.
    pub trace: Trace,
    progress: Mutex<(Stage, f32)>,
}

impl HeldJob {
    pub fn new(job: &Job, trace: Trace) -> Self {
        Self {
            job_id: job.job_id.clone(),
            fence: job.fence,
            cancelled: AtomicBool::new(false),
            trace,
            progress: Mutex::new((Stage::Leased, 0.0)),
        }
    }

    /// Records the stage and the ratio of the whole job that is done, 0 to 1.
    pub fn reached(&self, stage: Stage, ratio: f32) {
        *lock(&self.progress) = (stage, ratio);
    }

    /// Returns false once the control plane has reported that nobody waits for the job, or that
    /// another node has it.
    pub fn is_wanted(&self) -> bool {
        !self.cancelled.load(Ordering::Relaxed)
    }
}

/// The held jobs: at most as many as the node has slots, because `agent` takes no more.
#[derive(Debug, Clone, Default)]
pub struct HeldJobs(Arc<Mutex<Vec<Arc<HeldJob>>>>);

impl HeldJobs {
    /// Holds the job until the returned guard is dropped.
    pub fn hold(&self, job: &Job, trace: Trace) -> Holding {
        let held = Arc::new(HeldJob::new(job, trace));
        lock(&self.0).push(held.clone());
        Holding { held, jobs: self.clone() }
    }

    pub fn progress(&self) -> Vec<JobProgress> {
        let of = |job: &Arc<HeldJob>| {
            let (stage, progress) = *lock(&job.progress);
            JobProgress { job_id: job.job_id.clone(), fence: job.fence, stage: stage.into(), progress }
        };
        lock(&self.0).iter().map(of).collect()
    }

    pub fn cancel(&self, job_ids: &[String]) {
        for job in lock(&self.0).iter().filter(|job| job_ids.contains(&job.job_id)) {
            job.cancelled.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// Guard of a held job; dropping it removes the job from the held ones.
pub struct Holding {
    pub held: Arc<HeldJob>,
    jobs: HeldJobs,
}

impl Drop for Holding {
    fn drop(&mut self) {
        lock(&self.jobs.0).retain(|job| !Arc::ptr_eq(job, &self.held));
    }
}

/// Locks a mutex. Nothing panics while it holds one of these locks, and plain values cannot be
/// half-written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

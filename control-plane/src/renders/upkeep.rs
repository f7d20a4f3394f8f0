//! Tasks that run beside requests: the queue's sweep and measurements, and the removal of abandoned
//! uploads and of surplus images in paints that are not presets.

use super::Renders;
use super::queue::MEASURED_EVERY;
use super::results::PAINTS_SWEPT_EVERY;
use super::staging::STAGING_SWEPT_EVERY;
use crate::tasks::every;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Interval at which lost leases are taken back and jobs are dropped that no request waits for. A
/// job that waits a second longer after thirty seconds of silence is no loss.
const QUEUE_SWEPT_EVERY: Duration = Duration::from_secs(1);

impl Renders {
    /// Starts all upkeep tasks, which run until they are aborted. `custom_paints_kept` is the
    /// number of images in paints that are not presets that are kept.
    pub fn start_upkeep(&self, custom_paints_kept: i64) -> Vec<JoinHandle<()>> {
        let renders = || self.clone();
        let mut tasks = vec![
            every(MEASURED_EVERY, "the pace of the farm could not be measured", renders(), |renders| async move {
                renders.measure_pace().await
            }),
            every(MEASURED_EVERY, "the cost of renders could not be measured", renders(), |renders| async move {
                renders.measure_cost().await
            }),
            every(MEASURED_EVERY, "expired jobs could not be deleted", renders(), |renders| async move {
                renders.delete_expired().await.map(drop)
            }),
            every(QUEUE_SWEPT_EVERY, "the render queue could not be swept", renders(), |renders| async move {
                renders.sweep().await
            }),
            every(STAGING_SWEPT_EVERY, "abandoned uploads could not be removed", renders(), |renders| async move {
                renders.sweep_staging(renders.0.clock.now()).await.map(drop)
            }),
            every(
                PAINTS_SWEPT_EVERY,
                "images in custom paints could not be swept",
                (renders(), custom_paints_kept),
                |(renders, kept)| async move { renders.sweep_paints(kept).await },
            ),
        ];
        tasks.extend(self.0.signals.start(&self.0.database));
        tasks
    }
}

//! Periodic tasks that run beside requests.

use crate::clock;
use crate::logs::causes;
use std::error::Error;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Starts a task that runs `work` on a clone of `state` repeatedly until it is aborted, at once the
/// first time and then with a pause of `period`. If `work` fails, the log gets `failure` with the
/// causes, and the task tries again at the next tick.
pub fn every<State, Work, Done, Failure>(
    period: Duration,
    failure: &'static str,
    state: State,
    work: Work,
) -> JoinHandle<()>
where
    State: Clone + Send + 'static,
    Work: Fn(State) -> Done + Send + 'static,
    Done: Future<Output = Result<(), Failure>> + Send,
    Failure: Error + 'static,
{
    tokio::spawn(async move {
        let mut ticks = clock::ticks(period);
        loop {
            ticks.tick().await;
            if let Err(error) = work(state.clone()).await {
                tracing::warn!(error = causes(&error), "{failure}");
            }
        }
    })
}

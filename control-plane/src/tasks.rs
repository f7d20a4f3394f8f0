//! Tasks that run beside requests.

use crate::clock;
use crate::logs::causes;
use std::error::Error;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Starts a task that does `work` on a clone of `state` again and again, with a pause of `period`, the first time at
/// once, until it is aborted. When it fails, the log says `failure` with the causes, and it is tried again at the
/// next turn.
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

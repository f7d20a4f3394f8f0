//! Waiting for a render without a permit.
//!
//! A request that waits for a render gives up its permit for good, so that waiting requests take
//! none from others, however many they are. Until the render is done, its connection can be closed
//! like one that waits for a permit, because the request has cost nothing yet. The work after the
//! render is small, most of it is shared by all waiting requests, and it has limits of its own
//! (`delivery/encoders`, the meter).

use super::places::TurnRef;
use std::task::Poll;

tokio::task_local! {
    static CURRENT: TurnRef;
}

/// The slot of the connection was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this connection was closed to make room for another one")]
pub struct SlotNeeded;

/// Runs the work for the request that has this permit.
pub fn with_turn<F: Future>(turn: TurnRef, work: F) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope(turn, work)
}

/// Returns the permit of the request that this task works for. If there is none, waiting gives
/// nothing back.
pub fn current_turn() -> TurnRef {
    CURRENT.try_with(TurnRef::clone).unwrap_or_default()
}

/// Waits for a render without the request's permit. Fails with [`SlotNeeded`] if another connection
/// needs the slot.
pub async fn for_render<F: Future>(render: F) -> Result<F::Output, SlotNeeded> {
    let mut render = std::pin::pin!(render);
    if let Poll::Ready(ended) = futures::poll!(render.as_mut()) {
        return Ok(ended);
    }
    let Some(aside) = current_turn().set_aside() else { return Ok(render.await) };
    tokio::select! {
        biased;
        ended = render => Ok(ended),
        () = aside.to_leave() => Err(SlotNeeded),
    }
}

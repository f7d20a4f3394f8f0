//! A request that waits for a render has no turn from then on, so that those who wait take none from others, however
//! many they are. Until the render is there its connection can be spared like one that waits for a turn, because what
//! it asks for has cost nothing yet. The rest is little work, most of it the same for all who waited, and bounded by
//! itself (`delivery/encoders`, the meter).

use super::places::TurnRef;
use std::task::Poll;

tokio::task_local! {
    static CURRENT: TurnRef;
}

/// The place of the connection was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another connection needs the place of this one")]
pub struct NoPlace;

/// Does the work for the request that has this turn.
pub fn with_turn<F: Future>(turn: TurnRef, work: F) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope(turn, work)
}

/// The turn of the request that this task works for; where there is none, waiting gives nothing to others.
pub fn current_turn() -> TurnRef {
    CURRENT.try_with(TurnRef::clone).unwrap_or_default()
}

/// Waits for a render without the request's turn.
pub async fn for_render<F: Future>(render: F) -> Result<F::Output, NoPlace> {
    let mut render = std::pin::pin!(render);
    if let Poll::Ready(ended) = futures::poll!(render.as_mut()) {
        return Ok(ended);
    }
    let Some(aside) = current_turn().set_aside() else { return Ok(render.await) };
    tokio::select! {
        biased;
        ended = render => Ok(ended),
        () = aside.to_leave() => Err(NoPlace),
    }
}

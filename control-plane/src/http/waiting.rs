//! A request that waits for a render has no turn meanwhile, so that those who wait take none from others, however many they are. Its connection can
//! be spared like one that waits for a turn: what it asks for has cost nothing yet.

use super::places::Turn;
use std::sync::{Arc, Weak};
use std::task::Poll;

tokio::task_local! {
    static CURRENT: HeldTurn;
}

/// The turn of the request that a task works for. It belongs to the connection, and ends with it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct HeldTurn(Weak<Turn>);

impl HeldTurn {
    /// Of a request without a turn, waiting gives nothing to others.
    pub fn of(turn: Option<&Arc<Turn>>) -> Self {
        HeldTurn(turn.map(Arc::downgrade).unwrap_or_default())
    }

    pub fn current() -> Self {
        CURRENT.try_with(HeldTurn::clone).unwrap_or_default()
    }

    /// The work, done for the request that has this turn.
    pub fn around<F: Future>(self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self, work)
    }
}

/// The place of the connection was needed, or there was no turn for the request after the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no place for the request")]
pub struct NoPlace;

/// The request has no turn. When dropped, its connection is listed no longer.
struct Aside(HeldTurn);

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(turn) = self.0.0.upgrade() {
            turn.give_up_waiting();
        }
    }
}

/// Waits for a render without the request's turn, which is there again afterwards.
pub async fn for_render<F: Future>(render: F) -> Result<F::Output, NoPlace> {
    let mut render = std::pin::pin!(render);
    if let Poll::Ready(ended) = futures::poll!(render.as_mut()) {
        return Ok(ended);
    }
    // The turn itself is never kept while something is waited for, so that it ends with its connection.
    let held = HeldTurn::current();
    let here = held.0.upgrade().map(|turn| {
        turn.set_aside();
        (turn.place().clone(), turn.sender())
    });
    let Some((place, sender)) = here else { return Ok(render.await) };
    let aside = Aside(held);
    let ended = tokio::select! {
        biased;
        ended = render => ended,
        () = place.to_leave() => return Err(NoPlace),
    };
    let permits = place.permits(sender).await.ok_or(NoPlace)?;
    let turn = aside.0.0.upgrade().ok_or(NoPlace)?;
    turn.go_on(permits);
    Ok(ended)
}

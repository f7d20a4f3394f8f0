//! Time limit for request bodies: a client that sends nothing for too long gets a 408, which is not
//! a failure of the service.

use super::turn_body::{ForTurn, StopReason};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use hyper::body::{Frame, SizeHint};
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

const NOT_WAITING: u8 = 0;
const WAITING: u8 = 1;
const GIVEN_UP: u8 = 2;
const WITHOUT_TURN: u8 = 3;
const WAITING_FOR_TURN: u8 = 4;

/// Tells whether a handler is waiting for the bytes of its client, or has waited in vain.
#[derive(Debug, Clone, Default)]
pub struct BodyWatch(Arc<AtomicU8>);

impl BodyWatch {
    /// Wraps the request so that its body fails when the client sends nothing for `patience`.
    pub fn of(request: Request, patience: Duration) -> (Request, Self) {
        let watch = BodyWatch::default();
        if request.body().is_end_stream() {
            return (request, watch);
        }
        let state = watch.clone();
        let for_turn = request.extensions().get().cloned().unwrap_or_default();
        let request = request.map(|body| {
            let idle = Box::pin(tokio::time::sleep(patience));
            Body::new(WatchedBody { body, patience, idle, watch: state, for_turn })
        });
        (request, watch)
    }

    /// True while the handler waits for the client's next bytes.
    pub fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING
    }

    /// True while the client has sent the bytes that the handler waits for, but the
    /// request has no permit to go on.
    pub fn is_waiting_for_turn(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING_FOR_TURN
    }

    /// Returns the reason why the service stopped reading, in which case no
    /// handler can have read the body.
    pub fn stopped(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Relaxed) {
            GIVEN_UP => Some(StopReason::ClientTooSlow),
            WITHOUT_TURN => Some(StopReason::NoTurn),
            _ => None,
        }
    }
}

struct WatchedBody {
    body: Body,
    patience: Duration,
    idle: Pin<Box<Sleep>>,
    watch: BodyWatch,
    for_turn: ForTurn,
}

/// Returns the reason why the connection stopped reading, if that caused the error.
fn stopped_by(error: &axum::Error) -> Option<StopReason> {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.filter_map(|cause| cause.downcast_ref::<StopReason>()).next().copied()
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => {
                let state = match frame.as_ref().and_then(|read| stopped_by(read.as_ref().err()?)) {
                    None => NOT_WAITING,
                    Some(StopReason::ClientTooSlow) => GIVEN_UP,
                    Some(StopReason::NoTurn) => WITHOUT_TURN,
                };
                this.watch.0.store(state, Ordering::Relaxed);
                return Poll::Ready(frame);
            }
            Poll::Pending if this.for_turn.is_waiting() => {
                this.watch.0.store(WAITING_FOR_TURN, Ordering::Relaxed);
                return Poll::Pending;
            }
            // The time runs from the moment at which the handler waits: it may
            // have had other work to do first.
            Poll::Pending => {
                if this.watch.0.swap(WAITING, Ordering::Relaxed) == NOT_WAITING {
                    this.idle.as_mut().reset(Instant::now() + this.patience);
                }
            }
        }
        std::task::ready!(this.idle.as_mut().poll(context));
        this.watch.0.store(GIVEN_UP, Ordering::Relaxed);
        Poll::Ready(Some(Err(axum::Error::new(Error::new(
            ErrorKind::TimedOut,
            "the client sent nothing for too long",
        )))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

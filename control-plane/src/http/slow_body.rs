//! Request bodies that are waited for: a client that sends nothing for too long is told so, and is no failure of ours.

use super::turn_body::{ForTurn, Stopped};
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

/// Says of a request's body whether its client is what the handler waits for, or waited for in vain.
#[derive(Debug, Clone, Default)]
pub struct BodyWatch(Arc<AtomicU8>);

impl BodyWatch {
    /// The request, whose body fails when its client sends nothing for as long as `patience`.
    pub fn of(request: Request, patience: Duration) -> (Request, Self) {
        let watch = BodyWatch::default();
        if request.body().is_end_stream() {
            return (request, watch);
        }
        let state = watch.clone();
        let for_turn = request.extensions().get().cloned().unwrap_or_default();
        let request = request.map(|body| {
            let idle = Box::pin(tokio::time::sleep(patience));
            Body::new(Watched { body, patience, idle, watch: state, for_turn })
        });
        (request, watch)
    }

    /// Whether the handler is waiting for the client's next bytes.
    pub fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING
    }

    /// Whether the client has sent what the handler is waiting for, and the service has no turn for it.
    pub fn is_waiting_for_turn(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING_FOR_TURN
    }

    /// Why the service stopped reading, so that no handler can have read the body.
    pub fn stopped(&self) -> Option<Stopped> {
        match self.0.load(Ordering::Relaxed) {
            GIVEN_UP => Some(Stopped::ClientTooSlow),
            WITHOUT_TURN => Some(Stopped::NoTurn),
            _ => None,
        }
    }
}

struct Watched {
    body: Body,
    patience: Duration,
    idle: Pin<Box<Sleep>>,
    watch: BodyWatch,
    for_turn: ForTurn,
}

/// Why the connection stopped reading, if that is what the error says.
fn stopped_by(error: &axum::Error) -> Option<Stopped> {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.filter_map(|cause| cause.downcast_ref::<Stopped>()).next().copied()
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => {
                let state = match frame.as_ref().and_then(|read| stopped_by(read.as_ref().err()?)) {
                    None => NOT_WAITING,
                    Some(Stopped::ClientTooSlow) => GIVEN_UP,
                    Some(Stopped::NoTurn) => WITHOUT_TURN,
                };
                this.watch.0.store(state, Ordering::Relaxed);
                return Poll::Ready(frame);
            }
            Poll::Pending if this.for_turn.is_waiting() => {
                this.watch.0.store(WAITING_FOR_TURN, Ordering::Relaxed);
                return Poll::Pending;
            }
            // The time runs from when it is waited for: a handler may have had something else to do first.
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

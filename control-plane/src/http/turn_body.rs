//! A request's body on its connection. While the service waits for the client, the request has no
//! permit, so that slow clients take none from others. When the connection's slot is needed, the
//! body ends with an error.

use crate::turns::places::{Permit, Permits};
use crate::turns::spare::Age;
use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Number of bytes after which a client counts as one that has just begun to send. Nearly all
/// bodies are smaller; uploads of nodes are not.
const PROGRESS_BYTES: usize = 16 * 1024;

/// Largest rest of a body, in bytes, that is read after the response so that
/// the connection can be used again.
const REST_BYTES_MAX: u64 = 64 * 1024;

/// Time to wait for the rest of a small body, which follows its head at once or not for long.
const REST_WAIT: Duration = Duration::from_millis(100);

/// The reason why the service stopped reading a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    #[error("the client sends too slowly, and another one needs its place")]
    ClientTooSlow,
    #[error("there was no turn for the request when its body had arrived")]
    NoTurn,
}

/// The body as handlers read it.
pub struct TurnBody {
    body: Option<Incoming>,
    /// The response owns the permit. If a handler keeps the body for longer,
    /// the permit ends before the body.
    turn: Weak<Permit>,
    unread: Unread,
    state: BodyState,
    /// Time since which the service waits for this client; `sent` has
    /// the bytes that it has sent since.
    age: Option<Age>,
    sent: usize,
    for_turn: ForTurn,
}

/// True while a body has arrived and its request waits for a permit, so that nobody waits for the
/// client. An extension of the request.
#[derive(Debug, Clone, Default)]
pub struct ForTurn(Arc<AtomicBool>);

impl ForTurn {
    pub fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

enum BodyState {
    /// The request has its permit, or has lost it for good.
    Going,
    /// The service waits for the client. The future resolves when the connection has to close.
    Paused(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// These bytes have arrived, and the request waits for its next permit.
    Resuming(Option<Result<Frame<Bytes>, hyper::Error>>, Pin<Box<dyn Future<Output = Option<Permits>> + Send>>),
}

/// The rest of a body that its handler did not read.
#[derive(Clone, Default)]
pub struct Unread(Arc<Mutex<Option<Incoming>>>);

impl TurnBody {
    pub fn new(body: Incoming, turn: &Arc<Permit>) -> (Self, Unread) {
        let unread = Unread::default();
        let body = TurnBody {
            body: Some(body),
            turn: Arc::downgrade(turn),
            unread: unread.clone(),
            state: BodyState::Going,
            age: None,
            sent: 0,
            for_turn: ForTurn::default(),
        };
        (body, unread)
    }

    pub fn for_turn(&self) -> ForTurn {
        self.for_turn.clone()
    }

    fn poll_client(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => self.sent += frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) => {}
            None => self.body = None,
        }
        if self.sent >= PROGRESS_BYTES {
            (self.sent, self.age) = (0, None);
        }
        Poll::Ready(frame)
    }
}

impl HttpBody for TurnBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(turn) = this.turn.upgrade() else {
            return this.poll_client(context).map(|frame| frame.map(|read| read.map_err(axum::Error::new)));
        };
        let stopped = |why| Poll::Ready(Some(Err(axum::Error::new(why))));
        loop {
            match &mut this.state {
                BodyState::Going => match this.poll_client(context) {
                    Poll::Ready(frame) => return Poll::Ready(frame.map(|read| read.map_err(axum::Error::new))),
                    Poll::Pending => {
                        this.age = turn.pause(this.age);
                        let place = turn.place().clone();
                        this.state = BodyState::Paused(Box::pin(async move { place.to_leave().await }));
                    }
                },
                BodyState::Paused(to_leave) => {
                    if to_leave.as_mut().poll(context).is_ready() {
                        this.state = BodyState::Going;
                        turn.give_up_body();
                        return stopped(StopReason::ClientTooSlow);
                    }
                    let frame = ready!(this.poll_client(context));
                    let (place, sender) = (turn.place().clone(), turn.sender());
                    this.state = BodyState::Resuming(frame, Box::pin(async move { place.permits(sender).await }));
                    this.for_turn.0.store(true, Ordering::Relaxed);
                }
                BodyState::Resuming(frame, permits) => {
                    let (permits, frame) = (ready!(permits.as_mut().poll(context)), frame.take());
                    this.state = BodyState::Going;
                    this.for_turn.0.store(false, Ordering::Relaxed);
                    let Some(permits) = permits else { return stopped(StopReason::NoTurn) };
                    turn.go_on(permits);
                    return Poll::Ready(frame.map(|read| read.map_err(axum::Error::new)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            BodyState::Resuming(..) => false,
            _ => self.body.as_ref().is_none_or(HttpBody::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}

impl Drop for TurnBody {
    fn drop(&mut self) {
        *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}

impl Unread {
    /// Reads the rest of a small body. Returns `false` if it is too long, does not arrive at once,
    /// or its client waits for permission to send it (`expects`): the connection then cannot be
    /// used for another request.
    pub async fn read_to_end(&self, expects: bool) -> bool {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left.filter(|body| !body.is_end_stream()) else { return true };
        if expects {
            return false;
        }
        let mut read = body.size_hint().lower();
        let all = async {
            while read <= REST_BYTES_MAX {
                match std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
                    None => return true,
                    Some(Ok(frame)) if body.size_hint().exact().is_none() => {
                        read += frame.data_ref().map_or(0, Bytes::len) as u64;
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) => return false,
                }
            }
            false
        };
        tokio::time::timeout(REST_WAIT, all).await.unwrap_or(false)
    }
}

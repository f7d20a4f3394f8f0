//! Serves a router on a socket, with bounds that axum's own loop does not set: time for the request
//! head, its size, how long a client may leave our bytes unread, how many connections are open, and
//! how many requests are answered at once.

use super::client_ip::client_ip;
use super::refused::WithoutTurn;
use super::route_rules::is_probe;
use super::sendfile::{Current, SendfileStream};
use super::turn_body::{TurnBody, Unread};
use crate::config::listen::Network;
use crate::networks::network_of;
use crate::turns::places::{ClosingConnection, ConnectionSlot, Permit, PermitKind, Places, Sender};
use crate::turns::waiting::with_turn;
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{CONNECTION, EXPECT};
use axum::http::{HeaderMap, HeaderValue};
use hyper::body::{Frame, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Maximum size of request line and headers together, in bytes. A signed URL
/// with every parameter is under 2 KiB.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Pause after an error of `accept` (no file descriptors left, for instance); an immediate retry
/// only burns a core.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for the last bytes of the last response once a connection has to close.
const LEAVING_MAX: Duration = Duration::from_millis(250);
/// Time for the last bytes of a response that began after the connection had to close.
const LAST_ANSWER_MAX: Duration = Duration::from_secs(5);

/// Limits of one listener for its clients.
#[derive(Debug, Clone)]
pub struct ListenerBounds {
    /// Number of requests that are answered at once, each on a connection of its own. A few more
    /// connections may be open: see `places`.
    pub connections_max: usize,
    /// Time after which a client counts as holding a connection without using it: it has not sent a
    /// whole request head, leaves an idle connection open, or takes none of our bytes. A request
    /// waits for its permit for the same time.
    pub client_timeout: Duration,
    /// Proxies that speak for many clients: each of these clients has
    /// connection slots and permits of its own.
    pub trusted_proxies: Vec<Network>,
}

impl ListenerBounds {
    /// Returns the sender whose permits are counted together: the client's
    /// network and the kind of the request.
    fn sender(&self, peer: SocketAddr, path: &str, headers: &HeaderMap) -> Sender {
        let client = client_ip(peer.ip(), headers, &self.trusted_proxies);
        Sender { kind: PermitKind::of(path), network: network_of(client.0) }
    }
}

/// Serves until `stopping` is cancelled, then lets open requests finish. Dropping the future leaves
/// open connections running.
pub async fn serve(listener: TcpListener, router: Router, bounds: ListenerBounds, stopping: CancellationToken) {
    let places = Places::new(bounds.connections_max, bounds.client_timeout);
    // Every connection holds the sender `open`; the receiver ends when the last of them is dropped.
    let (open, mut all_closed) = mpsc::channel::<Infallible>(1);

    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(place) = places.enter(network_of(peer.ip().to_canonical())).await else { break };
        let connection =
            Connection { router: router.clone(), bounds: bounds.clone(), stopping: stopping.clone(), peer };
        let open = open.clone();
        tokio::spawn(async move {
            connection.serve(stream, place).await;
            drop(open);
        });
    }
    drop((listener, open));
    let _ = all_closed.recv().await;
}

struct Connection {
    router: Router,
    bounds: ListenerBounds,
    stopping: CancellationToken,
    peer: SocketAddr,
}

impl Connection {
    /// Answers request after request until the client leaves, is cut off, or
    /// its connection slot is needed.
    async fn serve(self, stream: TcpStream, place: ConnectionSlot) {
        let _gone = ClosingConnection(place.clone());
        // Small responses must not wait for the client's acknowledgement of the last one.
        let _ = stream.set_nodelay(true);
        let current = Current::new(place.unsent().clone());
        let mut stream = TimeoutStream::new(SendfileStream::new(stream, current.clone()));
        stream.set_write_timeout(Some(self.bounds.client_timeout));
        let (router, peer, client, bounds) = (self.router, self.peer, place.clone(), self.bounds.clone());
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (router, current, client) = (router.clone(), current.clone(), client.clone());
            let sender = bounds.sender(peer, request.uri().path(), request.headers());
            async move {
                let turn = match is_probe(request.uri().path()) {
                    true => Some(client.probe(sender)),
                    false => client.turn(sender).await,
                };
                let turn = turn.map(Arc::new);
                let expects = request.headers().contains_key(EXPECT);
                let (mut unread, mut for_turn) = (None, None);
                let mut request: Request = request.map(|body| match &turn {
                    Some(turn) if !body.is_end_stream() => {
                        let (body, left) = TurnBody::new(body, turn);
                        (unread, for_turn) = (Some(left), Some(body.for_turn()));
                        Body::new(body)
                    }
                    _ => Body::new(body),
                });
                request.extensions_mut().insert(ConnectInfo(peer));
                if let Some(for_turn) = for_turn {
                    request.extensions_mut().insert(for_turn);
                }
                if turn.is_none() {
                    request.extensions_mut().insert(WithoutTurn);
                }
                let reference = turn.as_ref().map(|turn| turn.reference()).unwrap_or_default();
                let answering = with_turn(reference, router.oneshot(request));
                let mut response = answering.await.unwrap_or_else(|never| match never {});
                if let Some(unread) = unread {
                    keep_alive(unread, expects, response.headers_mut()).await;
                }
                current.set_from(&mut response);
                Ok::<_, Infallible>(response.map(|body| PermittedBody { body, _turn: turn }))
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.bounds.client_timeout).max_buf_size(HEAD_BYTES_MAX);
        // An error of the connection means that the client went away or sent no
        // HTTP: there is nobody to answer.
        let mut connection = pin!(builder.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::select! {
            _ = connection.as_mut() => return,
            () = self.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
                return;
            }
            () = place.to_leave() => connection.as_mut().graceful_shutdown(),
        }
        // A request that arrives at the last moment is answered; an
        // incomplete head is not waited for.
        let end = Instant::now() + self.bounds.client_timeout + LAST_ANSWER_MAX;
        let (mut sending_max, mut until) = (LEAVING_MAX, None);
        while Instant::now() < end {
            let (is_at_rest, is_blocked) = (place.is_at_rest(), place.unsent().is_any());
            if !is_at_rest {
                sending_max = LAST_ANSWER_MAX;
            }
            if is_blocked && Instant::now() >= *until.get_or_insert(Instant::now() + sending_max) {
                return;
            }
            if !is_blocked && !is_at_rest {
                until = None;
            }
            let within = if is_at_rest && !is_blocked { Duration::ZERO } else { LEAVING_MAX };
            let ended = tokio::time::timeout(within, connection.as_mut()).await.is_ok();
            if ended || (is_at_rest && place.is_at_rest() && !place.unsent().is_any()) {
                return;
            }
        }
    }
}

/// Prepares the connection for its next request. A response may be sent before its request's body
/// was read. The rest of the body is read, or the response announces that the connection closes;
/// otherwise the next request would fail. A client that waits for permission to send its body
/// (`Expect: 100-continue`) is no longer asked to send it.
async fn keep_alive(unread: Unread, expects: bool, headers: &mut HeaderMap) {
    if !headers.contains_key(CONNECTION) && !unread.read_to_end(expects).await {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// The body of a response. The request keeps its permit until the last
/// bytes are handed to the connection.
struct PermittedBody {
    body: Body,
    _turn: Option<Arc<Permit>>,
}

impl HttpBody for PermittedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

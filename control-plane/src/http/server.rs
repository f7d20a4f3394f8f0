//! Serving a router on a socket with bounds axum's own loop does not set: time for the request head, its size, how long
//! a client may let our bytes wait, and how many connections are open.

use super::sendfile::{Current, SendfileStream};
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Request line and headers together. A signed address with every parameter is under 2 KiB.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// After an error of `accept` (no file descriptors left, for instance) trying at once only burns a core.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What one listener takes of its clients.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub connections_max: usize,
    /// A client that has not sent a whole request head by then, leaves an idle connection open for so long, or takes none of our bytes
    /// for so long, is holding a connection, not using it.
    pub client_timeout: Duration,
}

/// Serves until `stopping` is cancelled, then lets open requests finish. Dropping the future cuts them off.
pub async fn serve(listener: TcpListener, router: Router, bounds: Bounds, stopping: CancellationToken) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(bounds.client_timeout).max_buf_size(HEAD_BYTES_MAX);
    let open = Arc::new(Semaphore::new(bounds.connections_max));
    let graceful = GracefulShutdown::new();

    loop {
        // The permit comes first: a connection over the limit waits in the kernel's queue.
        let next = async { (open.clone().acquire_owned().await, listener.accept().await) };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = stopping.cancelled() => break,
        };
        let (permit, stream, peer) = match accepted {
            (Ok(permit), Ok((stream, peer))) => (permit, stream, peer),
            (Err(_), _) => break,
            (Ok(_), Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Small answers must not wait for the client's acknowledgement of the last one.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let current = Current::default();
        let mut stream = TimeoutStream::new(SendfileStream::new(stream, current.clone()));
        stream.set_write_timeout(Some(bounds.client_timeout));
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (router, current) = (router.clone(), current.clone());
            async move {
                let mut request: Request = request.map(axum::body::Body::new);
                request.extensions_mut().insert(ConnectInfo(peer));
                let mut response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
                current.set_from(&mut response);
                Ok::<_, Infallible>(response)
            }
        });
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // An error here is a client that went away or sent no HTTP: nobody is left to answer.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

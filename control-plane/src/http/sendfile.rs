//! Sends large images from the kernel's memory of their file to the socket, without a copy through
//! this process (sendfile(2)).
//!
//! hyper writes a response from memory and has no notion of files. So a handler that knows a file
//! with the same bytes as its body adds a [`FileBody`] to the response, and the connection's stream
//! sends the file wherever hyper hands it a piece of that very memory. hyper still decides what is
//! written and in which order; a file that cannot be sent is sent from memory.

use crate::turns::unsent::Unsent;
use axum::response::Response;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// Extension of a response: `file` holds exactly the bytes of the body, `bytes`, and never changes.
#[derive(Debug, Clone)]
pub struct FileBody {
    pub file: Arc<File>,
    pub bytes: Bytes,
}

impl FileBody {
    /// Returns the offset of `piece` in the file, if it is a part of the body's memory.
    fn offset_of(&self, piece: &[u8]) -> Option<u64> {
        let offset = piece.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr())?;
        (!piece.is_empty() && offset + piece.len() <= self.bytes.len()).then_some(offset as u64)
    }
}

/// The response that a connection is sending; HTTP/1 sends one at a time. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Current {
    /// The file behind the response.
    file: Arc<Mutex<Option<FileBody>>>,
    unsent: Unsent,
}

impl Current {
    /// `unsent` is set while the connection has bytes that it could not send yet.
    pub fn new(unsent: Unsent) -> Self {
        Current { file: Arc::default(), unsent }
    }

    /// Takes the file of a response, if it has one. To be called with each
    /// response before it is written.
    pub fn set_from(&self, response: &mut Response) {
        let body = response.extensions_mut().remove::<FileBody>();
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }

    /// Returns the file that holds `piece`, and its offset in the file.
    fn holding(&self, piece: &[u8]) -> Option<(Arc<File>, u64)> {
        let body = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let body = body.as_ref()?;
        Some((body.file.clone(), body.offset_of(piece)?))
    }

    /// Notes whether a write left bytes unsent.
    fn wrote<T>(&self, written: Poll<T>) -> Poll<T> {
        self.unsent.set(written.is_pending());
        written
    }

    fn forget(&self) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A connection that sends files where it can.
#[derive(Debug)]
pub struct SendfileStream {
    stream: TcpStream,
    current: Current,
}

impl SendfileStream {
    pub fn new(stream: TcpStream, current: Current) -> Self {
        SendfileStream { stream, current }
    }

    /// Sends `piece`, which `file` holds from `offset` on, as far as the socket accepts it.
    fn poll_sendfile(
        &mut self,
        context: &mut Context<'_>,
        piece: &[u8],
        file: &File,
        mut offset: u64,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            let sent = self.stream.try_io(Interest::WRITABLE, || {
                Ok(rustix::fs::sendfile(&self.stream, file, Some(&mut offset), piece.len())?)
            });
            match sent {
                Ok(bytes) if bytes > 0 => return Poll::Ready(Ok(bytes)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                // The file is shorter than expected, the file system has no sendfile, or the socket
                // broke. The bytes are in memory; a broken socket fails again there.
                _ => {
                    self.current.forget();
                    return Pin::new(&mut self.stream).poll_write(context, piece);
                }
            }
        }
    }
}

impl AsyncWrite for SendfileStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, piece: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = match this.current.holding(piece) {
            Some((file, offset)) => this.poll_sendfile(context, piece, &file, offset),
            None => Pin::new(&mut this.stream).poll_write(context, piece),
        };
        this.current.wrote(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // Pieces before the file's piece are written first; the file's piece is
        // then the first of the next call.
        let before = pieces.iter().position(|piece| this.current.holding(piece).is_some()).unwrap_or(pieces.len());
        let written = match pieces.first().and_then(|first| this.current.holding(first).map(|held| (first, held))) {
            Some((first, (file, offset))) => this.poll_sendfile(context, first, &file, offset),
            None => Pin::new(&mut this.stream).poll_write_vectored(context, &pieces[..before]),
        };
        this.current.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

impl AsyncRead for SendfileStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::server::{ListenerBounds, serve};
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use std::io::Write;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;

    const BODY_BYTES: usize = 3 << 20;

    /// Serves a file of `f`s behind a body of `m`s: the received bytes show where they came from.
    async fn serving(file_bytes: usize) -> (std::net::SocketAddr, CancellationToken) {
        let mut file = tempfile::tempfile().expect("file");
        file.write_all(&vec![b'f'; file_bytes]).expect("written");
        let body = FileBody { file: Arc::new(file), bytes: Bytes::from(vec![b'm'; BODY_BYTES]) };
        let picture = move || async move {
            let mut response = Response::new(Body::from(body.bytes.clone()));
            response.extensions_mut().insert(body);
            response
        };
        let router = Router::new().route("/picture", get(picture)).route("/words", get(|| async { "words" }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listener");
        let address = listener.local_addr().expect("address");
        let (stopping, client_timeout) = (CancellationToken::new(), Duration::from_secs(30));
        let bounds = ListenerBounds { connections_max: 16, client_timeout, trusted_proxies: Vec::new() };
        tokio::spawn(serve(listener, router, bounds, stopping.clone()));
        (address, stopping)
    }

    /// Returns the body of one response on an open connection, read in small pieces so that the
    /// server meets a full socket.
    async fn ask(stream: &mut TcpStream, method: &str, path: &str) -> Vec<u8> {
        let request = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("head"));
        }
        let head = String::from_utf8(head).expect("text").to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let mut body = vec![0; if method == "HEAD" { 0 } else { length.expect("length").parse().expect("number") }];
        for piece in body.chunks_mut(50_000) {
            stream.read_exact(piece).await.expect("body");
        }
        body
    }

    #[tokio::test]
    async fn large_bodies_come_from_their_file_and_others_from_memory() {
        let (address, _stopping) = serving(BODY_BYTES).await;
        let mut stream = TcpStream::connect(address).await.expect("connected");
        for _ in 0..3 {
            assert!(ask(&mut stream, "GET", "/picture").await == vec![b'f'; BODY_BYTES]);
            assert!(ask(&mut stream, "HEAD", "/picture").await.is_empty());
            assert_eq!(ask(&mut stream, "GET", "/words").await, b"words");
        }
    }

    #[tokio::test]
    async fn what_a_file_does_not_hold_comes_from_memory() {
        for held in [0, 1, BODY_BYTES / 2] {
            let (address, _stopping) = serving(held).await;
            let mut stream = TcpStream::connect(address).await.expect("connected");
            let body = ask(&mut stream, "GET", "/picture").await;
            assert!(body.len() == BODY_BYTES && body[..held].iter().all(|byte| *byte == b'f'), "{held}");
            assert!(body[held..].iter().all(|byte| *byte == b'm'), "{held}");
        }
    }
}

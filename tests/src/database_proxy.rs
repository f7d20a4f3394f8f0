//! A TCP proxy in front of PostgreSQL that breaks connections at the moment when a charge is
//! committed.
//!
//! It reads the client's messages (the frontend messages of protocol 3.0). It recognises a
//! transaction that adds to the ledger by the statement that does so, and its end by the `COMMIT`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The moment at which the connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The server never receives the commit, and rolls back.
    BeforeCommit,
    /// The server has committed, but the client does not receive the answer.
    AfterCommit,
    /// The client is cut off at once, and the server receives the commit only after this time.
    LateCommit(Duration),
}

/// A running proxy. It stops when it is dropped at the end of the test.
pub struct DatabaseProxy {
    url: String,
    shared: Arc<ProxyState>,
}

struct ProxyState {
    server: String,
    /// The cut at the next commit that charges an account, and whether the database is unreachable
    /// after it.
    next: Mutex<Option<(Cut, bool)>>,
    is_away: AtomicBool,
    cuts: AtomicUsize,
    /// Grows whenever every connection must be closed.
    closed: watch::Sender<u64>,
}

impl DatabaseProxy {
    /// Starts a proxy in front of the database of `url`.
    pub async fn start(url: &str) -> Result<Self> {
        let mut parsed = url::Url::parse(url)?;
        let server = format!("{}:{}", parsed.host_str().context("no host")?, parsed.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        parsed.set_port(Some(listener.local_addr()?.port())).map_err(|()| anyhow::anyhow!("no port"))?;
        let shared = Arc::new(ProxyState {
            server,
            next: Mutex::default(),
            is_away: AtomicBool::new(false),
            cuts: AtomicUsize::new(0),
            closed: watch::Sender::new(0),
        });
        tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { url: parsed.to_string(), shared })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Breaks the connection at the next commit that adds to the ledger.
    pub fn cut_next(&self, cut: Cut) {
        self.shared.set_next(Some((cut, false)));
    }

    /// Breaks the connection at the next commit that adds to the ledger, and makes the database
    /// unreachable from then on.
    pub fn cut_next_and_stay_away(&self, cut: Cut) {
        self.shared.set_next(Some((cut, true)));
    }

    /// Makes the database reachable again.
    pub fn come_back(&self) {
        self.shared.is_away.store(false, Ordering::SeqCst);
    }

    /// Number of commits that were broken off.
    pub fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }
}

impl ProxyState {
    /// Sets the next cut, and returns the previous setting.
    fn set_next(&self, next: Option<(Cut, bool)>) -> Option<(Cut, bool)> {
        std::mem::replace(&mut *self.next.lock().unwrap_or_else(PoisonError::into_inner), next)
    }
}

async fn accept(listener: TcpListener, shared: Arc<ProxyState>) {
    while let Ok((client, _)) = listener.accept().await {
        if shared.is_away.load(Ordering::SeqCst) {
            continue;
        }
        let shared = shared.clone();
        tokio::spawn(async move {
            let mut closed = shared.closed.subscribe();
            let _ = client.set_nodelay(true);
            tokio::select! {
                _ = serve(client, &shared) => {}
                _ = closed.changed() => {}
            }
        });
    }
}

async fn serve(client: TcpStream, shared: &Arc<ProxyState>) -> Result<()> {
    let server = TcpStream::connect(&shared.server).await?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // An SSLRequest is answered with one byte, which is not a message. The client then starts
    // without TLS.
    loop {
        let start = read_untyped(&mut from_client).await?;
        to_server.write_all(&start).await?;
        if start.len() != 8 {
            break;
        }
        let mut answer = [0; 1];
        from_server.read_exact(&mut answer).await?;
        anyhow::ensure!(answer == *b"N", "the server speaks TLS");
        to_client.write_all(&answer).await?;
    }
    let ended = {
        let answers = tokio::io::copy(&mut from_server, &mut to_client);
        let requests = requests(&mut from_client, &mut to_server, shared);
        tokio::select! {
            answers = answers => { answers?; None }
            cut = requests => cut?,
        }
    };
    if let Some(cut) = ended {
        // Runs beside this connection, which is about to be closed with all others.
        tokio::spawn(finish(cut, (from_client, to_client), (from_server, to_server)));
    }
    Ok(())
}

async fn finish(
    cut: (Cut, Vec<u8>),
    client: (OwnedReadHalf, OwnedWriteHalf),
    server: (OwnedReadHalf, OwnedWriteHalf),
) -> Result<()> {
    let ((cut, commit), (mut from_server, mut to_server)) = (cut, server);
    match cut {
        Cut::BeforeCommit => {}
        Cut::AfterCommit => {
            to_server.write_all(&commit).await?;
            // `CommandComplete`, with any answers before it.
            let mut answer = [0; 4096];
            let mut seen = Vec::new();
            while !seen.windows(6).any(|bytes| bytes == b"COMMIT") {
                match from_server.read(&mut answer).await? {
                    0 => bail!("the server did not commit"),
                    bytes => seen.extend_from_slice(&answer[..bytes]),
                }
            }
            drop(client);
        }
        Cut::LateCommit(delay) => {
            drop(client);
            tokio::time::sleep(delay).await;
            to_server.write_all(&commit).await?;
            let _ = tokio::time::timeout(Duration::from_secs(5), from_server.read(&mut [0; 4096])).await;
        }
    }
    Ok(())
}

/// Forwards requests until the commit that must be cut.
async fn requests(
    client: &mut OwnedReadHalf,
    server: &mut OwnedWriteHalf,
    shared: &Arc<ProxyState>,
) -> Result<Option<(Cut, Vec<u8>)>> {
    let mut prepared: HashMap<Vec<u8>, String> = HashMap::new();
    let mut is_charging = false;
    loop {
        let message = read_typed(client).await?;
        let mut texts = message[5..].split(|byte| *byte == 0);
        let mut is_commit = false;
        match message[0] {
            b'Q' => is_commit = texts.next().is_some_and(|sql| sql.eq_ignore_ascii_case(b"COMMIT")),
            b'P' => {
                let (name, sql) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
                prepared.insert(name.to_vec(), String::from_utf8_lossy(sql).into_owned());
            }
            b'B' => {
                let (_portal, name) = (texts.next(), texts.next().unwrap_or_default());
                let sql = prepared.get(name).map(String::as_str).unwrap_or_default();
                is_charging |= sql.starts_with("insert into meter_batches") && !sql.contains("on conflict");
                is_commit = sql.eq_ignore_ascii_case("COMMIT");
            }
            _ => {}
        }
        if is_commit {
            let next = if is_charging { shared.set_next(None) } else { None };
            if let Some((cut, stays_away)) = next {
                shared.cuts.fetch_add(1, Ordering::SeqCst);
                if stays_away {
                    shared.is_away.store(true, Ordering::SeqCst);
                    shared.closed.send_modify(|times| *times += 1);
                }
                return Ok(Some((cut, message)));
            }
            is_charging = false;
        }
        server.write_all(&message).await?;
    }
}

/// Reads a message of the start-up phase: its length, then the rest.
async fn read_untyped(stream: &mut OwnedReadHalf) -> Result<Vec<u8>> {
    let mut message = vec![0; 4];
    stream.read_exact(&mut message).await?;
    read_rest(stream, &mut message, 0).await?;
    Ok(message)
}

/// Reads any later message: its type, its length, then the rest.
async fn read_typed(stream: &mut OwnedReadHalf) -> Result<Vec<u8>> {
    let mut message = vec![0; 5];
    stream.read_exact(&mut message).await?;
    read_rest(stream, &mut message, 1).await?;
    Ok(message)
}

async fn read_rest(stream: &mut OwnedReadHalf, message: &mut Vec<u8>, length_at: usize) -> Result<()> {
    let mut length = [0; 4];
    length.copy_from_slice(&message[length_at..length_at + 4]);
    let (end, begun) = (length_at + u32::from_be_bytes(length) as usize, message.len());
    anyhow::ensure!((begun..=64 << 20).contains(&end), "a message of {end} bytes");
    message.resize(end, 0);
    stream.read_exact(&mut message[begun..]).await?;
    Ok(())
}

//! A load generator for the benchmarks. It sends requests over persistent connections, as fast as
//! answers come or at a fixed rate. Latencies are measured from the moment a request was due, so
//! that a stall counts.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One kind of request, which is sent repeatedly. Every answer must be a 200 with as many bytes as
/// the first one.
#[derive(Debug, Clone)]
pub struct Target {
    pub address: SocketAddr,
    pub path: String,
    /// `name: value` lines.
    pub headers: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct LoadFigures {
    pub per_second: f64,
    /// Milliseconds, sorted.
    latencies: Vec<f64>,
}

impl LoadFigures {
    pub fn percentile_ms(&self, ratio: f64) -> f64 {
        match self.latencies.as_slice() {
            [] => f64::NAN,
            all => all[((all.len() - 1) as f64 * ratio) as usize],
        }
    }
}

/// Sends requests for the duration `lasting` over `connections` connections: `rate` requests a
/// second in total, or as many as are answered.
pub async fn run(target: &Target, connections: usize, lasting: Duration, rate: Option<f64>) -> Result<LoadFigures> {
    let began = Instant::now();
    let gap = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
    let clients = (0..connections).map(|number| {
        let target = target.clone();
        let first = gap.map_or(began, |gap| began + gap.mul_f64(number as f64 / connections as f64));
        tokio::spawn(client(target, first, gap, began + lasting))
    });
    let mut latencies = Vec::new();
    for client in futures::future::join_all(clients).await {
        latencies.extend(client??);
    }
    let per_second = latencies.len() as f64 / began.elapsed().as_secs_f64();
    latencies.sort_by(f64::total_cmp);
    Ok(LoadFigures { per_second, latencies })
}

async fn client(target: Target, first: Instant, gap: Option<Duration>, end: Instant) -> Result<Vec<f64>> {
    let mut stream = TcpStream::connect(target.address).await?;
    stream.set_nodelay(true)?;
    let mut request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n", target.path, target.address);
    for header in &target.headers {
        request.push_str(header);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    let (mut latencies, mut buffer, mut due) = (Vec::new(), vec![0; 256 * 1024], first);
    while Instant::now() < end {
        match gap {
            Some(_) => tokio::time::sleep_until(due.into()).await,
            None => due = Instant::now(),
        }
        stream.write_all(request.as_bytes()).await?;
        answer(&mut stream, &mut buffer).await?;
        latencies.push(due.elapsed().as_secs_f64() * 1e3);
        if let Some(gap) = gap {
            due += gap;
        }
    }
    Ok(latencies)
}

/// Reads one answer to its last byte.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    let (head, length) = loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        ensure!(read > 0, "the server closed the connection");
        filled += read;
        if let Some(at) = buffer[..filled].windows(4).position(|end| end == b"\r\n\r\n") {
            let head = std::str::from_utf8(&buffer[..at])?;
            ensure!(head.starts_with("HTTP/1.1 200"), "{}", head.lines().next().unwrap_or_default());
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            break (at + 4, length.context("an answer without a length")?);
        }
        if filled == buffer.len() {
            bail!("a head of {filled} bytes");
        }
    };
    let mut left = (head + length).checked_sub(filled).context("more bytes than were announced")?;
    while left > 0 {
        let most = left.min(buffer.len());
        let read = stream.read(&mut buffer[..most]).await?;
        ensure!(read > 0, "an answer broke off");
        left -= read;
    }
    Ok(())
}

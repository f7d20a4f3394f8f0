//! `make bench`: measures delivery from the cache, signed and with a key, beside nginx serving the
//! same bytes as a file, in one run on the same cores as the load generator. Nothing is asserted
//! here.

#![allow(
    clippy::disallowed_methods,
    reason = "stands outside of the programs, in the time and the environment of whoever runs it"
)]

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cyclorama_tests::load::{LoadFigures, Target, run};
use cyclorama_tests::{DatabaseChoice, Options, Service};
use serde_json::Value;
use sqlx::Connection;

const CONNECTIONS: usize = 64;
const LASTING: Duration = Duration::from_secs(4);
/// Number of turns of each target. The targets take turns, so that other work of the machine
/// affects all of them.
const TURNS: usize = 5;
const ADDRESSES: i64 = 1_000_000;

/// The parameters of each image beyond the vehicle, as a query.
const PICTURES: [(&str, &str); 2] = [("the default picture, PNG 1024", ""), ("WebP 512", "&size=small&format=webp")];

#[tokio::main]
async fn main() -> Result<()> {
    let mut service = Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await?;
    let customer = service.customer(500_000_000)?;
    let made = service.operator(&["key", "create", "--account", &customer.account_id, "--rate-limit", "1000000000"])?;
    let key = made["key"].as_str().context("no key")?;
    let nginx = Nginx::start()?;
    let mut pictures = Vec::new();
    for (name, form) in PICTURES {
        pictures.push((name, targets(&service, &nginx, key, form).await?));
    }
    // Without this, the node would render the images of the home page on the cores that are
    // measured.
    service.terminate().await?;
    service.options.embedded_node = false;
    service.launch().await?;

    println!("cached delivery, {CONNECTIONS} connections, median of {TURNS} turns of {LASTING:?}");
    let mut before = Vec::new();
    for (name, targets) in &pictures {
        println!("{name}");
        before = compare(targets).await?;
        half_load(targets, &before).await?;
    }
    let (name, targets) = pictures.last().context("no picture")?;
    println!("{name}, with {ADDRESSES} more signed addresses in the database");
    fill(&service, &customer.account_id, made["key_id"].as_str().context("no key id")?).await?;
    let after = compare(targets).await?;
    // nginx has no database, so its change is that of the machine, and the other changes are
    // reported relative to it.
    let machine = after[0] / before[0];
    for ((name, _), (before, after)) in targets.iter().zip(before.iter().zip(&after)) {
        let change = after / before;
        println!("  {name}: {change:.3} of before, {:.3} beside nginx's own change", change / machine);
    }
    Ok(())
}

/// The same bytes from nginx, by a signed URL, and with a key.
async fn targets(service: &Service, nginx: &Nginx, key: &str, form: &str) -> Result<Vec<(&'static str, Target)>> {
    let address: SocketAddr = service.base_url.strip_prefix("http://").context("a base address")?.parse()?;
    let path = format!("/api/v1/images/car?make=porsche&model=911&year=2024&color=red{form}");
    let ask = |more: &str| service.http.get(format!("{}{path}{more}", service.base_url)).bearer_auth(key).send();
    let picture = ask("").await?.error_for_status()?.bytes().await?;
    let file = nginx.serve(&picture)?;
    let minted: Value = ask("&response=url").await?.error_for_status()?.json().await?;
    let url = minted["data"]["url"].as_str().context("no address")?;
    let loaded = service.http.get(url).send().await?.error_for_status()?.bytes().await?;
    ensure!(loaded == picture, "the address has other bytes");
    let signed = url.strip_prefix(&service.base_url).context("a path")?.to_owned();
    let headers = vec![format!("Authorization: Bearer {key}")];
    Ok(vec![
        ("nginx, a file", Target { address: nginx.address, path: file, headers: vec![] }),
        ("signed", Target { address, path: signed, headers: vec![] }),
        ("keyed, with its durable debit", Target { address, path, headers }),
    ])
}

/// Measures requests a second of each target, in turns.
async fn compare(targets: &[(&str, Target)]) -> Result<Vec<f64>> {
    let mut turns: Vec<Vec<LoadFigures>> = targets.iter().map(|_| Vec::new()).collect();
    for _ in 0..TURNS {
        for ((_, target), turns) in targets.iter().zip(&mut turns) {
            turns.push(run(target, CONNECTIONS, LASTING, None).await?);
        }
    }
    let mut rates = Vec::new();
    for ((name, _), mut turns) in targets.iter().zip(turns) {
        turns.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        let median = &turns[turns.len() / 2];
        rates.push(median.per_second);
        println!(
            "  {name}: {:.0} /s, {:.2} of nginx, p50 {:.2} ms, p99 {:.2} ms",
            median.per_second,
            median.per_second / rates[0],
            median.percentile_ms(0.5),
            median.percentile_ms(0.99)
        );
    }
    Ok(rates)
}

/// Measures latencies at half of each target's rate.
async fn half_load(targets: &[(&str, Target)], rates: &[f64]) -> Result<()> {
    println!("at half load");
    for ((name, target), rate) in targets.iter().zip(rates) {
        let figures = run(target, CONNECTIONS, 2 * LASTING, Some(rate / 2.0)).await?;
        println!(
            "  {name}: {:.0} /s, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms   (goal p99 20)",
            figures.per_second,
            figures.percentile_ms(0.5),
            figures.percentile_ms(0.99),
            figures.percentile_ms(0.999)
        );
    }
    Ok(())
}

/// Inserts rows as the service would write them, in one statement.
async fn fill(service: &Service, account_id: &str, key_id: &str) -> Result<()> {
    sqlx::any::install_default_drivers();
    let mut connection = sqlx::AnyConnection::connect(service.database_url()).await?;
    sqlx::query(
        "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < $1)
         insert into delivery_urls (id, account_id, key_id, request_id, make, model, year, view, color, format, width, height,
                                    max_uses, uses, state, created_at_ms, expires_at_ms)
         select lower(hex(randomblob(16))), $2, $3, 'bench-' || n, 'porsche', '911', 2024, 'front-3-4', 'red', 'webp', 512, null,
                0, 1, 'active', 1, 4000000000000 from numbers",
    )
    .bind(ADDRESSES)
    .bind(account_id)
    .bind(key_id)
    .execute(&mut connection)
    .await?;
    connection.close().await?;
    Ok(())
}

/// nginx as Debian ships it, with its usual access log and a worker for each core, serving files.
struct Nginx {
    address: SocketAddr,
    child: Child,
    folder: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().display();
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let configuration = format!(
            "daemon off; user root; worker_processes auto; pid {root}/pid; error_log {root}/error.log;
             events {{ worker_connections 768; }}
             http {{ sendfile on; tcp_nopush on; keepalive_requests 100000000;
                     access_log {root}/access.log;
                     server {{ listen {address}; root {root}; }} }}"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration)?;
        let child =
            Command::new("nginx").arg("-c").arg(&file).stdin(Stdio::null()).spawn().context("nginx does not start")?;
        std::thread::sleep(Duration::from_millis(500));
        Ok(Nginx { address, child, folder })
    }

    /// Stores a file and returns its path.
    fn serve(&self, bytes: &[u8]) -> Result<String> {
        let path = format!("/{}", bytes.len());
        std::fs::write(self.folder.path().join(&path[1..]), bytes)?;
        Ok(path)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // Its workers end with it.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

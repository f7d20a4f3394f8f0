//! A running `cyclorama serve` for one test: data folder, database, ports, operator commands, and
//! its end by signal.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::database::{new_postgres_database, remove_postgres_database};
use crate::programs::binaries;
use crate::secrets;

/// The database of the service under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseChoice {
    Sqlite,
    Postgres,
}

/// Settings that differ from the defaults, as environment variables by their documented names.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub environment: Vec<(String, String)>,
    /// Runs the real render node beside the service. Without it, tests start a [`crate::FakeNode`].
    pub embedded_node: bool,
}

impl Options {
    pub fn set(mut self, name: &str, value: impl ToString) -> Self {
        self.environment.push((name.to_owned(), value.to_string()));
        self
    }

    pub fn with_embedded_node(mut self) -> Self {
        self.embedded_node = true;
        self
    }
}

pub struct Service {
    child: Option<Child>,
    /// Options of the next launch.
    pub options: Options,
    database_url: String,
    folder: tempfile::TempDir,
    pub base_url: String,
    admin_url: String,
    listen: String,
    admin_listen: String,
    pub http: reqwest::Client,
    log_file: PathBuf,
}

/// Returns a port on which nobody listens, each only once. It is below the ports that the system
/// assigns to outgoing connections. Hundreds of those come and go during tests, and one would now
/// and then occupy a service's port while the service restarts.
pub fn free_port() -> Result<u16> {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    for _ in 0..COUNT {
        let place = std::process::id().wrapping_mul(257).wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = (FIRST + place % COUNT) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port from {FIRST} to {} is free", FIRST + COUNT)
}

/// A client that follows no redirects. Built beside the workspace's other programs, reqwest
/// requires a TLS provider to be installed even where no test uses TLS.
pub fn http_client() -> Result<reqwest::Client> {
    // Fails at the second call in a process, because a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?)
}

impl Service {
    pub async fn start(database: DatabaseChoice) -> Result<Self> {
        Self::start_with(database, Options::default()).await
    }

    pub async fn start_with(database: DatabaseChoice, options: Options) -> Result<Self> {
        let mut service = Self::prepare(database, options).await?;
        service.launch().await?;
        Ok(service)
    }

    /// Prepares a service that is not launched yet: its folder is empty, and its database has
    /// tables without rows.
    pub async fn prepare(database: DatabaseChoice, options: Options) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("cyclorama-test-").tempdir()?;
        let database_url = match database {
            DatabaseChoice::Sqlite => format!("sqlite:{}", folder.path().join("cyclorama.db").display()),
            DatabaseChoice::Postgres => new_postgres_database().await?,
        };
        let log_file = folder.path().join("service.log");
        let listen = format!("127.0.0.1:{}", free_port()?);
        let admin_listen = format!("127.0.0.1:{}", free_port()?);
        Ok(Self {
            child: None,
            options,
            database_url,
            folder,
            base_url: format!("http://{listen}"),
            admin_url: format!("http://{admin_listen}"),
            listen,
            admin_listen,
            http: http_client()?,
            log_file,
        })
    }

    /// Sets the file for the log of the next launch.
    pub fn log_to(&mut self, file: &str) {
        self.log_file = file.into();
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(binaries()?.join("cyclorama"));
        command
            .current_dir(self.folder.path())
            .env("CYCLORAMA_DATA_DIR", self.data_dir())
            .env("CYCLORAMA_LISTEN", &self.listen)
            .env("CYCLORAMA_ADMIN_LISTEN", &self.admin_listen)
            .env("CYCLORAMA_BASE_URL", &self.base_url)
            .env("CYCLORAMA_DATABASE_URL", &self.database_url)
            .env("CYCLORAMA_NODE", if self.options.embedded_node { "embedded" } else { "none" })
            .env("CYCLORAMA_MODELS", crate::package_file("../models"))
            .env("RUST_LOG", "info");
        for (name, value) in &self.options.environment {
            command.env(name, value);
        }
        Ok(command)
    }

    /// Starts the program on the same folder, database and ports, for the first start as for a
    /// restart.
    pub async fn launch(&mut self) -> Result<()> {
        let log = std::fs::File::options().create(true).append(true).open(&self.log_file)?;
        let child = self.command()?.arg("serve").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        self.child = Some(child);
        let started = Instant::now();
        loop {
            if let Ok(answer) = self.http.get(format!("{}/readyz", self.base_url)).send().await
                && answer.status().is_success()
            {
                return Ok(());
            }
            if let Some(status) = self.child.as_mut().and_then(|c| c.try_wait().ok().flatten()) {
                bail!("the service stopped at its start with {status}:\n{}", self.log());
            }
            ensure!(started.elapsed() < Duration::from_secs(60), "not ready after a minute:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Sends SIGKILL, so that nothing is finished or flushed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Process ids of the service's children: its embedded node, if it runs one.
    pub fn children(&self) -> Vec<u32> {
        self.child.as_ref().map_or_else(Vec::new, |child| children_of(child.id()))
    }

    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|c| matches!(c.try_wait(), Ok(None)))
    }

    /// Sends SIGTERM and does not wait.
    pub fn signal_stop(&self) -> Result<()> {
        let child = self.child.as_ref().context("not running")?;
        Ok(rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM)?)
    }

    /// Sends SIGTERM, waits for the end (a minute at most) and returns the exit status.
    pub async fn terminate(&mut self) -> Result<std::process::ExitStatus> {
        let child = self.child.take().context("not running")?;
        terminate(child, Duration::from_secs(60)).await.with_context(|| self.log())
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Everything that the service (and its embedded node) has written to its log.
    pub fn log(&self) -> String {
        // A device, such as /dev/full, has no content that could be read.
        match self.log_file.is_file() {
            true => std::fs::read_to_string(&self.log_file).unwrap_or_default(),
            false => String::new(),
        }
    }

    /// Runs an operator command, and returns its JSON answer. The error has its error text.
    pub fn operator(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.operator_text(&[arguments, &["--json"]].concat())?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        let answer = serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))?;
        secrets::note_answer(&answer);
        Ok(answer)
    }

    /// Runs an operator command, and returns its output.
    pub fn operator_text(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command()?.args(arguments).stdin(Stdio::null()).output()?;
        ensure!(
            output.status.success(),
            "cyclorama {} failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Waits for the beginning of a minute, so that a test of a limit for each minute fits into
    /// one.
    pub async fn early_in_a_minute(&self) {
        let into_minute =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs() % 60;
        if into_minute > 35 {
            tokio::time::sleep(Duration::from_secs(61 - into_minute)).await;
        }
    }

    /// Creates an account with `credits` credits and one key of all scopes.
    pub fn customer(&self, credits: u64) -> Result<Customer> {
        Customer::make(|arguments| self.operator(arguments), credits)
    }

    pub fn node_token(&self) -> Result<String> {
        let made = self.operator(&["node-token", "create", "--name", "test"])?;
        Ok(made["token"].as_str().context("no token")?.to_owned())
    }

    /// A GET request with the customer's key.
    pub fn get(&self, customer: &Customer, path_and_query: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path_and_query}", self.base_url)).bearer_auth(&customer.key)
    }

    /// A GET request without a key.
    pub fn visit(&self, path_and_query: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path_and_query}", self.base_url))
    }

    /// The balance, read by an operator command, which costs nothing. A request with a 304 answer
    /// is not used, because it needs an image first.
    pub async fn balance(&self, customer: &Customer) -> Result<i64> {
        let answer: Value = self.operator(&["account", "show", &customer.account_id])?;
        answer["credits"].as_i64().with_context(|| format!("no credits in {answer}"))
    }

    fn keeps_its_secrets(&self) -> Result<()> {
        let operator_file = std::fs::read_to_string(self.data_dir().join("operator.json")).unwrap_or_default();
        let operator: Value = serde_json::from_str(&operator_file).unwrap_or_default();
        secrets::note_answer(&operator);
        match secrets::leak(&self.log()) {
            Some(line) => bail!("a secret is in the log: {line}"),
            None => Ok(()),
        }
    }

    /// Waits until no credit of the account is on hold any more (half a minute at most), and
    /// returns the account as the operator sees it.
    pub async fn account_at_rest(&self, customer: &Customer) -> Result<Value> {
        let mut shown = Value::Null;
        for _ in 0..300 {
            shown = self.operator(&["account", "show", &customer.account_id])?;
            if shown["held"] == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(shown)
    }

    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// The token for the operator address.
    pub fn operator_token(&self) -> Result<String> {
        let file: Value = serde_json::from_slice(&std::fs::read(self.data_dir().join("operator.json"))?)?;
        Ok(file["token"].as_str().context("no operator token")?.to_owned())
    }

    /// Opens a separate connection to the service's database.
    pub async fn database(&self) -> Result<sqlx::AnyConnection> {
        sqlx::any::install_default_drivers();
        Ok(<sqlx::AnyConnection as sqlx::Connection>::connect(&self.database_url).await?)
    }
}

impl Drop for Service {
    /// Checks after every scenario that the ledger adds up, and that no secret is in the log.
    fn drop(&mut self) {
        let verified = match self.is_running() && !std::thread::panicking() {
            true => self.operator(&["ledger", "verify"]).map(drop),
            false => Ok(()),
        };
        self.kill();
        if self.database_url.starts_with("postgres:") {
            remove_postgres_database(&self.database_url);
        }
        let verified = verified.and_then(|()| self.keeps_its_secrets());
        if std::thread::panicking() {
            eprintln!("--- service log ---\n{}", self.log());
        } else if let Err(error) = verified {
            panic!("{error:#}\n--- service log ---\n{}", self.log());
        }
    }
}

/// An account and its key.
#[derive(Debug, Clone)]
pub struct Customer {
    pub account_id: String,
    pub key_id: String,
    pub key: String,
}

impl Customer {
    /// Creates an account with one key of all scopes, by operator commands.
    pub fn make(operator: impl Fn(&[&str]) -> Result<Value>, credits: u64) -> Result<Customer> {
        let email = format!("{}@example.com", uuid::Uuid::now_v7());
        let account = operator(&["account", "create", "--email", &email, "--credits", &credits.to_string()])?;
        let account_id = account["account_id"].as_str().context("no account_id")?.to_owned();
        let key = operator(&["key", "create", "--account", &account_id, "--rate-limit", "100000"])?;
        Ok(Customer {
            account_id,
            key_id: key["key_id"].as_str().context("no key_id")?.to_owned(),
            key: key["key"].as_str().context("no key")?.to_owned(),
        })
    }
}

/// Process ids of the children of a process.
pub fn children_of(process_id: u32) -> Vec<u32> {
    let parent = format!("PPid:\t{process_id}");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.lines().any(|line| line == parent)
    })
    .collect()
}

/// True if a process has ended, even if its parent has not collected its status.
pub fn has_ended(process_id: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{process_id}/status")) {
        Ok(status) => status.contains("\nState:\tZ"),
        Err(_) => true,
    }
}

/// Sends SIGTERM, waits for the end and returns the exit status. A process that takes longer than
/// `patience` is killed, which is an error.
pub async fn terminate(mut child: Child, patience: Duration) -> Result<std::process::ExitStatus> {
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)?;
    let asked = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if asked.elapsed() > patience {
            let _ = child.kill();
            bail!("still running {} s after SIGTERM", patience.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

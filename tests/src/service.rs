//! A running `cyclorama serve` of its own: data folder, database, ports, operator commands, and death by signal.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::database::{new_postgres_database, remove_postgres_database};
use crate::secrets;

/// Which database the service under test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseChoice {
    Sqlite,
    Postgres,
}

/// What differs from the defaults. Environment variables by their documented names.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub environment: Vec<(String, String)>,
    /// Run the real render node beside the service. Without it tests bring a [`crate::FakeNode`].
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
    /// Of the next launch.
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

/// The folder where cargo put the workspace's programs: this one's own, or above it for a test program in `deps`.
pub fn binaries() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().context("this program is in no folder")?;
    if folder.ends_with("deps") {
        return Ok(folder.parent().context("`deps` is in no folder")?.to_owned());
    }
    Ok(folder.to_owned())
}

/// A port nobody listens on, each given out once. Below the ports that the system lends to outgoing connections: those come and
/// go by the hundred here, and one would now and then hold a service's port while it restarts.
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

/// A client that follows no redirects. Built beside the workspace's other programs, reqwest wants a TLS provider named even
/// where no test speaks TLS.
pub fn http_client() -> Result<reqwest::Client> {
    // The second call in a process finds one installed already.
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

    /// One that has not been launched: its folder is empty, and its database has tables without rows.
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

    /// Where the next launch writes its log.
    pub fn log_to(&mut self, file: &str) {
        self.log_file = file.into();
    }

    fn command(&self) -> Result<Command> {
        let program = binaries()?.join("cyclorama");
        ensure!(program.exists(), "{} is missing: run `cargo build --workspace` first", program.display());
        let mut command = Command::new(program);
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

    /// Starts the program on the same folder, database and ports: first start and restart alike.
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

    /// SIGKILL: nothing is finished, nothing is flushed.
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

    /// SIGTERM alone.
    pub fn signal_stop(&self) -> Result<()> {
        let child = self.child.as_ref().context("not running")?;
        Ok(rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM)?)
    }

    /// SIGTERM, then waits for the end (a minute at most) and gives the exit status.
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

    /// Everything the service (and its embedded node) has written to its log.
    pub fn log(&self) -> String {
        // A device, such as /dev/full, has nothing that could be read again.
        match self.log_file.is_file() {
            true => std::fs::read_to_string(&self.log_file).unwrap_or_default(),
            false => String::new(),
        }
    }

    /// Runs an operator command; its JSON answer, or its error text.
    pub fn operator(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.operator_text(&[arguments, &["--json"]].concat())?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        let answer = serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))?;
        secrets::note_answer(&answer);
        Ok(answer)
    }

    /// Runs an operator command; what it prints.
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

    /// Waits until a minute's window has room for a test of it.
    pub async fn early_in_a_minute(&self) {
        let into_minute =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs() % 60;
        if into_minute > 35 {
            tokio::time::sleep(Duration::from_secs(61 - into_minute)).await;
        }
    }

    /// A new account with `credits` credits and one key of all scopes.
    pub fn customer(&self, credits: u64) -> Result<Customer> {
        Customer::make(|arguments| self.operator(arguments), credits)
    }

    pub fn node_token(&self) -> Result<String> {
        let made = self.operator(&["node-token", "create", "--name", "test"])?;
        Ok(made["token"].as_str().context("no token")?.to_owned())
    }

    /// GET with the customer's key.
    pub fn get(&self, customer: &Customer, path_and_query: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path_and_query}", self.base_url)).bearer_auth(&customer.key)
    }

    /// GET without a key.
    pub fn visit(&self, path_and_query: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path_and_query}", self.base_url))
    }

    /// The balance, read from a request that costs nothing: a 304 is not used because it needs a picture first.
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

    /// The account as the operator sees it, once no credit of it is on hold any more (half a minute at most).
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

    /// What opens the operator's address.
    pub fn operator_token(&self) -> Result<String> {
        let file: Value = serde_json::from_slice(&std::fs::read(self.data_dir().join("operator.json"))?)?;
        Ok(file["token"].as_str().context("no operator token")?.to_owned())
    }

    /// A connection of the test's own to the service's database.
    pub async fn database(&self) -> Result<sqlx::AnyConnection> {
        sqlx::any::install_default_drivers();
        Ok(<sqlx::AnyConnection as sqlx::Connection>::connect(&self.database_url).await?)
    }
}

impl Drop for Service {
    /// Whatever a scenario did, the ledger adds up after it, and no secret is in the log.
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
    /// A new account with one key of all scopes, made by commands of an operator.
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

/// Whether a process has ended, even if nobody has taken notice.
pub fn has_ended(process_id: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{process_id}/status")) {
        Ok(status) => status.contains("\nState:\tZ"),
        Err(_) => true,
    }
}

/// SIGTERM, then waits for the end and gives the exit status. Whoever takes longer is killed, which is an error.
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

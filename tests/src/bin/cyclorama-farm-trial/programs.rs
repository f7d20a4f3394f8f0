//! The programs on the hosts: PostgreSQL, the bucket, three control planes with different clocks,
//! three nodes without an engine and a real one. Each can be killed and started again.

use crate::balancer;
use crate::hosts::{Hosts, address_of, on};
use anyhow::{Context, Result, bail, ensure};
use cyclorama_tests::bucket::{self, Bucket};
use cyclorama_tests::programs::binaries;
use cyclorama_tests::service::{Customer, http_client, terminate};
use cyclorama_tests::{Options, package_file};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The address at which clients and nodes find the service.
pub const BALANCER: &str = "10.213.77.1:8080";
const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(90);

/// Control planes, and the error of the clock of each one's machine.
pub const PLANES: [(&str, &str); 3] = [("plane1", "+0"), ("plane2", "+90s"), ("plane3", "-90s")];
pub const FAKE_NODES: [&str; 3] = ["node1", "node2", "node3"];
pub const REAL_NODE: &str = "node4";
const PREFIX: &str = "farm";

pub fn base_url() -> String {
    format!("http://{BALANCER}")
}

pub struct Farm {
    folder: PathBuf,
    node_token: String,
    running: BTreeMap<String, Child>,
}

impl Drop for Farm {
    fn drop(&mut self) {
        self.running.values_mut().for_each(|child| drop(child.kill().and_then(|()| child.wait())));
        let _ = self.postgres("stop", "immediate");
    }
}

impl Farm {
    /// Starts everything except the nodes. The hosts must outlive the farm.
    pub async fn start(_hosts: &Hosts, folder: &Path) -> Result<Farm> {
        let mut farm = Farm { folder: folder.to_owned(), node_token: String::new(), running: BTreeMap::new() };
        farm.make_database().await?;
        farm.start_bucket()?;
        for (plane, _) in PLANES {
            farm.start_plane(plane)?;
            farm.until_ready(plane).await?;
        }
        farm.start_balancer()?;
        let token = farm.operator(&["node-token", "create", "--name", "trial"])?;
        farm.node_token = token["token"].as_str().context("no token")?.to_owned();
        Ok(farm)
    }

    pub fn database_url(&self) -> String {
        format!("postgres://cyclorama@{}/farm", address_of("db"))
    }

    /// The file of an object in the bucket.
    pub fn object(&self, key: &str) -> PathBuf {
        self.folder.join("bucket").join(bucket::NAME).join(PREFIX).join(key)
    }

    pub fn journals(&self) -> Vec<PathBuf> {
        FAKE_NODES.iter().map(|node| self.folder.join(format!("{node}.journal"))).collect()
    }

    async fn make_database(&self) -> Result<()> {
        let data = self.folder.join("postgres");
        std::fs::create_dir(&data)?;
        // Both the server, which does not run as root, and the trial need access to this folder.
        std::fs::set_permissions(&self.folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let made = Command::new("bash").arg(postgres_script()).arg("initialise").arg(&data).output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self.postgres("start", "fast")?;
        sqlx::any::install_default_drivers();
        let server = format!("postgres://cyclorama@{}/postgres", address_of("db"));
        let mut connection = <sqlx::AnyConnection as sqlx::Connection>::connect(&server).await?;
        sqlx::Executor::execute(&mut connection, "create database farm").await?;
        Ok(())
    }

    /// Runs `start` and `restart`, or `stop` with a mode of `pg_ctl`.
    pub fn postgres(&self, verb: &str, mode: &str) -> Result<()> {
        let data = self.folder.join("postgres");
        let output = on("db", "bash")
            .arg(postgres_script())
            .args(["on-address", verb, mode, &data.display().to_string(), address_of("db")])
            .output()?;
        ensure!(output.status.success(), "PostgreSQL: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn start_bucket(&mut self) -> Result<()> {
        let folder = self.folder.join("bucket");
        let address = format!("{}:9000", address_of("store"));
        let mut command = on("store", &self.this_program()?);
        command.args(["bucket", &address, &folder.display().to_string()]);
        self.spawn("store", command)
    }

    fn start_balancer(&mut self) -> Result<()> {
        let file = self.folder.join("haproxy.cfg");
        std::fs::write(&file, balancer::configuration())?;
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(file);
        self.spawn("balancer", command)
    }

    fn this_program(&self) -> Result<String> {
        Ok(std::env::current_exe()?.display().to_string())
    }

    fn spawn(&mut self, host: &str, mut command: Command) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.folder.join(format!("{host}.log")))?;
        let child = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        self.running.insert(host.to_owned(), child);
        Ok(())
    }

    /// The service's program on the host of a control plane.
    fn on_plane(&self, plane: &str) -> Result<Command> {
        let address = address_of(plane);
        let mut command = on(plane, &binaries()?.join("cyclorama").display().to_string());
        let endpoint = format!("http://{}:9000", address_of("store"));
        let options = bucket::credentials(Options::default())
            .set("CYCLORAMA_DATA_DIR", self.folder.join(plane).display())
            .set("CYCLORAMA_DATABASE_URL", self.database_url())
            .set("CYCLORAMA_OBJECTS", bucket::address(&endpoint, PREFIX))
            .set("CYCLORAMA_LISTEN", format!("{address}:8080"))
            .set("CYCLORAMA_ADMIN_LISTEN", "127.0.0.1:9090")
            .set("CYCLORAMA_BASE_URL", base_url())
            .set("CYCLORAMA_NODE", "none")
            .set("CYCLORAMA_PAYMENTS", "off")
            .set("CYCLORAMA_DAILY_BUDGET_USD", 10_000)
            .set("CYCLORAMA_RENDER_COST_USD", crate::USD_PER_RENDER)
            .set("CYCLORAMA_LEASE_SECONDS", 10)
            .set("CYCLORAMA_HEARTBEAT_SECONDS", 2)
            .set("CYCLORAMA_UNREADY_SECONDS", balancer::NOTICED_SECONDS)
            .set("RUST_LOG", "info,sqlx=warn");
        command.envs(options.environment);
        Ok(command)
    }

    pub fn start_plane(&mut self, plane: &'static str) -> Result<()> {
        let mut command = self.on_plane(plane)?;
        let wrong = PLANES.iter().find(|(name, _)| *name == plane).map_or("+0", |(_, wrong)| wrong);
        // Only the time of day is wrong; timers run normally.
        command.env("LD_PRELOAD", faketime()?).env("FAKETIME", wrong).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.arg("serve");
        self.spawn(plane, command)
    }

    pub async fn until_ready(&mut self, plane: &str) -> Result<()> {
        let http = http_client()?;
        let began = Instant::now();
        loop {
            let ready = http
                .get(format!("http://{}:8080/readyz", address_of(plane)))
                .timeout(Duration::from_secs(2))
                .send()
                .await;
            if ready.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            if let Some(Ok(Some(status))) = self.running.get_mut(plane).map(Child::try_wait) {
                bail!("{plane} stopped with {status}; see its log in {}", self.folder.display());
            }
            ensure!(began.elapsed() < START_MAX, "{plane} is not ready after a minute");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub fn start_nodes(&mut self) -> Result<()> {
        FAKE_NODES.iter().try_for_each(|node| self.start_fake_node(node))?;
        self.start_real_node()
    }

    pub fn start_real_node(&mut self) -> Result<()> {
        let mut command = on(REAL_NODE, &binaries()?.join("cyclorama-node").display().to_string());
        let library = std::env::var("ORT_DYLIB_PATH").context("ORT_DYLIB_PATH names the ONNX Runtime library")?;
        command
            .env("CYCLORAMA_NODE_URL", base_url())
            .env("CYCLORAMA_NODE_TOKEN", &self.node_token)
            .env("CYCLORAMA_NODE_NAME", REAL_NODE)
            .env("CYCLORAMA_NODE_SLOTS", "1")
            .env("CYCLORAMA_NODE_MODELS", package_file("../models/builtin"))
            .env("ORT_DYLIB_PATH", library)
            .arg("run");
        self.spawn(REAL_NODE, command)
    }

    pub fn start_fake_node(&mut self, node: &str) -> Result<()> {
        let journal = self.folder.join(format!("{node}.journal"));
        let mut command = on(node, &self.this_program()?);
        command.args(["fake-node", &base_url(), &self.node_token, node, &journal.display().to_string()]);
        self.spawn(node, command)
    }

    /// Kills a program by SIGKILL.
    pub fn kill(&mut self, host: &str) -> Result<()> {
        let mut child = self.running.remove(host).with_context(|| format!("{host} is not running"))?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Stops a program by SIGTERM, and returns when it has ended by itself.
    pub async fn terminate(&mut self, host: &str) -> Result<()> {
        let child = self.running.remove(host).with_context(|| format!("{host} is not running"))?;
        let status = terminate(child, STOP_MAX).await.with_context(|| host.to_owned())?;
        ensure!(status.success(), "{host} stopped with {status}; see its log in {}", self.folder.display());
        Ok(())
    }

    /// Runs an operator command on the first control plane.
    pub fn operator(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.on_plane(PLANES[0].0)?.args(arguments).arg("--json").output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cyclorama {}: {said}", arguments.join(" "));
        Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    }

    /// Raises the budget, so that `usd` more may be spent today.
    pub fn allow(&self, usd: f64) -> Result<()> {
        let shown = self.operator(&["budget", "show"])?;
        let settled = shown["settled_usd"].as_f64().with_context(|| format!("no settled_usd: {shown}"))?;
        self.operator(&["budget", "set", "--usd-per-day", &format!("{:.3}", settled + usd)])?;
        Ok(())
    }

    pub fn customer(&self, credits: u64) -> Result<Customer> {
        Customer::make(|arguments| self.operator(arguments), credits)
    }

    /// Returns requests for `pictures` images, each of another vehicle or in another view.
    pub fn variants(&self, pictures: usize) -> Result<Vec<String>> {
        let of = |[make, model, year, view]: [String; 4]| {
            format!("/api/v1/images/car?make={make}&model={model}&year={year}&view={view}&w=256")
        };
        Ok(vehicles_and_views("passenger-car", pictures)?.into_iter().map(of).collect())
    }

    /// Writes a list of `rows` vehicles and views that no client requests, and returns its path.
    pub fn prewarm_list(&self, rows: usize) -> Result<String> {
        let file = self.folder.join("prewarm.csv");
        let lines = vehicles_and_views("truck", rows)?
            .into_iter()
            .map(|[make, model, year, view]| format!("{make},{model},{year},{view},white"));
        std::fs::write(
            &file,
            ["make,model,years,views,colors".to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n"),
        )?;
        Ok(file.display().to_string())
    }
}

/// Returns make, model, year and view, view by view, because two views of a vehicle are seldom
/// wanted at once.
fn vehicles_and_views(vehicle_type: &str, number: usize) -> Result<Vec<[String; 4]>> {
    const VIEWS: [&str; 6] = ["front", "front-3-4", "side", "side-right", "rear-3-4", "rear"];
    let output = Command::new(binaries()?.join("cyclorama")).args(["catalog", "list"]).output()?;
    let list = String::from_utf8(output.stdout)?;
    let vehicles: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields.get(3) == Some(&vehicle_type))
        .collect();
    let wanted = number.div_ceil(VIEWS.len());
    ensure!(vehicles.len() >= wanted, "the catalog has {} of type {vehicle_type}, {wanted} are wanted", vehicles.len());
    let step = vehicles.len() / wanted;
    let all = VIEWS.iter().flat_map(|view| {
        let some = vehicles.iter().step_by(step).take(wanted);
        some.map(move |fields| [fields[0], fields[1], fields[2], view].map(str::to_owned))
    });
    Ok(all.take(number).collect())
}

fn postgres_script() -> PathBuf {
    package_file("../scripts/postgres.sh")
}

fn faketime() -> Result<PathBuf> {
    let candidates =
        std::fs::read_dir("/usr/lib")?.flatten().map(|entry| entry.path().join("faketime/libfaketime.so.1"));
    let found = candidates.chain([PathBuf::from("/usr/lib/faketime/libfaketime.so.1")]).find(|path| path.is_file());
    found.context("libfaketime is not installed: scripts/farm-trial.sh installs it")
}

/// Runs the bucket's server, as a program.
pub async fn serve_bucket(address: &str, folder: &str) -> Result<()> {
    let _bucket = Bucket::start_at(address, Path::new(folder)).await?;
    std::future::pending().await
}

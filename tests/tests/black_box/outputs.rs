//! Commands whose output is closed, as by `| head`, or full, as a disk: they never panic, and
//! nothing that was bought is lost.

use crate::terminal::{Ran, Terminal};
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases, secrets};
use std::process::Stdio;
use tokio::process::Command;

/// An output that accepts nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Taker {
    /// A pipe whose reader has gone.
    Closed,
    Full,
}

impl Taker {
    fn open(self) -> Stdio {
        match self {
            Taker::Closed => std::io::pipe().unwrap().1.into(),
            Taker::Full => std::fs::File::options().write(true).open("/dev/full").unwrap().into(),
        }
    }
}

/// Runs a command whose standard output accepts nothing.
async fn unheard(mut command: Command, taker: Taker) -> Ran {
    let child = command.stdin(Stdio::null()).stdout(taker.open()).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{command:?}: {stderr}");
    Ran { status: output.status.code().unwrap(), stdout: Vec::new(), stderr }
}

/// Runs a command whose standard error accepts nothing.
async fn unnoted(mut command: Command, taker: Taker) -> Ran {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(taker.open()).spawn().unwrap();
    let output = child.wait_with_output().await.unwrap();
    Ran { status: output.status.code().unwrap(), stdout: output.stdout, stderr: String::new() }
}

/// Checks that it is quiet where the reader has gone, and fails with the reason where the disk is
/// full.
fn is_as_other_programs(ran: &Ran, taker: Taker, arguments: &[&str]) {
    match taker {
        Taker::Closed => assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}"),
        Taker::Full => {
            assert_eq!(ran.status, 1, "{arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("standard output cannot be written"), "{arguments:?}: {}", ran.stderr);
        }
    }
}

on_both_databases! {
    async fn answers_that_nobody_takes(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(9).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        terminal.set("CYCLORAMA_DATA_DIR", service.data_dir().display());
        for arguments in [
            &["--help"][..],
            &["--version"],
            &["catalog", "info"],
            &["catalog", "info", "--json"],
            &["catalog", "info", "--vehicle", "honda", "civic", "2018"],
            &["catalog", "list", "--make", "honda"],
            &["catalog", "list", "--make", "honda", "--json"],
            &["catalog", "search", "honda"],
            &["catalog", "search", "honda", "--json"],
            &["catalog", "search", "no such thing at all"],
            &["simulate", "--jobs", "20", "--nodes", "1"],
            &["simulate", "--jobs", "20", "--nodes", "1", "--json"],
            &["serve", "--print-defaults"],
            &["agent-config"],
            &["agent-config", "codex"],
            &["agent-config", "--json"],
            &["whoami"],
            &["whoami", "--json"],
            &["options"],
            &["search", "honda"],
            &["search", "no such thing at all"],
            &["resolve", "red honda civic 2018"],
            &["logout", "--url", "http://elsewhere.example"],
            &["feedback", "--make", "honda", "--model", "civic", "--year", "2018", "--rating", "4"],
            &["doctor", "--url", &service.base_url],
            &["node", "list"],
            &["budget", "show"],
            &["catalog", "wanted"],
            &["ledger", "verify", "--json"],
            &["account", "show", &customer.account_id],
            &["account", "statement", &customer.account_id],
            &["account", "statement", &customer.account_id, "--csv"],
            &["render", "list"],
            &["prewarm", "plan", "make=honda", "years=2018"],
        ] {
            // An image must exist before it is rated.
            if arguments[0] == "feedback" {
                terminal.run(&["get", "honda", "civic", "2018"]).await.success();
            }
            for taker in [Taker::Closed, Taker::Full] {
                is_as_other_programs(&unheard(terminal.command(arguments), taker).await, taker, arguments);
            }
        }
        let node_program = cyclorama_tests::programs::binaries().unwrap().join("cyclorama-node");
        let vehicles = terminal.run(&["catalog", "list", "--make", "honda", "--year", "2018"]).await.success();
        std::fs::write(terminal.path("vehicles"), vehicles).unwrap();
        for arguments in [&["--help"][..], &["compare-vehicles", "--vehicles", "vehicles", "--floor", "1"]] {
            for taker in [Taker::Closed, Taker::Full] {
                let mut command = terminal.program(&node_program, arguments);
                command.env("RUST_LOG", "off");
                let ran = unheard(command, taker).await;
                assert_eq!(ran.status, i32::from(taker == Taker::Full), "{arguments:?}: {}", ran.stderr);
                let told = if taker == Taker::Full { "standard output cannot be written" } else { "" };
                assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
            }
        }
    }

    async fn what_was_bought_or_made_is_not_lost(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        terminal.set("CYCLORAMA_DATA_DIR", service.data_dir().display());
        for taker in [Taker::Closed, Taker::Full] {
            // URLs are on standard error, and valid.
            for more in [&[][..], &["--json"], &["--html"]] {
                let arguments = [&["url", "honda", "civic", "2018"], more].concat();
                let ran = unheard(terminal.command(&arguments), taker).await;
                assert_eq!(ran.status, 1, "{}", ran.stderr);
                let place = ran.stderr.find(&format!("{}/api/v1/delivery/", service.base_url)).expect("an address");
                let address: String = ran.stderr[place..].chars().take_while(|letter| !"\" \n".contains(*letter)).collect();
                assert!(service.http.get(&address).send().await.unwrap().status().is_success(), "{address}");
                // The idempotency key shows the same URLs again.
                let name = ran.stderr.split("--idempotency-key ").nth(1).unwrap().split('`').next().unwrap();
                let again = terminal.run(&[&arguments[..], &["--idempotency-key", name]].concat()).await.success();
                assert!(again.contains(&address), "{again}");
            }

            // The image is in a file.
            let arguments = ["get", "honda", "civic", "2018", "-o", "-", "--format", "webp"];
            let ran = unheard(terminal.command(&arguments), taker).await;
            assert_eq!(ran.status, 1, "{}", ran.stderr);
            let kept = ran.stderr.split("saved in ").nth(1).expect("a file").split(": ").next().unwrap();
            let kept = std::fs::read(terminal.path(kept)).unwrap();
            assert_eq!(image::guess_format(&kept).unwrap(), image::ImageFormat::WebP);

            // Files are written even if nobody reads the output.
            let ran = unheard(terminal.command(&["get", "honda", "civic", "2018", "-o", "a.png", "--json"]), taker).await;
            assert!(ran.status == 1 && ran.stderr.contains("a.png"), "{}", ran.stderr);
            assert!(std::fs::read(terminal.path("a.png")).is_ok());

            // New keys are named, and their secrets not shown on standard error.
            let ran = unheard(terminal.command(&["key", "create", "--account", &customer.account_id]), taker).await;
            assert!(ran.status == 1 && ran.stderr.contains("key_id ") && !ran.stderr.contains("cyc_"), "{}", ran.stderr);
            let id = ran.stderr.split("key_id ").nth(1).unwrap().split([',', ')']).next().unwrap();
            terminal.run(&["key", "revoke", id]).await.success();
            let ran = unheard(terminal.command(&["node-token", "create", "--name", "n"]), taker).await;
            assert!(ran.status == 1 && ran.stderr.contains("token_id ") && !ran.stderr.contains("cycn_"), "{}", ran.stderr);
            assert_eq!(secrets::leak(&ran.stderr), None);
        }
        let spent = 20 - service.balance(&customer).await.unwrap();
        assert_eq!(spent, 2 * (3 + 1 + 1), "nothing was paid for twice");

        // A batch ends as usual; its report is in the folder.
        std::fs::write(terminal.path("list.csv"), "make,model,year\nhonda,civic,2018\n").unwrap();
        for (folder, taker) in [("closed", Taker::Closed), ("full", Taker::Full)] {
            let ran = unheard(terminal.command(&["batch", "list.csv", "-o", folder]), taker).await;
            assert!(ran.status == 1 && ran.stderr.contains("report.csv"), "{}", ran.stderr);
            assert!(terminal.path(folder).join("report.csv").exists());
        }
        let again = terminal.run(&["batch", "list.csv", "-o", "full"]).await.success();
        assert!(again.starts_with("1 of 1 image is in full"), "{again}");
    }

    async fn notes_that_nobody_takes_change_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(9).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        for taker in [Taker::Closed, Taker::Full] {
            for (arguments, status) in [
                (&["get", "honda", "civic", "2018", "-o", "a.png"][..], 0),
                (&["get", "honda", "civic", "2018", "-o", "-"], 0),
                (&["url", "honda", "civic", "2018"], 0),
                (&["get", "honda", "civik", "2018"], 5),
                (&["get", "honda", "civik", "2018", "--json"], 5),
                (&["whoami", "--url", "http://127.0.0.1:9"], 6),
                (&["no-such-command"], 2),
                // Nobody could read which page to open.
                (&["login"], 1),
            ] {
                let ran = unnoted(terminal.command(arguments), taker).await;
                assert_eq!(ran.status, status, "{arguments:?} {taker:?}");
            }
        }
    }
}

/// A log that cannot be written does not keep the service from answering.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_log_is_full_serves() {
    let mut service = Service::prepare(DatabaseChoice::Sqlite, Default::default()).await.unwrap();
    service.log_to("/dev/full");
    service.launch().await.unwrap();
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let customer = service.customer(1).unwrap();
    let car = "/api/v1/images/car?make=honda&model=civic&year=2018";
    assert!(service.get(&customer, car).send().await.unwrap().status().is_success());
    assert!(service.terminate().await.unwrap().success());
}

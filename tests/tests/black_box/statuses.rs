//! The exit status of every command when something is wrong (docs/command-line.md, "Exit status"),
//! and its message.

use crate::terminal::Terminal;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

/// Runs each command and compares status and message; nothing may have been printed as a result.
async fn end_with(terminal: &Terminal, cases: &[(&[&str], i32, &str)]) {
    for (arguments, status, told) in cases {
        let output = terminal.command(arguments).stdin(Stdio::null()).output().await.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {stderr}");
        assert!(stderr.contains(told), "{arguments:?} says {told}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

on_both_databases! {
    async fn of_customers_commands(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(9).unwrap();
        let mut terminal = Terminal::new(&service);
        std::fs::write(terminal.path("no-list.csv"), "makes,models\nhonda,civic\n").unwrap();
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let under_a_path = format!("{}/api/v1", service.base_url);
        let its_own = format!("is it {}?", service.base_url);
        end_with(&terminal, &[
            (&["get", "honda", "civic", "18"], 2, "year"),
            (&["get", "honda", "civic", "-5"], 2, "-5"),
            (&["get", "honda", "civic", "99999999999999999999"], 2, "YEAR"),
            (&["get", "honda", "civic", "2018", "--color", "rot"], 2, "rot"),
            (&["get", "honda", "civic", "2018", "--view", "top"], 2, "top"),
            (&["get", "honda", "civic", "2018", "--width", "0"], 2, "w"),
            (&["get", "honda", "civic", "2018", "--height", "-1"], 2, "-1"),
            (&["get", "honda", "civic", "2018", "--size", "huge"], 2, "size"),
            (&["get", "honda", "civic", "2018", "--format", "gif"], 2, "format"),
            (&["get", "honda", "civik", "2018"], 5, "Did you mean"),
            (&["get", "ford", "bronco", "2010", "--json"], 5, "\"status\":404"),
            (&["url", "honda", "civic", "2018", "--ttl", "5"], 2, "ttl_seconds"),
            (&["url", "honda", "civic", "2018", "--uses", "often"], 2, "often"),
            (&["batch", "no-list.csv", "-o", "x"], 2, "`makes`"),
            (&["batch", "nowhere.csv", "-o", "x"], 2, "nowhere.csv"),
            (&["resolve", "zzzz qqqq"], 5, ""),
            (&["search", "honda", "--limit", "0"], 2, "limit"),
            (&["search", "honda", "--limit", "1000000"], 2, "limit"),
            (&["feedback", "--make", "honda", "--model", "civic", "--year", "2018", "--rating", "9"], 2, "rating"),
            (&["whoami", "--url", &under_a_path], 2, &its_own),
            (&["options", "--url", &format!("{under_a_path}/")], 2, "/api/v1"),
            (&["whoami", "--url", &format!("{}/docs", service.base_url)], 2, &its_own),
            (&["get", "honda", "civic", "2018", "--url", &under_a_path, "--json"], 2, "\"wrong_usage\""),
            (&["login", "--url", &under_a_path], 2, &its_own),
            (&["agent-config", "--url", &under_a_path], 2, &its_own),
            (&["doctor", "--url", &under_a_path], 2, &its_own),
            (&["whoami", "--url", "ftp://x.example"], 2, "URL of the service"),
            (&["whoami", "--url", "http://127.0.0.1:9"], 6, "responds"),
            (&["catalog", "list", "--make", "nosuch"], 5, "`nosuch`"),
            (&["catalog", "list", "--year", "1800"], 5, "1990 to 2026"),
            (&["catalog", "list", "--make", "honda", "--year", "2030", "--json"], 5, "2030"),
            (&["catalog", "list", "--year", "-1"], 2, "0 to 9999"),
            (&["catalog", "list", "--year", "70000"], 2, "0 to 9999"),
            (&["catalog", "search"], 2, "words"),
            (&["catalog", "search", " "], 2, "words"),
            (&["catalog", "search", "honda", "--limit", "0"], 2, "1 to 1000"),
            (&["catalog", "info", "--vehicle", "honda", "civic", "soon"], 2, "`soon`"),
            (&["catalog", "info", "--vehicle", "honda", "civik", "2018"], 5, "civik"),
        ]).await;
        assert_eq!(service.balance(&customer).await.unwrap(), 9, "nothing of it was charged");
        terminal.set("CYCLORAMA_URL", &under_a_path);
        end_with(&terminal, &[(&["whoami"], 2, &its_own), (&["mcp", "--stdio"], 2, &its_own)]).await;
        terminal.set("CYCLORAMA_URL", &service.base_url);

        terminal.unset("CYCLORAMA_KEY");
        end_with(&terminal, &[
            (&["whoami"], 4, "cyclorama login"),
            (&["get", "honda", "civic", "2018"], 4, "cyclorama login"),
            (&["get", "honda", "civic", "2018", "--json"], 4, "\"no_key\""),
            (&["mcp", "--stdio"], 4, "cyclorama login"),
        ]).await;
    }

    async fn of_operators_commands(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let account = service.customer(1).unwrap().account_id;
        let mut terminal = Terminal::new(&service);
        std::fs::write(terminal.path("batch.csv"), "make,model,year,color\nhonda,civic,2018,red\n").unwrap();
        std::fs::write(terminal.path("wrong"), "not the token").unwrap();
        end_with(&terminal, &[(&["node", "list"], 4, "CYCLORAMA_DATA_DIR")]).await;
        terminal.set("CYCLORAMA_DATA_DIR", service.data_dir().display());
        let whole = |most: &str| format!("a whole number, {most}");
        let credits = whole("1 to 1000000000000");
        let mut cases: Vec<(Vec<&str>, i32, &str)> = Vec::new();
        for given in ["NaN", "nan", "inf", "-inf", "-1", "-0.5", "1000001", "1e300", "ten", ""] {
            cases.push((vec!["budget", "set", "--usd-per-day", given], 2, "0 to 1000000"));
        }
        for given in ["NaN", "inf", "-1", "1e3", "1000000000001", "99999999999999999999999"] {
            cases.push((vec!["account", "grant", &account, given, "--reason", "x"], 2, &credits));
            cases.push((vec!["account", "purchase", &account, given, "--reference", "x"], 2, &credits));
            cases.push((vec!["account", "create", "--email", "a@example.com", "--credits", given], 2, "0 to 1000000000000"));
            cases.push((vec!["key", "create", "--account", &account, "--monthly-cap", given], 2, &credits));
            cases.push((vec!["key", "cap", "no-such-key", given], 2, &credits));
            cases.push((vec!["node", "drain", "no-such-node", "--within", given], 2, "0 to 604800"));
            cases.push((vec!["render", "list", "--limit", given], 2, "1 to 200"));
        }
        for given in ["NaN", "inf", "0", "-1", "99999999999999999999999"] {
            cases.push((vec!["key", "create", "--account", &account, "--rate-limit", given], 2, "a whole number, 1 to"));
            cases.push((vec!["render", "accept", "r", given], 2, "a whole number, 1 to"));
            cases.push((vec!["render", "reject", "r", given], 2, "a whole number, 1 to"));
        }
        for given in ["NaN", "inf", "-1", "1e300"] {
            for (name, range) in [
                ("--render-seconds", "0.01 to 15"), ("--load", "0.001 to 100"), ("--first-loads", "0 to 1"), ("--failing", "0 to 1"), ("--losses", "0 to 1000"),
            ] {
                cases.push((vec!["simulate", name, given], 2, range));
            }
        }
        cases.extend([
            (vec!["account", "show", "nobody"], 5, "nobody"),
            (vec!["account", "create", "--email", "no address"], 2, "email"),
            (vec!["node", "drain", "no-such-node"], 5, "no-such-node"),
            (vec!["key", "revoke", "no-such-key"], 5, "no-such-key"),
            (vec!["prewarm", "plan", "--list", "batch.csv"], 2, "`color`"),
            (vec!["prewarm", "plan", "--list", "nowhere.csv"], 2, "nowhere.csv"),
            (vec!["prewarm", "plan", "honda"], 2, "NAME=VALUE"),
            (vec!["prewarm", "plan", "make=honda", "paint=red"], 2, "`paint`"),
            (vec!["prewarm", "plan", "make=honda", "years=soon"], 2, "`soon`"),
            (vec!["prewarm", "start", "make=honda", "--budget-percent", "0"], 2, "1..=100"),
            (vec!["prewarm", "status", "no-such-batch"], 5, "no-such-batch"),
            (vec!["node", "list", "--address", "nowhere"], 2, "`nowhere`"),
            (vec!["node", "list", "--address", "http://127.0.0.1:9"], 6, "nothing responds"),
            (vec!["node", "list", "--address", &service.base_url], 2, "operator address"),
            (vec!["node", "list", "--token-file", "nowhere"], 2, "nowhere"),
            (vec!["node", "list", "--token-file", "wrong"], 4, ""),
        ]);
        let cases: Vec<_> = cases.iter().map(|(arguments, status, told)| (arguments.as_slice(), *status, *told)).collect();
        end_with(&terminal, &cases).await;
        assert_eq!(service.operator(&["account", "show", &account]).unwrap()["credits"], 1);
    }
}

/// Names of files, folders and settings need not be UTF-8.
#[tokio::test(flavor = "multi_thread")]
async fn paths_need_not_be_text() {
    let service = Service::start_with(DatabaseChoice::Sqlite, Options::default()).await.unwrap();
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let customer = service.customer(9).unwrap();
    let mut terminal = Terminal::new(&service);
    terminal.set("CYCLORAMA_KEY", &customer.key);
    let odd = OsStr::from_bytes(b"\xff.png");
    for json in [&[][..], &["--json"]] {
        let mut command = terminal.command(&["get", "honda", "civic", "2018", "-o"]);
        let done = command.arg(odd).args(json).output().await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::remove_file(terminal.path("").join(odd)).unwrap();
    }
    std::fs::write(terminal.path("list.csv"), "make,model,year\nhonda,civic,2018\n").unwrap();
    for json in [&[][..], &["--json"]] {
        let mut command = terminal.command(&["batch", "list.csv", "-o"]);
        let done = command.arg(OsStr::from_bytes(b"pictures-\xff")).args(json).output().await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    // A value that must be text is refused with its name; a missing file with its own.
    for (arguments, odd, status) in [
        (&["whoami", "--url"][..], &b"\xff"[..], 2),
        (&["get", "honda"], b"\xff", 2),
        (&["batch", "-o", "x"], b"\xff.csv", 2),
        (&["catalog", "info", "--file"], b"\xff", 1),
        (&["node", "list", "--config"], b"\xff", 1),
        (&["node", "list", "--token-file"], b"\xff", 2),
        (&["prewarm", "plan", "--list"], b"\xff", 2),
    ] {
        let mut command = terminal.command(arguments);
        command.env("CYCLORAMA_DATA_DIR", service.data_dir());
        let done = command.arg(OsStr::from_bytes(odd)).output().await.unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {told}");
        assert!(!told.contains("panicked"), "{arguments:?}: {told}");
    }
    for name in [
        "XDG_CONFIG_HOME",
        "CYCLORAMA_DATA_DIR",
        "CYCLORAMA_KEY",
        "CYCLORAMA_URL",
        "CYCLORAMA_ADMIN_URL",
        "FOO",
        "HOME",
        "PWD",
    ] {
        for arguments in [&["logout", "--json"][..], &["whoami"], &["agent-config"]] {
            let mut command = terminal.command(arguments);
            let told = command.env(name, OsStr::from_bytes(b"/tmp/\xff")).output().await.unwrap();
            let stderr = String::from_utf8_lossy(&told.stderr);
            assert!(told.status.code().is_some_and(|status| status <= 6), "{name} {arguments:?}: {stderr}");
            assert!(!stderr.contains("panicked"), "{name} {arguments:?}: {stderr}");
        }
    }
}

//! Settings: a wrong one stops the start with one clear line that names it.

use cyclorama_tests::programs::binaries;
use cyclorama_tests::{DatabaseChoice, Options, Service};
use std::process::Command;

#[test]
fn a_wrong_setting_stops_the_start_with_one_line() {
    // Setting, value, and the words that the line must have besides the setting.
    let table = [
        ("CYCLORAMA_LISTEN", "nowhere", "nowhere"),
        ("CYCLORAMA_NODE", "maybe", "embedded"),
        ("CYCLORAMA_DATABASE_URL", "mysql://x", "sqlite"),
        ("CYCLORAMA_OBJECTS", "ftp://x", "file"),
        ("CYCLORAMA_OBJECTS", "s3://x", "bucket"),
        ("CYCLORAMA_OBJECTS", "s3://pictures?endpoint=nowhere", "endpoint"),
        ("CYCLORAMA_LEASE_SECONDS", "0", "2 to 600"),
        ("CYCLORAMA_HEARTBEAT_SECONDS", "soon", "soon"),
        ("CYCLORAMA_RENDER_WAIT_SECONDS", "-1", "-1"),
        ("CYCLORAMA_DAILY_BUDGET_USD", "lots", "lots"),
        ("CYCLORAMA_BASE_URL", "not a url", "not a url"),
        ("CYCLORAMA_BASE_URL", "https://example.com/cars", "a host name of its own"),
        ("CYCLORAMA_BASE_URL", "https://u:p@images.example.com", "a user or a password"),
        ("CYCLORAMA_BASE_URL", "https://images.example.com/?a=b", "a query"),
        ("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/99", "10.0.0.0/99"),
        ("ALLOW_LEGACY_QUERY_KEYS", "perhaps", "perhaps"),
    ];
    for (setting, value, mention) in table {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(binaries().unwrap().join("cyclorama"))
            .arg("serve")
            .env("CYCLORAMA_DATA_DIR", folder.path())
            .env("CYCLORAMA_NODE", "none")
            .env("CYCLORAMA_LISTEN", "127.0.0.1:0")
            .env("CYCLORAMA_ADMIN_LISTEN", "127.0.0.1:0")
            .env(setting, value)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{setting}={value} was accepted");
        let text = String::from_utf8_lossy(&output.stderr);
        let line =
            text.lines().find(|l| l.contains(setting)).unwrap_or_else(|| panic!("{setting} is not named: {text}"));
        assert!(line.contains(mention), "{line}");
        assert!(text.lines().count() <= 2, "one clear line, not: {text}");
    }
}

/// Starts and stops the service with these variables, and returns its log.
async fn log_of(options: Options) -> String {
    let mut service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    assert!(service.terminate().await.unwrap().success());
    service.log()
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_that_belong_to_nobody_are_told() {
    let options = Options::default()
        .set("CYCLORAMA_TRUSTED_PROXY", "10.0.0.0/8")
        .set("CYCLORAMA_NODE_SLOTS", 2)
        .set("CYCLORAMA_CREDITS_PER_IMAGE", 3);
    let log = log_of(options).await;
    assert!(log.contains("CYCLORAMA_TRUSTED_PROXY is not a setting"), "{log}");
    assert!(log.contains("did you mean CYCLORAMA_TRUSTED_PROXIES?"), "{log}");
    assert_eq!(log.matches("is not a setting").count(), 1, "{log}");
    // A retired setting: the log tells an operator who set it what holds now.
    let retired = "CYCLORAMA_CREDITS_PER_IMAGE is no longer a setting and is ignored: an image is one credit";
    assert!(log.contains(retired), "{log}");
}

#[test]
fn what_is_no_text_in_the_environment_stops_nobody() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"a\xffb"));
    std::fs::create_dir(&odd).unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(binaries().unwrap().join("cyclorama"));
        command.args(arguments).current_dir(&odd).env("PWD", &odd).env("CYCLORAMA_NODE", "none");
        command.env(name, OsStr::from_bytes(b"\xff")).env("CYCLORAMA_LISTEN", "127.0.0.1:0").output().unwrap()
    };
    for arguments in [
        &["account", "create", "--email", "a@example.com"][..],
        &["node", "list"],
        &["doctor"],
        &["backup", "elsewhere"],
        &["ledger", "verify"],
    ] {
        let output = run("FOO", arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked") && output.status.code() != Some(101), "{arguments:?}: {text}");
    }
    let refused = run("CYCLORAMA_DATA_DIR", &["serve"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && text.contains("CYCLORAMA_DATA_DIR") && text.contains("UTF-8"), "{text}");
}

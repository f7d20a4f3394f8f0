//! Settings: a wrong one stops the start with one clear line that names it.

use cyclorama_tests::service::binaries;
use std::process::Command;

#[test]
fn a_wrong_setting_stops_the_start_with_one_line() {
    // setting, value, what the line must mention besides the setting
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

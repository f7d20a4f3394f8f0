//! `make run`, ended with Ctrl-C. The script is the real one; only the compiler is left out,
//! because the programs exist.

use cyclorama_tests::programs::binaries;
use cyclorama_tests::service::{children_of, free_port, has_ended, http_client};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

/// A folder with a `cargo` that does nothing, and the programs where a build would have put them.
fn built(folder: &Path) {
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::fs::create_dir_all(folder.join("target")).unwrap();
    let cargo = folder.join("bin/cargo");
    std::fs::write(&cargo, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink(binaries().unwrap(), folder.join("target/first-run")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_comes_back_when_the_service_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path());
    let (listen, admin) = (free_port().unwrap(), free_port().unwrap());
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut script = Command::new(cyclorama_tests::package_file("../scripts/run.sh"))
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        .env("ORT_DYLIB_PATH", "/nowhere")
        .env("CYCLORAMA_DATA_DIR", folder.path().join("data"))
        .env("CYCLORAMA_LISTEN", format!("127.0.0.1:{listen}"))
        .env("CYCLORAMA_ADMIN_LISTEN", format!("127.0.0.1:{admin}"))
        .env("CYCLORAMA_NODE", "none")
        .env("CYCLORAMA_SHUTDOWN_SECONDS", "3")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut told = BufReader::new(script.stdout.take().unwrap()).lines();
    while !told.next_line().await.unwrap().expect("the script goes on").contains("Ctrl-C") {}
    let script_id = script.id().unwrap();
    // The process that printed the text may not have ended yet.
    let mut service = children_of(script_id);
    for _ in 0..100 {
        if service.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        service = children_of(script_id);
    }
    assert_eq!(service.len(), 1, "the service, and nothing else");

    // A request in flight: there is no node that could make the image.
    let key = std::fs::read_to_string(folder.path().join("data/demo-key")).unwrap();
    let http = http_client().unwrap();
    let car = format!("http://127.0.0.1:{listen}/api/v1/images/car?make=honda&model=civic&year=2018");
    let waiting = tokio::spawn(http.get(car).bearer_auth(key.trim()).send());
    loop {
        let figures = http.get(format!("http://127.0.0.1:{admin}/metrics")).send().await.unwrap().text().await.unwrap();
        if figures.lines().any(|line| line.starts_with("cyclorama_queue_jobs") && line.ends_with(" 1")) {
            break;
        }
        assert!(!waiting.is_finished(), "{figures}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    // Sends the signal that a terminal sends.
    kill_process_group(Pid::from_raw(script_id as i32).unwrap(), Signal::INT).unwrap();
    let ended = script.wait_with_output().await.unwrap();
    assert!(has_ended(service[0]), "the script ends after the service");
    let log = String::from_utf8_lossy(&ended.stderr);
    assert!(!log.contains("second signal"), "the service is told once: {log}");
    assert!(ended.status.success(), "{:?}: {log}", ended.status);
    drop(waiting);
}

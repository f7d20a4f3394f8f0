//! The service's files on disk are readable by its own user only, and its render node gets only
//! what a node needs.

use cyclorama_tests::{DatabaseChoice, Options, Service, on_both_databases};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lists a file or folder and everything below it that other users may access, with the modes.
fn open_to_others(path: &Path) -> Vec<String> {
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let mut found = Vec::new();
    if mode & 0o077 != 0 {
        found.push(format!("{} {mode:o}", path.display()));
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        found.extend(open_to_others(&entry.path()));
    }
    found
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The files of a SQLite database that exist.
fn database_files(service: &Service) -> Vec<PathBuf> {
    let Some(path) = service.database_url().strip_prefix("sqlite:") else { return Vec::new() };
    let files = ["", "-wal", "-shm"].map(|suffix| PathBuf::from(format!("{path}{suffix}")));
    files.into_iter().filter(|file| file.exists()).collect()
}

/// Sets the usual mask of most systems, for the whole test program.
fn usual_mask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
}

on_both_databases! {
    async fn a_folder_that_was_there_before_is_closed_to_others(db: DatabaseChoice) {
        usual_mask();
        let mut service = Service::prepare(db, Options::default()).await.unwrap();
        std::fs::create_dir(service.data_dir()).unwrap();
        chmod(&service.data_dir(), 0o755);
        service.launch().await.unwrap();
        service.customer(5).unwrap();
        assert_eq!(open_to_others(&service.data_dir()), Vec::<String>::new());
        for file in database_files(&service) {
            assert_eq!(open_to_others(&file), Vec::<String>::new());
        }

        // As an older version left them.
        assert!(service.terminate().await.unwrap().success());
        chmod(&service.data_dir(), 0o755);
        for file in database_files(&service) {
            chmod(&file, 0o644);
        }
        service.launch().await.unwrap();
        assert_eq!(open_to_others(&service.data_dir()), Vec::<String>::new());
        for file in database_files(&service) {
            assert_eq!(open_to_others(&file), Vec::<String>::new());
        }
    }

    async fn backups_and_what_is_restored_are_closed_to_others(db: DatabaseChoice) {
        usual_mask();
        let service = Service::start(db).await.unwrap();
        service.customer(5).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let backup = folder.path().join("backup");
        // A run that was cut off left its file behind, with another mode.
        std::fs::create_dir(&backup).unwrap();
        std::fs::write(backup.join("database.jsonl.part"), "half").unwrap();
        chmod(&backup.join("database.jsonl.part"), 0o666);
        service.operator(&["backup", backup.to_str().unwrap()]).unwrap();
        for name in ["database.jsonl.zst", "objects"] {
            assert_eq!(open_to_others(&backup.join(name)), Vec::<String>::new(), "{name}");
        }
        let fresh = folder.path().join("fresh");
        service.operator(&["backup", fresh.to_str().unwrap()]).unwrap();
        assert_eq!(open_to_others(&fresh), Vec::<String>::new());

        let restored = Service::prepare(DatabaseChoice::Sqlite, Options::default()).await.unwrap();
        restored.operator(&["restore", fresh.to_str().unwrap()]).unwrap();
        assert_eq!(open_to_others(&restored.data_dir()), Vec::<String>::new());
        let files = database_files(&restored);
        assert!(!files.is_empty());
        for file in files {
            assert_eq!(open_to_others(&file), Vec::<String>::new());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_folder_keeps_its_mode_and_the_files_in_it_are_closed() {
    usual_mask();
    let mut service = Service::prepare(DatabaseChoice::Sqlite, Options::default()).await.unwrap();
    std::fs::create_dir(service.data_dir()).unwrap();
    std::fs::write(service.data_dir().join("of-somebody-else"), "").unwrap();
    chmod(&service.data_dir(), 0o755);
    service.launch().await.unwrap();
    assert!(service.log().contains("other users can read the data folder"), "{}", service.log());
    let open = open_to_others(&service.data_dir());
    let expected = ["data 755", "of-somebody-else 644"];
    assert!(open.len() == 2 && expected.iter().all(|e| open.iter().any(|found| found.ends_with(e))), "{open:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_node_gets_none_of_the_service_s_secrets() {
    let secrets = [
        ("CYCLORAMA_STRIPE_SECRET_KEY", "sk_test_ofnobody12345"),
        ("CYCLORAMA_STRIPE_WEBHOOK_SECRET", "whsec_ofnobody12345"),
        ("CYCLORAMA_OPERATOR_TOKEN", "operator-token-of-the-environment-test"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=collectorhush"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=collectorhush"),
        ("PGPASSWORD", "pghush"),
        ("AWS_SECRET_ACCESS_KEY", "awshush"),
        ("AWS_SESSION_TOKEN", "awshush"),
        ("SOMETHING_ELSE_THAT_IS_SECRET", "elsehush"),
    ];
    let mut options = Options::default().with_embedded_node().set("LP_NUM_THREADS", 1).set("CYCLORAMA_NODE_SLOTS", 1);
    for (name, value) in secrets {
        options = options.set(name, value);
    }
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let environment = loop {
        let Some(child) = service.children().first().copied() else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        // Between the fork and its own program it is a copy of the service.
        if name.trim() == "cyclorama-node" {
            break std::fs::read(format!("/proc/{child}/environ")).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let environment = String::from_utf8_lossy(&environment).replace('\0', "\n");
    let names: Vec<&str> = environment.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    for (name, value) in secrets {
        assert!(!names.contains(&name), "{name}");
        assert!(!environment.contains(value), "{name}");
    }
    let own = ["CYCLORAMA_DATABASE_URL", "CYCLORAMA_DATA_DIR", "CYCLORAMA_LISTEN", "CYCLORAMA_ADMIN_LISTEN"];
    assert!(own.iter().all(|name| !names.contains(name)), "{names:?}");
    for needed in
        ["PATH", "RUST_LOG", "LP_NUM_THREADS", "CYCLORAMA_NODE_SLOTS", "CYCLORAMA_NODE_TOKEN", "CYCLORAMA_NODE_URL"]
    {
        assert!(names.contains(&needed), "{needed}: {names:?}");
    }
    assert!(!service.log().contains("XDG_RUNTIME_DIR"), "{}", service.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn why_the_embedded_node_ended_is_a_warning() {
    let options = Options::default().with_embedded_node().set("VK_DRIVER_FILES", "/nonexistent");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let mut warned = String::new();
    for _ in 0..300 {
        let log = service.log();
        if let Some(line) = log.lines().find(|line| line.contains("the embedded render node ended")) {
            warned = line.to_owned();
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(warned.contains("WARN") && warned.contains("mesa-vulkan-drivers"), "{warned}\n{}", service.log());
}

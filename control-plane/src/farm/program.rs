//! The node program: where it is, and with which environment it is started.

use crate::config::farm::Farm;
use std::path::PathBuf;
use tokio::process::Command;

const NAME: &str = "cyclorama-node";

/// Settings of the service that are none of a node's business.
const KEPT_FROM_NODES: &[&str] = &[
    "CYCLORAMA_DATABASE_URL",
    "CYCLORAMA_OPERATOR_TOKEN",
    "CYCLORAMA_OBJECTS",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "OTEL_SERVICE_NAME",
];

/// The path that was set, else beside this program, else found on PATH by the system.
pub fn path(farm: &Farm) -> PathBuf {
    if let Some(set) = &farm.node_binary {
        return set.clone();
    }
    let beside = std::env::current_exe().ok().and_then(|own| own.parent().map(|folder| folder.join(NAME)));
    match beside {
        Some(beside) if beside.is_file() => beside,
        _ => PathBuf::from(NAME),
    }
}

/// For glibc's allocator: two pools of memory instead of eight for each core. Every thread of a node comes to hold planes of megabytes, and a
/// pool that rests keeps what it had: a sixth of a node's memory. Elsewhere nobody looks at it.
const ALLOCATOR: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2");

/// A command of the node program with the service's settings for it; dropped children are killed.
pub fn command(farm: &Farm) -> Command {
    let mut command = Command::new(path(farm));
    command.kill_on_drop(true);
    for name in KEPT_FROM_NODES {
        command.env_remove(name);
    }
    if std::env::var_os(ALLOCATOR.0).is_none() {
        command.env(ALLOCATOR.0, ALLOCATOR.1);
    }
    if let Some(library) = &farm.ort_dylib_path {
        command.env("ORT_DYLIB_PATH", library);
    }
    if let Some(models) = &farm.models {
        command.env("CYCLORAMA_NODE_MODELS", models);
    }
    command
}

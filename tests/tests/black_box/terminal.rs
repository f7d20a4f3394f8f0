//! A terminal on a customer's machine: a separate home folder, and the `cyclorama` program. No
//! output of a command may contain a key.

use cyclorama_tests::{Service, programs::binaries, secrets};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tokio::process::Command;

pub struct Terminal {
    folder: tempfile::TempDir,
    environment: BTreeMap<String, String>,
}

/// The output of a command that has ended.
pub struct Ran {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Terminal {
    pub fn new(service: &Service) -> Self {
        let folder = tempfile::Builder::new().prefix("cyclorama-terminal-").tempdir().unwrap();
        let mut terminal = Terminal { folder, environment: BTreeMap::new() };
        terminal.set("PATH", std::env::var("PATH").unwrap());
        terminal.set("HOME", terminal.path("").display());
        terminal.set("XDG_CONFIG_HOME", terminal.path("config").display());
        terminal.set("CYCLORAMA_URL", &service.base_url);
        terminal
    }

    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.environment.insert(name.to_owned(), value.to_string());
    }

    pub fn unset(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// The path of a file in the folder where commands run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.program(binaries().unwrap().join("cyclorama"), arguments)
    }

    pub fn program(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&self.environment).current_dir(self.folder.path()).kill_on_drop(true);
        command
    }

    pub async fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().await.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let ran = Ran { status: output.status.code().unwrap(), stdout: output.stdout, stderr };
        let printed = format!("{}{}", String::from_utf8_lossy(&ran.stdout), ran.stderr);
        // Signed URLs are the purpose of `url`.
        if arguments[0] != "url" {
            assert_eq!(secrets::leak(&printed), None, "{arguments:?}");
        }
        ran
    }
}

impl Ran {
    pub fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// The standard output of a command, which must have succeeded.
    pub fn success(&self) -> String {
        assert_eq!(self.status, 0, "{}{}", self.text(), self.stderr);
        self.text()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.success()).unwrap()
    }
}

//! `cyclorama login` and `logout`: a key for this machine, approved by a
//! person in a browser (device login).

use super::credentials::{CredentialsFile, SecretKey, key_of_environment, path};
use super::service::ServiceArguments;
use crate::cli::print;
use anyhow::Context;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Login {
    #[command(flatten)]
    service: ServiceArguments,
    /// Name of the key in the dashboard; default: the name of this machine
    #[arg(long)]
    name: Option<String>,
}

impl Login {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let address = self.service.address()?;
        let client = self.service.visitor()?;
        let name = self.name.unwrap_or_else(this_machine);
        let started = client.start_device_login(Some(&name), None).await?;
        // Printed on standard error: standard output is for the result.
        let within = print::count(started.expires_in / 60, "minute");
        let message = format!(
            "Open {}\nand approve the code {} within {within}.",
            started.verification_uri_complete, started.user_code
        );
        print::prompt(message).context("the URL to open cannot be shown: standard error cannot be written")?;
        let handed = client.wait_for_device_login(&started).await?;
        let mut credentials = CredentialsFile::read()?;
        credentials.keys.insert(address.clone(), SecretKey::new(&handed.access_token));
        credentials.last = Some(address.clone());
        let file = credentials.write()?;
        if as_json {
            let scopes: Vec<&str> = handed.scope.split(' ').collect();
            let message = json!({ "url": address, "scopes": scopes, "file": file.to_string_lossy() });
            print::answer(&message, true)?;
        } else {
            let file = file.display();
            print::line(format_args!("Logged in at {address}. The key is in {file}, which only you can read."))?;
        }
        if key_of_environment().is_some() {
            print::note("CYCLORAMA_KEY is set and is used instead of the key of this login.");
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub struct Logout {
    #[command(flatten)]
    service: ServiceArguments,
}

impl Logout {
    pub fn run(self, as_json: bool) -> anyhow::Result<()> {
        let address = self.service.address()?;
        let mut credentials = CredentialsFile::read()?;
        let had_one = credentials.keys.remove(&address).is_some();
        if had_one {
            if credentials.last.as_ref() == Some(&address) {
                credentials.last = credentials.keys.keys().next().cloned();
            }
            credentials.write()?;
        }
        if as_json {
            return Ok(print::answer(&json!({ "url": address, "had_key": had_one }), true)?);
        }
        if !had_one {
            return Ok(print::line(format_args!("There was no key for {address}."))?);
        }
        print::line(format_args!("The key for {address} was removed from {}.", path()?.display()))?;
        Ok(print::line(format_args!("The key still works elsewhere until you revoke it at {address}/dashboard/keys."))?)
    }
}

/// Returns a name for this machine, at most as long as the service accepts.
fn this_machine() -> String {
    const CHARS_MAX: usize = 80;
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("cyclorama on {node}").chars().take(CHARS_MAX).collect()
}

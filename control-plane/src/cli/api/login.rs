//! `cyclorama login` and `logout`: a key for this machine, approved by a person in a browser (device login).

use super::credentials::{Credentials, Key, key_of_environment, path};
use super::service::Service;
use crate::cli::print;
use anyhow::Context;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Login {
    #[command(flatten)]
    service: Service,
    /// What the key is called in the dashboard; this machine's name when not given
    #[arg(long)]
    name: Option<String>,
}

impl Login {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let address = self.service.address()?;
        let client = self.service.visitor()?;
        let name = self.name.unwrap_or_else(this_machine);
        let started = client.start_device_login(Some(&name), None).await?;
        // On standard error: standard output is the result's.
        let within = print::count(started.expires_in / 60, "minute");
        let told = format!(
            "Open {}\nand approve the code {} within {within}.",
            started.verification_uri_complete, started.user_code
        );
        print::prompt(told).context("the address to open cannot be shown: standard error cannot be written")?;
        let handed = client.wait_for_device_login(&started).await?;
        let mut credentials = Credentials::read()?;
        credentials.keys.insert(address.clone(), Key::new(&handed.access_token));
        credentials.last = Some(address.clone());
        let file = credentials.write()?;
        if as_json {
            let scopes: Vec<&str> = handed.scope.split(' ').collect();
            let told = json!({ "url": address, "scopes": scopes, "file": file.to_string_lossy() });
            print::answer(&told, true)?;
        } else {
            let file = file.display();
            print::line(format_args!("Logged in at {address}. The key is in {file}, readable by you alone."))?;
        }
        if key_of_environment().is_some() {
            print::note("CYCLORAMA_KEY is set and comes before the key of this login.");
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub struct Logout {
    #[command(flatten)]
    service: Service,
}

impl Logout {
    pub fn run(self, as_json: bool) -> anyhow::Result<()> {
        let address = self.service.address()?;
        let mut credentials = Credentials::read()?;
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
        print::line(format_args!("The key for {address} is gone from {}.", path()?.display()))?;
        Ok(print::line(format_args!("It still works elsewhere: revoke it at {address}/dashboard/keys."))?)
    }
}

/// At most as long as the service takes names.
fn this_machine() -> String {
    const CHARS_MAX: usize = 80;
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("cyclorama on {node}").chars().take(CHARS_MAX).collect()
}

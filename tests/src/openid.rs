//! A running OpenID Connect provider (npm's `oidc-provider`, see `oidc/provider.mjs`), and a person
//! who signs in to it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{Browser, Service, browser::Page, secrets, tools};

pub const CLIENT_ID: &str = "cyclorama";
pub const CLIENT_SECRET: &str = "hush-a-secret-of-the-client";

pub struct OpenIdProvider {
    child: Child,
    pub issuer: String,
    http: reqwest::Client,
}

impl OpenIdProvider {
    /// Starts a provider that sends browsers back to `redirect_uri` only.
    pub fn start(redirect_uri: &str, claims_in_token: bool) -> Result<Self> {
        let folder = tools::installed("tests/oidc")?;
        secrets::note(CLIENT_SECRET);
        let claims = if claims_in_token { "id_token" } else { "" };
        let mut child = Command::new("node")
            .args(["provider.mjs", redirect_uri, CLIENT_ID, CLIENT_SECRET, claims])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("node")?;
        let mut line = String::new();
        let output = child.stdout.take().context("no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line).context("the provider did not start")?;
        let issuer = told["issuer"].as_str().context("no issuer")?.to_owned();
        Ok(OpenIdProvider { child, issuer, http: crate::service::http_client()? })
    }

    /// Sets the people that the provider knows, and the lie in its next answers.
    pub async fn order(&self, people: Value, lie: Option<&str>) -> Result<()> {
        let order = json!({ "people": people, "lie": lie });
        let answer = self.http.post(format!("{}/test", self.issuer)).json(&order).send().await?;
        ensure!(answer.status().is_success(), "{}", answer.status());
        Ok(())
    }

    /// Signs in at the provider as `name`, from the address to which our service sent the browser.
    /// Returns the address to which the provider sends it back.
    pub async fn sign_in(&self, service: &Service, to: &str, name: &str) -> Result<String> {
        let mut there = Browser::new(service);
        let mut page = there.get(to).await?;
        for _ in 0..12 {
            let location = page.location().to_owned();
            if location.starts_with("http") && !location.starts_with(&self.issuer) {
                return Ok(location);
            }
            page = if location.is_empty() {
                self.answer(&mut there, &page, name).await?
            } else {
                let address = if location.starts_with('/') { format!("{}{location}", self.issuer) } else { location };
                there.get(&address).await?
            };
        }
        bail!("the provider sends nobody back: {} {}", page.status, page.text())
    }

    /// Fills in the provider's forms: the name, and the consent for our service.
    async fn answer(&self, there: &mut Browser, page: &Page, name: &str) -> Result<Page> {
        ensure!(page.status.is_success(), "{} {}", page.status, page.text());
        let action = page.html.split("action=\"").nth(1).and_then(|rest| rest.split('"').next()).context("no form")?;
        let prompt = page.field("prompt").context("no prompt")?;
        there.post(action, &[("prompt", &prompt), ("login", name), ("password", "any")]).await
    }
}

impl Drop for OpenIdProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The settings file for these providers.
pub fn settings(providers: &[(&str, &str, &str)]) -> String {
    let entry = |(id, name, issuer): &(&str, &str, &str)| {
        format!(
            "[[provider]]\nid = \"{id}\"\nname = \"{name}\"\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT_ID}\"\nclient_secret = \"{CLIENT_SECRET}\"\n"
        )
    };
    providers.iter().map(entry).collect()
}

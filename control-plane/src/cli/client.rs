//! The client of the operator's API: finds the service, sends the token, and turns problem
//! documents into one line.

use super::exit::{NoToken, OperatorRefusal, WrongUsage};
use crate::accounts::operator::{OperatorFile, OperatorToken};
use crate::config::SettingsSource;
use anyhow::Context;
use reqwest::{Method, Response};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use url::Url;

const BROKE_OFF: &str = "the response of the service was cut off";

/// The arguments that say how to reach the service.
#[derive(clap::Args)]
pub struct Where {
    /// Settings file (TOML) of the service on this machine, as `serve` reads it; commands for
    /// operators find the service and its token in the data folder that it names
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Operator address (its setting admin_listen) of a service on another machine, such as
    /// http://10.0.0.5:9090
    #[arg(long, global = true, env = "CYCLORAMA_ADMIN_URL", value_name = "URL")]
    address: Option<String>,
    /// File with the operator token of that service (or set CYCLORAMA_OPERATOR_TOKEN)
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl Where {
    pub fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Returns a client for the service. Arguments take precedence; what they do not give is read
    /// from the data folder of the service on this machine.
    #[expect(
        clippy::disallowed_methods,
        reason = "reads the settings, as `Config::load` does, without checking those of the service"
    )]
    pub fn find(&self) -> anyhow::Result<OperatorClient> {
        let source = SettingsSource::gather(self.config(), std::env::vars_os())?;
        let data_dir = PathBuf::from(source.text("data_dir").unwrap_or("./data"));
        let file = || {
            OperatorFile::read(&data_dir)?.ok_or_else(|| {
                anyhow::Error::from(NoToken(format!(
                    "no service was started with the data folder {}; start `cyclorama serve`, set CYCLORAMA_DATA_DIR, or give --address",
                    data_dir.display()
                )))
            })
        };
        let address = match &self.address {
            Some(address) => operator_address(address)?,
            None => file()?.address,
        };
        let token = match (&self.token_file, source.text("operator_token")) {
            (Some(path), _) => {
                let unread = |cause| WrongUsage(format!("the token file {} cannot be read: {cause}", path.display()));
                let text = std::fs::read_to_string(path).map_err(unread)?;
                OperatorToken::new(text.trim())
            }
            (None, Some(token)) => OperatorToken::new(token),
            (None, None) => file()?.token(),
        };
        OperatorClient::new(address, token)
    }
}

/// Checks an operator address, and removes the slash at its end.
fn operator_address(given: &str) -> Result<String, WrongUsage> {
    let given = given.trim().trim_end_matches('/');
    let is_address = Url::parse(given).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match is_address {
        true => Ok(given.to_owned()),
        false => Err(WrongUsage(format!("`{given}` is not an operator address, such as http://10.0.0.5:9090"))),
    }
}

pub struct OperatorClient {
    http: reqwest::Client,
    address: String,
    token: OperatorToken,
    has_changed_something: AtomicBool,
}

impl OperatorClient {
    fn new(address: String, token: OperatorToken) -> anyhow::Result<Self> {
        // Fails only when a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(60))
            .build()?;
        Ok(OperatorClient { http, address, token, has_changed_something: AtomicBool::new(false) })
    }

    /// True if a request succeeded that may have made or changed something: the caller must not
    /// lose its answer silently.
    pub fn has_changed_something(&self) -> bool {
        self.has_changed_something.load(Ordering::Relaxed)
    }

    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::GET, path, None).await
    }

    /// Sends a request that needs a body and changes nothing.
    pub async fn ask(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Sends a request that changes something. Members of the body that are null
    /// were not given, and are left out.
    pub async fn post(&self, path: &str, mut body: Value) -> anyhow::Result<Value> {
        if let Value::Object(members) = &mut body {
            members.retain(|_, value| !value.is_null());
        }
        self.change(Method::POST, path, body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        self.change(Method::PUT, path, body).await
    }

    async fn change(&self, method: Method, path: &str, body: Value) -> anyhow::Result<Value> {
        let answer = self.send(method, path, Some(body)).await?;
        self.has_changed_something.store(true, Ordering::Relaxed);
        Ok(answer)
    }

    /// Returns a page of text, and the value of the header `next`, which
    /// tells where the next page begins.
    pub async fn get_text(&self, path: &str, next: &str) -> anyhow::Result<(String, Option<String>)> {
        let answer = self.answer(Method::GET, path, None).await?;
        let next = answer.headers().get(next).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok((answer.text().await.context(BROKE_OFF)?, next))
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let answer = self.answer(method, path, body).await?;
        let text = answer.text().await.context(BROKE_OFF)?;
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Sends a request and returns a successful response. A problem document becomes the error.
    async fn answer(&self, method: Method, path: &str, body: Option<Value>) -> anyhow::Result<Response> {
        let mut request = self.http.request(method, format!("{}{path}", self.address)).bearer_auth(self.token.reveal());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.map_err(|error| {
            let message = match (error.is_connect(), error.is_timeout()) {
                (true, _) => format!("nothing responds at {}; is the service running?", self.address),
                (_, true) => format!("{} did not respond in time", self.address),
                _ => format!("the request to {} failed", self.address),
            };
            // If nothing answers, the line above says enough.
            let cause = (!error.is_connect()).then(|| error.without_url());
            OperatorRefusal { status: None, message, cause }
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let document: Value = serde_json::from_str(&answer.text().await.context(BROKE_OFF)?).unwrap_or(Value::Null);
        match (document["code"].as_str(), document["detail"].as_str()) {
            (Some("unknown_route"), _) | (_, None) => {
                let message = format!("{} returned {status} for {path}; is it the operator address?", self.address);
                Err(WrongUsage(message).into())
            }
            (_, Some(detail)) => {
                Err(OperatorRefusal { status: Some(status.as_u16()), message: detail.to_owned(), cause: None }.into())
            }
        }
    }
}

/// Encodes one segment of a path: an id that somebody typed must
/// not change the path of the request.
pub fn segment(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            encoded.push(byte as char);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

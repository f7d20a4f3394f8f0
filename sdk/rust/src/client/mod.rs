//! The client, with one method for each operation of the service, named as in its API document.

mod account;
mod catalog;
mod device_login;
mod pictures;

use crate::error::Error;
use crate::transport::{Answer, Pause, Request, Retries, Transport};
use crate::types::{Event, EventsResponse, Health};
use reqwest::header::{DATE, HeaderValue};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use url::Url;

/// Time limit of one attempt. The first render of an image may take two minutes.
const ANSWER_WITHIN: Duration = Duration::from_secs(180);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A client of the service. It sends a request again after 429 and 503. After a lost connection, or
/// a 503 that does not come from the service itself, it does so only if no credit can be spent
/// twice. Cloning is cheap, and clones share their connections.
#[derive(Clone)]
pub struct Client {
    transport: Arc<Transport>,
}

impl Client {
    /// Creates a client for the service at `CYCLORAMA_URL`, with the key in `CYCLORAMA_KEY` if
    /// there is one. Returns an error of kind [`ErrorKind::Setup`](crate::ErrorKind::Setup) if
    /// `CYCLORAMA_URL` is not a URL.
    #[expect(clippy::disallowed_methods, reason = "this function is there to read the environment")]
    pub fn from_environment() -> Result<Self, Error> {
        let url = std::env::var("CYCLORAMA_URL").unwrap_or_default();
        match std::env::var("CYCLORAMA_KEY") {
            Ok(key) if !key.trim().is_empty() => Self::builder(&url).api_key(key.trim()).build(),
            _ => Self::builder(&url).build(),
        }
    }

    /// Starts a client for the service at `url`.
    pub fn builder(url: &str) -> Builder {
        Builder {
            url: url.to_owned(),
            api_key: None,
            timeout: ANSWER_WITHIN,
            retries: Retries::default(),
            user_agent: concat!("cyclorama-rust/", env!("CARGO_PKG_VERSION")).to_owned(),
            pause: Arc::new(|wait| Box::pin(tokio::time::sleep(wait))),
        }
    }

    /// The service's URL.
    pub fn url(&self) -> &Url {
        &self.transport.url
    }

    /// Reports 1 to 20 telemetry events.
    pub async fn report_events(&self, events: &[Event]) -> Result<EventsResponse, Error> {
        self.json(&Request::post("/api/v1/events").body(&json!({ "events": events }))?).await
    }

    /// Returns the health of the service. The status is always `ok`, because a service that is down
    /// does not answer.
    pub async fn get_health(&self) -> Result<Health, Error> {
        self.json(&Request::get("/api/health")).await
    }

    /// Returns the time of the service's clock, to the second, or `None` if the answer does not
    /// have it. Signed URLs expire by that clock.
    pub async fn service_time(&self) -> Result<Option<SystemTime>, Error> {
        let answer = self.transport.send(&Request::get("/api/health"), None).await?;
        let date = answer.headers.get(DATE).and_then(|date| date.to_str().ok());
        Ok(date.and_then(|date| httpdate::parse_http_date(date).ok()))
    }

    async fn json<Document: DeserializeOwned>(&self, request: &Request) -> Result<Document, Error> {
        decode(&self.transport.send(request, None).await?)
    }
}

fn decode<Document: DeserializeOwned>(answer: &Answer) -> Result<Document, Error> {
    serde_json::from_slice(&answer.body).map_err(|cause| {
        Error::unexpected(answer.status.as_u16(), format!("The response is not from the service: {cause}"))
    })
}

/// Settings of a [`Client`] that is being created.
pub struct Builder {
    url: String,
    api_key: Option<String>,
    timeout: Duration,
    retries: Retries,
    user_agent: String,
    pause: Pause,
}

impl Builder {
    /// Sets the API key. Public operations need none.
    pub fn api_key(mut self, key: &str) -> Self {
        self.api_key = Some(key.to_owned());
        self
    }

    /// Sets the time limit of one attempt.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets when a request is sent again.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the `User-Agent` header.
    pub fn user_agent(mut self, user_agent: &str) -> Self {
        self.user_agent = user_agent.to_owned();
        self
    }

    /// Sets the function that waits before a request is sent again, in place of
    /// `tokio::time::sleep`.
    pub fn pause(mut self, pause: Pause) -> Self {
        self.pause = pause;
        self
    }

    /// Creates the client. Returns an error of kind [`ErrorKind::Setup`](crate::ErrorKind::Setup)
    /// if a setting is not valid.
    pub fn build(self) -> Result<Client, Error> {
        const ADDRESS: &str = "Give the URL of the service, such as https://images.example.com (or set CYCLORAMA_URL)";
        let url = Url::parse(self.url.trim()).map_err(|_| Error::setup(ADDRESS))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(Error::setup(ADDRESS));
        }
        let authorization = self.api_key.map(|key| {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| Error::setup("The API key has characters that no key has"))?;
            // Keeps the key out of debug output.
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        });
        // Fails only if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .timeout(self.timeout)
            .user_agent(self.user_agent)
            // The transport follows redirects itself, and sends the key to no other address.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|cause| Error::setup(format!("The HTTP client cannot start: {cause}")))?;
        let transport = Transport {
            http,
            url,
            authorization: authorization.transpose()?,
            retries: self.retries,
            pause: self.pause,
        };
        Ok(Client { transport: Arc::new(transport) })
    }
}

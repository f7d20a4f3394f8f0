//! Client for the few calls of Stripe's HTTP API that we need. They are form-encoded, and each that
//! changes something has an idempotency key, so that a repetition does nothing.
//!
//! Only Stripe's own codes and request ids are logged here: neither keys nor personal data.
//!
//! Why: `docs/decisions/payments.md` (The client of Stripe's API is our own).

use super::event::{CURRENCY, PAYMENT, PaymentIntent};
use crate::config::prices::Pack;
use crate::config::stripe::StripeSettings as Settings;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::form_urlencoded::Serializer;

/// Version of the API, which determines the form of requests and answers; the webhook endpoint
/// should have the same.
const API_VERSION: &str = "2025-03-31.basil";

const CONNECT: Duration = Duration::from_secs(4);
/// Time limit of one try, including its connection. Two of them leave a handler time to answer.
const TRY: Duration = Duration::from_secs(10);
const TRIES: u32 = 2;
const PAUSE: Duration = Duration::from_millis(300);

/// Maximum size of an answer: far more than any that we request.
const ANSWER_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StripeError {
    /// Stripe cannot be reached or has a failure; the same call may succeed later.
    #[error("Stripe does not answer")]
    Down(#[source] Option<reqwest::Error>),
    /// The card was not charged, and trying again would change nothing.
    #[error("the card was declined ({code})")]
    Declined { code: String },
    /// Stripe rejects the request because of the key or something that we sent.
    #[error("Stripe refused with {status}: {kind} {code} {parameter} (its request {request_id})")]
    Refused { status: u16, kind: String, code: String, parameter: String, request_id: String },
    #[error("Stripe's response has an unknown form")]
    Form(#[source] serde_json::Error),
}

/// Client of Stripe's API. Cheap to clone.
#[derive(Clone)]
pub struct StripeClient {
    http: Client,
    settings: Settings,
}

/// A payment page at Stripe.
#[derive(Debug, Deserialize)]
pub struct PaymentPage {
    pub id: String,
    pub url: Option<String>,
}

/// The contents of a new payment page.
#[derive(Debug)]
pub struct NewSession<'a> {
    pub payment_id: &'a str,
    pub customer: &'a str,
    pub pack: &'a Pack,
    /// URL to which the browser returns, whether the payment was made or not.
    pub return_url: &'a str,
    /// True if the card may be charged later while the buyer is not present.
    pub keeps_card: bool,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct PageUrl {
    url: String,
}

#[derive(Deserialize)]
struct StripeList<T> {
    data: Vec<T>,
}

/// An endpoint to which Stripe sends events, with the members that the key may read.
#[derive(Debug, Deserialize)]
pub struct WebhookEndpoint {
    pub url: String,
    /// `*` stands for all events.
    pub enabled_events: Vec<String>,
    /// `enabled` or `disabled`.
    pub status: String,
}

#[derive(Deserialize, Default)]
struct StripeFailure {
    #[serde(default)]
    error: FailureError,
}

#[derive(Deserialize, Default)]
struct FailureError {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    decline_code: Option<String>,
    #[serde(default)]
    param: Option<String>,
}

type StripeFields<'a> = Vec<(&'a str, &'a str)>;

impl StripeClient {
    pub fn new(settings: Settings) -> Result<Self, reqwest::Error> {
        // Fails only if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(TRY)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(StripeClient { http, settings })
    }

    pub fn webhook_secret(&self) -> &str {
        self.settings.webhook_secret.reveal()
    }

    /// Creates the account's customer at Stripe and returns its id.
    pub async fn create_customer(&self, account_id: &str, email: &str) -> Result<String, StripeError> {
        let fields = vec![("email", email), ("metadata[cyclorama_account]", account_id)];
        let made: Id = self.post("/v1/customers", fields, &format!("customer-{account_id}")).await?;
        Ok(made.id)
    }

    pub async fn create_session(&self, new: &NewSession<'_>) -> Result<PaymentPage, StripeError> {
        let cents = new.pack.cents.to_string();
        let product = format!("{} Cyclorama credits", new.pack.credits);
        let on_session = format!("metadata[{PAYMENT}]");
        let on_intent = format!("payment_intent_data[metadata][{PAYMENT}]");
        let mut fields = vec![
            ("mode", "payment"),
            ("customer", new.customer),
            ("client_reference_id", new.payment_id),
            (&on_session, new.payment_id),
            (&on_intent, new.payment_id),
            ("line_items[0][quantity]", "1"),
            ("line_items[0][price_data][currency]", CURRENCY),
            ("line_items[0][price_data][unit_amount]", &cents),
            ("line_items[0][price_data][product_data][name]", &product),
            ("success_url", new.return_url),
            ("cancel_url", new.return_url),
            // The price is in one currency. A payment that arrives in another all the same is
            // understood (see `event`).
            ("adaptive_pricing[enabled]", "false"),
        ];
        if new.keeps_card {
            // Only cards can be charged again the way we do it.
            fields.push(("payment_method_types[0]", "card"));
            fields.push(("payment_intent_data[setup_future_usage]", "off_session"));
        }
        self.post("/v1/checkout/sessions", fields, new.payment_id).await
    }

    /// Opens the customer's pages at Stripe (cards, receipts) and returns their URL. Each opening
    /// has its own idempotency key.
    pub async fn create_portal_session(&self, customer: &str, return_url: &str) -> Result<String, StripeError> {
        let fields = vec![("customer", customer), ("return_url", return_url)];
        let name = format!("portal-{}", uuid::Uuid::new_v4());
        let made: PageUrl = self.post("/v1/billing_portal/sessions", fields, &name).await?;
        Ok(made.url)
    }

    /// Returns the newest card that is stored for a customer.
    pub async fn newest_card(&self, customer: &str) -> Result<Option<String>, StripeError> {
        let query = encode(&[("customer", customer), ("type", "card"), ("limit", "1")]);
        let list: StripeList<Id> = self.call(Method::GET, &format!("/v1/payment_methods?{query}"), None, None).await?;
        Ok(list.data.into_iter().next().map(|card| card.id))
    }

    /// Returns the endpoints to which events are sent: at most a hundred, as many as Stripe lists
    /// at once; an account has sixteen.
    pub async fn webhook_endpoints(&self) -> Result<Vec<WebhookEndpoint>, StripeError> {
        let list: StripeList<WebhookEndpoint> =
            self.call(Method::GET, "/v1/webhook_endpoints?limit=100", None, None).await?;
        Ok(list.data)
    }

    /// Charges a stored card while the buyer is not present.
    pub async fn charge(
        &self,
        payment_id: &str,
        customer: &str,
        payment_method: &str,
        cents: i64,
    ) -> Result<PaymentIntent, StripeError> {
        let cents = cents.to_string();
        let on_intent = format!("metadata[{PAYMENT}]");
        let fields = vec![
            ("amount", cents.as_str()),
            ("currency", CURRENCY),
            ("customer", customer),
            ("payment_method", payment_method),
            ("confirm", "true"),
            ("off_session", "true"),
            (&on_intent, payment_id),
        ];
        self.post("/v1/payment_intents", fields, payment_id).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        fields: StripeFields<'_>,
        name: &str,
    ) -> Result<T, StripeError> {
        self.call(Method::POST, path, Some(encode(&fields)), Some(name)).await
    }

    /// Makes one call, and repeats it under the same idempotency key where that can help.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        name: Option<&str>,
    ) -> Result<T, StripeError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let mut request = self
                .http
                .request(method.clone(), format!("{}{path}", self.settings.api_url))
                .bearer_auth(self.settings.secret_key.reveal())
                .header("stripe-version", API_VERSION);
            if let Some(name) = name {
                request = request.header("idempotency-key", name);
            }
            if let Some(body) = &body {
                request = request.header("content-type", "application/x-www-form-urlencoded").body(body.clone());
            }
            match answer(request).await {
                Err(StripeError::Down(_)) if tried < TRIES => tokio::time::sleep(PAUSE).await,
                other => return other,
            }
        }
    }
}

fn encode(fields: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, StripeError> {
    let down = |error: reqwest::Error| StripeError::Down(Some(error.without_url()));
    let response = request.send().await.map_err(down)?;
    let status = response.status();
    let request_id = response.headers().get("request-id").and_then(|id| id.to_str().ok()).unwrap_or("none").to_owned();
    let body = read(response).await?;
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(StripeError::Form);
    }
    // 409: another call with the same idempotency key is under way.
    if status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT) {
        return Err(StripeError::Down(None));
    }
    let error = serde_json::from_slice::<StripeFailure>(&body).unwrap_or_default().error;
    if status == StatusCode::PAYMENT_REQUIRED {
        let code = error.decline_code.or(error.code).unwrap_or_else(|| "no reason given".to_owned());
        return Err(StripeError::Declined { code });
    }
    Err(StripeError::Refused {
        status: status.as_u16(),
        kind: error.kind.unwrap_or_default(),
        code: error.code.unwrap_or_default(),
        parameter: error.param.unwrap_or_default(),
        request_id,
    })
}

async fn read(mut response: Response) -> Result<Vec<u8>, StripeError> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| StripeError::Down(Some(error.without_url())))? {
        body.extend_from_slice(&part);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(StripeError::Down(None));
        }
    }
    Ok(body)
}

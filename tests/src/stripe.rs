//! A stand-in for Stripe's API: it keeps customers, sessions and charges in memory, checks requests
//! as strictly as it can, and signs events.
//!
//! A wrong request is answered as Stripe would answer it, and noted as a mistake. A test that ends
//! with any such mistake fails.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{Options, Service, secrets};

pub const SECRET_KEY: &str = "sk_test_ofTheStandIn1234";
pub const WEBHOOK_SECRET: &str = "whsec_ofTheStandIn1234";

type Fields = BTreeMap<String, String>;

/// Behaviour of the stand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StripeBehaviour {
    #[default]
    Well,
    /// Answers 500 and does nothing.
    Down,
    /// Answers 500 to charges of saved cards only.
    DownForCharges,
    /// Does the request, but answers 500.
    LosesAnswers,
    /// Declines every card.
    Declines,
}

#[derive(Default)]
struct Kept {
    mood: StripeBehaviour,
    made: u64,
    customers: BTreeMap<String, Fields>,
    /// Saved cards, by customer.
    cards: BTreeMap<String, Vec<String>>,
    sessions: BTreeMap<String, Fields>,
    /// Successful charges, by intent.
    intents: BTreeMap<String, Fields>,
    /// Requests and their answers, by idempotency key.
    answers: BTreeMap<String, (String, Fields, u16, Value)>,
    mistakes: Vec<String>,
}

impl Kept {
    fn id(&mut self, start: &str) -> String {
        self.made += 1;
        format!("{start}_{:06}", self.made)
    }
}

#[derive(Clone)]
pub struct FakeStripe {
    pub api_url: String,
    kept: Arc<Mutex<Kept>>,
    _task: Arc<Task>,
}

struct Task(tokio::task::JoinHandle<()>, Arc<Mutex<Kept>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
        let mistakes = std::mem::take(&mut lock(&self.1).mistakes);
        if !std::thread::panicking() {
            assert!(mistakes.is_empty(), "Stripe was asked wrongly: {mistakes:?}");
        }
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub fn unix_seconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}

/// The header that signs a body.
pub fn signature(secret: &str, at: i64, body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    let mac = mac.chain_update(format!("{at}.{body}")).finalize().into_bytes();
    format!("t={at},v1={}", hex::encode(mac))
}

impl FakeStripe {
    pub async fn start() -> Result<Self> {
        secrets::note(SECRET_KEY);
        secrets::note(WEBHOOK_SECRET);
        let kept = Arc::new(Mutex::new(Kept::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let api_url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(any(serve)).with_state(kept.clone());
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(FakeStripe { api_url, kept: kept.clone(), _task: Arc::new(Task(task, kept)) })
    }

    /// Options of a service that takes payments through the stand-in.
    pub fn options(&self) -> Options {
        Options::default()
            .set("CYCLORAMA_PAYMENTS", "stripe")
            .set("CYCLORAMA_STRIPE_SECRET_KEY", SECRET_KEY)
            .set("CYCLORAMA_STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET)
            .set("CYCLORAMA_STRIPE_API_URL", &self.api_url)
            .set("CYCLORAMA_AUTO_RELOAD_SECONDS", 1)
    }

    /// Changes how the stand-in behaves from now on.
    pub fn feel(&self, mood: StripeBehaviour) {
        lock(&self.kept).mood = mood;
    }

    pub fn customers(&self) -> Vec<Fields> {
        lock(&self.kept).customers.values().cloned().collect()
    }

    /// The sessions, the oldest first, each with its `id`.
    pub fn sessions(&self) -> Vec<Fields> {
        lock(&self.kept).sessions.values().cloned().collect()
    }

    /// Adds a card as the customer does in Stripe's portal, and returns its id.
    pub fn add_card(&self, customer: &str) -> String {
        let mut kept = lock(&self.kept);
        let card = kept.id("pm");
        kept.cards.entry(customer.to_owned()).or_default().insert(0, card.clone());
        card
    }

    /// The charges of saved cards, each with its `id`, `amount` and `payment_method`.
    pub fn charges(&self) -> Vec<Fields> {
        lock(&self.kept).intents.values().cloned().collect()
    }

    /// Pays in a session, and returns the events that follow.
    pub fn pay(&self, session: &Fields) -> Paid {
        let mut kept = lock(&self.kept);
        let field = |name: &str| session.get(name).cloned().unwrap_or_default();
        let amount: i64 = field("line_items[0][price_data][unit_amount]").parse().unwrap_or_default();
        let intent_id = kept.id("pi");
        let card = kept.id("pm");
        let keeps = session.get("payment_intent_data[setup_future_usage]");
        if keeps.is_some() {
            kept.cards.entry(field("customer")).or_default().insert(0, card.clone());
        }
        drop(kept);
        let currency = field("line_items[0][price_data][currency]");
        let payment = field("metadata[cyclorama_payment]");
        let intent = json!({
            "id": intent_id, "object": "payment_intent", "created": unix_seconds(), "status": "succeeded", "amount": amount,
            "amount_received": amount, "currency": currency, "customer": field("customer"), "payment_method": card, "setup_future_usage": keeps,
            "metadata": { "cyclorama_payment": field("payment_intent_data[metadata][cyclorama_payment]") },
        });
        let completed = json!({
            "id": field("id"), "object": "checkout.session", "mode": "payment", "status": "complete", "payment_status": "paid",
            "amount_total": amount, "currency": currency, "payment_intent": intent_id, "customer": field("customer"),
            "client_reference_id": field("client_reference_id"), "metadata": { "cyclorama_payment": payment },
        });
        Paid {
            completed: self.event("checkout.session.completed", completed),
            succeeded: self.event("payment_intent.succeeded", intent),
            intent_id,
            payment,
            amount,
            card,
        }
    }

    /// Removes a card as the customer does in Stripe's portal, and returns the event.
    pub fn detach(&self, customer: &str, card: &str) -> Value {
        lock(&self.kept).cards.entry(customer.to_owned()).or_default().retain(|kept| kept != card);
        self.event("payment_method.detached", json!({ "id": card, "object": "payment_method", "customer": null }))
    }

    pub fn event(&self, kind: &str, object: Value) -> Value {
        let id = lock(&self.kept).id("evt");
        json!({ "id": id, "object": "event", "type": kind, "created": unix_seconds(), "livemode": false, "data": { "object": object } })
    }

    /// Sends an event as Stripe does.
    pub async fn send(&self, service: &Service, event: &Value) -> Result<StatusCode> {
        let body = event.to_string();
        let header = signature(WEBHOOK_SECRET, unix_seconds(), &body);
        send_signed(service, Some(&header), body).await
    }
}

/// The events that follow a payment in a session.
pub struct Paid {
    pub completed: Value,
    pub succeeded: Value,
    pub intent_id: String,
    pub payment: String,
    pub amount: i64,
    pub card: String,
}

impl Paid {
    /// The event of a charge of which `cents` were refunded in total.
    pub fn refunded(&self, stripe: &FakeStripe, cents: i64) -> Value {
        let charge = json!({
            "id": format!("ch_{}", self.intent_id), "object": "charge", "amount": self.amount, "amount_refunded": cents,
            "currency": "usd", "refunded": cents == self.amount, "payment_intent": self.intent_id,
            "metadata": { "cyclorama_payment": self.payment },
        });
        stripe.event("charge.refunded", charge)
    }

    pub fn disputed(&self, stripe: &FakeStripe) -> Value {
        self.dispute(stripe, "charge.dispute.created", "needs_response")
    }

    /// An event of the payment's only dispute.
    pub fn dispute(&self, stripe: &FakeStripe, kind: &str, status: &str) -> Value {
        let dispute = json!({
            "id": format!("dp_{}", self.intent_id), "object": "dispute", "amount": self.amount, "currency": "usd",
            "payment_intent": self.intent_id, "reason": "fraudulent", "status": status, "metadata": {},
        });
        stripe.event(kind, dispute)
    }

    /// An event of one of the payment's refunds.
    pub fn refund(&self, stripe: &FakeStripe, kind: &str, number: u32, cents: i64, status: &str) -> Value {
        let refund = json!({
            "id": format!("re_{number}_{}", self.intent_id), "object": "refund", "amount": cents, "currency": "usd",
            "charge": format!("ch_{}", self.intent_id), "payment_intent": self.intent_id, "status": status, "metadata": {},
        });
        stripe.event(kind, refund)
    }
}

/// Calls the webhook with any header and body.
pub async fn send_signed(service: &Service, header: Option<&str>, body: String) -> Result<StatusCode> {
    let request = service.http.post(format!("{}/webhooks/stripe", service.base_url));
    let request = match header {
        Some(header) => request.header("stripe-signature", header),
        None => request,
    };
    let answer = request.header("content-type", "application/json; charset=utf-8").body(body).send().await?;
    Ok(StatusCode::from_u16(answer.status().as_u16())?)
}

/// Required and optional fields of the requests that may be posted.
fn form_of(path: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match path {
        "/v1/customers" => (&["email", "metadata[cyclorama_account]"], &[]),
        "/v1/checkout/sessions" => (
            &[
                "mode",
                "customer",
                "client_reference_id",
                "metadata[cyclorama_payment]",
                "payment_intent_data[metadata][cyclorama_payment]",
                "line_items[0][quantity]",
                "line_items[0][price_data][currency]",
                "line_items[0][price_data][unit_amount]",
                "line_items[0][price_data][product_data][name]",
                "success_url",
                "cancel_url",
                "adaptive_pricing[enabled]",
            ],
            &["payment_method_types[0]", "payment_intent_data[setup_future_usage]"],
        ),
        "/v1/billing_portal/sessions" => (&["customer", "return_url"], &[]),
        "/v1/payment_intents" => (
            &[
                "amount",
                "currency",
                "customer",
                "payment_method",
                "confirm",
                "off_session",
                "metadata[cyclorama_payment]",
            ],
            &[],
        ),
        _ => return None,
    })
}

async fn serve(State(kept): State<Arc<Mutex<Kept>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, 1 << 16).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let mut kept = lock(&kept);
    let asked = format!("{} {}", parts.method, parts.uri.path());
    let (status, answer) = match read(&asked, parts.uri.query(), &parts.headers, &body) {
        Ok(fields) => {
            let name = parts.headers.get("idempotency-key").and_then(|name| name.to_str().ok()).unwrap_or_default();
            named(&mut kept, &asked, name, fields)
        }
        Err((status, mistake)) => refuse(&mut kept, status, format!("{asked}: {mistake}")),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [("request-id", "req_of_the_stand_in")], axum::Json(answer)).into_response()
}

fn refuse(kept: &mut Kept, status: u16, mistake: String) -> (u16, Value) {
    let answer = json!({ "error": { "type": "invalid_request_error", "message": mistake } });
    kept.mistakes.push(mistake);
    (status, answer)
}

fn read(asked: &str, query: Option<&str>, headers: &HeaderMap, body: &Bytes) -> Result<Fields, (u16, String)> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if header("authorization") != format!("Bearer {SECRET_KEY}") {
        return Err((401, "no key, or not ours".to_owned()));
    }
    if header("stripe-version").is_empty() {
        return Err((400, "no Stripe-Version".to_owned()));
    }
    if asked == "GET /v1/payment_methods" {
        let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned();
        return Ok(pairs.collect());
    }
    let Some((required, optional)) = asked.strip_prefix("POST ").and_then(form_of) else {
        return Err((404, "no such call".to_owned()));
    };
    if header("content-type") != "application/x-www-form-urlencoded" {
        return Err((400, "not form-encoded".to_owned()));
    }
    if !(1..=255).contains(&header("idempotency-key").len()) {
        return Err((400, "no Idempotency-Key".to_owned()));
    }
    let mut fields = Fields::new();
    for (name, value) in url::form_urlencoded::parse(body).into_owned() {
        if !required.contains(&name.as_str()) && !optional.contains(&name.as_str()) {
            return Err((400, format!("unknown field {name}")));
        }
        if value.is_empty() || fields.insert(name.clone(), value).is_some() {
            return Err((400, format!("{name} is empty or there twice")));
        }
    }
    match required.iter().find(|name| !fields.contains_key(**name)) {
        Some(missing) => Err((400, format!("{missing} is missing"))),
        None => Ok(fields),
    }
}

/// Runs a call once for each idempotency key.
fn named(kept: &mut Kept, asked: &str, name: &str, fields: Fields) -> (u16, Value) {
    let is_charge = asked == "POST /v1/payment_intents";
    if kept.mood == StripeBehaviour::Down || (kept.mood == StripeBehaviour::DownForCharges && is_charge) {
        return (500, json!({ "error": { "type": "api_error" } }));
    }
    if name.is_empty() {
        return call(kept, asked, fields);
    }
    let (status, answer) = match kept.answers.get(name) {
        Some((same, before, status, answer)) if same == asked && *before == fields => (*status, answer.clone()),
        Some(_) => return refuse(kept, 400, format!("{asked}: the name {name} was used for something else")),
        None => {
            let (status, answer) = call(kept, asked, fields.clone());
            kept.answers.insert(name.to_owned(), (asked.to_owned(), fields, status, answer.clone()));
            (status, answer)
        }
    };
    match kept.mood {
        StripeBehaviour::LosesAnswers => (500, json!({ "error": { "type": "api_error" } })),
        _ => (status, answer),
    }
}

fn call(kept: &mut Kept, asked: &str, mut fields: Fields) -> (u16, Value) {
    let customer = fields.get("customer").cloned().unwrap_or_default();
    if asked != "POST /v1/customers" && !kept.customers.contains_key(&customer) {
        return refuse(kept, 400, format!("{asked}: no such customer"));
    }
    match asked {
        "POST /v1/customers" => {
            let id = kept.id("cus");
            kept.customers.insert(id.clone(), fields);
            (200, json!({ "id": id, "object": "customer" }))
        }
        "POST /v1/checkout/sessions" => {
            let urls = [&fields["success_url"], &fields["cancel_url"]];
            if fields["mode"] != "payment"
                || fields["adaptive_pricing[enabled]"] != "false"
                || urls.iter().any(|url| url::Url::parse(url).is_err())
            {
                return refuse(kept, 400, "a session of another form".to_owned());
            }
            let id = kept.id("cs_test");
            fields.insert("id".to_owned(), id.clone());
            kept.sessions.insert(id.clone(), fields);
            (
                200,
                json!({ "id": id, "object": "checkout.session", "url": format!("https://checkout.stripe.test/c/pay/{id}#x") }),
            )
        }
        "POST /v1/billing_portal/sessions" => {
            let id = kept.id("bps");
            (200, json!({ "id": id, "url": format!("https://billing.stripe.test/p/session/{id}") }))
        }
        "GET /v1/payment_methods" => {
            let cards = kept.cards.get(&customer).cloned().unwrap_or_default();
            let cards: Vec<Value> = cards.iter().map(|id| json!({ "id": id, "object": "payment_method" })).collect();
            (200, json!({ "object": "list", "data": cards, "has_more": false }))
        }
        "POST /v1/payment_intents" => {
            let has_card = kept.cards.get(&customer).is_some_and(|cards| cards.contains(&fields["payment_method"]));
            if !has_card || fields["confirm"] != "true" || fields["off_session"] != "true" {
                return refuse(kept, 400, "a charge of another form".to_owned());
            }
            if kept.mood == StripeBehaviour::Declines {
                return (
                    402,
                    json!({ "error": { "type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds" } }),
                );
            }
            let id = kept.id("pi");
            let amount: i64 = fields["amount"].parse().unwrap_or_default();
            let answer = json!({
                "id": id, "object": "payment_intent", "status": "succeeded", "amount": amount, "amount_received": amount,
                "currency": fields["currency"], "customer": customer, "payment_method": fields["payment_method"],
                "setup_future_usage": null, "metadata": { "cyclorama_payment": fields["metadata[cyclorama_payment]"] },
            });
            fields.insert("id".to_owned(), id.clone());
            kept.intents.insert(id, fields);
            (200, answer)
        }
        _ => refuse(kept, 404, format!("{asked}: no such call")),
    }
}

/// The event that Stripe sends beside the answer to a charge.
pub fn charge_event(stripe: &FakeStripe, charge: &Fields) -> Result<Value> {
    let amount: i64 = charge.get("amount").context("no amount")?.parse()?;
    let intent = json!({
        "id": charge["id"], "object": "payment_intent", "status": "succeeded", "amount": amount, "amount_received": amount,
        "currency": charge["currency"], "customer": charge["customer"], "payment_method": charge["payment_method"],
        "metadata": { "cyclorama_payment": charge["metadata[cyclorama_payment]"] },
    });
    Ok(stripe.event("payment_intent.succeeded", intent))
}

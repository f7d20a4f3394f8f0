//! Reads Stripe's events as far as they concern our payments. `settle` applies them.

use super::returns::{Return, ReturnKind, ReturnState};
use crate::clock::UnixMs;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Currency in which packs are sold.
pub const CURRENCY: &str = "usd";

/// Metadata key that holds our payment's id on everything we create at Stripe.
pub const PAYMENT: &str = "cyclorama_payment";

/// Kinds of events that the webhook endpoint must receive. More do no harm.
pub const KINDS: [&str; 18] = [
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "charge.refunded",
    "charge.refund.updated",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.closed",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "payment_method.detached",
];

#[derive(Debug, Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    object: Value,
}

#[derive(Debug)]
pub struct StripeEvent {
    /// Stripe's id, the same however often the event is sent.
    pub id: String,
    pub kind: String,
    pub content: EventContent,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventContent {
    /// Money arrived.
    Paid(Paid),
    /// A payment page ended without money, for good.
    Failed { payment_id: String },
    /// One attempt to charge a card failed. On a payment page the buyer may try another card.
    ChargeFailed { payment_id: String },
    /// The payment page has expired.
    Expired { payment_id: String },
    /// Money goes back, by a refund or by the buyer's bank, or has come to us again.
    Returned(Return),
    /// A card may no longer be charged.
    CardGone { payment_method: String },
    /// The event does not concern us.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    pub payment_id: String,
    /// In the currency in which packs are sold, if Stripe reports it.
    pub cents: i64,
    /// In lower case.
    pub currency: String,
    /// The amount that the buyer paid and its currency in lower case, if that was another currency.
    pub presented: Option<(i64, String)>,
    pub session: Option<String>,
    pub payment_intent: Option<String>,
    /// The card that was stored with the payment.
    pub kept: Option<KeptCard>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCard {
    pub customer: String,
    pub payment_method: String,
    /// Time at which the purchase was made at Stripe, regardless of when its event arrives.
    pub chosen_at: UnixMs,
}

#[derive(Deserialize)]
struct CheckoutSession {
    id: String,
    mode: String,
    payment_status: String,
    amount_total: Option<i64>,
    currency: Option<String>,
    /// Present in older API versions, in which `amount_total` and `currency` are the buyer's.
    #[serde(default)]
    currency_conversion: Option<Conversion>,
    /// Present in newer API versions, in which they are ours.
    #[serde(default)]
    presentment_details: Option<Presentment>,
    payment_intent: Option<ObjectReference>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// The value in our currency of an amount in the buyer's.
#[derive(Debug, Deserialize)]
struct Conversion {
    amount_total: i64,
    source_currency: String,
}

/// The value in the buyer's currency of an amount in ours.
#[derive(Debug, Deserialize)]
struct Presentment {
    presentment_amount: i64,
    presentment_currency: String,
}

impl Presentment {
    fn presented(self) -> (i64, String) {
        (self.presentment_amount, self.presentment_currency.to_ascii_lowercase())
    }
}

/// A payment intent, as events and answers contain it.
#[derive(Debug, Deserialize)]
pub struct PaymentIntent {
    pub id: String,
    pub status: String,
    /// Unix time in seconds. Without it the card counts as older than any other.
    #[serde(default)]
    created: i64,
    amount: i64,
    amount_received: Option<i64>,
    currency: String,
    #[serde(default)]
    presentment_details: Option<Presentment>,
    customer: Option<ObjectReference>,
    payment_method: Option<ObjectReference>,
    setup_future_usage: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct StripeCharge {
    id: Option<String>,
    amount_refunded: i64,
    currency: String,
    payment_intent: Option<ObjectReference>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// A refund or a dispute.
#[derive(Deserialize)]
struct ReturnEvent {
    id: String,
    amount: i64,
    currency: String,
    #[serde(default)]
    status: Option<String>,
    payment_intent: Option<ObjectReference>,
}

impl ReturnEvent {
    fn content(self, kind: ReturnKind, state: ReturnState) -> EventContent {
        EventContent::Returned(Return {
            id: self.id,
            kind,
            state,
            payment_id: None,
            payment_intent: self.payment_intent.map(String::from),
            cents: self.amount,
            currency: self.currency.to_ascii_lowercase(),
        })
    }
}

/// Returns where the money of a refund is, given its status. Money of a refund that is
/// under way counts as gone.
fn state_of_refund(status: Option<&str>) -> ReturnState {
    match status {
        Some("failed" | "canceled") => ReturnState::Back,
        _ => ReturnState::Gone,
    }
}

/// Returns where the money of a dispute is, given its event. Endpoints that do not receive
/// `funds_withdrawn` and `funds_reinstated` learn the same from the status: Stripe withdraws the
/// money of a dispute when it is opened, and that of an inquiry (`warning_...`) never.
fn state_of_dispute(kind: &str, status: Option<&str>) -> ReturnState {
    match (kind, status) {
        ("charge.dispute.funds_withdrawn", _) => ReturnState::Gone,
        ("charge.dispute.funds_reinstated", _) | (_, Some("won")) => ReturnState::Back,
        (_, Some("needs_response" | "under_review" | "lost")) => ReturnState::Gone,
        // An inquiry, or an end that moves no money beyond the refunds, which
        // have their own events.
        (_, _) => ReturnState::Announced,
    }
}

#[derive(Deserialize)]
struct PaymentMethod {
    id: String,
}

/// Reference to another object: its id, or the whole object.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ObjectReference {
    Id(String),
    Object { id: String },
}

impl From<ObjectReference> for String {
    fn from(reference: ObjectReference) -> String {
        match reference {
            ObjectReference::Id(id) | ObjectReference::Object { id } => id,
        }
    }
}

impl StripeEvent {
    /// Reads an event. Fails if an event about our payments does not have the known form.
    pub fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        let Envelope { id, kind, data } = serde_json::from_slice(body)?;
        let content = tell(&kind, data.object)?;
        Ok(StripeEvent { id, kind, content })
    }
}

fn tell(kind: &str, object: Value) -> Result<EventContent, serde_json::Error> {
    Ok(match kind {
        "checkout.session.completed" | "checkout.session.async_payment_succeeded" => {
            let session: CheckoutSession = serde_json::from_value(object)?;
            // A slow payment method sends two events, first an unpaid one.
            let is_paid = session.mode == "payment" && session.payment_status == "paid";
            match (is_paid, payment_of(session.metadata.as_ref())) {
                (true, Some(payment_id)) => EventContent::Paid(session.paid(payment_id)),
                _ => EventContent::Nothing,
            }
        }
        "checkout.session.async_payment_failed" => {
            let session: CheckoutSession = serde_json::from_value(object)?;
            payment_of(session.metadata.as_ref())
                .map_or(EventContent::Nothing, |payment_id| EventContent::Failed { payment_id })
        }
        "checkout.session.expired" => {
            let session: CheckoutSession = serde_json::from_value(object)?;
            payment_of(session.metadata.as_ref())
                .map_or(EventContent::Nothing, |payment_id| EventContent::Expired { payment_id })
        }
        "payment_intent.succeeded" => {
            let intent: PaymentIntent = serde_json::from_value(object)?;
            intent.paid().map_or(EventContent::Nothing, EventContent::Paid)
        }
        "payment_intent.payment_failed" | "payment_intent.canceled" => {
            let intent: PaymentIntent = serde_json::from_value(object)?;
            payment_of(intent.metadata.as_ref())
                .map_or(EventContent::Nothing, |payment_id| EventContent::ChargeFailed { payment_id })
        }
        "charge.refunded" => {
            let charge: StripeCharge = serde_json::from_value(object)?;
            let payment_intent = charge.payment_intent.map(String::from);
            EventContent::Returned(Return {
                // At most one charge of an intent succeeds.
                id: charge.id.unwrap_or_else(|| format!("charge of {}", payment_intent.as_deref().unwrap_or_default())),
                kind: ReturnKind::Charge,
                state: ReturnState::Gone,
                payment_id: payment_of(charge.metadata.as_ref()),
                payment_intent,
                cents: charge.amount_refunded,
                currency: charge.currency.to_ascii_lowercase(),
            })
        }
        "charge.refund.updated" | "refund.created" | "refund.updated" | "refund.failed" => {
            let refund: ReturnEvent = serde_json::from_value(object)?;
            let state = match kind {
                "refund.failed" => ReturnState::Back,
                _ => state_of_refund(refund.status.as_deref()),
            };
            refund.content(ReturnKind::Refund, state)
        }
        "charge.dispute.created"
        | "charge.dispute.updated"
        | "charge.dispute.closed"
        | "charge.dispute.funds_withdrawn"
        | "charge.dispute.funds_reinstated" => {
            let dispute: ReturnEvent = serde_json::from_value(object)?;
            let state = state_of_dispute(kind, dispute.status.as_deref());
            dispute.content(ReturnKind::Dispute, state)
        }
        "payment_method.detached" => {
            let method: PaymentMethod = serde_json::from_value(object)?;
            EventContent::CardGone { payment_method: method.id }
        }
        _ => EventContent::Nothing,
    })
}

impl CheckoutSession {
    fn paid(self, payment_id: String) -> Paid {
        let content = (self.amount_total.unwrap_or_default(), self.currency.unwrap_or_default().to_ascii_lowercase());
        let ((cents, currency), presented) = match (self.currency_conversion, self.presentment_details) {
            (Some(conversion), _) if content.1 != CURRENCY => {
                ((conversion.amount_total, conversion.source_currency.to_ascii_lowercase()), Some(content))
            }
            (_, presentment) => (content, presentment.map(Presentment::presented)),
        };
        Paid {
            payment_id,
            cents,
            currency,
            presented,
            session: Some(self.id),
            payment_intent: self.payment_intent.map(String::from),
            kept: None,
        }
    }
}

impl PaymentIntent {
    /// Returns the payment that the intent paid, if the payment is ours and the intent succeeded.
    pub fn paid(self) -> Option<Paid> {
        if self.status != "succeeded" {
            return None;
        }
        let kept = match (self.setup_future_usage.as_deref(), self.customer, self.payment_method) {
            (Some("off_session"), Some(customer), Some(method)) => {
                let chosen_at = UnixMs(self.created.saturating_mul(1000));
                Some(KeptCard { customer: customer.into(), payment_method: method.into(), chosen_at })
            }
            _ => None,
        };
        Some(Paid {
            payment_id: payment_of(self.metadata.as_ref())?,
            cents: self.amount_received.unwrap_or(self.amount),
            currency: self.currency.to_ascii_lowercase(),
            presented: self.presentment_details.map(Presentment::presented),
            session: None,
            payment_intent: Some(self.id),
            kept,
        })
    }
}

fn payment_of(metadata: Option<&Map<String, Value>>) -> Option<String> {
    Some(metadata?.get(PAYMENT)?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests;

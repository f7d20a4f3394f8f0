//! Stripe's events, as far as they are about our payments. Reads only; what they mean for a payment is `settle`'s.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Names our payment on everything we make at Stripe.
pub const PAYMENT: &str = "cyclorama_payment";

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
pub struct Event {
    /// Stripe's own: the same however often it is sent.
    pub id: String,
    pub kind: String,
    pub told: Told,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Money came.
    Paid(Paid),
    /// Money did not come by a page, and will not.
    Failed { payment_id: String },
    /// One attempt to charge a card failed: on a page a person may try another.
    ChargeFailed { payment_id: String },
    /// The page's time is over.
    Expired { payment_id: String },
    /// Money went back: so many cents in all, those told before included.
    Refunded(Returned),
    /// Money was taken back by the payer's bank.
    Disputed(Returned),
    /// A card may no longer be charged.
    CardGone { payment_method: String },
    /// Nothing of ours.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    pub payment_id: String,
    pub cents: i64,
    /// Lower case.
    pub currency: String,
    pub session: Option<String>,
    pub payment_intent: Option<String>,
    /// The card that was kept with it.
    pub kept: Option<KeptCard>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCard {
    pub customer: String,
    pub payment_method: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    /// Not told with a dispute, which is about a payment intent.
    pub payment_id: Option<String>,
    pub payment_intent: Option<String>,
    pub cents: i64,
    /// Lower case.
    pub currency: String,
}

#[derive(Deserialize)]
struct Session {
    id: String,
    mode: String,
    payment_status: String,
    amount_total: Option<i64>,
    currency: Option<String>,
    payment_intent: Option<Reference>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// A payment intent, as events and answers show it.
#[derive(Debug, Deserialize)]
pub struct PaymentIntent {
    pub id: String,
    pub status: String,
    amount: i64,
    amount_received: Option<i64>,
    currency: String,
    customer: Option<Reference>,
    payment_method: Option<Reference>,
    setup_future_usage: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Charge {
    amount_refunded: i64,
    currency: String,
    payment_intent: Option<Reference>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Dispute {
    amount: i64,
    currency: String,
    payment_intent: Option<Reference>,
}

#[derive(Deserialize)]
struct PaymentMethod {
    id: String,
}

/// Another object: its id, or the whole of it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Reference {
    Id(String),
    Object { id: String },
}

impl From<Reference> for String {
    fn from(reference: Reference) -> String {
        match reference {
            Reference::Id(id) | Reference::Object { id } => id,
        }
    }
}

impl Event {
    /// Reads an event; fails for one of ours that has not the form we know.
    pub fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        let Envelope { id, kind, data } = serde_json::from_slice(body)?;
        let told = tell(&kind, data.object)?;
        Ok(Event { id, kind, told })
    }
}

fn tell(kind: &str, object: Value) -> Result<Told, serde_json::Error> {
    Ok(match kind {
        "checkout.session.completed" | "checkout.session.async_payment_succeeded" => {
            let session: Session = serde_json::from_value(object)?;
            // A slow way to pay is told of twice, unpaid first.
            let is_paid = session.mode == "payment" && session.payment_status == "paid";
            match (is_paid, payment_of(session.metadata.as_ref())) {
                (true, Some(payment_id)) => Told::Paid(Paid {
                    payment_id,
                    cents: session.amount_total.unwrap_or_default(),
                    currency: session.currency.unwrap_or_default().to_ascii_lowercase(),
                    session: Some(session.id),
                    payment_intent: session.payment_intent.map(String::from),
                    kept: None,
                }),
                _ => Told::Nothing,
            }
        }
        "checkout.session.async_payment_failed" => {
            let session: Session = serde_json::from_value(object)?;
            payment_of(session.metadata.as_ref()).map_or(Told::Nothing, |payment_id| Told::Failed { payment_id })
        }
        "checkout.session.expired" => {
            let session: Session = serde_json::from_value(object)?;
            payment_of(session.metadata.as_ref()).map_or(Told::Nothing, |payment_id| Told::Expired { payment_id })
        }
        "payment_intent.succeeded" => {
            let intent: PaymentIntent = serde_json::from_value(object)?;
            intent.paid().map_or(Told::Nothing, Told::Paid)
        }
        "payment_intent.payment_failed" | "payment_intent.canceled" => {
            let intent: PaymentIntent = serde_json::from_value(object)?;
            payment_of(intent.metadata.as_ref()).map_or(Told::Nothing, |payment_id| Told::ChargeFailed { payment_id })
        }
        "charge.refunded" => {
            let charge: Charge = serde_json::from_value(object)?;
            Told::Refunded(Returned {
                payment_id: payment_of(charge.metadata.as_ref()),
                payment_intent: charge.payment_intent.map(String::from),
                cents: charge.amount_refunded,
                currency: charge.currency.to_ascii_lowercase(),
            })
        }
        "charge.dispute.created" => {
            let dispute: Dispute = serde_json::from_value(object)?;
            Told::Disputed(Returned {
                payment_id: None,
                payment_intent: dispute.payment_intent.map(String::from),
                cents: dispute.amount,
                currency: dispute.currency.to_ascii_lowercase(),
            })
        }
        "payment_method.detached" => {
            let method: PaymentMethod = serde_json::from_value(object)?;
            Told::CardGone { payment_method: method.id }
        }
        _ => Told::Nothing,
    })
}

impl PaymentIntent {
    /// The payment it paid, if it is one of ours and succeeded.
    pub fn paid(self) -> Option<Paid> {
        if self.status != "succeeded" {
            return None;
        }
        let kept = match (self.setup_future_usage.as_deref(), self.customer, self.payment_method) {
            (Some("off_session"), Some(customer), Some(method)) => {
                Some(KeptCard { customer: customer.into(), payment_method: method.into() })
            }
            _ => None,
        };
        Some(Paid {
            payment_id: payment_of(self.metadata.as_ref())?,
            cents: self.amount_received.unwrap_or(self.amount),
            currency: self.currency.to_ascii_lowercase(),
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
mod tests {
    use super::*;
    use serde_json::json;

    fn told(kind: &str, object: Value) -> Told {
        let body = json!({ "id": "evt_1", "type": kind, "data": { "object": object }, "livemode": false });
        Event::read(body.to_string().as_bytes()).expect(kind).told
    }

    #[test]
    fn sessions_count_once_they_are_paid_and_ours() {
        let session = |mode: &str, status: &str, metadata: Value| {
            json!({ "id": "cs_1", "mode": mode, "payment_status": status, "amount_total": 500, "currency": "usd",
                    "payment_intent": "pi_1", "metadata": metadata })
        };
        let ours = json!({ PAYMENT: "p1" });
        let paid = Told::Paid(Paid {
            payment_id: "p1".to_owned(),
            cents: 500,
            currency: "usd".to_owned(),
            session: Some("cs_1".to_owned()),
            payment_intent: Some("pi_1".to_owned()),
            kept: None,
        });
        for (kind, object, expected) in [
            ("checkout.session.completed", session("payment", "paid", ours.clone()), paid.clone()),
            ("checkout.session.async_payment_succeeded", session("payment", "paid", ours.clone()), paid),
            ("checkout.session.completed", session("payment", "unpaid", ours.clone()), Told::Nothing),
            ("checkout.session.completed", session("setup", "paid", ours.clone()), Told::Nothing),
            ("checkout.session.completed", session("payment", "paid", json!({ "order": "p1" })), Told::Nothing),
            ("checkout.session.completed", session("payment", "paid", Value::Null), Told::Nothing),
            (
                "checkout.session.expired",
                session("payment", "unpaid", ours.clone()),
                Told::Expired { payment_id: "p1".to_owned() },
            ),
            (
                "checkout.session.async_payment_failed",
                session("payment", "unpaid", ours),
                Told::Failed { payment_id: "p1".to_owned() },
            ),
            ("invoice.paid", json!({ "anything": 1 }), Told::Nothing),
        ] {
            assert_eq!(told(kind, object), expected, "{kind}");
        }
    }

    #[test]
    fn an_event_of_another_form_is_no_event() {
        for body in ["", "{", "[]", r#"{"id":"evt_1","type":"charge.refunded","data":{"object":{}}}"#] {
            assert!(Event::read(body.as_bytes()).is_err(), "{body}");
        }
    }
}

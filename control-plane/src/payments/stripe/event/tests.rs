//! Tests of reading Stripe's events.

use super::*;
use serde_json::json;

fn content(kind: &str, object: Value) -> EventContent {
    let body = json!({ "id": "evt_1", "type": kind, "data": { "object": object }, "livemode": false });
    StripeEvent::read(body.to_string().as_bytes()).expect(kind).content
}

#[test]
fn sessions_count_once_they_are_paid_and_ours() {
    let session = |mode: &str, status: &str, metadata: Value| {
        json!({ "id": "cs_1", "mode": mode, "payment_status": status, "amount_total": 500, "currency": "usd",
                "payment_intent": "pi_1", "metadata": metadata })
    };
    let ours = json!({ PAYMENT: "p1" });
    let paid = EventContent::Paid(Paid {
        payment_id: "p1".to_owned(),
        cents: 500,
        currency: "usd".to_owned(),
        presented: None,
        session: Some("cs_1".to_owned()),
        payment_intent: Some("pi_1".to_owned()),
        kept: None,
    });
    for (kind, object, expected) in [
        ("checkout.session.completed", session("payment", "paid", ours.clone()), paid.clone()),
        ("checkout.session.async_payment_succeeded", session("payment", "paid", ours.clone()), paid),
        ("checkout.session.completed", session("payment", "unpaid", ours.clone()), EventContent::Nothing),
        ("checkout.session.completed", session("setup", "paid", ours.clone()), EventContent::Nothing),
        ("checkout.session.completed", session("payment", "paid", json!({ "order": "p1" })), EventContent::Nothing),
        ("checkout.session.completed", session("payment", "paid", Value::Null), EventContent::Nothing),
        (
            "checkout.session.expired",
            session("payment", "unpaid", ours.clone()),
            EventContent::Expired { payment_id: "p1".to_owned() },
        ),
        (
            "checkout.session.async_payment_failed",
            session("payment", "unpaid", ours),
            EventContent::Failed { payment_id: "p1".to_owned() },
        ),
        ("invoice.paid", json!({ "anything": 1 }), EventContent::Nothing),
    ] {
        assert_eq!(content(kind, object), expected, "{kind}");
    }
}

#[test]
fn a_session_in_the_buyers_currency_counts_by_ours() {
    let session = |currency: &str, amount: i64, more: (&str, Value)| {
        let mut object = json!({ "id": "cs_1", "mode": "payment", "payment_status": "paid", "amount_total": amount,
            "currency": currency, "payment_intent": "pi_1", "metadata": { PAYMENT: "p1" } });
        object[more.0] = more.1;
        match content("checkout.session.completed", object) {
            EventContent::Paid(paid) => (paid.cents, paid.currency, paid.presented),
            other => panic!("{other:?}"),
        }
    };
    let older = json!({ "source_currency": "usd", "amount_total": 500, "amount_subtotal": 500, "fx_rate": "0.926" });
    let newer = json!({ "presentment_amount": 463, "presentment_currency": "EUR" });
    let usd = |presented: Option<(i64, &str)>| {
        (500, "usd".to_owned(), presented.map(|(cents, currency)| (cents, currency.to_owned())))
    };
    assert_eq!(session("EUR", 463, ("currency_conversion", older)), usd(Some((463, "eur"))));
    assert_eq!(session("usd", 500, ("presentment_details", newer)), usd(Some((463, "eur"))));
    assert_eq!(session("usd", 500, ("currency_conversion", Value::Null)), usd(None));
    let bare = session("eur", 463, ("currency_conversion", Value::Null));
    assert_eq!(bare, (463, "eur".to_owned(), None));
}

#[test]
fn what_moves_money_and_what_does_not() {
    use ReturnState::{Announced, Back, Gone};
    for (kind, status, expected) in [
        ("charge.dispute.created", "warning_needs_response", Announced),
        ("charge.dispute.updated", "warning_under_review", Announced),
        ("charge.dispute.closed", "warning_closed", Announced),
        ("charge.dispute.closed", "prevented", Announced),
        ("charge.dispute.created", "needs_response", Gone),
        ("charge.dispute.updated", "under_review", Gone),
        ("charge.dispute.closed", "lost", Gone),
        ("charge.dispute.funds_withdrawn", "needs_response", Gone),
        ("charge.dispute.closed", "won", Back),
        ("charge.dispute.funds_reinstated", "under_review", Back),
        ("refund.created", "pending", Gone),
        ("refund.created", "succeeded", Gone),
        ("refund.updated", "requires_action", Gone),
        ("refund.updated", "canceled", Back),
        ("charge.refund.updated", "failed", Back),
        ("refund.failed", "failed", Back),
    ] {
        let object = json!({ "id": "x_1", "amount": 5, "currency": "usd", "status": status, "payment_intent": "pi_1" });
        let EventContent::Returned(content) = content(kind, object) else { panic!("{kind}") };
        let is_dispute = content.kind == ReturnKind::Dispute;
        assert_eq!((content.state, is_dispute), (expected, kind.contains("dispute")), "{kind} {status}");
        assert!(KINDS.contains(&kind), "{kind} has to be subscribed to");
    }
}

#[test]
fn an_event_of_another_form_is_no_event() {
    for body in ["", "{", "[]", r#"{"id":"evt_1","type":"charge.refunded","data":{"object":{}}}"#] {
        assert!(StripeEvent::read(body.as_bytes()).is_err(), "{body}");
    }
}

//! Money that Stripe returns, or may return: inquiries, disputes, refunds that fail, and sums in
//! the buyer's currency.

use cyclorama_tests::service::Customer;
use cyclorama_tests::stripe::Paid;
use cyclorama_tests::{DatabaseChoice, FakeStripe, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// A customer with five credits who has a page for 5000 more.
async fn bought(db: DatabaseChoice) -> (FakeStripe, Service, Customer, Paid) {
    let stripe = FakeStripe::start().await.unwrap();
    let service = Service::start_with(db, stripe.options()).await.unwrap();
    let customer = service.customer(5).unwrap();
    let paid = bought_again(&stripe, &service, &customer).await;
    (stripe, service, customer, paid)
}

async fn bought_again(stripe: &FakeStripe, service: &Service, customer: &Customer) -> Paid {
    let before = stripe.sessions().len();
    let request = service.http.post(format!("{}/api/v1/billing/checkout", service.base_url)).bearer_auth(&customer.key);
    let answer = request.json(&json!({ "credits": 5000 })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    let session = stripe.sessions().remove(before);
    secrets::note(session["success_url"].rsplit('/').next().unwrap());
    assert_eq!(session["adaptive_pricing[enabled]"], "false", "the price is in one currency");
    stripe.pay(&session)
}

/// Sends an event, and returns the balance after it.
async fn told(stripe: &FakeStripe, service: &Service, customer: &Customer, event: &Value) -> i64 {
    assert_eq!(stripe.send(service, event).await.unwrap().as_u16(), 204, "{event}");
    service.balance(customer).await.unwrap()
}

/// Outcome and reason of each event that operators should look at, the newest first.
async fn noted(service: &Service) -> Vec<(String, String)> {
    let token = service.operator_token().unwrap();
    let address = format!("{}/admin/payments/refused", service.admin_url());
    let listed = service.http.get(address).bearer_auth(&token).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    let text = |event: &Value, member: &str| event[member].as_str().unwrap().to_owned();
    listed["events"].as_array().unwrap().iter().map(|event| (text(event, "outcome"), text(event, "why"))).collect()
}

async fn alerts(service: &Service) -> f64 {
    let text = service.http.get(format!("{}/metrics", service.admin_url())).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find(|line| line.starts_with("cyclorama_payment_alerts_total "));
    line.and_then(|line| line.split(' ').nth(1)).map_or(0.0, |number| number.parse().unwrap())
}

on_both_databases! {
    async fn an_inquiry_takes_nothing_and_the_operator_is_told(db: DatabaseChoice) {
        let (stripe, service, customer, paid) = bought(db).await;
        assert_eq!(told(&stripe, &service, &customer, &paid.completed).await, 5005);
        let before = alerts(&service).await;
        for (kind, status) in [
            ("charge.dispute.created", "warning_needs_response"),
            ("charge.dispute.updated", "warning_under_review"),
            ("charge.dispute.closed", "warning_closed"),
        ] {
            let event = paid.dispute(&stripe, kind, status);
            assert_eq!(told(&stripe, &service, &customer, &event).await, 5005, "{kind} {status}");
        }
        let noted = noted(&service).await;
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert!(noted[0].0 == "applied" && noted[0].1.contains("no money was moved"), "{noted:?}");
        assert_eq!(alerts(&service).await - before, 1.0);

        // It becomes a dispute, which is lost.
        for (kind, status) in [("charge.dispute.funds_withdrawn", "needs_response"), ("charge.dispute.closed", "lost")] {
            let event = paid.dispute(&stripe, kind, status);
            assert_eq!(told(&stripe, &service, &customer, &event).await, 5, "{kind} {status}");
        }
    }

    async fn a_dispute_that_is_won_gives_its_credits_back_once(db: DatabaseChoice) {
        let (stripe, service, customer, paid) = bought(db).await;
        told(&stripe, &service, &customer, &paid.completed).await;
        // The events of endpoints that get every event, in an order that Stripe does not promise.
        for (kind, status, expected) in [
            ("charge.dispute.created", "needs_response", 5),
            ("charge.dispute.funds_withdrawn", "needs_response", 5),
            ("charge.dispute.funds_withdrawn", "needs_response", 5),
            ("charge.dispute.updated", "under_review", 5),
            ("charge.dispute.funds_reinstated", "won", 5005),
            ("charge.dispute.closed", "won", 5005),
            ("charge.dispute.funds_reinstated", "won", 5005),
            ("charge.dispute.funds_withdrawn", "needs_response", 5005),
        ] {
            let event = paid.dispute(&stripe, kind, status);
            assert_eq!(told(&stripe, &service, &customer, &event).await, expected, "{kind}");
        }
        // The events of endpoints that get only those with the old names.
        let second = bought_again(&stripe, &service, &customer).await;
        told(&stripe, &service, &customer, &second.completed).await;
        for (kind, status, expected) in
            [("charge.dispute.created", "needs_response", 5005), ("charge.dispute.closed", "won", 10_005)]
        {
            let event = second.dispute(&stripe, kind, status);
            assert_eq!(told(&stripe, &service, &customer, &event).await, expected, "{kind}");
        }
        let statement: Value = service.get(&customer, "/api/v1/account/statement").send().await.unwrap().json().await.unwrap();
        assert_eq!(statement.to_string().matches("came again").count(), 2, "{statement}");
        assert!(service.operator(&["ledger", "verify"]).is_ok());
    }

    async fn what_is_told_before_the_payment_counts_once_it_is_known(db: DatabaseChoice) {
        let (stripe, service, customer, paid) = bought(db).await;
        let mut withdrawn = paid.dispute(&stripe, "charge.dispute.funds_withdrawn", "needs_response");
        withdrawn["data"]["object"]["amount"] = json!(200);
        let refund = paid.refund(&stripe, "refund.created", 1, 100, "pending");
        for event in [&withdrawn, &refund] {
            assert_eq!(told(&stripe, &service, &customer, event).await, 5);
        }
        // An event about something else that the same Stripe account sells.
        let mut stranger = withdrawn.clone();
        (stranger["id"], stranger["data"]["object"]["payment_intent"]) = (json!("evt_x"), json!("pi_x"));
        stranger["data"]["object"]["id"] = json!("dp_x");
        told(&stripe, &service, &customer, &stranger).await;
        assert!(noted(&service).await.is_empty(), "nothing of ours yet");
        assert_eq!(told(&stripe, &service, &customer, &paid.succeeded).await, 5 + 5000 - 3000);
        assert!(noted(&service).await[0].1.contains("is disputed"), "{:?}", noted(&service).await);
        assert_eq!(told(&stripe, &service, &customer, &paid.completed).await, 5 + 5000 - 3000);
    }

    async fn a_refund_that_fails_gives_its_credits_back(db: DatabaseChoice) {
        let (stripe, service, customer, paid) = bought(db).await;
        told(&stripe, &service, &customer, &paid.completed).await;
        let failed = ["charge.refund.updated", "refund.failed", "refund.updated"].map(|kind| paid.refund(&stripe, kind, 1, 200, "failed"));
        for (event, expected) in [
            (&paid.refunded(&stripe, 200), 3005),
            (&failed[0], 5005),
            (&failed[1], 5005),
            (&failed[2], 5005),
            // Another refund of the same sum, which succeeds.
            (&paid.refund(&stripe, "refund.created", 2, 200, "succeeded"), 3005),
            (&paid.refunded(&stripe, 400), 3005),
        ] {
            assert_eq!(told(&stripe, &service, &customer, event).await, expected, "{event}");
        }
        assert!(noted(&service).await[0].1.contains("failed"), "{:?}", noted(&service).await);
    }

    async fn paid_in_another_currency(db: DatabaseChoice) {
        let (stripe, service, customer, paid) = bought(db).await;
        // The older form of events: everything in the buyer's currency, and the session has the sum
        // in ours.
        let mut session = paid.completed.clone();
        session["data"]["object"]["amount_total"] = json!(463);
        session["data"]["object"]["currency"] = json!("eur");
        let mut intent = paid.succeeded.clone();
        for member in ["amount", "amount_received"] {
            intent["data"]["object"][member] = json!(463);
        }
        intent["data"]["object"]["currency"] = json!("eur");
        let mut short = session.clone();
        short["id"] = json!("evt_short");
        let conversion = |cents: i64, currency: &str| json!({ "amount_subtotal": cents, "amount_total": cents, "fx_rate": "0.926", "source_currency": currency });
        short["data"]["object"]["currency_conversion"] = conversion(499, "usd");
        let mut other = session.clone();
        other["id"] = json!("evt_other");
        other["data"]["object"]["currency_conversion"] = conversion(500, "cad");
        session["data"]["object"]["currency_conversion"] = conversion(500, "usd");
        for (event, expected) in [(&intent, 5), (&short, 5), (&other, 5), (&session, 5005), (&intent, 5005)] {
            assert_eq!(told(&stripe, &service, &customer, event).await, expected, "{event}");
        }
        assert_eq!(noted(&service).await.len(), 2, "what does not fit is refused: {:?}", noted(&service).await);
        let refunded = |cents: i64| {
            let mut event = paid.refunded(&stripe, cents);
            (event["data"]["object"]["currency"], event["data"]["object"]["amount"]) = (json!("eur"), json!(463));
            event
        };
        // 500 * 100 / 463 is 107.99 cents.
        assert_eq!(told(&stripe, &service, &customer, &refunded(100)).await, 5005 - 1070);
        assert_eq!(told(&stripe, &service, &customer, &refunded(463)).await, 5);

        // The newer form: in our currency, with the buyer's amount beside it.
        let second = bought_again(&stripe, &service, &customer).await;
        let presented = |cents: i64| json!({ "presentment_amount": cents, "presentment_currency": "eur" });
        for event in [&second.succeeded, &second.completed] {
            let mut event = event.clone();
            event["data"]["object"]["presentment_details"] = presented(463);
            assert_eq!(told(&stripe, &service, &customer, &event).await, 5005);
        }
        let mut refund = second.refund(&stripe, "refund.created", 1, 250, "succeeded");
        refund["data"]["object"]["presentment_details"] = presented(232);
        assert_eq!(told(&stripe, &service, &customer, &refund).await, 2505);
        assert_eq!(noted(&service).await.len(), 2);
    }
}

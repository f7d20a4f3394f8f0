//! Auto-reload: the cases in which it must not charge. `stripe` tests that it charges, and stops
//! when a card is declined.

use cyclorama_tests::stripe::{Paid, StripeBehaviour, unix_seconds};
use cyclorama_tests::{Browser, DatabaseChoice, FakeStripe, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use std::time::Duration;

/// A customer with 5,100 credits and a saved card, and the payment for them.
async fn with_card(stripe: &FakeStripe, service: &Service) -> (Browser, Paid) {
    let mut ada = Browser::new(service);
    ada.sign_up("ada@example.com", "a long way to Tipperary").await.unwrap();
    set(&mut ada, "1", "on").await;
    ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "5000")]).await.unwrap();
    let session = stripe.sessions().remove(0);
    secrets::note(session["success_url"].rsplit('/').next().unwrap());
    let paid = stripe.pay(&session);
    for event in [&paid.completed, &paid.succeeded] {
        stripe.send(service, event).await.unwrap();
    }
    assert!(billing(&mut ada).await.contains("5,100 credits"));
    (ada, paid)
}

/// A customer who has turned auto-reload on and makes some purchases, each a minute after the one
/// before; the last was a minute ago. No event of them has been sent.
async fn with_purchases(stripe: &FakeStripe, service: &Service, count: usize) -> (Browser, Vec<Paid>) {
    let mut ada = Browser::new(service);
    ada.sign_up("ada@example.com", "a long way to Tipperary").await.unwrap();
    set(&mut ada, "1", "on").await;
    let mut purchases = Vec::new();
    for number in 0..count {
        ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "5000")]).await.unwrap();
        let session = stripe.sessions().remove(number);
        secrets::note(session["success_url"].rsplit('/').next().unwrap());
        let mut paid = stripe.pay(&session);
        let minutes_ago = (count - number) as i64;
        paid.succeeded["data"]["object"]["created"] = (unix_seconds() - 60 * minutes_ago).into();
        purchases.push(paid);
    }
    (ada, purchases)
}

/// A step with the cards of a customer, of whose purchases no event has been sent.
#[derive(Clone, Copy)]
enum Step {
    /// Both events of a purchase are sent.
    Tell(usize),
    /// A card is added in Stripe's portal, and the settings of auto-reload are saved.
    AddAndSave,
    /// The card of a purchase is removed in Stripe's portal, and the event of that is sent.
    Detach(usize),
}

enum Card {
    OfPurchase(usize),
    Added,
}

async fn kept_card(service: &Service) -> Option<String> {
    let mut database = service.database().await.unwrap();
    sqlx::query_scalar("select payment_method from stripe_customers").fetch_one(&mut database).await.unwrap()
}

/// Sends an event, which the service must accept.
async fn tell(stripe: &FakeStripe, service: &Service, event: &serde_json::Value) {
    assert_eq!(stripe.send(service, event).await.unwrap(), StatusCode::NO_CONTENT);
}

async fn set(ada: &mut Browser, threshold: &str, on: &str) {
    let on = if on == "on" { "yes" } else { "no" };
    let fields = [("on", on), ("threshold", threshold), ("pack", "10000")];
    let page = ada.submit("/dashboard/billing", "/dashboard/billing/auto-reload", &fields).await.unwrap();
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
}

async fn billing(ada: &mut Browser) -> String {
    ada.get("/dashboard/billing").await.unwrap().text()
}

/// Waits until the condition is true, half a minute at most.
async fn until(mut is_so: impl AsyncFnMut() -> bool, what: &str) {
    for _ in 0..300 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what} did not happen");
}

/// Waits for some sweeps; there is one a second.
async fn sweeps() {
    tokio::time::sleep(Duration::from_secs(4)).await;
}

on_both_databases! {
    async fn turned_off_while_stripe_was_down_it_charges_nothing_later(db: DatabaseChoice) {
        let stripe = FakeStripe::start().await.unwrap();
        let service = Service::start_with(db, stripe.options()).await.unwrap();
        let (mut ada, _) = with_card(&stripe, &service).await;
        set(&mut ada, "6000", "on").await;
        until(async || stripe.charges().len() == 1, "a charge").await;
        until(async || billing(&mut ada).await.contains("15,100 credits"), "the credit").await;
        stripe.feel(StripeBehaviour::DownForCharges);
        set(&mut ada, "10000", "on").await;
        let spent = service.operator(&["account", "show", "ada@example.com"]).unwrap();
        assert_eq!(spent["credits"], 15_100);
        // The balance falls below the threshold: a refund of the reload removes its credits.
        refund(&stripe, &service, 0).await;
        until(async || service.log().contains("an attempt at a reload failed; it is retried"), "an attempt").await;
        set(&mut ada, "10000", "off").await;
        let page = billing(&mut ada).await;
        assert!(page.contains("A charge was under way when auto-reload was turned off"), "{page}");
        stripe.feel(StripeBehaviour::Well);
        sweeps().await;
        assert_eq!(stripe.charges().len(), 1, "off is off");
        assert!(billing(&mut ada).await.contains("5,100 credits"));
    }

    async fn what_is_not_wanted_any_more_is_not_charged_when_stripe_is_back(db: DatabaseChoice) {
        for buys_by_hand in [false, true] {
            let stripe = FakeStripe::start().await.unwrap();
            let service = Service::start_with(db, stripe.options()).await.unwrap();
            let (mut ada, _) = with_card(&stripe, &service).await;
            stripe.feel(StripeBehaviour::DownForCharges);
            set(&mut ada, "6000", "on").await;
            until(async || service.log().contains("an attempt at a reload failed; it is retried"), "an attempt").await;
            let balance = if buys_by_hand {
                let before = stripe.sessions().len();
                ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "5000")]).await.unwrap();
                let session = stripe.sessions().remove(before);
                secrets::note(session["success_url"].rsplit('/').next().unwrap());
                stripe.send(&service, &stripe.pay(&session).completed).await.unwrap();
                "10,100 credits"
            } else {
                let fields = [("on", "yes"), ("threshold", "1"), ("pack", "5000")];
                let page = ada.submit("/dashboard/billing", "/dashboard/billing/auto-reload", &fields).await.unwrap();
                assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
                "5,100 credits"
            };
            stripe.feel(StripeBehaviour::Well);
            sweeps().await;
            assert!(stripe.charges().is_empty(), "by hand: {buys_by_hand}: {:?}", stripe.charges());
            let page = billing(&mut ada).await;
            assert!(page.contains(balance) && !page.contains("Off. If you turn it on"), "{page}");
        }
    }

    async fn a_card_that_was_replaced_while_stripe_was_down_is_not_charged_when_it_is_back(db: DatabaseChoice) {
        for settings_are_saved in [false, true] {
            let stripe = FakeStripe::start().await.unwrap();
            let options = stripe.options().set("CYCLORAMA_PACKS", "1000:100, 5000:500, 10000:1000");
            let service = Service::start_with(db, options).await.unwrap();
            let (mut ada, _) = with_card(&stripe, &service).await;
            stripe.feel(StripeBehaviour::DownForCharges);
            set(&mut ada, "10000", "on").await;
            until(async || service.log().contains("an attempt at a reload failed; it is retried"), "an attempt").await;
            if settings_are_saved {
                // The card is added in Stripe's portal, and saving the settings saves the newest
                // card.
                stripe.add_card(&stripe.sessions()[0]["customer"]);
                set(&mut ada, "10000", "on").await;
            } else {
                // A purchase saves its card. Its credits are too few to end the shortage.
                ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "1000")]).await.unwrap();
                let session = stripe.sessions().pop().unwrap();
                secrets::note(session["success_url"].rsplit('/').next().unwrap());
                let paid = stripe.pay(&session);
                for event in [&paid.completed, &paid.succeeded] {
                    stripe.send(&service, event).await.unwrap();
                }
            }
            stripe.feel(StripeBehaviour::Well);
            sweeps().await;
            assert!(stripe.charges().is_empty(), "saved: {settings_are_saved}: {:?}", stripe.charges());
            let page = billing(&mut ada).await;
            assert!(!page.contains("Off. If you turn it on"), "{page}");
        }
    }

    async fn a_purchase_that_is_told_of_late_does_not_put_a_replaced_card_back(db: DatabaseChoice) {
        let stripe = FakeStripe::start().await.unwrap();
        let service = Service::start_with(db, stripe.options()).await.unwrap();
        let (mut ada, purchases) = with_purchases(&stripe, &service, 1).await;
        let paid = &purchases[0];
        tell(&stripe, &service, &paid.completed).await;
        // The card is added in Stripe's portal, and saving the settings saves the newest card.
        let added = stripe.add_card(&stripe.sessions()[0]["customer"]);
        set(&mut ada, "5100", "on").await;
        // Stripe repeats undelivered events for hours.
        tell(&stripe, &service, &paid.succeeded).await;
        assert!(stripe.charges().is_empty(), "the balance is not below the threshold");
        tell(&stripe, &service, &paid.refunded(&stripe, 1)).await;
        until(async || stripe.charges().len() == 1, "a charge").await;
        assert_eq!(stripe.charges()[0]["payment_method"], added);
    }

    async fn the_newest_choice_of_a_card_is_kept_in_whatever_order_it_is_told(db: DatabaseChoice) {
        let (older, newer, settings, detached) = (Step::Tell(0), Step::Tell(1), Step::AddAndSave, Step::Detach(0));
        for (what, count, steps, kept) in [
            ("the newer purchase last", 2, &[older, newer][..], Some(Card::OfPurchase(1))),
            ("the older purchase last", 2, &[newer, older], Some(Card::OfPurchase(1))),
            ("settings, then a purchase before them", 1, &[settings, older], Some(Card::Added)),
            ("a purchase, then settings", 1, &[older, settings], Some(Card::Added)),
            ("a card that is detached before its purchase is told", 1, &[detached, older], None),
            ("a card that is detached after its purchase is told", 1, &[older, detached], None),
            ("an older card that is detached does not matter", 2, &[older, newer, detached], Some(Card::OfPurchase(1))),
        ] {
            let stripe = FakeStripe::start().await.unwrap();
            let service = Service::start_with(db, stripe.options()).await.unwrap();
            let (mut ada, purchases) = with_purchases(&stripe, &service, count).await;
            let customer = stripe.sessions()[0]["customer"].clone();
            let mut added = String::new();
            for step in steps {
                match step {
                    Step::Tell(number) => {
                        tell(&stripe, &service, &purchases[*number].completed).await;
                        tell(&stripe, &service, &purchases[*number].succeeded).await;
                    }
                    Step::AddAndSave => {
                        added = stripe.add_card(&customer);
                        set(&mut ada, "1", "on").await;
                    }
                    Step::Detach(number) => {
                        let event = stripe.detach(&customer, &purchases[*number].card);
                        tell(&stripe, &service, &event).await;
                    }
                }
            }
            let expected = kept.map(|card| match card {
                Card::OfPurchase(number) => purchases[number].card.clone(),
                Card::Added => added,
            });
            assert_eq!(kept_card(&service).await, expected, "{what}");
        }
    }

    async fn a_dispute_over_more_than_the_price_ends_it(db: DatabaseChoice) {
        let stripe = FakeStripe::start().await.unwrap();
        let service = Service::start_with(db, stripe.options()).await.unwrap();
        let (mut ada, paid) = with_card(&stripe, &service).await;
        let mut dispute = paid.disputed(&stripe);
        // The amount includes the bank's fee.
        dispute["data"]["object"]["amount"] = serde_json::json!(503);
        assert_eq!(stripe.send(&service, &dispute).await.unwrap().as_u16(), 204);
        let page = billing(&mut ada).await;
        assert!(page.contains("Off. If you turn it on"), "{page}");
        assert_eq!(service.operator(&["account", "show", "ada@example.com"]).unwrap()["credits"], 100);
        let token = service.operator_token().unwrap();
        let listed = service.http.get(format!("{}/admin/payments/refused", service.admin_url())).bearer_auth(&token);
        let listed = listed.send().await.unwrap().text().await.unwrap();
        assert!(listed.contains("503 usd was returned") && listed.contains("applied"), "{listed}");
    }

    async fn a_dispute_while_a_reload_waits_ends_it(db: DatabaseChoice) {
        let stripe = FakeStripe::start().await.unwrap();
        let service = Service::start_with(db, stripe.options()).await.unwrap();
        let (mut ada, paid) = with_card(&stripe, &service).await;
        stripe.feel(StripeBehaviour::DownForCharges);
        set(&mut ada, "9000", "on").await;
        until(async || service.log().contains("an attempt at a reload failed; it is retried"), "an attempt").await;
        stripe.send(&service, &paid.disputed(&stripe)).await.unwrap();
        stripe.feel(StripeBehaviour::Well);
        sweeps().await;
        assert!(stripe.charges().is_empty(), "the card of a dispute is not charged again");
        assert!(billing(&mut ada).await.contains("Off. If you turn it on"));
    }
}

/// The process that checked first may charge last, but one shortage is charged only once.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_charge_one_shortage_once() {
    let stripe = FakeStripe::start().await.unwrap();
    let first = Service::start_with(DatabaseChoice::Postgres, stripe.options()).await.unwrap();
    let objects = format!("file:{}", first.data_dir().join("objects").display());
    let options =
        stripe.options().set("CYCLORAMA_DATABASE_URL", first.database_url()).set("CYCLORAMA_OBJECTS", objects);
    let _second = Service::start_with(DatabaseChoice::Postgres, options).await.unwrap();
    let (mut ada, _) = with_card(&stripe, &first).await;
    for (charges, balance) in [(1, "15,100"), (2, "15,100"), (3, "15,100"), (4, "15,100")] {
        set(&mut ada, "6000", "on").await;
        until(async || stripe.charges().len() == charges, "a charge").await;
        until(async || billing(&mut ada).await.contains(&format!("{balance} credits")), "its credit").await;
        sweeps().await;
        assert_eq!(stripe.charges().len(), charges, "one shortage, one charge");
        set(&mut ada, "1", "on").await;
        refund(&stripe, &first, charges - 1).await;
    }
}

/// Refunds the whole of a reload.
async fn refund(stripe: &FakeStripe, service: &Service, charge: usize) {
    let charges = stripe.charges();
    let charge = &charges[charge];
    let cents: i64 = charge["amount"].parse().unwrap();
    let refunded = serde_json::json!({
        "id": format!("ch_{}", charge["id"]), "amount": cents, "amount_refunded": cents, "currency": "usd",
        "payment_intent": charge["id"], "metadata": {},
    });
    stripe.send(service, &stripe.event("charge.refunded", refunded)).await.unwrap();
}

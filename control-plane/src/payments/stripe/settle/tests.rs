//! Events in every order, repeated, and those that do not fit, and their effect on the ledger.

use super::*;
use crate::accounts::account;
use crate::accounts::token::PlainKey;
use crate::config::prices::Pack;
use crate::payments::auto_reload::AutoReload;
use crate::payments::stripe::noted::noted_events;
use crate::payments::{self, PAGE_PREFIX, PaymentProvider};
use crate::test_database::databases;
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const NOW: UnixMs = UnixMs(1_000);
const PACK: Pack = Pack { credits: 5000, cents: 499 };

struct Bought {
    account_id: String,
    payment_id: String,
}

async fn bought(db: &Database) -> Bought {
    let email = format!("{}@example.com", uuid::Uuid::now_v7());
    let account_id = account::open(db, &email, Credits(10), NOW).await.expect("account");
    let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
    let mut tx = db.begin().await.expect("begin");
    let made = payments::offer(&mut tx, PaymentProvider::Stripe, &account_id, &PACK, &page, NOW).await.expect("offers");
    tx.commit().await.expect("commit");
    Bought { account_id, payment_id: made.expect("made") }
}

impl Bought {
    fn paid(&self, session: Option<&str>) -> Paid {
        Paid {
            payment_id: self.payment_id.clone(),
            cents: PACK.cents,
            currency: "usd".to_owned(),
            presented: None,
            session: session.map(str::to_owned),
            payment_intent: Some(self.intent()),
            kept: None,
        }
    }

    fn intent(&self) -> String {
        format!("pi_{}", self.payment_id)
    }

    fn returned(&self, id: &str, kind: ReturnKind, state: ReturnState, cents: i64) -> Return {
        Return {
            id: format!("{id} of {}", self.payment_id),
            kind,
            state,
            payment_id: None,
            payment_intent: Some(self.intent()),
            cents,
            currency: "usd".to_owned(),
        }
    }

    /// Returns an event about the total refunded of the charge so far.
    fn refunded(&self, cents: i64) -> Return {
        let payment_id = Some(self.payment_id.clone());
        Return { payment_id, ..self.returned("ch", ReturnKind::Charge, ReturnState::Gone, cents) }
    }

    fn dispute(&self, state: ReturnState) -> Return {
        self.returned("dp", ReturnKind::Dispute, state, PACK.cents)
    }

    async fn balance(&self, db: &Database) -> i64 {
        ledger::balance(&db.readers, &self.account_id).await.expect("balance").0
    }
}

async fn tell(db: &Database, id: &str, content: EventContent) -> EventOutcome {
    let event = StripeEvent { id: id.to_owned(), kind: "test".to_owned(), content };
    apply(db, &event, NOW).await.expect("applies")
}

fn orders(events: &[EventContent]) -> Vec<Vec<EventContent>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 0..events.len() {
        let mut rest = events.to_vec();
        let told = rest.remove(first);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, told.clone());
            order
        }));
    }
    all
}

#[tokio::test]
async fn any_order_of_events_comes_to_the_same_credits() {
    for db in databases().await {
        let model = bought(&db).await;
        for count in 0..orders(&[
            EventContent::Nothing,
            EventContent::Nothing,
            EventContent::Nothing,
            EventContent::Nothing,
            EventContent::Nothing,
        ])
        .len()
        {
            let one = bought(&db).await;
            let events = [
                EventContent::Paid(one.paid(Some("cs_1"))),
                EventContent::Paid(one.paid(None)),
                EventContent::Expired { payment_id: one.payment_id.clone() },
                EventContent::Returned(one.refunded(100)),
                EventContent::Returned(one.refunded(250)),
            ];
            for (number, told) in orders(&events)[count].iter().enumerate() {
                // Each event is delivered twice.
                for _ in 0..2 {
                    tell(&db, &format!("evt_{count}_{number}"), told.clone()).await;
                }
            }
            // 5000 * 250 / 499 is 2505.01.
            assert_eq!(one.balance(&db).await, 10 + 5000 - 2505, "order {count}");
        }
        assert_eq!(model.balance(&db).await, 10);
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

#[tokio::test]
async fn a_whole_refund_takes_what_is_left_and_never_more() {
    for db in databases().await {
        for (number, (spent, events, expected)) in [
            (0, vec![("refund", 499)], 10),
            (0, vec![("refund", 1)], 5000),
            (0, vec![("refund", 499), ("refund", 499)], 10),
            (0, vec![("dispute", 499), ("refund", 499)], 10),
            (0, vec![("refund", 200), ("dispute", 299)], 10),
            (5000, vec![("refund", 499)], 0),
            (4000, vec![("dispute", 499)], 0),
        ]
        .into_iter()
        .enumerate()
        {
            let one = bought(&db).await;
            tell(&db, &format!("paid_{number}"), EventContent::Paid(one.paid(None))).await;
            if spent > 0 {
                let mut tx = db.begin().await.expect("begin");
                let entry =
                    ledger::ReceivedPayment { reference: &one.payment_id, credits: Credits(spent), reason: "spent" };
                ledger::take_back(&mut tx, &one.account_id, entry, NOW).await.expect("takes");
                tx.commit().await.expect("commit");
            }
            for (which, (kind, cents)) in events.iter().enumerate() {
                let told = match *kind {
                    "refund" => one.refunded(*cents),
                    _ => one.returned("dp", ReturnKind::Dispute, ReturnState::Gone, *cents),
                };
                let outcome = tell(&db, &format!("back_{number}_{which}"), EventContent::Returned(told)).await;
                let EventOutcome::Applied(effect) = outcome else { panic!("{number}: {outcome:?}") };
                assert_eq!(effect.note.is_some_and(|note| note.contains("stay lost")), spent > 10, "{number}");
            }
            let expected = if expected == 5000 { 10 + 5000 - 10 } else { expected };
            assert_eq!(one.balance(&db).await, expected, "{number}");
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

#[tokio::test]
async fn what_does_not_fit_the_payment_is_refused() {
    for db in databases().await {
        let one = bought(&db).await;
        let paid = one.paid(Some("cs_1"));
        let refused = [
            EventContent::Paid(Paid { cents: 1, ..paid.clone() }),
            EventContent::Paid(Paid { cents: 4990, ..paid.clone() }),
            EventContent::Paid(Paid { currency: "jpy".to_owned(), ..paid.clone() }),
            EventContent::Paid(Paid { payment_id: "nobody's".to_owned(), ..paid.clone() }),
            EventContent::Returned(one.refunded(500)),
            EventContent::Returned(one.refunded(-1)),
            EventContent::Returned(Return { payment_id: Some("nobody's".to_owned()), ..one.refunded(9) }),
        ];
        for (number, told) in refused.into_iter().enumerate() {
            let outcome = tell(&db, &format!("evt_{number}"), told).await;
            assert!(matches!(outcome, EventOutcome::Refused(_)), "{number}: {outcome:?}");
        }
        assert_eq!(one.balance(&db).await, 10);
        assert_eq!(tell(&db, "evt_0", EventContent::Paid(paid.clone())).await, EventOutcome::Repeated);
        assert_eq!(tell(&db, "evt_good", EventContent::Paid(paid.clone())).await, EventOutcome::done());
        let other = Paid { payment_intent: Some("pi_other".to_owned()), ..paid };
        assert!(matches!(tell(&db, "evt_other", EventContent::Paid(other)).await, EventOutcome::Refused(_)));
        assert_eq!(one.balance(&db).await, 5010);
        let dear = one.returned("re", ReturnKind::Refund, ReturnState::Gone, 500);
        let outcome = tell(&db, "evt_dear", EventContent::Returned(dear)).await;
        assert!(matches!(outcome, EventOutcome::Refused(_)), "more than was paid: {outcome:?}");
        let stranger = Return { payment_intent: Some("pi_x".to_owned()), ..one.dispute(ReturnState::Gone) };
        assert_eq!(tell(&db, "evt_none", EventContent::Returned(stranger)).await, EventOutcome::Ignored);
        assert_eq!(one.balance(&db).await, 5010);
        let noted = noted_events(&db, 100).await.expect("lists");
        assert!(noted.iter().all(|event| event.is_refused && !event.why.is_empty()), "{noted:?}");
    }
}

/// Every dispute and refund that Stripe may report of one payment, each step by the events that
/// Stripe has for it, some of them twice.
#[tokio::test]
async fn money_that_moves_comes_to_the_same_credits_in_any_order() {
    use ReturnKind::{Charge, Dispute, Refund};
    use ReturnState::{Announced, Back, Gone};
    let mut runner = TestRunner::deterministic();
    for db in databases().await {
        for round in 0..60 {
            let one = bought(&db).await;
            // All of a charge of 499: a dispute that is lost and one that is won, an inquiry, a
            // refund that succeeds and one that fails.
            let possible = [
                one.returned("dp_lost", Dispute, Gone, 100),
                one.returned("dp_won", Dispute, Gone, 150),
                one.returned("dp_won", Dispute, Back, 150),
                // The amount includes the bank's fee.
                one.returned("dp_fee", Dispute, Gone, 503),
                one.returned("dp_fee", Dispute, Back, 503),
                one.returned("dp_asked", Dispute, Announced, 499),
                one.returned("dp_asked", Dispute, Announced, 503),
                one.returned("re_made", Refund, Gone, 120),
                one.returned("re_failed", Refund, Gone, 80),
                one.returned("re_failed", Refund, Back, 80),
                one.returned("ch", Charge, Gone, 120),
                one.returned("ch", Charge, Gone, 200),
            ];
            let chosen = subsequence(possible.to_vec(), 0..=possible.len());
            let chosen = chosen.new_tree(&mut runner).expect("chooses").current();
            let has = |id: &str, state| chosen.iter().any(|told| told.id.starts_with(id) && told.state == state);
            let charged = chosen.iter().filter(|told| told.kind == Charge).map(|told| told.cents).max().unwrap_or(0);
            let failed = if has("re_failed", Back) { 80 } else { 0 };
            let begun =
                if has("re_made", Gone) { 120 } else { 0 } + if failed > 0 || has("re_failed", Gone) { 80 } else { 0 };
            let disputed = if has("dp_lost", Gone) { 100 } else { 0 }
                + if has("dp_won", Gone) && !has("dp_won", Back) { 150 } else { 0 }
                + if has("dp_fee", Gone) && !has("dp_fee", Back) { 499 } else { 0 };
            let cents = ((charged.max(begun) - failed).max(0) + disputed).min(499);

            let mut events: Vec<EventContent> = chosen.iter().cloned().map(EventContent::Returned).collect();
            events.extend([EventContent::Paid(one.paid(Some("cs_1"))), EventContent::Paid(one.paid(None))]);
            events.extend(events.clone());
            let events = Just(events).prop_shuffle().new_tree(&mut runner).expect("shuffles").current();
            for (number, told) in events.iter().enumerate() {
                let outcome = tell(&db, &format!("evt_{round}_{number}"), told.clone()).await;
                assert!(!matches!(outcome, EventOutcome::Refused(_)), "{outcome:?}");
            }
            let expected = 10 + 5000 - 5000 * cents / 499;
            assert_eq!(one.balance(&db).await, expected, "{events:?}");
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

#[tokio::test]
async fn a_dispute_takes_when_money_moves_and_gives_back_once() {
    use ReturnState::{Announced, Back, Gone};
    for db in databases().await {
        let one = bought(&db).await;
        let settings = AutoReload { is_on: true, threshold_credits: 5, pack_credits: 5000 };
        auto_reload::set(&db, &[], &one.account_id, settings, NOW).await.expect("sets");
        let is_on = async || auto_reload::find(&db, &one.account_id).await.expect("finds").expect("there").is_on;
        tell(&db, "paid", EventContent::Paid(one.paid(None))).await;
        for (number, (state, balance, on)) in [
            (Announced, 5010, true),
            (Gone, 10, false),
            (Gone, 10, false),
            (Announced, 10, false),
            (Back, 5010, false),
            (Back, 5010, false),
            (Gone, 5010, false),
        ]
        .into_iter()
        .enumerate()
        {
            let outcome = tell(&db, &format!("evt_{number}"), EventContent::Returned(one.dispute(state))).await;
            assert!(matches!(outcome, EventOutcome::Applied(_)), "{number}: {outcome:?}");
            assert_eq!((one.balance(&db).await, is_on().await), (balance, on), "{number}");
        }
        let noted = noted_events(&db, 100).await.expect("lists");
        assert_eq!(noted.len(), 3, "an inquiry, a dispute, its end: each once: {noted:?}");
        // A second dispute of the same money.
        let second = one.returned("dp_second", ReturnKind::Dispute, Gone, PACK.cents);
        tell(&db, "second", EventContent::Returned(second)).await;
        assert_eq!(one.balance(&db).await, 10);

        // Credits that were not taken are not given back: most of these were spent.
        let two = bought(&db).await;
        tell(&db, "two paid", EventContent::Paid(two.paid(None))).await;
        let mut tx = db.begin().await.expect("begin");
        let spent = ledger::ReceivedPayment { reference: &two.payment_id, credits: Credits(4000), reason: "spent" };
        ledger::take_back(&mut tx, &two.account_id, spent, NOW).await.expect("takes");
        tx.commit().await.expect("commit");
        for (id, state, balance) in [("two gone", Gone, 0), ("two back", Back, 1010), ("two again", Back, 1010)] {
            tell(&db, id, EventContent::Returned(two.dispute(state))).await;
            assert_eq!(two.balance(&db).await, balance, "{id}");
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

/// A dispute over more than was paid, or in a currency that the payment does not involve, is a
/// dispute all the same.
#[tokio::test]
async fn a_dispute_that_does_not_fit_the_price_counts_as_all_of_it() {
    for db in databases().await {
        for (cents, currency) in [(500, "usd"), (503, "usd"), (-1, "usd"), (463, "eur"), (74, "jpy")] {
            for is_told_first in [false, true] {
                let one = bought(&db).await;
                let settings = AutoReload { is_on: true, threshold_credits: 5, pack_credits: 5000 };
                auto_reload::set(&db, &[], &one.account_id, settings, NOW).await.expect("sets");
                let paid =
                    EventContent::Paid(Paid { presented: Some((400, "chf".to_owned())), ..one.paid(Some("cs_1")) });
                let currency = currency.to_owned();
                let dispute = Return { currency, ..one.returned("dp", ReturnKind::Dispute, ReturnState::Gone, cents) };
                let mut events = vec![paid, EventContent::Returned(dispute.clone())];
                if is_told_first {
                    events.reverse();
                }
                for (number, told) in events.into_iter().enumerate() {
                    let outcome = tell(&db, &format!("{} {number}", one.payment_id), told).await;
                    assert!(!matches!(outcome, EventOutcome::Refused(_)), "{dispute:?}: {outcome:?}");
                }
                assert_eq!(one.balance(&db).await, 10, "{dispute:?} {is_told_first}");
                assert!(!auto_reload::find(&db, &one.account_id).await.expect("finds").expect("there").is_on);
                let noted = noted_events(&db, 100).await.expect("lists");
                let tells = |why: &str| why.contains(&one.payment_id) && why.contains("counts as the whole price");
                assert!(noted.iter().any(|event| tells(&event.why)), "{noted:?}");
                let won = Return { state: ReturnState::Back, ..dispute };
                tell(&db, &format!("{} won", one.payment_id), EventContent::Returned(won)).await;
                assert_eq!(one.balance(&db).await, 5010, "it comes back as one");
            }
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

/// The amount that the buyer paid may be reported by the last event of all.
#[tokio::test]
async fn what_goes_back_in_the_buyers_currency_counts_once_that_is_known() {
    for db in databases().await {
        for kind in [ReturnKind::Refund, ReturnKind::Charge, ReturnKind::Dispute] {
            for order in 0..6 {
                let one = bought(&db).await;
                let presented = Some((463, "eur".to_owned()));
                let gone = one.returned("gone", kind, ReturnState::Gone, 232);
                let events = [
                    EventContent::Paid(one.paid(None)),
                    EventContent::Returned(Return { currency: "eur".to_owned(), ..gone }),
                    EventContent::Paid(Paid { presented, ..one.paid(Some("cs_1")) }),
                ];
                for (number, told) in orders(&events)[order].iter().enumerate() {
                    let outcome = tell(&db, &format!("{} {number}", one.payment_id), told.clone()).await;
                    assert!(!matches!(outcome, EventOutcome::Refused(_)), "{kind:?} {order}: {outcome:?}");
                }
                // The same as for a payment whose currency is known: 250.03 cents.
                assert_eq!(one.balance(&db).await, 5010 - 2505, "{kind:?} {order}");
            }
        }
        let one = bought(&db).await;
        tell(&db, "paid", EventContent::Paid(one.paid(None))).await;
        let foreign = Return { currency: "eur".to_owned(), ..one.refunded(9) };
        let EventOutcome::Applied(effect) = tell(&db, "foreign", EventContent::Returned(foreign)).await else {
            panic!("refused")
        };
        assert!(effect.note.is_some_and(|note| note.contains("9 eur was returned")), "an operator has to know");
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_before_its_payment_or_at_the_same_time_is_not_lost() {
    for db in databases().await {
        for round in 0..20 {
            let one = bought(&db).await;
            let settings = AutoReload { is_on: true, threshold_credits: 5, pack_credits: 5000 };
            auto_reload::set(&db, &[], &one.account_id, settings, NOW).await.expect("sets");
            let (paid, gone) =
                (EventContent::Paid(one.paid(None)), EventContent::Returned(one.dispute(ReturnState::Gone)));
            let (first, second) = (format!("paid {round}"), format!("gone {round}"));
            tokio::join!(tell(&db, &first, paid), tell(&db, &second, gone));
            assert_eq!(one.balance(&db).await, 10, "{round}");
            assert!(!auto_reload::find(&db, &one.account_id).await.expect("finds").expect("there").is_on);
        }
        let never = Return { payment_intent: Some("pi_x".to_owned()), ..bought(&db).await.dispute(ReturnState::Gone) };
        assert_eq!(tell(&db, "never", EventContent::Returned(never)).await, EventOutcome::Ignored);
        forget_events(&db, NOW.plus_ms(1)).await.expect("forgets");
        let left: i64 = sqlx::query_scalar("select count(*) from payment_returns where payment_id is null")
            .fetch_one(&db.readers)
            .await
            .expect("counts");
        assert_eq!(left, 0, "what became nobody's payment is kept as long as events are");
    }
}

#[tokio::test]
async fn a_payment_in_the_buyers_currency_is_credited_and_goes_back_by_its_parts() {
    for db in databases().await {
        let eur = |cents: i64| Some((cents, "eur".to_owned()));
        for refund_first in [false, true] {
            let one = bought(&db).await;
            let session = EventContent::Paid(Paid { presented: eur(463), ..one.paid(Some("cs_1")) });
            let intent = EventContent::Paid(Paid { cents: 463, currency: "eur".to_owned(), ..one.paid(None) });
            let refund = EventContent::Returned(Return { currency: "eur".to_owned(), ..one.refunded(463) });
            let mut events = vec![intent, session];
            events.insert(if refund_first { 0 } else { 2 }, refund);
            for (number, told) in events.into_iter().enumerate() {
                let outcome = tell(&db, &format!("{} {number}", one.payment_id), told).await;
                assert_eq!(outcome, EventOutcome::done(), "{refund_first} {number}");
            }
            assert_eq!(one.balance(&db).await, 10, "all of it went back");
        }
        let one = bought(&db).await;
        let session = EventContent::Paid(Paid { presented: eur(463), ..one.paid(Some("cs_1")) });
        assert_eq!(tell(&db, "session", session).await, EventOutcome::done());
        let dispute = Return { currency: "eur".to_owned(), cents: 232, ..one.dispute(ReturnState::Gone) };
        tell(&db, "dispute", EventContent::Returned(dispute)).await;
        // 499 * 232 / 463 is 250.03 cents, and 5000 * 250 / 499 is 2505.01 credits.
        assert_eq!(one.balance(&db).await, 5010 - 2505);
        let yen = Return { currency: "jpy".to_owned(), ..one.refunded(9) };
        assert!(matches!(tell(&db, "yen", EventContent::Returned(yen)).await, EventOutcome::Refused(_)));
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

//! Events in every order, repeated, and those that do not fit: the ledger's side of them.

use super::*;
use crate::accounts::account;
use crate::accounts::token::PlainKey;
use crate::config::prices::Pack;
use crate::payments::{self, PAGE_PREFIX, Provider};
use crate::test_database::databases;

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
    let made = payments::offer(&mut tx, Provider::Stripe, &account_id, &PACK, &page, NOW).await.expect("offers");
    tx.commit().await.expect("commit");
    Bought { account_id, payment_id: made.expect("made") }
}

impl Bought {
    fn paid(&self, session: Option<&str>) -> Paid {
        Paid {
            payment_id: self.payment_id.clone(),
            cents: PACK.cents,
            currency: "usd".to_owned(),
            session: session.map(str::to_owned),
            payment_intent: Some(self.intent()),
            kept: None,
        }
    }

    fn intent(&self) -> String {
        format!("pi_{}", self.payment_id)
    }

    fn returned(&self, cents: i64) -> Returned {
        let payment_id = Some(self.payment_id.clone());
        Returned { payment_id, payment_intent: Some(self.intent()), cents, currency: "usd".to_owned() }
    }

    async fn balance(&self, db: &Database) -> i64 {
        ledger::balance(&db.readers, &self.account_id).await.expect("balance").0
    }
}

async fn tell(db: &Database, id: &str, told: Told) -> Outcome {
    let event = Event { id: id.to_owned(), kind: "test".to_owned(), told };
    apply(db, &event, NOW).await.expect("applies")
}

fn orders(events: &[Told]) -> Vec<Vec<Told>> {
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
        for count in 0..orders(&[Told::Nothing, Told::Nothing, Told::Nothing, Told::Nothing, Told::Nothing]).len() {
            let one = bought(&db).await;
            let events = [
                Told::Paid(one.paid(Some("cs_1"))),
                Told::Paid(one.paid(None)),
                Told::Expired { payment_id: one.payment_id.clone() },
                Told::Refunded(one.returned(100)),
                Told::Refunded(one.returned(250)),
            ];
            for (number, told) in orders(&events)[count].iter().enumerate() {
                // Each is told twice.
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
            tell(&db, &format!("paid_{number}"), Told::Paid(one.paid(None))).await;
            if spent > 0 {
                let mut tx = db.begin().await.expect("begin");
                let entry = ledger::Payment { reference: &one.payment_id, credits: Credits(spent), reason: "spent" };
                ledger::take_back(&mut tx, &one.account_id, entry, NOW).await.expect("takes");
                tx.commit().await.expect("commit");
            }
            for (which, (kind, cents)) in events.iter().enumerate() {
                let returned = one.returned(*cents);
                let told = match *kind {
                    "refund" => Told::Refunded(returned),
                    _ => Told::Disputed(Returned { payment_id: None, ..returned }),
                };
                let outcome = tell(&db, &format!("back_{number}_{which}"), told).await;
                let Outcome::Applied(effect) = outcome else { panic!("{number}: {outcome:?}") };
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
            Told::Paid(Paid { cents: 1, ..paid.clone() }),
            Told::Paid(Paid { cents: 4990, ..paid.clone() }),
            Told::Paid(Paid { currency: "jpy".to_owned(), ..paid.clone() }),
            Told::Paid(Paid { payment_id: "nobody's".to_owned(), ..paid.clone() }),
            Told::Refunded(Returned { cents: 500, ..one.returned(0) }),
            Told::Refunded(Returned { cents: -1, ..one.returned(0) }),
            Told::Refunded(Returned { currency: "eur".to_owned(), ..one.returned(9) }),
        ];
        for (number, told) in refused.into_iter().enumerate() {
            let outcome = tell(&db, &format!("evt_{number}"), told).await;
            assert!(matches!(outcome, Outcome::Refused(_)), "{number}: {outcome:?}");
        }
        assert_eq!(one.balance(&db).await, 10);
        assert_eq!(tell(&db, "evt_0", Told::Paid(paid.clone())).await, Outcome::Repeated);
        assert_eq!(tell(&db, "evt_good", Told::Paid(paid.clone())).await, Outcome::done());
        let other = Paid { payment_intent: Some("pi_other".to_owned()), ..paid };
        assert!(matches!(tell(&db, "evt_other", Told::Paid(other)).await, Outcome::Refused(_)));
        assert_eq!(one.balance(&db).await, 5010);
        assert_eq!(
            tell(
                &db,
                "evt_none",
                Told::Disputed(Returned {
                    payment_id: None,
                    payment_intent: Some("pi_x".to_owned()),
                    ..one.returned(5)
                })
            )
            .await,
            Outcome::Ignored
        );
    }
}

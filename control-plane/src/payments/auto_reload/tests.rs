//! Reloads that must not be made: after their owner turned auto-reload off or changed it, after the
//! shortage is over, and by a process that read the balance too long ago.

use super::*;
use crate::ledger::{self, Credits};
use crate::payments::stripe::event::Paid;
use crate::payments::stripe::settle::{self, EventOutcome};
use crate::test_database::databases;

const NOW: UnixMs = UnixMs(1_000_000);
const PACK: Pack = Pack { credits: 5000, cents: 500 };
/// The packs that are sold.
const PACKS: [Pack; 3] = [Pack { credits: 100, cents: 10 }, PACK, Pack { credits: 10_000, cents: 1000 }];
const ON: AutoReload = AutoReload { is_on: true, threshold_credits: 50, pack_credits: 5000 };

/// Creates an account with ten credits, a stored card, and auto-reload turned on.
async fn low_account(db: &Database) -> String {
    let email = format!("{}@example.com", uuid::Uuid::now_v7());
    let account_id = account::open(db, &email, Credits(10), NOW).await.expect("account");
    let insert =
        sqlx::query("insert into stripe_customers (account_id, customer, payment_method) values ($1, $2, 'pm_1')");
    db.write(insert.bind(account_id.clone()).bind(format!("cus_{account_id}"))).await.expect("customer");
    set(db, &PACKS, &account_id, ON, NOW).await.expect("sets");
    account_id
}

/// Returns the reload of an account that may be attempted at `at`.
async fn due_of(db: &Database, account_id: &str, at: UnixMs) -> Option<Due> {
    due(db, at).await.expect("due").into_iter().find(|due| due.account_id == account_id)
}

/// Creates a low account and its reload, whose first attempt Stripe did not answer.
async fn begun_and_unanswered(db: &Database) -> (Low, Due) {
    let account_id = low_account(db).await;
    let low = Low { account_id, pack_credits: PACK.credits };
    assert!(begin(db, &low, &PACK, NOW).await.expect("begins"));
    let first = due_of(db, &low.account_id, NOW).await.expect("is due");
    assert!(claim(db, &PACKS, &first, NOW, NOW.plus_ms(1)).await.expect("claims"));
    put_off(db, &first, NOW.plus_ms(1), NOW.plus_ms(UNKNOWN_MS)).await.expect("its answer was lost");
    (low, first)
}

async fn off(db: &Database, account_id: &str, now: UnixMs) {
    let mut tx = db.begin().await.expect("begin");
    turn_off(&mut tx, account_id, now).await.expect("turns off");
    tx.commit().await.expect("commit");
}

fn paid(due: &Due) -> Paid {
    Paid {
        payment_id: due.payment_id.clone(),
        cents: due.cents,
        currency: "usd".to_owned(),
        presented: None,
        session: None,
        payment_intent: Some(format!("pi_{}", due.payment_id)),
        kept: None,
    }
}

async fn balance(db: &Database, account_id: &str) -> i64 {
    ledger::balance(&db.readers, account_id).await.expect("balance").0
}

#[tokio::test]
async fn who_looked_before_the_others_reload_begins_nothing() {
    for db in databases().await {
        let account_id = low_account(&db).await;
        let slow = low(&db, NOW).await.expect("looks").remove(0);
        let quick = low(&db, NOW).await.expect("looks").remove(0);
        assert!(begin(&db, &quick, &PACK, NOW).await.expect("begins"));
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "one is open");
        let due = due(&db, NOW).await.expect("due").remove(0);
        assert!(claim(&db, &PACKS, &due, NOW, NOW.plus_ms(30_000)).await.expect("claims"));
        settle::charged(&db, &paid(&due), NOW).await.expect("credits");
        assert_eq!(balance(&db, &account_id).await, 5010);
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "the shortage is over");

        // Every other condition that may have changed in the meantime.
        let other = low_account(&db).await;
        let slow = low(&db, NOW).await.expect("looks").remove(0);
        assert_eq!(slow.account_id, other);
        off(&db, &other, NOW).await;
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "it is off");
        set(&db, &PACKS, &other, AutoReload { pack_credits: 10_000, ..ON }, NOW).await.expect("sets");
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "it is another pack");
        set(&db, &PACKS, &other, AutoReload { threshold_credits: 10, ..ON }, NOW).await.expect("sets");
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "the threshold is lower");
        set(&db, &PACKS, &other, ON, NOW).await.expect("sets");
        db.write(sqlx::query("update stripe_customers set payment_method = null")).await.expect("forgets");
        assert!(!begin(&db, &slow, &PACK, NOW).await.expect("looks again"), "the card is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_look_at_once_one_charges() {
    for db in databases().await {
        for _ in 0..5 {
            let account_id = low_account(&db).await;
            let mut tasks = Vec::new();
            for _ in 0..12 {
                let (db, account_id) = (db.clone(), account_id.clone());
                tasks.push(tokio::spawn(async move {
                    let mut charged = 0;
                    for low in low(&db, NOW).await.expect("looks") {
                        begin(&db, &low, &PACK, NOW).await.expect("begins");
                    }
                    for due in due(&db, NOW).await.expect("due") {
                        if due.account_id == account_id
                            && claim(&db, &PACKS, &due, NOW, NOW.plus_ms(1)).await.expect("claims")
                        {
                            settle::charged(&db, &paid(&due), NOW).await.expect("credits");
                            charged += 1;
                        }
                    }
                    charged
                }));
            }
            let mut charged = 0;
            for task in tasks {
                charged += task.await.expect("task");
            }
            // A late task finds the reload charged, or charges the one that is open:
            // never a second time.
            assert_eq!((charged, balance(&db, &account_id).await), (1, 5010));
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

#[tokio::test]
async fn turned_off_it_charges_no_more_and_turned_on_again_nothing_old() {
    for db in databases().await {
        let account_id = low_account(&db).await;
        let due_now = async |at: UnixMs| due(&db, at).await.expect("due");
        let begin_now = async |at: UnixMs| {
            let low = Low { account_id: account_id.clone(), pack_credits: PACK.credits };
            begin(&db, &low, &PACK, at).await.expect("begins")
        };
        // The reload waits, and Stripe was never called for it.
        assert!(begin_now(NOW).await);
        let first = due_now(NOW).await.remove(0);
        off(&db, &account_id, NOW).await;
        assert!(due_now(NOW).await.is_empty());
        assert!(!claim(&db, &PACKS, &first, NOW, NOW.plus_ms(1)).await.expect("claims"), "read before it was off");
        assert!(!may_still_charge(&db, &account_id, NOW).await.expect("reads"));
        set(&db, &PACKS, &account_id, ON, NOW).await.expect("sets");
        assert!(due_now(NOW).await.is_empty(), "turned on again it is not what was begun before");
        assert!(begin_now(NOW).await);

        // Stripe is processing a call: its result is credited, and until it is known
        // nothing else is charged.
        let second = due_now(NOW).await.remove(0);
        assert!(claim(&db, &PACKS, &second, NOW, NOW.plus_ms(30_000)).await.expect("claims"));
        off(&db, &account_id, NOW).await;
        set(&db, &PACKS, &account_id, ON, NOW).await.expect("sets");
        assert!(may_still_charge(&db, &account_id, NOW).await.expect("reads"));
        assert!(!begin_now(NOW).await, "a charge may still come");
        put_off(&db, &second, NOW.plus_ms(1), NOW.plus_ms(UNKNOWN_MS)).await.expect("its answer was lost");
        assert!(due_now(NOW.plus_ms(2)).await.is_empty());
        settle::charged(&db, &paid(&second), NOW).await.expect("credits");
        assert_eq!(balance(&db, &account_id).await, 5010);
        assert!(!may_still_charge(&db, &account_id, NOW).await.expect("reads"));

        // The card is declined while auto-reload is off: no email is sent, and the next
        // reload is not blocked.
        let mut tx = db.begin().await.expect("begin");
        let all = ledger::ReceivedPayment { reference: "spent", credits: Credits(5010), reason: "spent" };
        ledger::take_back(&mut tx, &account_id, all, NOW).await.expect("takes");
        tx.commit().await.expect("commit");
        assert!(begin_now(NOW).await);
        let third = due_now(NOW).await.remove(0);
        assert!(claim(&db, &PACKS, &third, NOW, NOW.plus_ms(30_000)).await.expect("claims"));
        off(&db, &account_id, NOW).await;
        let mut tx = db.begin().await.expect("begin");
        let ended = settle::cancel(&mut tx, &third.payment_id, "reload", NOW).await.expect("cancels");
        tx.commit().await.expect("commit");
        assert_eq!(ended, EventOutcome::Ignored);
        set(&db, &PACKS, &account_id, ON, NOW).await.expect("sets");
        assert!(begin_now(NOW).await);
    }
}

/// Two processes with different packs end each other's reloads before Stripe is called.
#[tokio::test]
async fn reloads_that_stripe_was_never_asked_for_do_not_use_up_the_day() {
    let dearer = [Pack { cents: 600, ..PACK }];
    for db in databases().await {
        let account_id = low_account(&db).await;
        let low = Low { account_id: account_id.clone(), pack_credits: PACK.credits };
        for number in 0..A_DAY_MAX + 5 {
            assert!(begin(&db, &low, &PACK, NOW).await.expect("begins"), "{number}");
            let due = due_of(&db, &account_id, NOW).await.expect("is due");
            assert!(!claim(&db, &dearer, &due, NOW, NOW.plus_ms(1)).await.expect("claims"), "{number}: another price");
        }
        // Reloads for which Stripe was called do count.
        for number in 0..A_DAY_MAX {
            assert!(begin(&db, &low, &PACK, NOW).await.expect("begins"), "{number}");
            let due = due_of(&db, &account_id, NOW).await.expect("is due");
            assert!(claim(&db, &PACKS, &due, NOW, NOW.plus_ms(1)).await.expect("claims"), "{number}");
            settle::charged(&db, &paid(&due), NOW).await.expect("credits");
            let mut tx = db.begin().await.expect("begin");
            let reference = format!("spent {number}");
            let all = ledger::ReceivedPayment { reference: &reference, credits: Credits(5000), reason: "spent" };
            ledger::take_back(&mut tx, &account_id, all, NOW).await.expect("takes");
            tx.commit().await.expect("commit");
        }
        assert!(!begin(&db, &low, &PACK, NOW).await.expect("looks"), "ten a day");
        assert!(begin(&db, &low, &PACK, NOW.plus_ms(DAY_MS)).await.expect("begins"), "a day later");
    }
}

/// Stripe did not answer, and something changes before it is called again. The last value of each
/// case is true if it is called again.
#[tokio::test]
async fn what_is_not_wanted_any_more_is_not_asked_for_again() {
    for db in databases().await {
        for (what, settings, bought, is_asked) in [
            ("nothing changed", None, 0, true),
            ("the same is set again", Some(ON), 0, true),
            ("a smaller pack", Some(AutoReload { pack_credits: 100, ..ON }), 0, false),
            ("a threshold that is still above", Some(AutoReload { threshold_credits: 11, ..ON }), 0, true),
            ("a threshold that is reached", Some(AutoReload { threshold_credits: 10, ..ON }), 0, false),
            ("bought by hand, too little", None, 39, true),
            ("bought by hand", None, 40, false),
            ("bought by hand and set again", Some(ON), 40, false),
        ] {
            let (low, first) = begun_and_unanswered(&db).await;
            let account_id = low.account_id.clone();
            let of_ours = async |at| due_of(&db, &account_id, at).await;
            if bought > 0 {
                let mut tx = db.begin().await.expect("begin");
                let entry = ledger::ReceivedPayment {
                    reference: &account_id,
                    credits: Credits(bought),
                    reason: "credits bought",
                };
                ledger::purchase(&mut tx, &account_id, entry, NOW).await.expect("enters");
                tx.commit().await.expect("commit");
            }
            if let Some(settings) = settings {
                set(&db, &PACKS, &account_id, settings, NOW).await.expect("sets");
            }
            let later = NOW.plus_ms(2);
            let asked = match of_ours(later).await {
                Some(due) => claim(&db, &PACKS, &due, later, later).await.expect("claims"),
                None => false,
            };
            assert_eq!(asked, is_asked, "{what}");
            assert!(find(&db, &account_id).await.expect("finds").expect("there").is_on, "{what}: it stays on");
            if !is_asked {
                assert!(of_ours(later).await.is_none(), "{what}: it is ended");
                // The result of the first attempt is not known yet: no new reload is begun, and if
                // the money did arrive, it is credited.
                assert!(may_still_charge(&db, &account_id, later).await.expect("reads"), "{what}");
                assert!(!begin(&db, &low, &PACK, later).await.expect("looks"), "{what}");
                settle::charged(&db, &paid(&first), later).await.expect("credits");
                assert_eq!(balance(&db, &account_id).await, 5010 + bought, "{what}");
            }
        }
        assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
    }
}

/// Stripe did not answer, and before it is called again the card changes or the pack is no longer
/// sold as it was. The old reload charges nothing any more; once the result of its first attempt is
/// known, a new reload covers the shortage.
#[tokio::test]
async fn an_old_card_or_an_old_price_is_not_charged() {
    let dearer = Pack { cents: 600, ..PACK };
    for db in databases().await {
        for (what, card, packs, is_asked) in [
            ("nothing changed", Some("pm_1"), &PACKS[..], true),
            ("another pack has another price", Some("pm_1"), &[Pack { credits: 100, cents: 20 }, PACK][..], true),
            ("a new card", Some("pm_2"), &PACKS[..], false),
            ("no card", None, &PACKS[..], false),
            ("a new price", Some("pm_1"), std::slice::from_ref(&dearer), false),
            ("a new card and a new price", Some("pm_2"), std::slice::from_ref(&dearer), false),
            ("the pack is no longer sold", Some("pm_1"), &PACKS[..1], false),
            ("nothing is sold", Some("pm_1"), &[], false),
        ] {
            for is_set_again in [false, true] {
                let (low, _) = begun_and_unanswered(&db).await;
                let account_id = low.account_id.clone();
                let of_ours = async |at| due_of(&db, &account_id, at).await;
                let kept = sqlx::query("update stripe_customers set payment_method = $1 where account_id = $2");
                db.write(kept.bind(card.map(str::to_owned)).bind(account_id.clone())).await.expect("keeps");
                if is_set_again {
                    set(&db, packs, &account_id, ON, NOW).await.expect("sets");
                }
                let later = NOW.plus_ms(2);
                let asked = match of_ours(later).await {
                    Some(due) => claim(&db, packs, &due, later, later).await.expect("claims"),
                    None => false,
                };
                assert_eq!(asked, is_asked, "{what}, set again: {is_set_again}");
                assert!(find(&db, &account_id).await.expect("finds").expect("there").is_on, "{what}: it stays on");
                if is_asked {
                    continue;
                }
                assert!(of_ours(later).await.is_none(), "{what}: it is ended");
                assert!(may_still_charge(&db, &account_id, later).await.expect("reads"), "{what}");
                let Some(pack) = pack_of(packs, PACK.credits) else { continue };
                assert!(!begin(&db, &low, pack, later).await.expect("looks"), "{what}: a charge may still come");
                let known = NOW.plus_ms(UNKNOWN_MS);
                assert_eq!(begin(&db, &low, pack, known).await.expect("looks"), card.is_some(), "{what}");
                if let Some(card) = card {
                    let second = of_ours(known).await.expect("is due");
                    assert_eq!((second.payment_method.as_str(), second.cents), (card, pack.cents), "{what}");
                    assert!(claim(&db, packs, &second, known, known).await.expect("claims"), "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_pack_that_is_no_longer_sold_turns_off_what_buys_it_alone() {
    for db in databases().await {
        let account_id = low_account(&db).await;
        let low = low(&db, NOW).await.expect("looks").remove(0);
        let end = async || {
            let mut tx = db.begin().await.expect("begin");
            let ended = turn_off_for_pack(&mut tx, &low, NOW).await.expect("ends");
            tx.commit().await.expect("commit");
            ended
        };
        set(&db, &PACKS, &account_id, AutoReload { pack_credits: 10_000, ..ON }, NOW).await.expect("sets");
        assert!(!end().await, "its owner has chosen another pack meanwhile");
        set(&db, &PACKS, &account_id, ON, NOW).await.expect("sets");
        assert!(end().await);
        assert!(!find(&db, &account_id).await.expect("finds").expect("there").is_on);
    }
}

//! The part of the day's budget that all accounts with only free credits have together.

use super::*;
use crate::accounts::password::PasswordHash;
use crate::accounts::user;
use crate::ledger::{self, Credits, ReceivedPayment};

async fn account(database: &Database, name: &str) -> String {
    let password = PasswordHash::from_stored("x".to_owned());
    let email = format!("{name}@example.com");
    let made = user::sign_up(database, &email, &password, Credits(100), &[], Clock::SYSTEM.now()).await;
    made.expect("signs up").account_id
}

/// Returns the outcome of enqueueing a cold render.
async fn wants(renders: &Renders, model: &str, lane: Lane, account_id: &str) -> &'static str {
    let (vehicle, deadline_ms) = (vehicle(model), Clock::SYSTEM.now().0 + 60_000);
    let requester = Requester::account(lane, account_id);
    match renders.request(&vehicle, &variant(&vehicle, Colour::Red), &requester, deadline_ms).await {
        Ok(_) => "queued",
        Err(RenderError::BudgetSpent { scope: BudgetScope::FreeAccounts, .. }) => "share of free accounts",
        Err(other) => panic!("{other}"),
    }
}

/// Four renders are the limit of all of them together.
fn shared(database: &Database) -> Renders {
    let rules = Rules { free_percent: 40, ..settings().rules };
    renders(database, RenderSettings { rules, daily_budget_microusd: 20_000, ..settings() })
}

#[tokio::test]
async fn accounts_with_free_credits_leave_the_rest_to_those_who_pay() {
    for database in databases().await {
        let renders = shared(&database);
        let (ada, bob, eve) =
            (account(&database, "ada").await, account(&database, "bob").await, account(&database, "eve").await);
        for (model, account, expected) in [
            ("m1", &ada, "queued"),
            ("m2", &ada, "queued"),
            ("m3", &bob, "queued"),
            ("m4", &bob, "queued"),
            ("m5", &bob, "share of free accounts"),
            ("m5", &eve, "share of free accounts"),
        ] {
            assert_eq!(
                wants(&renders, model, Lane::Interactive, account).await,
                expected,
                "{model} {:?}",
                database.kind
            );
        }
        let mut tx = database.begin().await.expect("begins");
        let now = Clock::SYSTEM.now();
        ledger::grant(&mut tx, &ada, Credits(1), "a trial", now).await.expect("grants");
        let payment = ReceivedPayment { reference: "order-1", credits: Credits(10), reason: "a pack" };
        ledger::purchase(&mut tx, &bob, payment, now).await.expect("buys");
        tx.commit().await.expect("commits");
        for (model, account, expected) in [
            ("m5", &ada, "queued"),
            ("m6", &bob, "queued"),
            ("m7", &eve, "share of free accounts"),
            ("m7", &"made by the operator".to_owned(), "queued"),
        ] {
            assert_eq!(wants(&renders, model, Lane::Interactive, account).await, expected, "{model}");
        }
        // Visitors, prewarming and renders that the operator wants have limits of their own.
        for lane in [Lane::Prewarm, Lane::Example] {
            assert_eq!(wants(&renders, &format!("{lane:?}").to_lowercase(), lane, "").await, "queued");
        }
        assert_eq!(books(&renders).await.0, 18_000);
    }
}

#[tokio::test]
async fn a_share_is_not_passed_by_joining_and_ends_where_somebody_pays() {
    for database in databases().await {
        let renders = shared(&database);
        let ada = account(&database, "ada").await;
        for model in ["m1", "m2", "m3", "m4"] {
            assert_eq!(wants(&renders, model, Lane::FirstLoad, &ada).await, "queued");
        }
        assert_eq!(wants(&renders, "p1", Lane::FirstLoad, "paying").await, "queued");
        let of_free = async || number(&database, "select count(*) from jobs where of_free_account = 1").await;
        assert_eq!(of_free().await, 4);
        // The job of a paying account stays with that account.
        assert_eq!(wants(&renders, "p1", Lane::Interactive, &ada).await, "queued");
        assert_eq!(number(&database, "select count(*) from jobs where account_id = 'paying'").await, 1);
        assert_eq!(of_free().await, 4, "{:?}", database.kind);
        // A job that a paying account takes over makes room for another.
        assert_eq!(wants(&renders, "m1", Lane::Interactive, "paying").await, "queued");
        assert_eq!(of_free().await, 3);
        assert_eq!(wants(&renders, "m5", Lane::FirstLoad, &ada).await, "queued");
        assert_eq!(wants(&renders, "m6", Lane::FirstLoad, &ada).await, "share of free accounts");
    }
}

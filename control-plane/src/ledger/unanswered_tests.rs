//! Charges whose requests got no answer, or an answer that the outcome is unknown: they are given
//! back once, with everything that they counted.

use super::tests::{ACCOUNT, KEY, account, debit, hold, key, load, mint, settle, sound, started};
use super::unanswered::{self, BatchId};
use super::*;
use crate::accounts::api_key::{self, ApiKeys, NewKey};
use crate::accounts::token::PlainKey;
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, DatabaseKind};
use crate::test_database::databases;

async fn number(database: &Database, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(&database.readers).await.expect("counts")
}

async fn credits(database: &Database) -> i64 {
    balance(&database.readers, ACCOUNT).await.expect("reads").0
}

async fn spent(database: &Database) -> i64 {
    api_key::cap(database, KEY, Clock::SYSTEM.now()).await.expect("reads").expect("a cap").spent.0
}

/// Applies one batch with every kind of final charge, of a capped key. Its requests get no answer.
async fn charge_everything(database: &Database, owner: &ProcessId, now: UnixMs) -> BatchId {
    let capped = |entry: MeterRequest| MeterRequest { capped_key_id: Some(KEY.to_owned()), ..entry };
    for entry in [capped(hold("held", 3)), capped(mint(&["once"], 1))] {
        batch::apply(database, now, owner, &BatchId::new(), &[&entry]).await.expect("applies");
    }
    let entries = [capped(debit(ACCOUNT, 2)), capped(mint(&["a", "b"], 0)), settle("held"), load("once")];
    let batch = BatchId::new();
    let applied = batch::apply(database, now, owner, &batch, &entries.each_ref()).await.expect("applies");
    assert!(
        applied.has_charged
            && applied.answers.iter().all(|answer| matches!(answer.outcome, ChargeOutcome::Done { .. }))
    );
    batch
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_batch_charged_is_given_back_once_by_however_many() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        key(&database).await;
        let (owner, now) = (ProcessId::new(), Clock::SYSTEM.now());
        set_key_cap(&database, KEY, Some(Credits(50)), now).await.expect("sets");
        let batch = charge_everything(&database, &owner, now).await;
        assert_eq!((credits(&database).await, spent(&database).await), (100 - 2 - 2 - 3 - 1, 8));
        sound(&database).await;
        let tries = (0..6).map(|_| {
            let (database, batch) = (database.clone(), batch.clone());
            tokio::spawn(async move { unanswered::undo(&database, &batch, now).await })
        });
        for tried in futures::future::join_all(tries).await {
            tried.expect("joins").expect("gives back");
        }
        // Only the URL that was paid before is left, and it may be loaded again.
        assert_eq!((credits(&database).await, spent(&database).await), (99, 1), "{:?}", database.kind);
        assert_eq!(number(&database, "select count(*) from deliveries").await, 0);
        assert_eq!(
            number(&database, "select count(*) from delivery_urls where state = 'active' and uses = 0").await,
            1
        );
        assert_eq!(number(&database, "select cast(sum(credits_spent) as bigint) from usage_daily").await, 1);
        assert_eq!(number(&database, "select cast(sum(images) as bigint) from usage_daily").await, 0);
        assert_eq!(number(&database, "select count(*) from ledger_entries where kind = 'correction'").await, 2);
        assert_eq!(number(&database, "select count(*) from ledger_entries where kind = 'refund'").await, 2);
        sound(&database).await;
    }
}

/// On PostgreSQL no request is answered before the row says so; on SQLite a process that is gone
/// answered every request or died with the connections.
#[tokio::test]
async fn a_process_that_is_gone_leaves_what_it_told_nobody() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        key(&database).await;
        let (gone, now) = (ProcessId::new(), Clock::SYSTEM.now());
        set_key_cap(&database, KEY, Some(Credits(50)), now).await.expect("sets");
        let told = charge_everything(&database, &gone, now).await;
        assert!(unanswered::confirm(&database, &told).await.expect("confirms"));
        let untold = BatchId::new();
        batch::apply(&database, now, &gone, &untold, &[&debit(ACCOUNT, 5)]).await.expect("applies");
        assert!(unanswered::was_committed(&database, &untold).await.expect("looks"));
        assert!(!unanswered::was_committed(&database, &BatchId::new()).await.expect("looks"));
        unanswered::sweep(&database, now, now.0 - process::SILENCE_MS).await.expect("sweeps");
        let left = if database.kind == DatabaseKind::Postgres { 92 } else { 87 };
        assert_eq!(credits(&database).await, left, "{:?}", database.kind);
        assert_eq!(number(&database, "select count(*) from meter_batches").await, 0);
        assert!(!unanswered::confirm(&database, &untold).await.expect("too late"));
        sound(&database).await;
    }
}

/// A request that stops waiting in the middle of a commit is not charged.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_while_it_is_charged_gets_it_back() {
    for database in databases().await {
        account(&database, ACCOUNT, 10).await;
        key(&database).await;
        let (meter, _) = started(&database).await;
        meter.submit(hold("held", 3)).await.expect("the meter answers");
        for entry in [debit(ACCOUNT, 2), mint(&["a", "b"], 0), settle("held")] {
            // The batch cannot go on before this transaction ends.
            let mut in_its_way = database.begin().await.expect("begins");
            sqlx::query("update balances set credits = credits").execute(&mut *in_its_way).await.expect("locks");
            let waits = std::time::Duration::from_millis(300);
            assert!(tokio::time::timeout(waits, meter.submit(entry)).await.is_err(), "it left");
            in_its_way.rollback().await.expect("rolls back");
        }
        let mut left = 0;
        for _ in 0..100 {
            left = credits(&database).await;
            if left == 10 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(left, 10, "{:?}", database.kind);
        assert_eq!(number(&database, "select count(*) from deliveries").await, 0);
        sound(&database).await;
    }
}

/// Holds and URLs of a key that was rotated, once or several times, make room under the cap of
/// the key in its place.
#[tokio::test]
async fn what_comes_back_to_a_rotated_key_makes_room_for_the_one_in_its_place() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        key(&database).await;
        let (meter, _) = started(&database).await;
        let (keys, now) = (ApiKeys::default(), Clock::SYSTEM.now());
        set_key_cap(&database, KEY, Some(Credits(10)), now).await.expect("sets");
        let capped =
            |key_id: &str, entry: MeterRequest| MeterRequest { capped_key_id: Some(key_id.to_owned()), ..entry };
        for entry in [hold("first", 2), mint(&["a", "b", "c"], 0)] {
            meter.submit(capped(KEY, entry)).await.expect("the meter answers");
        }
        let mut key_id = KEY.to_owned();
        for _ in 0..3 {
            let plain = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
            let new = NewKey {
                account_id: ACCOUNT,
                name: "next",
                scopes: &[crate::accounts::Scope::ImagesRead],
                rate_limit_per_minute: None,
                monthly_cap: None,
            };
            let next = keys.rotate(&database, &key_id, new, &plain, now).await.expect("rotates").expect("in use");
            // A request that arrived before the rotation is charged after it.
            meter.submit(capped(&key_id, debit(ACCOUNT, 1))).await.expect("the meter answers");
            key_id = next;
        }
        let spent = async || api_key::cap(&database, &key_id, now).await.expect("reads").expect("a cap").spent.0;
        assert_eq!(spent().await, 2 + 3 + 3, "{:?}", database.kind);
        for (entry, left) in [(tests::release("first"), 6), (tests::refund("b"), 5), (tests::refund("c"), 4)] {
            meter.submit(entry).await.expect("the meter answers");
            assert_eq!(spent().await, left, "{:?}", database.kind);
        }
        sound(&database).await;
    }
}

/// The ledger of an earlier version, with a hold in each state, is consistent after the migration
/// and goes on working.
#[tokio::test]
async fn a_ledger_from_before_entries_had_numbers_stays_sound() {
    use crate::db::MIGRATOR;
    use sqlx::migrate::Migrator;
    const BEFORE: i64 = 24;
    for url in crate::test_database::empty().await {
        let database = Database::connect(&url).await.expect("connects");
        let until = MIGRATOR.iter().filter(|migration| migration.version < BEFORE).cloned().collect::<Vec<_>>();
        database.migrate(&Migrator { migrations: until.into(), ..Migrator::DEFAULT }).await.expect("migrates");
        for sql in [
            "insert into balances (account_id, credits) values ('account-1', 93), ('other', 5)",
            "insert into holds (id, account_id, credits, state, owner, opened_at_ms, expires_at_ms, ended_at_ms) values
                ('settled', 'account-1', 1, 'settled', 'gone', 1, 2, 2), ('released', 'account-1', 2, 'released', 'gone', 1, 2, 2),
                ('open', 'account-1', 4, 'open', 'gone', 1, 2, null)",
            "insert into ledger_entries (id, account_id, kind, credits, hold_id, reason, at_ms) values
                ('a', 'account-1', 'grant', 100, null, 'test', 1), ('b', 'account-1', 'hold', -1, 'settled', null, 2),
                ('c', 'account-1', 'hold', -2, 'released', null, 2), ('d', 'account-1', 'settle', 0, 'settled', 'a car', 3),
                ('e', 'account-1', 'hold', -4, 'open', null, 4), ('f', 'account-1', 'release', 2, 'released', null, 5),
                ('g', 'account-1', 'debit', -2, null, null, 6), ('h', 'other', 'grant', 5, null, 'test', 2)",
        ] {
            database.write(sqlx::query(sql)).await.expect("writes");
        }
        database.migrate(&MIGRATOR).await.expect("migrates");
        sound(&database).await;
        let told = async |account_id: &str| {
            let lines = statement(&database.readers, account_id, None, 100).await.expect("reads");
            lines.into_iter().map(|line| (line.kind, line.credits, line.balance)).collect::<Vec<_>>()
        };
        let line = |kind: &str, credits: i64, balance: i64| (kind.to_owned(), credits, balance);
        let before = vec![
            line("grant", 100, 100),
            line("hold", -1, 99),
            line("hold", -2, 97),
            line("settle", 0, 97),
            line("release", 2, 99),
            line("debit", -2, 97),
        ];
        assert_eq!((told(ACCOUNT).await, told("other").await), (before.clone(), vec![line("grant", 5, 5)]));
        assert_eq!(account_credits(&database.readers, ACCOUNT).await.expect("reads").held, Credits(4));

        // No process waits for the open hold any more.
        let (meter, process) = started(&database).await;
        let sweeper = start_sweeper(database.clone(), Clock::SYSTEM, process, meter.clone()).await.expect("starts");
        assert_eq!(credits(&database).await, 97);
        meter.submit(hold("next", 3)).await.expect("the meter answers");
        meter.submit(settle("next")).await.expect("the meter answers");
        sound(&database).await;
        assert_eq!(told(ACCOUNT).await, [before, vec![line("settle", -3, 94)]].concat());
        sweeper.abort();
    }
}

//! Tests of the ledger's invariants under load, on every available database.

use super::*;
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, is_unique_violation};
use crate::test_database::databases;
use sqlx::Row;
use sqlx::error::DatabaseError;

pub(super) const ACCOUNT: &str = "account-1";
pub(super) const KEY: &str = "key-1";
const FAR_AWAY_MS: i64 = 4_000_000_000_000;

pub(super) async fn account(database: &Database, id: &str, credits: i64) {
    let mut tx = database.begin().await.expect("begins");
    open_account(&mut tx, id, Credits(credits), "test", UnixMs(1)).await.expect("opens");
    tx.commit().await.expect("commits");
}

pub(super) async fn started(database: &Database) -> (Meter, ProcessId) {
    let process = ProcessId::new();
    (Meter::start(database.clone(), Clock::SYSTEM, process.clone()), process)
}

fn delivery() -> DeliveryRecord {
    DeliveryRecord {
        key_id: "key-1".to_owned(),
        request_id: "request-1".to_owned(),
        about: "ford/mustang/2020, side, red".to_owned(),
        vehicle_key: "ford/mustang/2020".to_owned(),
        render_id: "render-1".to_owned(),
        revision: 1,
        format: cyclorama_core::Format::Png,
        width: 512,
        height: 512,
        source: ImageSource::Cache,
    }
}

pub(super) fn only(charge: Charge) -> MeterRequest {
    MeterRequest::uncounted(charge)
}

pub(super) fn debit(account_id: &str, credits: i64) -> MeterRequest {
    only(Charge::Debit {
        account_id: account_id.to_owned(),
        credits: Credits(credits),
        delivery: delivery(),
        keep: None,
    })
}

pub(super) fn hold(hold_id: &str, credits: i64) -> MeterRequest {
    only(Charge::Hold {
        account_id: ACCOUNT.to_owned(),
        credits: Credits(credits),
        hold_id: hold_id.to_owned(),
        expires_at_ms: FAR_AWAY_MS,
    })
}

pub(super) fn release(hold_id: &str) -> MeterRequest {
    only(Charge::Release { hold_id: hold_id.to_owned() })
}

pub(super) fn settle(hold_id: &str) -> MeterRequest {
    only(Charge::Settle { hold_id: hold_id.to_owned(), delivery: delivery(), address: None, keep: None })
}

async fn outcome(meter: &Meter, entry: MeterRequest) -> ChargeOutcome {
    meter.submit(entry).await.expect("the meter answers").outcome
}

fn done(remaining: i64) -> ChargeOutcome {
    ChargeOutcome::Done { remaining: Some(Credits(remaining)) }
}

async fn count(database: &Database, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(&database.readers).await.expect("counts").try_get(0).expect("a number")
}

pub(super) async fn sound(database: &Database) {
    assert_eq!(verify(&database.readers).await.expect("verifies"), vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_parallel_holds_of_ten_from_a_hundred_sell_exactly_a_hundred() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        // Two meters stand for two processes on one database.
        let meters = [started(&database).await.0, started(&database).await.0];
        let holds = (0..50).map(|n| {
            let meter = meters[n % 2].clone();
            tokio::spawn(async move { outcome(&meter, hold(&format!("hold-{n}"), 10)).await })
        });
        let outcomes: Vec<ChargeOutcome> =
            futures::future::join_all(holds).await.into_iter().map(|o| o.expect("joins")).collect();
        let held = outcomes.iter().filter(|o| matches!(o, ChargeOutcome::Done { .. })).count();
        assert_eq!(held, 10, "{:?}: {outcomes:?}", database.kind);
        assert_eq!(outcomes.iter().filter(|o| matches!(o, ChargeOutcome::Insufficient { .. })).count(), 40);
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(0));
        sound(&database).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_parallel_debits_on_a_balance_of_five_deliver_five() {
    for database in databases().await {
        account(&database, ACCOUNT, 5).await;
        let (meter, _) = started(&database).await;
        let outcomes = futures::future::join_all((0..50).map(|_| outcome(&meter, debit(ACCOUNT, 1)))).await;
        assert_eq!(outcomes.iter().filter(|o| matches!(o, ChargeOutcome::Done { .. })).count(), 5);
        assert_eq!(count(&database, "select count(*) from deliveries").await, 5);
        assert_eq!(outcome(&meter, debit(ACCOUNT, 1)).await, ChargeOutcome::Insufficient { balance: Credits(0) });
        sound(&database).await;
    }
}

#[tokio::test]
async fn a_hold_ends_once() {
    for database in databases().await {
        account(&database, ACCOUNT, 3).await;
        let (meter, _) = started(&database).await;
        // Each case: the steps that are taken with one hold, and the outcome of each step.
        let table: [(&str, Vec<(MeterRequest, ChargeOutcome)>); 4] = [
            (
                "settled",
                vec![(hold("a", 1), done(2)), (settle("a"), done(2)), (release("a"), ChargeOutcome::HoldNotOpen)],
            ),
            (
                "released",
                vec![(hold("b", 1), done(1)), (release("b"), done(2)), (release("b"), ChargeOutcome::HoldNotOpen)],
            ),
            (
                "late settle",
                vec![(hold("c", 2), done(0)), (release("c"), done(2)), (settle("c"), ChargeOutcome::HoldNotOpen)],
            ),
            (
                "unknown",
                vec![(settle("nobody"), ChargeOutcome::HoldNotOpen), (release("nobody"), ChargeOutcome::HoldNotOpen)],
            ),
        ];
        for (name, steps) in table {
            for (step, (entry, expected)) in steps.into_iter().enumerate() {
                assert_eq!(outcome(&meter, entry).await, expected, "{:?} {name} step {step}", database.kind);
            }
        }
        assert_eq!(count(&database, "select count(*) from deliveries").await, 1);
        sound(&database).await;
        let second = sqlx::query(
            "insert into ledger_entries (id, account_id, number, kind, credits, balance, hold_id, at_ms)
             values ('x', 'account-1', 9, 'release', 1, 9, 'a', 1)",
        );
        assert!(
            database.write(second).await.is_err_and(|error| is_unique_violation(&error)),
            "the schema refuses a second outcome"
        );
    }
}

#[tokio::test]
async fn the_schema_refuses_a_negative_balance() {
    for database in databases().await {
        account(&database, ACCOUNT, 3).await;
        let below = database.write(sqlx::query("update balances set credits = credits - 4")).await;
        let refused = below.expect_err("is refused");
        assert!(refused.as_database_error().is_some_and(DatabaseError::is_check_violation), "{refused}");
    }
}

#[tokio::test]
async fn verify_names_an_account_whose_entries_do_not_add_up() {
    for database in databases().await {
        account(&database, ACCOUNT, 3).await;
        sound(&database).await;
        database.write(sqlx::query("update balances set credits = 4")).await.expect("tampers");
        let found = verify(&database.readers).await.expect("verifies");
        assert_eq!((found.len(), found[0].balance, found[0].entries), (1, Credits(4), Credits(3)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_entry_does_not_fail_its_neighbours() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        let (meter, _) = started(&database).await;
        assert_eq!(outcome(&meter, hold("taken", 1)).await, done(99));
        let mut entries: Vec<MeterRequest> = (0..20).map(|_| debit(ACCOUNT, 1)).collect();
        // The id is taken, so the primary key refuses the row and with it the transaction.
        entries.insert(7, hold("taken", 1));
        let answers = futures::future::join_all(entries.into_iter().map(|entry| meter.submit(entry))).await;
        assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 20);
        assert!(matches!(answers[7], Err(MeterError::Database(_))));
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(79));
        assert_eq!(outcome(&meter, debit("nobody", 1)).await, ChargeOutcome::UnknownAccount);
        sound(&database).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_lets_exactly_its_limit_through_and_bills_nothing_beyond() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        let meters = [started(&database).await.0, started(&database).await.0];
        // The requests must not fall on both sides of the end of a minute.
        let into_minute_ms = Clock::SYSTEM.now().0.rem_euclid(60_000);
        if into_minute_ms > 50_000 {
            tokio::time::sleep(std::time::Duration::from_millis((60_000 - into_minute_ms) as u64)).await;
        }
        let counted = |n: usize| MeterRequest {
            count: Some(RateCount {
                counted: format!("key-{}", n % 2),
                limit_per_minute: 12,
                account_id: Some(ACCOUNT.to_owned()),
                account_limit_per_minute: None,
            }),
            ..debit(ACCOUNT, 1)
        };
        let answers = futures::future::join_all((0..60).map(|n| meters[n / 2 % 2].submit(counted(n)))).await;
        let mut remaining = [Vec::new(), Vec::new()];
        for (n, answer) in answers.into_iter().enumerate() {
            let answer = answer.expect("the meter answers");
            let window = answer.window.expect("the request was counted");
            assert!((1..=60).contains(&window.reset_seconds));
            if matches!(answer.outcome, ChargeOutcome::Done { .. }) {
                remaining[n % 2].push(window.remaining);
            } else {
                let over = ChargeOutcome::RateLimited { limit: 12, of_account: false };
                assert_eq!((answer.outcome, window.remaining), (over, 0));
            }
        }
        for mut of_key in remaining {
            of_key.sort_unstable();
            assert_eq!(of_key, (0..12).collect::<Vec<i64>>());
        }
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(76));
        sound(&database).await;
    }
}

#[tokio::test]
async fn credits_of_a_dead_process_come_back() {
    for database in databases().await {
        account(&database, ACCOUNT, 10).await;
        let (dead, _) = started(&database).await;
        assert_eq!(outcome(&dead, hold("orphan", 4)).await, done(6));
        let (meter, process) = started(&database).await;
        let sweeper =
            owner::start_sweeper(database.clone(), Clock::SYSTEM, process, meter.clone()).await.expect("starts");
        // The dead process never wrote a heartbeat; the new one did.
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(10));
        assert_eq!(outcome(&meter, hold("mine", 3)).await, done(7));
        assert_eq!(
            owner::sweep(&database, &meter, Clock::SYSTEM.now()).await.expect("sweeps"),
            0,
            "a living owner keeps its hold"
        );
        assert_eq!(
            outcome(&dead, settle("orphan")).await,
            ChargeOutcome::HoldNotOpen,
            "the late settle finds the hold closed"
        );
        sweeper.abort();
        let later = Clock::SYSTEM.now().plus_ms(16_000);
        assert_eq!(owner::sweep(&database, &meter, later).await.expect("sweeps"), 1, "a silent owner loses it");
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(10));
        sound(&database).await;
    }
}

#[tokio::test]
async fn a_hold_past_its_time_comes_back_though_its_owner_lives() {
    for database in databases().await {
        account(&database, ACCOUNT, 10).await;
        let (meter, process) = started(&database).await;
        let sweeper =
            owner::start_sweeper(database.clone(), Clock::SYSTEM, process, meter.clone()).await.expect("starts");
        let expires_at_ms = Clock::SYSTEM.now().0 - 1;
        let charge = Charge::Hold {
            account_id: ACCOUNT.to_owned(),
            credits: Credits(1),
            hold_id: "old".to_owned(),
            expires_at_ms,
        };
        assert_eq!(outcome(&meter, only(charge)).await, done(9));
        // The sweeper's own task may be the one that releases it.
        owner::sweep(&database, &meter, Clock::SYSTEM.now()).await.expect("sweeps");
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(10));
        assert_eq!(count(&database, "select count(*) from holds").await, 0);
        sweeper.abort();
        sound(&database).await;
    }
}

/// Prints the measured number for `docs/`: durable debits a second with 256 concurrent
/// requests. The assertion is about credits, not time.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "who runs the test says how long it measures")]
async fn two_hundred_and_fifty_six_callers_are_all_charged() {
    const CALLERS: usize = 256;
    let rounds: usize = std::env::var("CYCLORAMA_METER_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    for database in databases().await {
        account(&database, ACCOUNT, 10_000_000).await;
        let (meter, _) = started(&database).await;
        let begun = std::time::Instant::now();
        let callers = (0..CALLERS).map(|caller| {
            let meter = meter.clone();
            tokio::spawn(async move {
                for _ in 0..rounds {
                    let count = Some(RateCount {
                        counted: format!("key-{}", caller % 8),
                        limit_per_minute: 1_000_000_000,
                        account_id: Some(ACCOUNT.to_owned()),
                        account_limit_per_minute: None,
                    });
                    let answer =
                        meter.submit(MeterRequest { count, ..debit(ACCOUNT, 1) }).await.expect("the meter answers");
                    assert!(matches!(answer.outcome, ChargeOutcome::Done { .. }));
                }
            })
        });
        futures::future::join_all(callers).await.into_iter().for_each(|caller| caller.expect("joins"));
        let per_second = (CALLERS * rounds) as f64 / begun.elapsed().as_secs_f64();
        eprintln!("{:?}: {per_second:.0} durable debits a second with {CALLERS} callers", database.kind);
        let charged = (CALLERS * rounds) as i64;
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(10_000_000 - charged));
        assert_eq!(count(&database, "select count(*) from deliveries").await, charged);
        sound(&database).await;
    }
}

/// SQLite gives its one write lock to whichever connection requests it at the right moment, and a
/// busy meter requests it all the time: without turns, other writers failed with "database is
/// locked" after five seconds.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_meter_leaves_others_their_turn_to_write() {
    for database in databases().await {
        account(&database, ACCOUNT, 10_000_000).await;
        let (meter, _) = started(&database).await;
        let busy: Vec<_> = (0..128)
            .map(|_| {
                let meter = meter.clone();
                tokio::spawn(async move {
                    loop {
                        assert!(matches!(outcome(&meter, debit(ACCOUNT, 1)).await, ChargeOutcome::Done { .. }));
                    }
                })
            })
            .collect();
        let begun = std::time::Instant::now();
        let others = (0..4).map(|writer| {
            let database = database.clone();
            tokio::spawn(async move {
                for beat in 0..50i64 {
                    let sql = "insert into processes (id, started_at_ms, seen_at_ms) values ($1, $2, $2)
                               on conflict (id) do update set seen_at_ms = excluded.seen_at_ms";
                    let query = sqlx::query(sql).bind(format!("writer-{writer}")).bind(beat);
                    database.write(query).await.expect("has its turn");
                }
            })
        });
        futures::future::join_all(others).await.into_iter().for_each(|other| other.expect("joins"));
        eprintln!("{:?}: 4 x 50 writes beside a busy meter took {:?}", database.kind, begun.elapsed());
        for caller in busy {
            assert!(!caller.is_finished(), "no debit failed");
            caller.abort();
        }
        assert_eq!(count(&database, "select count(*) from processes where seen_at_ms = 49").await, 4);
    }
}

pub(super) fn mint(ids: &[&str], max_uses: i64) -> MeterRequest {
    let variant = cyclorama_core::Variant {
        make: "ford".to_owned(),
        model: "mustang".to_owned(),
        year: 2020,
        body: None,
        view: cyclorama_core::View::Side,
        paint: cyclorama_core::Colour::Red.into(),
    };
    let url = |id: &&str| NewDeliveryUrl {
        id: (*id).to_owned(),
        key_id: "key-1".to_owned(),
        request_id: "request-1".to_owned(),
        variant: variant.clone(),
        format: "png",
        width: None,
        height: Some(300),
        frame: String::new(),
        about: variant.words(),
        max_uses,
        expires_at_ms: FAR_AWAY_MS,
    };
    only(Charge::Mint { account_id: ACCOUNT.to_owned(), urls: ids.iter().map(url).collect(), keep: None })
}

pub(super) fn load(id: &str) -> MeterRequest {
    only(Charge::Load { delivery_url_id: id.to_owned(), delivery: delivery() })
}

pub(super) fn refund(id: &str) -> MeterRequest {
    only(Charge::Refund { delivery_url_id: id.to_owned() })
}

pub(super) async fn key(database: &Database) {
    for sql in [
        "insert into accounts (id, email, created_at_ms) values ('account-1', 'a@example.com', 1)",
        "insert into api_keys (id, account_id, name, key_sha256, scopes, created_at_ms)
         values ('key-1', 'account-1', 'test', 'x', 'images:read', 1)",
    ] {
        database.write(sqlx::query(sql)).await.expect("writes");
    }
}

const LOADED: ChargeOutcome = ChargeOutcome::Done { remaining: None };

#[tokio::test]
async fn a_signed_address_is_paid_once_loaded_up_to_its_cap_and_refunded_at_most_once() {
    for database in databases().await {
        account(&database, ACCOUNT, 5).await;
        key(&database).await;
        let (meter, _) = started(&database).await;
        for (entry, expected) in [
            (mint(&["a", "b", "c", "d", "e", "f"], 2), ChargeOutcome::Insufficient { balance: Credits(5) }),
            (load("a"), ChargeOutcome::DeliveryUrlClosed),
            (mint(&["a", "b", "c"], 2), done(2)),
            (load("a"), LOADED),
            (refund("a"), ChargeOutcome::DeliveryUrlClosed),
            (load("a"), LOADED),
            (load("a"), ChargeOutcome::DeliveryUrlClosed),
            (refund("b"), done(3)),
            (refund("b"), ChargeOutcome::DeliveryUrlClosed),
            (load("b"), ChargeOutcome::DeliveryUrlClosed),
            (refund("nonesuch"), ChargeOutcome::DeliveryUrlClosed),
            (mint(&["u"], 0), done(2)),
        ] {
            let shown = format!("{entry:?}");
            assert_eq!(outcome(&meter, entry).await, expected, "{:?} {shown}", database.kind);
            sound(&database).await;
        }
        for _ in 0..20 {
            assert_eq!(outcome(&meter, load("u")).await, LOADED, "no cap");
        }
        assert_eq!(count(&database, "select count(*) from ledger_entries where kind = 'debit'").await, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loads_and_refunds_of_one_address_race_from_two_processes() {
    for database in databases().await {
        account(&database, ACCOUNT, 10).await;
        key(&database).await;
        let meters = [started(&database).await.0, started(&database).await.0];
        for round in 0..8 {
            let id = format!("url-{round}");
            let before = balance(&database.readers, ACCOUNT).await.expect("reads");
            assert!(matches!(outcome(&meters[0], mint(&[&id], 3)).await, ChargeOutcome::Done { .. }));
            let tries = (0..24).map(|n| {
                let (meter, entry) = (meters[n % 2].clone(), if n % 4 == round % 4 { refund(&id) } else { load(&id) });
                tokio::spawn(async move {
                    let is_load = matches!(entry.charge, Charge::Load { .. });
                    (is_load, matches!(outcome(&meter, entry).await, ChargeOutcome::Done { .. }))
                })
            });
            let done: Vec<bool> = futures::future::join_all(tries)
                .await
                .into_iter()
                .map(|joined| joined.expect("joins"))
                .filter_map(|(is_load, done)| done.then_some(is_load))
                .collect();
            let (loads, refunds) =
                (done.iter().filter(|load| **load).count(), done.iter().filter(|load| !**load).count());
            assert!((loads, refunds) == (3, 0) || (loads, refunds) == (0, 1), "{loads} loads, {refunds} refunds");
            let after = balance(&database.readers, ACCOUNT).await.expect("reads");
            assert_eq!(after.0, before.0 - 1 + refunds as i64);
            sound(&database).await;
        }
    }
}

/// Two processes use one key with a cap and one without on the same account: the first never takes
/// a credit more than its cap, the second is not held up.
#[tokio::test(flavor = "multi_thread")]
async fn a_cap_is_never_passed_and_what_comes_back_makes_room() {
    for database in databases().await {
        account(&database, ACCOUNT, 1_000).await;
        key(&database).await;
        assert!(set_key_cap(&database, KEY, Some(Credits(30)), Clock::SYSTEM.now()).await.expect("sets"));
        let meters = [started(&database).await.0, started(&database).await.0];
        let capped = |entry: MeterRequest| MeterRequest { capped_key_id: Some(KEY.to_owned()), ..entry };
        let entries = (0..240).map(|n: usize| match n % 4 {
            0 => capped(debit(ACCOUNT, 1)),
            1 => capped(hold(&format!("hold-{n}"), 2)),
            2 => capped(mint(&[&format!("url-{n}"), &format!("url-{n}-b")], 0)),
            _ => debit(ACCOUNT, 1),
        });
        let tasks: Vec<_> = entries
            .enumerate()
            .map(|(n, entry)| {
                let meter = meters[n / 4 % 2].clone();
                tokio::spawn(async move {
                    let asked = entry.charge.asks().0;
                    let is_capped = entry.capped_key_id.is_some();
                    (is_capped, asked, outcome(&meter, entry).await)
                })
            })
            .collect();
        let (mut taken, mut free) = (0, 0);
        for task in tasks {
            match task.await.expect("joins") {
                (true, asked, ChargeOutcome::Done { .. }) => taken += asked,
                (false, asked, ChargeOutcome::Done { .. }) => free += asked,
                (true, asked, ChargeOutcome::OverCap { cap, spent, .. }) => {
                    assert!(cap == Credits(30) && spent.0 + asked > 30, "{asked} beside {spent} would fit");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!((29..=30).contains(&taken), "{:?}: {taken} credits of a cap of 30", database.kind);
        assert_eq!(free, 60, "the key without a cap");
        assert_eq!(balance(&database.readers, ACCOUNT).await.expect("reads"), Credits(1_000 - 60 - taken));
        sound(&database).await;
        let counted = crate::accounts::api_key::cap(&database, KEY, Clock::SYSTEM.now()).await.expect("reads");
        assert_eq!(counted, Some(KeyCap { cap: Credits(30), spent: Credits(taken) }));

        // Each hold that is released and each signed URL whose first load failed makes room under
        // the cap, whichever process ends them.
        let open: Vec<String> = ids(&database, "select id from holds where state = 'open'").await;
        let unloaded: Vec<String> = ids(&database, "select id from delivery_urls where state = 'active'").await;
        let given_back = 2 * open.len() as i64 + unloaded.len() as i64;
        let endings = open.iter().map(|id| release(id)).chain(unloaded.iter().map(|id| refund(id)));
        let endings = endings.enumerate().map(|(n, entry)| meters[n % 2].submit(entry));
        futures::future::join_all(endings).await.into_iter().for_each(|ended| assert!(ended.is_ok()));
        let again = (0..60).map(|n: usize| outcome(&meters[n % 2], capped(debit(ACCOUNT, 1))));
        let again = futures::future::join_all(again).await;
        let done = again.iter().filter(|outcome| matches!(outcome, ChargeOutcome::Done { .. })).count() as i64;
        assert_eq!(done, 30 - taken + given_back, "{:?}", database.kind);
        sound(&database).await;
    }
}

async fn ids(database: &Database, sql: &'static str) -> Vec<String> {
    sqlx::query_scalar(sql).fetch_all(&database.readers).await.expect("reads")
}

/// Credits taken in one month do not count in the next.
#[tokio::test]
async fn a_month_ends() {
    for database in databases().await {
        account(&database, ACCOUNT, 100).await;
        key(&database).await;
        let (now, owner) = (Clock::SYSTEM.now(), ProcessId::new());
        set_key_cap(&database, KEY, Some(Credits(3)), now).await.expect("sets");
        let apply = async |at: UnixMs, entry: MeterRequest| {
            let entry = MeterRequest { capped_key_id: Some(KEY.to_owned()), ..entry };
            let batch = unanswered::BatchId::new();
            batch::apply(&database, at, &owner, &batch, &[&entry]).await.expect("applies").answers[0].outcome
        };
        let over = |balance, spent| ChargeOutcome::OverCap {
            balance: Credits(balance),
            cap: Credits(3),
            spent: Credits(spent),
        };
        let next = now.next_utc_month();
        for (at, entry, expected) in [
            (now, hold("a", 2), done(98)),
            (now, debit(ACCOUNT, 2), over(98, 2)),
            (next, debit(ACCOUNT, 2), done(96)),
            (next, release("a"), done(98)),
            (next, debit(ACCOUNT, 2), over(98, 2)),
            (next, debit(ACCOUNT, 1), done(97)),
            // A process whose clock is behind counts into the newer month.
            (now, debit(ACCOUNT, 1), over(97, 3)),
            (next.next_utc_month(), debit(ACCOUNT, 3), done(94)),
        ] {
            let shown = format!("{entry:?}");
            assert_eq!(apply(at, entry).await, expected, "{:?} {shown}", database.kind);
        }
        sound(&database).await;
    }
}

#[tokio::test]
async fn a_named_picture_is_charged_with_its_answer_or_not_at_all() {
    use super::idempotency::{IdempotencyClaim, IdempotentRequest, StoredAnswer, claim};
    for database in databases().await {
        account(&database, ACCOUNT, 5).await;
        key(&database).await;
        let (meter, process) = started(&database).await;
        let named = IdempotentRequest {
            account_id: ACCOUNT,
            endpoint: "test",
            key: "once",
            fingerprint: "x",
            text_fingerprint: "former",
            is_kept_whole: true,
        };
        let claimed = async || claim(&database, &process, UnixMs(1), named).await.expect("claims");
        let keep =
            |attempt_id: &str| Some(AnswerToKeep { attempt_id: attempt_id.to_owned(), answer: "\"told\"".to_owned() });
        let settle = |hold_id: &str, attempt_id: &str| {
            only(Charge::Settle {
                hold_id: hold_id.to_owned(),
                delivery: delivery(),
                address: None,
                keep: keep(attempt_id),
            })
        };
        let IdempotencyClaim::Ours(attempt) = claimed().await else { panic!("nobody else claims it") };
        let debit = Charge::Debit {
            account_id: ACCOUNT.to_owned(),
            credits: Credits(1),
            delivery: delivery(),
            keep: keep("somebody else's"),
        };
        for (entry, expected) in [
            (only(debit), ChargeOutcome::AttemptLost),
            (hold("a", 1), done(4)),
            // The hold stays open for its owner to give back.
            (settle("a", "somebody else's"), ChargeOutcome::AttemptLost),
            (release("a"), done(5)),
            (hold("b", 1), done(4)),
            (settle("b", attempt.id()), done(4)),
            // An answer that is stored already is not stored again.
            (hold("c", 1), done(3)),
            (settle("c", attempt.id()), ChargeOutcome::AttemptLost),
            (release("c"), done(4)),
        ] {
            let shown = format!("{entry:?}");
            assert_eq!(outcome(&meter, entry).await, expected, "{:?} {shown}", database.kind);
            sound(&database).await;
        }
        let IdempotencyClaim::Done(kept) = claimed().await else { panic!("its answer was kept") };
        assert_eq!(kept, StoredAnswer { answer: "\"told\"".to_owned(), credits_remaining: Credits(4) });
        attempt.was_kept();
    }
}

#[tokio::test]
async fn a_hold_pays_for_a_picture_and_its_address_in_one_step() {
    for database in databases().await {
        account(&database, ACCOUNT, 3).await;
        key(&database).await;
        let (meter, _) = started(&database).await;
        let settle = |hold_id: &str, url_id: &str| {
            let Charge::Mint { mut urls, .. } = mint(&[url_id], 0).charge else { panic!("an address") };
            let address = urls.pop().map(Box::new);
            only(Charge::Settle { hold_id: hold_id.to_owned(), delivery: delivery(), address, keep: None })
        };
        for (entry, expected) in [
            (hold("a", 1), done(2)),
            (settle("a", "url-a"), done(2)),
            // The URL's image was delivered, so there is nothing to give back.
            (refund("url-a"), ChargeOutcome::DeliveryUrlClosed),
            (load("url-a"), LOADED),
            // A hold that was given back makes no URL valid.
            (hold("b", 1), done(1)),
            (release("b"), done(2)),
            (settle("b", "url-b"), ChargeOutcome::HoldNotOpen),
            (load("url-b"), ChargeOutcome::DeliveryUrlClosed),
        ] {
            let shown = format!("{entry:?}");
            assert_eq!(outcome(&meter, entry).await, expected, "{:?} {shown}", database.kind);
            sound(&database).await;
        }
        assert_eq!(count(&database, "select count(*) from delivery_urls where state = 'active' and uses = 2").await, 1);
        // The credit is recorded in the URL's row alone.
        assert_eq!(count(&database, "select cast(sum(credits) as bigint) from deliveries").await, 0);
    }
}

#[tokio::test]
async fn what_an_earlier_release_kept_is_found_for_its_day() {
    use super::idempotency::{IdempotencyClaim, IdempotentRequest, claim};
    for database in databases().await {
        account(&database, ACCOUNT, 3).await;
        let (_, process) = started(&database).await;
        for (key, fingerprint, state, answer) in
            [("kept", "former", "done", "'1'"), ("left", "former", "running", "null"), ("other", "x", "done", "'1'")]
        {
            let kept = format!(
                "insert into idempotency_keys (account_id, endpoint, idempotency_key, body_sha256, state, attempt_id, owner, answer,
                    credits_remaining, expires_at_ms)
                 values ('{ACCOUNT}', 'test', '{key}', '{fingerprint}', '{state}', '{key}', 'dead', {answer}, 2, {FAR_AWAY_MS})"
            );
            database.write(sqlx::query(sqlx::AssertSqlSafe(kept))).await.expect("writes");
        }
        let claimed = async |key: &str| {
            let named = IdempotentRequest {
                account_id: ACCOUNT,
                endpoint: "test",
                key,
                fingerprint: "2:new",
                text_fingerprint: "former",
                is_kept_whole: true,
            };
            claim(&database, &process, UnixMs(1), named).await.expect("claims")
        };
        assert!(matches!(claimed("kept").await, IdempotencyClaim::Done(_)), "{:?}", database.kind);
        assert!(matches!(claimed("left").await, IdempotencyClaim::Ours(_)), "{:?}", database.kind);
        assert!(matches!(claimed("other").await, IdempotencyClaim::OtherRequest), "{:?}", database.kind);

        // The same text, understood differently when it was claimed.
        for (key, state, answer) in [("text-kept", "done", "'1'"), ("text-left", "running", "null")] {
            let kept = format!(
                "insert into idempotency_keys (account_id, endpoint, idempotency_key, body_sha256, state, attempt_id, owner, answer,
                    credits_remaining, expires_at_ms, text_sha256)
                 values ('{ACCOUNT}', 'test', '{key}', '2:old', '{state}', '{key}', 'dead', {answer}, 2, {FAR_AWAY_MS}, 'former')"
            );
            database.write(sqlx::query(sqlx::AssertSqlSafe(kept))).await.expect("writes");
        }
        let claimed = async |key: &str, is_kept_whole: bool| {
            let (fingerprint, text_fingerprint) = ("2:new", "former");
            let named = IdempotentRequest {
                account_id: ACCOUNT,
                endpoint: "test",
                key,
                fingerprint,
                text_fingerprint,
                is_kept_whole,
            };
            claim(&database, &process, UnixMs(1), named).await.expect("claims")
        };
        assert!(matches!(claimed("text-kept", true).await, IdempotencyClaim::Done(_)), "{:?}", database.kind);
        assert!(matches!(claimed("text-kept", false).await, IdempotencyClaim::OtherRequest), "{:?}", database.kind);
        assert!(matches!(claimed("text-left", false).await, IdempotencyClaim::Ours(_)), "{:?}", database.kind);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_while_it_claims_leaves_no_claim() {
    use super::idempotency::{IdempotencyClaim, IdempotentRequest, claim};
    use std::task::Poll;
    for database in databases().await {
        account(&database, ACCOUNT, 5).await;
        let (meter, process) = started(&database).await;
        // The process is alive, so no other process takes over what it holds.
        let beating = start_sweeper(database.clone(), Clock::SYSTEM, process.clone(), meter).await.expect("registers");
        for turns in 1..=16 {
            let key = format!("gone-{turns}");
            let named = IdempotentRequest {
                account_id: ACCOUNT,
                endpoint: "test",
                key: &key,
                fingerprint: "x",
                text_fingerprint: "former",
                is_kept_whole: true,
            };
            let mut claiming = Box::pin(claim(&database, &process, UnixMs(1), named));
            let mut turn = 0;
            // Polls the claim up to `turns` times, or until it is done.
            std::future::poll_fn(|context| {
                turn += 1;
                match claiming.as_mut().poll(context) {
                    Poll::Pending if turn < turns => Poll::Pending,
                    _ => Poll::Ready(()),
                }
            })
            .await;
            // Long enough for the database to carry out the statement; the client
            // does not get the result.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            drop(claiming);
            let again = async {
                while !matches!(claim(&database, &process, UnixMs(1), named).await, Ok(IdempotencyClaim::Ours(_))) {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            };
            let again = tokio::time::timeout(std::time::Duration::from_secs(10), again).await;
            assert!(again.is_ok(), "{:?}: gone after {turns} turns, the name stays taken", database.kind);
        }
        beating.abort();
    }
}

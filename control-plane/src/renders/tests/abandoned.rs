//! The rule by which jobs count as abandoned by an account.

use super::*;

/// Returns how many jobs account-1 has abandoned today.
async fn abandoned(renders: &Renders) -> i64 {
    let today = Clock::SYSTEM.now().utc_day_start();
    renders.abandoned_since("account-1", today).await.expect("counts")
}

async fn leave(renders: &Renders, vehicle: &Vehicle, colour: Colour) {
    renders.abandon(&variant(vehicle, colour), "account-1").await.expect("is noted");
}

async fn asks(renders: &Renders, vehicle: &Vehicle, requester: &Requester) {
    let deadline_ms = Clock::SYSTEM.now().0 + 30_000;
    renders.request(vehicle, &variant(vehicle, Colour::Red), requester, deadline_ms).await.expect("queues");
}

#[tokio::test]
async fn only_what_the_account_began_and_was_to_pay_for_is_counted() {
    for database in databases().await {
        let renders = renders(&database, settings());
        for (model, first) in [
            ("prewarmed", Requester::without_account(Lane::Prewarm)),
            ("a-visitors", Requester::without_account(Lane::Example)),
            ("of-a-page", Requester::account(Lane::FirstLoad, "account-1")),
            ("of-another", Requester::account(Lane::Interactive, "account-2")),
        ] {
            let vehicle = vehicle(model);
            asks(&renders, &vehicle, &first).await;
            asks(&renders, &vehicle, &client()).await;
            leave(&renders, &vehicle, Colour::Red).await;
            assert_eq!(abandoned(&renders).await, 0, "{model} {:?}", database.kind);
        }
        let own = vehicle("own");
        asks(&renders, &own, &client()).await;
        asks(&renders, &own, &Requester::account(Lane::Interactive, "account-2")).await;
        for _ in 0..3 {
            leave(&renders, &own, Colour::Red).await;
        }
        assert_eq!(abandoned(&renders).await, 1, "{:?}", database.kind);
    }
}

#[tokio::test]
async fn a_job_counts_on_the_day_it_was_left_and_until_a_node_failed_at_it() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        let vehicle = vehicle("left");
        asks(&renders, &vehicle, &client()).await;
        let job = one(&renders, &node_id).await;
        let yesterday = sqlx::query("update jobs set queued_at_ms = queued_at_ms - 86400000");
        database.write(yesterday).await.expect("sets");
        leave(&renders, &vehicle, Colour::Red).await;
        assert_eq!(abandoned(&renders).await, 1, "begun before midnight and left after it, {:?}", database.kind);
        all_leave(&database).await;
        assert_eq!(beat(&renders, &node_id, &job).await, [job.job_id]);
        assert_eq!(number(&database, "select count(*) from jobs where state = 'lapsed'").await, 1);
        database.write(sqlx::query("update jobs set ended_at_ms = 0")).await.expect("sets");
        assert_eq!(renders.delete_expired().await.expect("forgets"), 0, "a node had it");
        assert_eq!(abandoned(&renders).await, 1, "its time was spent, {:?}", database.kind);

        asks(&renders, &vehicle, &client()).await;
        let job = one(&renders, &node_id).await;
        leave(&renders, &vehicle, Colour::Red).await;
        assert_eq!(abandoned(&renders).await, 2);
        assert!(fail(&renders, &job, FailureKind::Model).await);
        assert_eq!(abandoned(&renders).await, 1, "it failed, {:?}", database.kind);
    }
}

/// The order of the two events does not matter: the client leaves, and its job is queued.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_request_that_leaves_marks_the_job() {
    for database in databases().await {
        let renders = renders(&database, settings());
        for (number, left_after) in [None, Some(0), Some(1), Some(3), Some(10), Some(100)].into_iter().enumerate() {
            let vehicle = vehicle(&format!("race-{number}"));
            let red = variant(&vehicle, Colour::Red);
            let requester = client();
            let first = renders.picture(&vehicle, &red, &requester);
            match left_after {
                // The request is polled once, and dropped.
                None => assert!(futures::FutureExt::now_or_never(first).is_none()),
                Some(ms) => assert!(tokio::time::timeout(Duration::from_millis(ms), first).await.is_err()),
            }
            leave(&renders, &vehicle, Colour::Red).await;
            // The time in which the watcher of a client that has left might still begin something.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let unmarked = "select count(*) from jobs where abandoned_at_ms is null";
            assert_eq!(self::number(&database, unmarked).await, 0, "{left_after:?} {:?}", database.kind);
        }
        let vehicle = vehicle("two");
        let red = variant(&vehicle, Colour::Red);
        let requester = client();
        let before = abandoned(&renders).await;
        let (first, second) =
            (renders.picture(&vehicle, &red, &requester), renders.picture(&vehicle, &red, &requester));
        let mut second = Box::pin(second);
        assert!(futures::poll!(second.as_mut()).is_pending());
        assert!(tokio::time::timeout(Duration::from_millis(100), first).await.is_err());
        leave(&renders, &vehicle, Colour::Red).await;
        assert_eq!(abandoned(&renders).await, before, "one still waits, {:?}", database.kind);
        drop(second);
        leave(&renders, &vehicle, Colour::Red).await;
        assert_eq!(abandoned(&renders).await, before + 1, "{:?}", database.kind);
    }
}

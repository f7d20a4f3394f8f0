//! Images in paints that are not presets: counted, kept up to a bound, and expired when their
//! layers are replaced.

use super::*;
use crate::clock::UnixMs;

fn painted(vehicle: &Vehicle, paint: &str) -> Variant {
    Variant { paint: paint.parse().expect("a paint"), ..variant(vehicle, Colour::Red) }
}

async fn make(renders: &Renders, vehicle: &Vehicle, node_id: &str, paint: &str) -> String {
    let deadline_ms = renders.0.clock.now().plus_ms(60_000).0;
    renders.request(vehicle, &painted(vehicle, paint), &client(), deadline_ms).await.expect("queues");
    let job = one(renders, node_id).await;
    finish(renders, &job).await;
    renders.find(&painted(vehicle, paint)).await.expect("finds").expect("is done").master_sha256
}

#[tokio::test]
async fn so_many_are_counted_a_day_and_account() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (monday, tuesday) = (UnixMs(0), UnixMs(86_400_000));
        for (account, day, expected) in [
            ("a", monday, true),
            ("a", monday, true),
            ("a", monday, false),
            ("b", monday, true),
            ("a", tuesday, true),
            ("a", monday, false),
        ] {
            let counted = renders.count_new_paint(account, day, 2).await.expect("counts");
            assert_eq!(counted, expected, "{account} {day:?} {:?}", database.kind);
        }
        assert!(!renders.count_new_paint("c", monday, 0).await.expect("counts"), "none is allowed");
    }
}

#[tokio::test]
async fn the_newest_are_kept_and_presets_stay() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("ages"), node(&renders).await);
        make(&renders, &vehicle, &node_id, "silver").await;
        for paint in ["#000001", "#000002-matt", "red-no-shadow"] {
            make(&renders, &vehicle, &node_id, paint).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        renders.sweep_paints(1).await.expect("sweeps");
        for (paint, is_kept) in [("silver", true), ("#000001", false), ("#000002-matt", false), ("red-no-shadow", true)]
        {
            let found = renders.find(&painted(&vehicle, paint)).await.expect("finds");
            assert_eq!(found.is_some(), is_kept, "{paint} {:?}", database.kind);
        }
        // It is painted again when a request wants it.
        make(&renders, &vehicle, &node_id, "#000001").await;
    }
}

#[tokio::test]
async fn a_node_that_does_not_say_that_it_knows_them_is_given_presets_alone() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let old = JoinRequest { name: "old".to_owned(), paints: Vec::new(), ..join_request(4) };
        let old = renders.join(TOKEN, &old).await.expect("joins");
        let deadline_ms = renders.0.clock.now().plus_ms(60_000).0;
        for paint in ["#1f4e8c-matt", "red-no-shadow", "silver"] {
            // A vehicle for each, so that each is a job.
            let vehicle = vehicle(&format!("known-{}", paint.trim_start_matches('#')));
            renders.request(&vehicle, &painted(&vehicle, paint), &client(), deadline_ms).await.expect("queues");
        }
        let given = work(&renders, &old, 1).await;
        assert_eq!(given.iter().map(|job| job.vehicle.model.as_str()).collect::<Vec<_>>(), ["known-silver"]);
        assert!(work(&renders, &old, 0).await.is_empty(), "{:?}", database.kind);

        let new = node(&renders).await;
        let given = work(&renders, &new, 1).await;
        assert_eq!(given.len(), 2, "{given:?} {:?}", database.kind);
        for job in &given {
            let failed = renders.fail(TOKEN, &job.job_id, job.fence, FailureKind::Internal, "once more").await;
            failed.expect("is noted").expect("is its lease");
        }
        // The other living node cannot make them, so the same one gets them again.
        assert_eq!(work(&renders, &new, 1).await.len(), 2, "{:?}", database.kind);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_requests_for_one_hex_in_two_processes_share_one_paint_job() {
    for database in databases().await {
        let store = store();
        let both = [(); 2].map(|()| Renders::new(database.clone(), Clock::SYSTEM, store.clone(), settings()));
        let vehicle = vehicle("forty-in-blue");
        let node_id = node(&both[0]).await;
        make(&both[0], &vehicle, &node_id, "silver").await;
        let requests: Vec<_> = (0..40)
            .map(|n| {
                let (renders, vehicle) = (both[n % 2].clone(), vehicle.clone());
                let wanted = painted(&vehicle, "#1f4e8c-matt");
                tokio::spawn(async move { renders.picture(&vehicle, &wanted, &client()).await })
            })
            .collect();
        let job = one(&both[1], &node_id).await;
        assert_eq!((job.kind, job.attempt), (JobKind::Paint, 1));
        assert!(work(&both[0], &node_id, 0).await.is_empty(), "there is one lease");
        finish(&both[1], &job).await;
        let mut masters = Vec::new();
        for request in requests {
            masters.push(request.await.expect("joins").expect("a picture").master_sha256);
        }
        masters.dedup();
        assert_eq!(masters.len(), 1);
        let painted = "select count(*) from jobs where kind = 'paint'";
        assert_eq!(number(&database, painted).await, 1, "{:?}", database.kind);
    }
}

//! Pictures in paints that no preset names: counted, kept up to a bound, and forgotten when their light is replaced.

use super::*;
use crate::clock::UnixMs;

fn painted(vehicle: &Vehicle, paint: &str) -> Variant {
    Variant { paint: paint.parse().expect("a paint"), ..variant(vehicle, Colour::Red) }
}

async fn make(renders: &Renders, vehicle: &Vehicle, node_id: &str, paint: &str) -> String {
    let deadline_ms = renders.0.clock.now().plus_ms(60_000).0;
    renders.want(vehicle, &painted(vehicle, paint), &client(), deadline_ms).await.expect("queues");
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
        // It is painted again when somebody asks.
        make(&renders, &vehicle, &node_id, "#000001").await;
    }
}

//! The limit of nodes per token, and how nodes count that have not finished a job yet.

use super::*;
use crate::renders::JoinError;

async fn join(renders: &Renders, token_id: &str) -> Result<String, JoinError> {
    renders.join(token_id, &join_request(64)).await
}

#[tokio::test]
async fn silent_nodes_of_a_token_give_way_to_new_ones() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { nodes_per_token: 3, ..settings() });
        let mut joined = Vec::new();
        for _ in 0..3 {
            joined.push(join(&renders, TOKEN).await.expect("joins"));
        }
        let refused = join(&renders, TOKEN).await;
        assert!(matches!(refused, Err(JoinError::TooMany { nodes_max: 3, retry_after_seconds: 15 })), "{refused:?}");
        join(&renders, "another").await.expect("another token has places of its own");
        // A node that leaves makes room at once.
        renders.leave(TOKEN, &joined[0]).await.expect("leaves");
        let fourth = join(&renders, TOKEN).await.expect("joins");
        // Of the silent nodes, the one that was seen the longest time ago gives way; one that holds
        // a lease stays until that is over.
        queue(&renders, "held", &client()).await;
        let job = renders.work(TOKEN, &joined[1], 1, 0, std::future::pending()).await.expect("asks").remove(0);
        let silence = "update nodes set seen_at_ms = seen_at_ms - case when id = $1 then 60000 else 30000 end where id in ($1, $2)";
        let silent = sqlx::query(silence).bind(&joined[1]).bind(&joined[2]);
        database.write(silent).await.expect("writes");
        let fifth = join(&renders, TOKEN).await.expect("joins");
        let ids = async || -> Vec<String> {
            let ids = sqlx::query_scalar("select id from nodes where token_id = $1 order by id").bind(TOKEN);
            ids.fetch_all(&database.readers).await.expect("lists")
        };
        let mut expected = vec![joined[1].clone(), fourth.clone(), fifth.clone()];
        expected.sort();
        assert_eq!(ids().await, expected, "{:?}", database.kind);
        renders.lose(&job.job_id, job.fence, Loss::Silence).await.expect("ends");
        let sixth = join(&renders, TOKEN).await.expect("joins");
        let mut expected = vec![fourth, fifth, sixth];
        expected.sort();
        assert_eq!(ids().await, expected);
    }
}

#[tokio::test]
async fn slots_count_once_a_node_has_finished_something() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        queue(&renders, "measured", &client()).await;
        finish(&renders, &one(&renders, &node_id).await).await;
        for _ in 0..5 {
            join(&renders, "another").await.expect("joins");
        }
        renders.measure_pace().await.expect("measures");
        assert_eq!(renders.pace().map(|pace| pace.slots), Some(4 + 5), "{:?}", database.kind);
    }
}

#[tokio::test]
async fn what_a_heartbeat_tells_of_the_machine_has_a_bound() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for (chars, is_taken) in [(4000, true), (4090, false), (15_000, false)] {
            let device = Unparsed::from_document(serde_json::json!({ "said": "x".repeat(chars) }));
            let beat = HeartbeatRequest { state: NodeState::Ready, jobs: Vec::new(), device };
            let told = renders.heartbeat(TOKEN, &node_id, &beat).await;
            assert_eq!(told.is_ok(), is_taken, "{chars}: {told:?}");
        }
    }
}

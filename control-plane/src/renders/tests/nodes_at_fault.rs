//! Nodes that report no failure and yet make no images.

use super::*;

/// Returns the answer to a heartbeat, and the node as it is afterwards.
async fn beats(renders: &Renders, node_id: &str, jobs: &[&Job]) -> (Vec<String>, Node) {
    let progress = |job: &&Job| JobProgress {
        job_id: job.job_id.clone(),
        fence: job.fence,
        stage: Stage::Diffusion.into(),
        progress: 0.5,
    };
    let jobs = jobs.iter().map(progress).collect();
    let heartbeat = HeartbeatRequest { state: NodeState::Busy, jobs, device: Unparsed::default() };
    let answer = renders.heartbeat(TOKEN, node_id, &heartbeat).await.expect("beats");
    (answer.cancel, named(renders, node_id).await)
}

async fn named(renders: &Renders, node_id: &str) -> Node {
    let nodes = renders.nodes().await.expect("lists");
    nodes.into_iter().find(|node| node.id == node_id).expect("is there")
}

/// Moves all times that count for leases into the past, by this many seconds.
async fn earlier(database: &Database, seconds: i64) {
    let jobs =
        "update jobs set leased_at_ms = leased_at_ms - $1, lease_until_ms = lease_until_ms - $1 where state = 'leased'";
    database.write(sqlx::query(jobs).bind(seconds * 1000)).await.expect("sets");
    let nodes = "update nodes set lost_at_ms = lost_at_ms - $1";
    database.write(sqlx::query(nodes).bind(seconds * 1000)).await.expect("sets");
}

/// A process of the service that has run for long: no lease is from before it.
fn long_running(database: &Database, settings: RenderSettings) -> Renders {
    let mut renders = renders(database, settings);
    Arc::get_mut(&mut renders.0).expect("nobody else has it").began_at = crate::clock::UnixMs(0);
    renders
}

#[tokio::test]
async fn leases_lost_in_a_row_quarantine_a_node() {
    for database in databases().await {
        let renders = long_running(&database, settings());
        let node_id = node(&renders).await;
        for lost in 1..=3 {
            queue(&renders, &format!("lost-{lost}"), &client()).await;
            // A job that was lost before is queued again; this node may get it, too.
            let jobs = work(&renders, &node_id, 1).await;
            assert!(!jobs.is_empty());
            earlier(&database, 60).await;
            renders.sweep().await.expect("sweeps");
            // Half of them are lost with one that is known already: all leases that were held then
            // count once.
            let expected = if lost < 3 { NodeStatus::Active } else { NodeStatus::Quarantined };
            assert_eq!(named(&renders, &node_id).await.state, expected, "after {lost}, {:?}", database.kind);
        }
        assert!(work(&renders, &node_id, 0).await.is_empty());
    }
}

#[tokio::test]
async fn leases_lost_at_once_count_once_and_those_of_a_restart_not_at_all() {
    for database in databases().await {
        let renders = long_running(&database, settings());
        let node_id = node(&renders).await;
        for model in ["a", "b", "c", "d"] {
            queue(&renders, model, &client()).await;
        }
        assert_eq!(work(&renders, &node_id, 1).await.len(), 4);
        earlier(&database, 60).await;
        renders.sweep().await.expect("sweeps");
        assert_eq!(number(&database, "select count(*) from jobs where state = 'queued'").await, 4);
        assert_eq!(named(&renders, &node_id).await.state, NodeStatus::Active, "one outage of its network");

        // A process that has just begun cannot tell whose fault it was.
        for _ in 0..3 {
            assert_eq!(work(&renders, &node_id, 1).await.len(), 4);
            earlier(&database, 60).await;
            self::renders(&database, settings()).sweep().await.expect("sweeps");
        }
        assert_eq!(named(&renders, &node_id).await.state, NodeStatus::Active, "{:?}", database.kind);
    }
}

#[tokio::test]
async fn a_node_that_takes_longer_than_people_wait_is_quarantined() {
    for database in databases().await {
        // Requests wait for twenty seconds.
        let renders = long_running(&database, settings());
        let node_id = node(&renders).await;
        // Seconds that a render had taken when all requests had left, and the failures counted by
        // then.
        for (n, (seconds, expected)) in [(1, 0), (9, 0), (11, 1), (30, 2), (2, 2), (25, 3)].into_iter().enumerate() {
            queue(&renders, &format!("slow-{n}"), &client()).await;
            let job = one(&renders, &node_id).await;
            let long_ago = "update jobs set leased_at_ms = leased_at_ms - $1, deadline_ms = 0 where id = $2";
            database.write(sqlx::query(long_ago).bind(seconds * 1000).bind(&job.job_id)).await.expect("sets");
            let (cancel, now) = beats(&renders, &node_id, &[&job]).await;
            assert_eq!(cancel, [job.job_id]);
            let expected = if expected < 3 { NodeStatus::Active } else { NodeStatus::Quarantined };
            assert_eq!(now.state, expected, "{seconds} s, {:?}", database.kind);
        }
    }
}

#[tokio::test]
async fn a_node_that_does_not_let_go_of_a_cancelled_job_is_unhealthy_and_no_capacity() {
    for database in databases().await {
        let renders = long_running(&database, settings());
        // The same service, with shorter leases.
        let brief = RenderSettings { lease_seconds: 1, ..settings() };
        let brief = Renders::new(database.clone(), Clock::SYSTEM, renders.0.store.clone(), brief);
        let node_id = node(&renders).await;
        let slots = |renders: &Renders| {
            let renders = renders.clone();
            async move {
                renders.measure_pace().await.expect("measures");
                renders.pace().map_or(0, |pace| pace.slots)
            }
        };
        queue(&renders, "done", &client()).await;
        let done = one(&renders, &node_id).await;
        finish(&renders, &done).await;
        assert_eq!(slots(&renders).await, 4);

        queue(&renders, "hung", &client()).await;
        let hung = one(&renders, &node_id).await;
        all_leave(&database).await;
        let (cancel, now) = beats(&brief, &node_id, &[&hung]).await;
        assert_eq!((cancel, now.reported_state.as_str()), (vec![hung.job_id.clone()], "busy"), "it has just been told");
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let (cancel, now) = beats(&brief, &node_id, &[&hung]).await;
        assert_eq!((cancel, now.reported_state.as_str()), (vec![hung.job_id.clone()], "unhealthy"));
        assert_eq!(slots(&renders).await, 0, "{:?}", database.kind);
        queue(&renders, "next", &client()).await;
        assert!(work(&renders, &node_id, 0).await.is_empty(), "its engine hangs");

        // The node gives the job up in the end.
        let (cancel, now) = beats(&brief, &node_id, &[]).await;
        assert_eq!((cancel, now.reported_state.as_str()), (vec![], "busy"));
        assert_eq!(slots(&renders).await, 4);
        assert_eq!(work(&renders, &node_id, 0).await.len(), 1);
        // A job that is cancelled later has its own time.
        let (_, now) = beats(&brief, &node_id, &[&hung]).await;
        assert_eq!(now.reported_state, "busy");
    }
}

//! Requests for work that wait.

use super::*;

#[tokio::test]
async fn a_newer_request_of_a_node_ends_the_older_and_a_token_has_its_share() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { polls_per_token: 2, ..settings() });
        let nodes = [node(&renders).await, node(&renders).await, node(&renders).await];
        let ask = |token: &'static str, node: &str| {
            let (renders, node) = (renders.clone(), node.to_owned());
            tokio::spawn(async move { renders.work(token, &node, 1, 30, std::future::pending()).await })
        };
        let waits = |asked: &tokio::task::JoinHandle<_>| !asked.is_finished();
        let (first, second) = (ask(TOKEN, &nodes[0]), ask(TOKEN, &nodes[1]));
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(waits(&first) && waits(&second), "{:?}", database.kind);
        let third = ask(TOKEN, &nodes[2]).await.expect("ends");
        assert!(matches!(third, Err(NodeError::TooMany)), "{third:?}");
        let other = ask("token-2", &nodes[0]).await.expect("ends");
        assert!(matches!(other, Err(NodeError::Unknown)), "{other:?}");
        assert!(waits(&first), "of another token");
        let newer = renders.work(TOKEN, &nodes[0], 1, 0, std::future::pending()).await;
        assert!(newer.expect("has the place of the older one").is_empty());
        assert!(first.await.expect("ends").expect("is answered").is_empty());
        let third = ask(TOKEN, &nodes[2]);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(waits(&second) && waits(&third), "there is a place again");
        second.abort();
        third.abort();
    }
}

#[tokio::test]
async fn a_node_without_a_free_slot_is_not_kept() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        let asked = renders.work(TOKEN, &node_id, 0, 30, std::future::pending());
        let answered = tokio::time::timeout(Duration::from_secs(15), asked).await.expect("before its time");
        assert!(answered.expect("is answered").is_empty());
    }
}

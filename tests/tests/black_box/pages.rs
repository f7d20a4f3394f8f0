//! The home page.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;

on_both_databases! {
    async fn the_home_page_shows_six_examples(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let page = service.visit("/").send().await.unwrap();
        assert_eq!(page.status(), StatusCode::OK);
        assert!(page.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        let html = page.text().await.unwrap();
        assert!(html.contains("curl"), "a curl line to copy");

        // Every image of the page is one of ours, free, and available a while after the first
        // start.
        let sources: Vec<_> = html
            .split("src=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|s| !s.ends_with(".js"))
            .map(|s| s.replace("&amp;", "&").replace("&#x2f;", "/"))
            .collect();
        assert_eq!(sources.len(), 6, "{sources:?}");
        for source in &sources {
            let mut status = StatusCode::NOT_FOUND;
            for _ in 0..100 {
                let answer = service.visit(source).send().await.unwrap();
                status = answer.status();
                if status == StatusCode::OK {
                    image::load_from_memory(&answer.bytes().await.unwrap()).unwrap();
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
            assert_eq!(status, StatusCode::OK, "{source}");
        }
    }
}

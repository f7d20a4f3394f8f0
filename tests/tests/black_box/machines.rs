//! `/llms.txt` and `/agents.md`: true, linked, and every command of theirs works as it stands.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;
use tokio::process::Command;

async fn text(service: &Service, path: &str, kind: &str) -> String {
    let answer = service.visit(path).send().await.unwrap();
    assert_eq!((answer.status(), answer.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, kind));
    assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    answer.text().await.unwrap()
}

/// What stands between the fences of a shell.
fn commands(markdown: &str) -> Vec<&str> {
    markdown.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

on_both_databases! {
    async fn every_command_of_the_guide_works_as_it_stands(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let guide = text(&service, "/agents.md", "text/markdown; charset=utf-8").await;
        let folder = tempfile::tempdir().unwrap();
        let commands = commands(&guide);
        assert_eq!(commands.len(), 7);
        for command in &commands {
            let ran = Command::new("bash").args(["-euo", "pipefail", "-c", command]).current_dir(folder.path())
                .env("CYCLORAMA_KEY", &customer.key).output().await.unwrap();
            let told = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success() && !told.contains("\"isError\":true"), "{command}: {told}{}", String::from_utf8_lossy(&ran.stderr));
        }
        let picture = std::fs::read(folder.path().join("911.webp")).unwrap();
        assert_eq!(image::load_from_memory(&picture).unwrap().width(), 512);
        assert_eq!(service.balance(&customer).await.unwrap(), 8, "a picture and an address, as the guide says");
        // What it says of each tool is what the tool says of itself.
        let list = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let listed = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&list).send().await.unwrap();
        let listed: serde_json::Value = listed.json().await.unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let description = tool["description"].as_str().unwrap();
            let cost = description.split(". ").next().unwrap();
            assert!(guide.contains(&format!("- `{}`: {cost}. Scope: ", tool["name"].as_str().unwrap())), "{tool}");
        }
    }

    async fn what_it_points_at_is_there(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let short = text(&service, "/llms.txt", "text/plain; charset=utf-8").await;
        assert!(short.starts_with("# Cyclorama\n\n> "), "{short}");
        // Costs come before anything that could be called.
        assert!(short.find("## What it costs").unwrap() < short.find("](http").unwrap(), "{short}");
        let links: Vec<&str> = short.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0).collect();
        assert_eq!(links.len(), 6);
        for link in links {
            assert!(link.starts_with(&service.base_url), "{link}");
            assert_eq!(service.http.get(link).send().await.unwrap().status(), StatusCode::OK, "{link}");
        }
        let reference = service.visit("/docs").send().await.unwrap().text().await.unwrap();
        assert!(reference.contains("href=\"/agents.md\"") && reference.contains("href=\"/llms.txt\""));
    }
}

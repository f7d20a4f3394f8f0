//! `/llms.txt` and `/agents.md` are true and linked, and every command in them works as written.
//! They are also enough: a program that knows a URL and a key gets by on them.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::Value;
use tokio::process::Command;

async fn text(service: &Service, path: &str, kind: &str) -> String {
    let answer = service.visit(path).send().await.unwrap();
    assert_eq!((answer.status(), answer.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, kind));
    assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    answer.text().await.unwrap()
}

/// The text between the fences of shell blocks.
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
        // The description of each tool there is the tool's own.
        let list = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let listed = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&list).send().await.unwrap();
        let listed: serde_json::Value = listed.json().await.unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let description = tool["description"].as_str().unwrap();
            let cost = description.split(". ").next().unwrap();
            assert!(guide.contains(&format!("- `{}`: {cost}. Scope: ", tool["name"].as_str().unwrap())), "{tool}");
        }
    }

    async fn who_knows_an_address_and_a_key_makes_a_page_of_three_cars_and_knows_what_it_cost(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let run = async |command: &str| {
            let ran = Command::new("bash").args(["-euo", "pipefail", "-c", command]).current_dir(folder.path())
                .env("CYCLORAMA_KEY", &customer.key).output().await.unwrap();
            assert!(ran.status.success(), "{command}: {}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            String::from_utf8(ran.stdout).unwrap()
        };
        // From the URL to the guide.
        let short = text(&service, "/llms.txt", "text/plain; charset=utf-8").await;
        let link = short.split("[Guide for agents](").nth(1).unwrap().split_once(')').unwrap().0;
        let guide = service.http.get(link).send().await.unwrap().text().await.unwrap();
        let commands = commands(&guide);
        let [resolve, _, _, picture, urls, account, _] = &commands[..] else { panic!("{commands:?}") };
        // Its commands, with other words.
        let mut images = Vec::new();
        for words in ["red mazda mx-5 2020 side profile", "blue fiat 500 from 2015", "black land rover defender 2022 from behind"] {
            let told: Value = serde_json::from_str(&run(&resolve.replace("red porsche 911 2024 side profile", words)).await).unwrap();
            assert_eq!(told["data"]["confidence"], "high", "{words}");
            let mut image = told["data"]["params"].clone();
            image["width"] = 512.into();
            image["format"] = "webp".into();
            images.push(image);
        }
        let (before, rest) = urls.split_once("-d '").unwrap();
        let (body, after) = rest.split_once('\'').unwrap();
        let mut body: Value = serde_json::from_str(body).unwrap();
        body["images"] = images.into();
        let order = format!("{before}-d '{body}'{after}");
        let told = run(&order).await;
        let made: Value = serde_json::from_str(&told).unwrap();
        // A page of the answers, in the guide's words; every image is loaded before it is given
        // away.
        let element = guide.split("```html\n").nth(1).unwrap().split_once("```").unwrap().0;
        let mut page = "<!doctype html>\n<title>Three cars</title>\n".to_owned();
        for address in made["data"].as_array().unwrap() {
            let (url, vehicle) = (address["url"].as_str().unwrap(), &address["vehicle"]);
            let loaded = service.http.get(url).send().await.unwrap();
            assert_eq!((loaded.status(), loaded.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, "image/webp"));
            assert_eq!(image::load_from_memory(&loaded.bytes().await.unwrap()).unwrap().width(), 512, "as the element says");
            page.push_str(&element.replace("URL", url).replace("Silver 2024 Porsche 911, front three-quarter view", &vehicle["model"].to_string()));
        }
        assert_eq!(page.matches("<img src=\"http").count(), 3);
        assert!(!page.contains(&customer.key));
        // The stated cost is the charge, also when the answer was lost and the request is sent
        // again.
        let charged = |answer: &Value| answer["billing"]["credits_charged"].as_i64().unwrap();
        assert_eq!((charged(&made), &made["billing"]["credits_remaining"]), (3, &7.into()));
        assert_eq!(serde_json::from_str::<Value>(&run(&order).await).unwrap()["data"], made["data"]);
        let told: Value = serde_json::from_str(&run(account).await).unwrap();
        assert_eq!(told["data"]["credits"], 7);
        assert_eq!(run(picture).await, "1 charged, 6 left\n");
        assert_eq!(service.balance(&customer).await.unwrap(), 6);
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

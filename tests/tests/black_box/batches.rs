//! `cyclorama batch`: saves the images of a list to a folder, each paid for once, whatever happens
//! in between.

use crate::answering_proxy::{Proxy, ProxyAnswer};
use crate::terminal::Terminal;
use cyclorama_core::wire::FailureKind;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases, times};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

const COLORS: [&str; 6] = ["white", "black", "red", "green", "blue", "gold"];

fn list(rows: usize) -> String {
    let row =
        |number: usize| format!("honda,civic,{},{}\n", 2010 + number / COLORS.len(), COLORS[number % COLORS.len()]);
    format!("make,model,year,color\n{}", (0..rows).map(row).collect::<String>())
}

/// The account's charges for images, entry by entry.
fn paid(service: &Service, account_id: &str) -> Vec<i64> {
    let lines = service.operator(&["account", "statement", account_id]).unwrap();
    let lines = lines.as_array().unwrap().iter().filter(|line| line["kind"] != "grant");
    lines.map(|line| line["credits"].as_i64().unwrap()).filter(|credits| *credits != 0).collect()
}

const PAGE: ProxyAnswer = ProxyAnswer {
    path: "/api/v1/",
    passes_on: false,
    status: 200,
    media_type: "text/html; charset=utf-8",
    retry_after: None,
    body: "<html><head><title>nginx</title></head><body>nginx</body></html>",
};
const LOADS: &str = "/api/v1/delivery/";
const ASKS: &str = "/api/v1/image-urls";

on_both_databases! {
    async fn a_batch_killed_at_any_moment_pays_for_each_row_once(db: DatabaseChoice) {
        const ROWS: usize = 24;
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(40))).await.unwrap();
        let customer = service.customer(100).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        std::fs::write(terminal.path("cars.csv"), list(ROWS)).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars", "--concurrency", "3", "--json"];
        let journal = || std::fs::read_to_string(terminal.path("cars/.batch.jsonl")).unwrap_or_default();
        // The journal has a heading and three entries for each row. The batch is killed at each of
        // these entries.
        let moments = [1, 2, 3, 5, 8, 9, 13, 21, 22, 34, 47, 55, 60];
        // The short form uses every third of them.
        let stride = times(3, 1) as usize;
        for lines in moments.into_iter().step_by(stride) {
            let mut batch = terminal.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            while journal().lines().count() < lines && batch.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            batch.kill().await.unwrap();
        }
        let entries = journal();
        assert!(!entries.contains(&customer.key));
        assert!(entries.matches("\"done\"").count() < ROWS, "there was something left to do");
        let done = terminal.run(&arguments).await.json();
        assert_eq!((&done["done"], &done["not_done"]), (&ROWS.into(), &json!([])));
        assert_eq!(paid(&service, &customer.account_id), vec![-1; ROWS]);
        assert_eq!(service.balance(&customer).await.unwrap(), 100 - ROWS as i64);
        let pictures = std::fs::read_dir(terminal.path("cars")).unwrap().map(|file| file.unwrap().path());
        let pictures: Vec<_> = pictures.filter(|path| path.extension().is_some_and(|extension| extension == "png")).collect();
        assert_eq!(pictures.len(), ROWS);
        for picture in pictures {
            assert_eq!(image::open(&picture).unwrap().width(), 1024, "{}", picture.display());
        }
        // A finished batch stays finished, also without a key that could pay.
        let again = terminal.run(&arguments).await.json();
        assert_eq!((&again["done"], &again["credits_remaining"]), (&ROWS.into(), &Value::Null));
        assert_eq!(service.balance(&customer).await.unwrap(), 100 - ROWS as i64);
    }

    async fn it_stops_when_the_credits_are_used_up_and_goes_on_when_there_are_more(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        std::fs::write(terminal.path("cars.csv"), list(8)).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars", "--concurrency", "1"];
        let stopped = terminal.run(&arguments).await;
        assert_eq!(stopped.status, 3, "{}", stopped.stderr);
        assert_eq!(stopped.text(), "5 of 8 images are in cars, 0 credits left\n");
        assert!(stopped.stderr.contains("stopped with 3 rows left") && stopped.stderr.contains("run the same command again"), "{}", stopped.stderr);
        let report = std::fs::read_to_string(terminal.path("cars/report.csv")).unwrap();
        let statuses = |report: &str| report.lines().skip(1).map(|line| line.split(',').nth(6).unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(statuses(&report), ["done", "done", "done", "done", "done", "waiting", "waiting", "waiting"]);
        service.operator(&["account", "grant", &customer.account_id, "4", "--reason", "more"]).unwrap();
        assert_eq!(terminal.run(&arguments).await.success(), "8 of 8 images are in cars, 1 credit left\n");
        assert_eq!(service.balance(&customer).await.unwrap(), 1);
        let report = std::fs::read_to_string(terminal.path("cars/report.csv")).unwrap();
        assert_eq!(statuses(&report), vec!["done"; 8]);
        // An image that was paid for and deleted is paid for again only on request.
        std::fs::remove_file(terminal.path("cars/00002-honda-civic-2010-black.png")).unwrap();
        let lost = terminal.run(&arguments).await;
        assert!(lost.status == 1 && lost.stderr.contains("row 2: ") && lost.stderr.contains("(file_gone)"), "{}", lost.stderr);
        terminal.run(&[&arguments[..], &["--spend-again"]].concat()).await.success();
        assert_eq!(service.balance(&customer).await.unwrap(), 0);
    }

    async fn wrong_rows_are_named_and_cost_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let text = "brand,model,year,color,width,file\nHonda,Civic,2018,red,256,red.webp.png\nhonda,civic,soon,,,\n\
                    honda,civik,2018,,,\nhonda,civic,2018,octarine,,\nhonda,civic,2018,=1+1,,\nhonda,civic,2018,blue,,\n";
        std::fs::write(terminal.path("cars.csv"), text).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars"];
        let some = terminal.run(&arguments).await;
        assert_eq!(some.status, 1, "{}", some.stderr);
        assert_eq!(some.text(), "2 of 6 images are in cars, 8 credits left\n");
        for told in ["row 2: year: `soon`", "row 3: ", "(vehicle_not_found)", "row 4: ", "(invalid_parameter)", "row 5: "] {
            assert!(some.stderr.contains(told), "{told}: {}", some.stderr);
        }
        assert_eq!(image::open(terminal.path("cars/red.webp.png")).unwrap().width(), 256);
        let report = std::fs::read_to_string(terminal.path("cars/report.csv")).unwrap();
        assert!(report.contains("\n5,honda,civic,2018,,'=1+1,failed,,invalid_parameter,"), "{report}");
        let again = terminal.run(&[&arguments[..], &["--json"]].concat()).await;
        assert_eq!(again.status, 1);
        let told: Value = serde_json::from_str(&again.text()).unwrap();
        let rows: Vec<&Value> = told["not_done"].as_array().unwrap().iter().map(|row| &row["row"]).collect();
        assert_eq!((rows, &told["done"]), (vec![&json!(2), &json!(3), &json!(4), &json!(5)], &2.into()));
        assert_eq!(paid(&service, &customer.account_id), [-1, -1]);

        // A file that is not a list, or not the list of this folder, requests nothing.
        std::fs::write(terminal.path("cars.csv"), list(1)).unwrap();
        let other = terminal.run(&arguments).await;
        assert!(other.status == 2 && other.stderr.contains("another folder"), "{}", other.stderr);
        std::fs::write(terminal.path("cars.csv"), "make,paint\n").unwrap();
        let other = terminal.run(&["batch", "cars.csv", "-o", "new"]).await;
        assert!(other.status == 2 && other.stderr.contains("`paint`") && !terminal.path("new").exists(), "{}", other.stderr);
        assert_eq!(terminal.run(&["batch", "none.csv", "-o", "new"]).await.status, 2);
        terminal.set("CYCLORAMA_KEY", "cyc_wrong");
        std::fs::write(terminal.path("cars.csv"), list(2)).unwrap();
        let refused = terminal.run(&["batch", "cars.csv", "-o", "new"]).await;
        assert!(refused.status == 4 && refused.stderr.contains("stopped with 2 rows left"), "{}", refused.stderr);
    }

    async fn what_may_have_been_paid_for_and_is_lost_is_paid_for_again_only_when_that_is_said(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let mut terminal = Terminal::new(&service);
        std::fs::write(terminal.path("cars.csv"), list(3)).unwrap();
        // A batch that a wrong key has stopped has a journal, and nothing was paid for.
        terminal.set("CYCLORAMA_KEY", "cyc_wrong");
        assert_eq!(terminal.run(&["batch", "cars.csv", "-o", "cars"]).await.status, 4);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        // Two rows as they would be after days: one cut off during its request, one whose URL has
        // expired.
        let journal = terminal.path("cars/.batch.jsonl");
        let heading = std::fs::read_to_string(&journal).unwrap().lines().next().unwrap().to_owned();
        let asked = json!({ "row": 1, "state": { "asked": { "attempt": 1, "at": 1_700_000_000 } } });
        let url = format!("{}/api/v1/delivery/ended", service.base_url);
        let minted = json!({ "row": 2, "state": { "minted": { "attempt": 1, "url": url, "request_id": "r" } } });
        std::fs::write(&journal, format!("{heading}\n{asked}\n{minted}\n")).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars", "--json"];
        let some = terminal.run(&arguments).await;
        let told: Value = serde_json::from_str(&some.text()).unwrap();
        assert_eq!((some.status, &told["done"], &told["lost"]), (1, &1.into(), &2.into()), "{told}");
        assert_eq!((&told["not_done"][0]["code"], &told["not_done"][1]["code"]), (&"unknown".into(), &"url_expired".into()));
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
        let all = terminal.run(&[&arguments[..], &["--spend-again"]].concat()).await.json();
        assert_eq!((&all["done"], &all["credits_remaining"]), (&3.into(), &7.into()));
        assert_eq!(paid(&service, &customer.account_id), [-1, -1, -1]);
    }

    // An answer of a proxy says nothing about charges: neither to the request that pays, nor to the
    // one that loads.
    async fn what_a_proxy_answers_neither_pays_twice_nor_gives_back(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        // The service has charged for the first one, which only the journal and the service know.
        let mut answers = vec![ProxyAnswer { path: ASKS, passes_on: true, status: 502, ..PAGE }];
        for status in [400, 404, 413, 401, 402, 403, 405, 410, 200] {
            answers.push(ProxyAnswer { path: ASKS, status, ..PAGE });
        }
        for (status, body) in [
            (404, r#"{"error":"no route"}"#),
            (403, r#"{"code":"forbidden","message":"Forbidden"}"#),
            (400, r#"{"code":"bad_request","status":400}"#),
            (200, r#"{"status":"ok"}"#),
        ] {
            answers.push(ProxyAnswer { path: ASKS, status, media_type: "application/json", body, ..PAGE });
        }
        for status in [502, 504, 500, 410, 404, 403, 401, 200] {
            answers.push(ProxyAnswer { path: LOADS, status, ..PAGE });
        }
        answers.push(ProxyAnswer { path: LOADS, media_type: "application/json", body: r#"{"status":"ok"}"#, ..PAGE });
        let proxy = Proxy::start(&service, &answers).await;
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        terminal.set("CYCLORAMA_URL", &proxy.address);
        std::fs::write(terminal.path("cars.csv"), list(1)).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars", "--spend-again"];
        for ProxyAnswer { path, status, body, .. } in &answers {
            let ran = terminal.run(&arguments).await;
            let told = format!("{path} {status} {body}: {} {}", ran.status, ran.stderr);
            assert!(ran.status != 0 && ran.stderr.contains("1 row left for later"), "{told}");
            assert_eq!(service.balance(&customer).await.unwrap(), 9, "{told}");
        }
        terminal.run(&arguments).await.success();
        assert_eq!(image::open(terminal.path("cars/00001-honda-civic-2010-white.png")).unwrap().width(), 1024);
        assert_eq!(paid(&service, &customer.account_id), [-1]);
        assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 9);
    }

    async fn a_render_that_fails_is_given_back_and_made_another_time(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let bad = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let customer = service.customer(3).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        std::fs::write(terminal.path("cars.csv"), list(1)).unwrap();
        let arguments = ["batch", "cars.csv", "-o", "cars"];
        let failed = terminal.run(&arguments).await;
        assert!(failed.status == 1 && failed.stderr.contains("row 1: "), "{}", failed.stderr);
        assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 3);
        drop(bad);
        let _good = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        terminal.run(&arguments).await.success();
        assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 2);
    }
}

//! `cyclorama check`: compares a list of vehicles with the catalog, and its answer can be used by
//! `cyclorama prewarm`.

use crate::answering_proxy::{Proxy, ProxyAnswer};
use crate::terminal::Terminal;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const VIN: &str = "1HGCM82633A004352";
const CAR: &str = "/api/v1/images/car?make=volkswagen&model=golf&year=2015&view=front-3-4&color=silver";

/// The rows of a CSV, by the names of its heading.
fn rows(path: &Path) -> Vec<Value> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize::<std::collections::BTreeMap<String, String>>().map(|row| json!(row.unwrap())).collect()
}

/// Files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()) {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    found
}

on_both_databases! {
    async fn a_list_of_any_kind_of_rows_is_answered_beside_its_columns(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(3).unwrap();
        service.get(&customer, CAR).send().await.unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let list = format!(
            "\u{feff}Stock;Make;Model;Year;Body;VIN;Vehicle;Query\r\n\
             1;VW;Golf;2015;;;;\r\n2;volkswagen;golf;2015;estate;;;\r\n3;;;;;{VIN};;\r\n4;;;;;;;\"ford; mustang 2020\"\r\n\
             5;volkswagen;golf;2015;pickup;;;\r\n;;;;;;;\r\n6;nobody;none;2010;;;;\r\n7;ford;mustang;;;;;\r\n8;ford;mustang;soon;;;;\r\n\
             9;;;;;1HGCM82633A004353;;\r\n=1+1;volkswagen;golf;latest;;;;\r\n"
        );
        std::fs::write(terminal.path("cars.csv"), list).unwrap();
        let told = terminal.run(&["check", "cars.csv", "--keep", "stock"]).await;
        assert_eq!(told.success(), "10 rows: 5 matches, 1 suggestion, 1 miss, 3 invalid; see cars.checked.csv\n");
        assert!(!told.stderr.contains("1HGCM"), "{}", told.stderr);

        let text = std::fs::read_to_string(terminal.path("cars.checked.csv")).unwrap();
        let heading = "stock;make;model;year;body;vin;vehicle;query;status;vehicle_id;\
                       found_make;found_model;found_year;found_body;likeness;reason;stored\n";
        assert!(text.starts_with(heading), "{text}");
        let mut reader = csv::ReaderBuilder::new().delimiter(b';').from_reader(text.as_bytes());
        let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let statuses: Vec<&str> = lines.iter().map(|line| &line[8]).collect();
        assert_eq!(statuses, ["match", "match", "match", "match", "suggestion", "miss", "invalid", "invalid", "invalid", "match"]);
        let golf = &lines[0];
        let found: Vec<&str> = golf.iter().skip(10).take(4).collect();
        assert_eq!((found, &golf[16]), (vec!["volkswagen", "golf", "2015", "hatchback"], "front-3-4: silver"));
        assert_eq!((&lines[1][13], &lines[1][16]), ("wagon", ""), "nobody asked for the estate yet");
        assert_eq!((&lines[2][10], &lines[2][11], &lines[2][12], &lines[2][5]), ("honda", "accord", "2003", VIN));
        assert_eq!((&lines[4][13], &lines[9][0]), ("hatchback", "=1+1"), "the list's own columns are left as they are");
        for (row, line) in lines.iter().enumerate() {
            assert_eq!(line[9].starts_with("cyv_"), ["match", "suggestion"].contains(&&line[8]), "{row}: {line:?}");
            assert_eq!(line[15].is_empty(), &line[8] == "match", "{row}: {line:?}");
            assert!(!line.iter().enumerate().any(|(column, value)| column != 5 && value.contains("1HGCM")), "{line:?}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 2, "one picture, and nothing for the check");
        assert_eq!(files_with(&terminal.path(""), VIN), ["cars.checked.csv", "cars.csv"]);
        assert!(!service.log().contains("1HGCM"), "{}", service.log());

        // Standard output has only the answer.
        let shown = terminal.run(&["check", "cars.csv", "--keep", "Stock", "-o", "-", "--json"]).await;
        let told: Value = serde_json::from_str(&shown.stderr).unwrap();
        assert_eq!((&told["rows"], &told["matches"], &told["asked"], &told["output"]), (&json!(10), &json!(5), &json!(10), &json!("-")));
        assert_eq!(shown.success(), text);
    }

    async fn a_check_killed_at_any_moment_goes_on_and_asks_for_nothing_twice(db: DatabaseChoice) {
        const ROWS: usize = 3_000;
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        let key = ["key", "create", "--account", &customer.account_id, "--scopes", "account:read", "--rate-limit", "100000"];
        let made = service.operator(&key);
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", made.unwrap()["key"].as_str().unwrap());
        let list = |rows: usize| {
            let row = |number: usize| format!("honda,civic,{},{VIN}\n", 1995 + number % 30);
            format!("make,model,year,vin\n{}", (0..rows).map(row).collect::<String>())
        };
        std::fs::write(terminal.path("cars.csv"), list(ROWS)).unwrap();
        let arguments = ["check", "cars.csv", "-o", "answer.csv", "--json"];
        let answered = || std::fs::read_to_string(terminal.path("answer.csv")).unwrap_or_default().lines().count();
        for lines in [1, 150, 650] {
            let mut check = terminal.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            while answered() < lines && check.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            check.kill().await.unwrap();
        }
        let known = answered() - 1;
        assert!(known < ROWS, "there was something left to do");
        // The last row was cut off while it was written.
        let whole = std::fs::read(terminal.path("answer.csv")).unwrap();
        std::fs::write(terminal.path("answer.csv"), &whole[..whole.len() - 3]).unwrap();
        let done = terminal.run(&arguments).await.json();
        let cut = if known == 0 { 0 } else { 1 };
        assert_eq!((&done["rows"], &done["matches"], &done["asked"]), (&json!(ROWS), &json!(ROWS), &json!(ROWS - known + cut)));
        let answer = rows(&terminal.path("answer.csv"));
        assert_eq!(answer.len(), ROWS);
        for (number, row) in answer.iter().enumerate() {
            let year = (1995 + number % 30).to_string();
            assert_eq!((&row["year"], &row["found_year"], &row["vin"]), (&json!(year), &json!(year), &json!(VIN)));
        }
        assert_eq!(files_with(&terminal.path(""), VIN), ["answer.csv", "cars.csv"]);

        // Finished rows need no service; further rows of a list are sent.
        service.terminate().await.unwrap();
        let again = terminal.run(&arguments).await.json();
        assert_eq!((&again["rows"], &again["asked"]), (&json!(ROWS), &json!(0)));
        std::fs::write(terminal.path("cars.csv"), list(ROWS + 1)).unwrap();
        let refused = terminal.run(&["check", "cars.csv", "-o", "answer.csv"]).await;
        assert_eq!(refused.status, 6, "{}", refused.stderr);
        assert!(refused.stderr.contains("stopped after 3000 rows; run the same command again to continue"), "{}", refused.stderr);
        service.launch().await.unwrap();
        assert_eq!(terminal.run(&arguments).await.json()["asked"], 1);
    }

    async fn a_check_over_the_rate_limit_waits_and_goes_on(db: DatabaseChoice) {
        const ROWS: usize = 450;
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        let answer = ProxyAnswer {
            path: "/api/v1/vehicles/check",
            passes_on: false,
            status: 429,
            media_type: "application/problem+json",
            retry_after: Some(1),
            body: r#"{"type":"about:blank","title":"Too Many Requests","status":429,"code":"rate_limited","detail":"Over the limit."}"#,
        };
        let proxy = Proxy::start(&service, &[answer, answer, answer]).await;
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        terminal.set("CYCLORAMA_URL", &proxy.address);
        let rows_of = |rows: usize| (0..rows).map(|row| format!("honda,civic,{}\n", 1995 + row % 30)).collect::<String>();
        std::fs::write(terminal.path("cars.csv"), format!("make,model,year\n{}", rows_of(ROWS))).unwrap();
        let done = terminal.run(&["check", "cars.csv", "-o", "answer.csv", "--json"]).await.json();
        assert_eq!((&done["rows"], &done["matches"], &done["asked"]), (&json!(ROWS), &json!(ROWS), &json!(ROWS)));
        assert_eq!(rows(&terminal.path("answer.csv")).len(), ROWS);
    }

    async fn the_page_finds_a_list_of_words_and_vins_without_an_account(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 300);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(3).unwrap();
        service.get(&customer, CAR).send().await.unwrap();
        service.early_in_a_minute().await;
        let mut browser = Browser::new(&service);
        let list = format!("VW Golf hatchback 2015\n\n{VIN}\n1HGCM82633A004353 2003\nflurble 9000\n<b>golf</b>");
        let page = browser.submit("/playground/list", "/playground/list", &[("list", &list)]).await.unwrap();
        assert_eq!(page.status, 200, "{}", page.text());
        let text = page.text();
        for expected in ["Volkswagen Golf 2015, Hatchback", "Honda Accord 2003", "1HGCM82633A004352", "not found", "nearest"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(page.html.contains("&lt;b&gt;golf&lt;") && !page.html.contains("<b>golf"), "{}", page.html);
        // A result leads to the playground, and shows an image that is stored.
        let html = page.html.replace("&#x2f;", "/").replace("&amp;", "&");
        let link = html.split("href=\"/playground?vehicle=").nth(1).unwrap().split('"').next().unwrap();
        let playground = browser.get(&format!("/playground?vehicle={link}")).await.unwrap();
        assert_eq!(playground.status, 200, "{}", playground.text());
        let picture = html.split("src=\"/images/car.png?").nth(1).unwrap().split('"').next().unwrap();
        let picture = browser.get(&format!("/images/car.png?{picture}")).await.unwrap();
        assert_eq!((picture.status.as_u16(), &picture.headers["content-type"]), (200, &"image/webp".parse().unwrap()));
        assert_eq!(service.balance(&customer).await.unwrap(), 2, "nothing was charged");
        assert!(!service.log().contains("1HGCM") && !service.log().contains("flurble"), "{}", service.log());

        // Without its token, too long, or empty, a list is refused; so is one list too many.
        assert_eq!(browser.post("/playground/list", &[("list", &list)]).await.unwrap().status, 403);
        let long = "golf 2015\n".repeat(101);
        for (list, told) in [("  \n", "at least one vehicle"), (long.as_str(), "at most 100 lines")] {
            let refused = browser.submit("/playground/list", "/playground/list", &[("list", list)]).await.unwrap();
            assert_eq!(refused.status, 400);
            assert!(refused.text().contains(told), "{}", refused.text());
        }
        let last = browser.submit("/playground/list", "/playground/list", &[("list", "golf 2015")]).await.unwrap();
        assert_eq!(last.status, 429, "three lists of a hundred lines are the reads of a minute: {}", last.text());
    }

    async fn what_cannot_be_checked_is_refused_by_name(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let scoped = service.operator(&["key", "create", "--account", &customer.account_id, "--scopes", "images:read"]).unwrap();
        let write = |text: &str| std::fs::write(terminal.path("cars.csv"), text).unwrap();
        write("make,model,year\nhonda,civic,2018\n");
        terminal.run(&["check", "cars.csv"]).await.success();
        for (text, arguments, status, told) in [
            ("make,model,year\nhonda,civic,2017\n", &["check", "cars.csv"][..], 2, "row 1 of the list differs from cars.checked.csv"),
            ("make,model,year,price\nhonda,civic,2018,1\n", &["check", "cars.csv"], 2, "`price`"),
            ("year\n2018\n", &["check", "cars.csv"], 2, "make and model, or vehicle, vin or query"),
            ("query\n", &["check", "cars.csv", "-o", "new.csv"], 2, "no row"),
            ("query,year\ncivic,2018\ngolf\n", &["check", "cars.csv", "-o", "cut.csv"], 2, "row 2 has 1 of 2 columns"),
            ("query\ncivic 2018\n", &["check", "cars.csv", "-o", "no/such/folder.csv"], 1, "no/such/folder.csv"),
            ("query\ncivic 2018\n", &["check", "none.csv"], 2, "none.csv"),
        ] {
            write(text);
            let refused = terminal.run(arguments).await;
            assert_eq!(refused.status, status, "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
        }
        terminal.set("CYCLORAMA_KEY", scoped["key"].as_str().unwrap());
        let refused = terminal.run(&["check", "cars.csv", "-o", "y.csv", "--json"]).await;
        assert_eq!(refused.status, 4, "{}", refused.stderr);
        assert!(refused.stderr.contains("account:read"), "{}", refused.stderr);
    }

    async fn the_answer_of_a_check_is_a_list_to_be_prewarmed(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(3).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let list = "make,model,year,body\nVW,Golf,2015,estate\nvolkswagen,golf,2015,wagon\nvolkswagen,golf,2015,\n\
                    honda,civic,2018,van\nnobody,none,2010,\nhonda,civic,2018,hatchback\n";
        std::fs::write(terminal.path("cars.csv"), list).unwrap();
        terminal.run(&["check", "cars.csv"]).await.success();
        let checked = terminal.path("cars.checked.csv").to_str().unwrap().to_owned();
        let plan = service.operator(&["prewarm", "plan", "--list", &checked]).unwrap();
        assert_eq!((&plan["rows"], &plan["pictures"], &plan["cold_renders"]), (&json!(3), &json!(3), &json!(3)), "{plan}");
        let plan = service.operator(&["prewarm", "plan", "--list", &checked, "--suggestions"]).unwrap();
        assert_eq!(plan["rows"], 4, "{plan}");

        let batch = service.operator(&["prewarm", "start", "--list", &checked]).unwrap();
        let batch_id = batch["batch_id"].as_str().unwrap();
        let mut done = Value::Null;
        for _ in 0..200 {
            done = service.operator(&["prewarm", "status", batch_id]).unwrap();
            if done["state"] == "done" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!((&done["done"], &done["failed"]), (&json!(3), &json!(0)), "{done}");
        let report = service.operator(&["prewarm", "report", batch_id]).unwrap();
        let names: Vec<&Value> = report["rows"].as_array().unwrap().iter().map(|row| &row["vehicle"]).collect();
        // The release lists that estate as a model of its own.
        assert_eq!(names, ["volkswagen/golf-sportwagen/2015", "volkswagen/golf/2015", "honda/civic.hatchback/2018"]);
        for body in ["&body=wagon", ""] {
            let answer = service.get(&customer, &format!("{CAR}{body}")).send().await.unwrap();
            assert_eq!(answer.headers()["x-image-source"], "cache", "{body}");
        }
        // The same plan by hand, and for every body.
        let golf = ["prewarm", "plan", "make=volkswagen", "model=golf", "years=2015"];
        let plan = service.operator(&[&golf[..], &["body=estate"]].concat()).unwrap();
        assert_eq!((&plan["rows"], &plan["cached_pictures"]), (&json!(1), &json!(1)), "{plan}");
        let plan = service.operator(&[&golf[..], &["body=all"]].concat()).unwrap();
        assert!(plan["rows"].as_i64() > Some(2) && plan["cached_pictures"] == 2, "{plan}");
        let refused = service.operator(&[&golf[..], &["body=pickup"]].concat()).unwrap_err().to_string();
        assert!(refused.contains("with the body `pickup`"), "{refused}");
    }
}

//! The right vehicle: permanent ids, bodies, years with one look, names as people write them, lists
//! and VINs.

use crate::terminal::Terminal;
use crate::traces::{CALLER, traced};
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Collector, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use sqlx::{AnyConnection, Row};
use std::sync::atomic::Ordering;

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).unwrap_or_else(|| panic!("no {name} in {:?}", answer.headers())).to_str().unwrap()
}

async fn data(service: &Service, path: &str) -> Value {
    let answer = service.visit(path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json::<Value>().await.unwrap()["data"].take()
}

/// The id of a body of the Golf, as the catalog lists it.
async fn golf(service: &Service, body: &str) -> String {
    let golf = data(service, "/api/v1/vehicles?make=volkswagen&model=golf").await;
    let bodies = golf["bodies"].as_array().unwrap();
    let one = bodies.iter().find(|one| one["body"] == body).unwrap_or_else(|| panic!("no {body} in {golf}"));
    one["vehicle_id"].as_str().unwrap().to_owned()
}

async fn post(service: &Service, customer: &Customer, path: &str, body: &Value) -> (u16, Value) {
    let request = service.http.post(format!("{}{path}", service.base_url)).bearer_auth(&customer.key).json(body);
    let answer = request.header("traceparent", format!("00-{}-{}-01", CALLER.0, CALLER.1)).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Columns of the database that contain a text somewhere.
async fn columns_with(database: &mut AnyConnection, is_sqlite: bool, text: &str) -> Vec<String> {
    let columns = match is_sqlite {
        true => {
            "select t.name, c.name from sqlite_master t join pragma_table_info(t.name) c
             where t.type = 'table' and t.name not like 'sqlite_%'"
        }
        false => {
            "select cast(table_name as text), cast(column_name as text) from information_schema.columns where table_schema = 'public'"
        }
    };
    let columns = sqlx::query(columns).fetch_all(&mut *database).await.unwrap();
    assert!(columns.len() > 100, "{}", columns.len());
    let mut found = Vec::new();
    for column in columns {
        let (table, column): (String, String) = (column.get(0), column.get(1));
        let sql = format!("select count(*) from \"{table}\" where cast(\"{column}\" as text) like '%{text}%'");
        let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut *database).await.unwrap();
        if count > 0 {
            found.push(format!("{table}.{column}"));
        }
    }
    found
}

const CAR: &str = "/api/v1/images/car?";

on_both_databases! {
    async fn an_id_names_make_model_and_body_wherever_a_vehicle_is_named(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(50).unwrap();
        let id = golf(&service, "wagon").await;
        let shown = data(&service, &format!("/api/v1/vehicles/{id}")).await;
        assert_eq!((&shown["make"], &shown["model"], &shown["body"]), (&json!("volkswagen"), &json!("golf"), &json!("wagon")));
        assert_eq!(shown["stored"], json!([]));

        let by_id = service.get(&customer, &format!("{CAR}vehicle={id}&year=2015")).send().await.unwrap();
        assert_eq!(by_id.status(), StatusCode::OK);
        let canonical = "/api/v1/images/car?make=volkswagen&model=golf&year=2015&view=front-3-4&color=silver&format=png&body=wagon";
        assert_eq!(header(&by_id, "content-location"), canonical);
        assert_eq!(header(&by_id, "x-vehicle-match"), "exact");
        let etag = header(&by_id, "etag").to_owned();
        for query in ["make=volkswagen&model=golf&year=2015&body=estate", "make=VW&model=Golf&year=2015&body=Wagon"] {
            let by_name = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
            assert_eq!((header(&by_name, "content-location"), header(&by_name, "etag")), (canonical, etag.as_str()), "{query}");
        }
        let hatchback = service.get(&customer, &format!("{CAR}make=volkswagen&model=golf&year=2015&body=hatchback"));
        let hatchback = hatchback.send().await.unwrap();
        assert!(!header(&hatchback, "content-location").contains("body"), "its usual body goes without saying");
        assert_ne!(header(&hatchback, "etag"), etag);
        assert_eq!(node.renders.load(Ordering::SeqCst), 2, "two bodies, two renders");

        let minted = json!({ "images": [{ "vehicle": id, "year": 2015 }, { "make": "volkswagen", "model": "golf", "year": "latest" }] });
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&minted);
        let minted: Value = minted.send().await.unwrap().json().await.unwrap();
        let vehicle = &minted["data"][0]["vehicle"];
        assert_eq!((&vehicle["vehicle_id"], &vehicle["body"]), (&json!(id), &json!("wagon")), "{minted}");
        let loaded = service.http.get(minted["data"][0]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!((loaded.status(), header(&loaded, "etag")), (StatusCode::OK, etag.as_str()));
    }

    async fn years_that_look_alike_are_rendered_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(50).unwrap();
        let golf = data(&service, "/api/v1/vehicles?make=volkswagen&model=golf").await;
        let spans = golf["generations"].as_array().unwrap().iter();
        let spans: Vec<(u64, u64)> = spans.map(|span| (span["from"].as_u64().unwrap(), span["to"].as_u64().unwrap())).collect();
        assert!(spans.iter().all(|(from, to)| from <= to) && spans.is_sorted_by(|one, next| one.1 < next.0), "{golf}");
        let (first, last) = *spans.iter().find(|(from, to)| (*from..=*to).contains(&2016) && to > from).unwrap();
        let before = spans.iter().find(|(_, to)| *to < first).unwrap().1;
        let get = |year: u64| service.get(&customer, &format!("{CAR}make=volkswagen&model=golf&year={year}")).send();

        let asked_first = get(last).await.unwrap();
        let of_same_look = get(first).await.unwrap();
        assert_eq!(header(&asked_first, "etag"), header(&of_same_look, "etag"));
        assert!(header(&of_same_look, "content-location").contains(&format!("year={first}")));
        assert_eq!(node.renders.load(Ordering::SeqCst), 1);
        assert_ne!(header(&get(before).await.unwrap(), "etag"), header(&asked_first, "etag"));
        assert_eq!(node.renders.load(Ordering::SeqCst), 2);
        assert_eq!(service.balance(&customer).await.unwrap(), 47, "each is a picture of its own");

        // Images from before looks were introduced stay, under the year for which they were made.
        let mut database = service.database().await.unwrap();
        sqlx::query("delete from looks").execute(&mut database).await.unwrap();
        let between = (first..=last).nth(1).unwrap();
        let view = "&color=silver";
        let found = service.get(&customer, &format!("{CAR}make=volkswagen&model=golf&year={between}{view}")).send().await.unwrap();
        assert_eq!(header(&found, "etag"), header(&asked_first, "etag"));
        assert_eq!(node.renders.load(Ordering::SeqCst), 2);
    }

    async fn what_is_not_there_says_what_is(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let id = golf(&service, "wagon").await;
        for (query, status, code, parameter) in [
            ("make=volkswagen&model=golf&year=2015&body=pickup".to_owned(), 404, "vehicle_not_found", None),
            ("vehicle=cyv_0000000000000&year=2015".to_owned(), 404, "vehicle_not_found", None),
            (format!("vehicle={id}&year=1990"), 404, "vehicle_not_found", None),
            (format!("vehicle={id}&year=2015&body=hatchback"), 400, "invalid_parameter", Some("body")),
            (format!("vehicle={id}&make=volkswagen&year=2015"), 400, "invalid_parameter", Some("make")),
            (format!("vehicle={id}"), 400, "invalid_parameter", Some("year")),
            ("vehicle=golf&year=2015".to_owned(), 400, "invalid_parameter", Some("vehicle")),
            ("make=volkswagen&model=golf&year=2015&body=boat".to_owned(), 400, "invalid_parameter", Some("body")),
        ] {
            let answer = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{query}");
            let problem: Value = answer.json().await.unwrap();
            assert_eq!((problem["code"].as_str(), problem["parameter"].as_str()), (Some(code), parameter), "{query}");
            if query.contains("pickup") {
                assert!(problem["bodies"].as_array().unwrap().contains(&json!("wagon")), "{problem}");
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn names_are_taken_where_they_are_certain(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        for (make, model, year, matched, slug) in [
            ("volkswagen", "golf", 2015, "exact", "golf"),
            ("VW", "Golf", 2015, "alias", "golf"),
            ("Mercedes", "C 300", 2019, "trim", "c-class"),
            ("bmw", "3 Series Touring", 2018, "trim", "3-series"),
            ("volkswagen", "Golf 2.0 TDI", 2015, "trim", "golf"),
            ("porsche", "pana", 2020, "prefix", "panamera"),
        ] {
            let path = format!("{CAR}make={make}&model={}&year={year}", model.replace(' ', "+"));
            let url = format!("{}{path}", service.base_url);
            let answer = service.http.head(url).bearer_auth(&customer.key).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            assert_eq!(header(&answer, "x-vehicle-match"), matched, "{path}");
            assert!(header(&answer, "content-location").contains(&format!("&model={slug}&")), "{path}");
            assert_eq!(header(&answer, "content-location").contains("body=wagon"), model.contains("Touring"), "{path}");
        }
    }

    async fn a_list_is_checked_row_by_row_for_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let id = golf(&service, "wagon").await;
        let check = async |body: Value| {
            let url = format!("{}/api/v1/vehicles/check", service.base_url);
            service.http.post(url).bearer_auth(&customer.key).json(&body).send().await.unwrap()
        };
        let rows = [
            (json!({ "make": "volkswagen", "model": "golf", "year": 2015, "body": "estate" }), "match"),
            (json!({ "vehicle": id, "year": "latest" }), "match"),
            (json!({ "query": "vw golf 2015" }), "match"),
            (json!({ "vin": "1HGCM82633A004352" }), "match"),
            (json!({ "make": "Honda", "model": "any", "vin": "1HGCM82633A004352" }), "match"),
            (json!({ "make": "volkswagen", "model": "golf", "year": 2015, "body": "pickup" }), "suggestion"),
            (json!({ "make": "ford", "model": "mustang", "year": 2027 }), "suggestion"),
            (json!({ "make": "volkswagen", "model": "gollf", "year": 2015 }), "suggestion"),
            (json!({ "make": "nobody", "model": "none", "year": 2010 }), "miss"),
            (json!({ "make": "ford", "model": "mustang" }), "invalid"),
            (json!({ "vin": "1HGCM82633A004353" }), "invalid"),
            (json!({ "colour": "red" }), "invalid"),
            (json!({}), "invalid"),
        ];
        let body = json!({ "vehicles": rows.iter().map(|(row, _)| row).collect::<Vec<_>>() });
        let answer: Value = check(body).await.json().await.unwrap();
        let checked = answer["data"]["vehicles"].as_array().unwrap();
        for (index, (row, status)) in rows.iter().enumerate() {
            let found = &checked[index];
            assert_eq!((&found["index"], &found["status"]), (&json!(index), &json!(status)), "{row}: {found}");
            assert_eq!(found["vehicle_id"].is_string(), ["match", "suggestion"].contains(status), "{row}: {found}");
            assert_eq!(found["reason"].is_string(), *status != "match", "{row}: {found}");
        }
        for wrong in [json!({}), json!({ "vehicles": [] }), json!({ "vehicles": vec![json!({}); 101] }), json!({ "rows": [] })] {
            assert_eq!(check(wrong.clone()).await.status(), StatusCode::BAD_REQUEST, "{wrong}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn an_identification_number_is_read_and_not_kept(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let accord = data(&service, "/api/v1/vehicles/vin/1HGCM82633A004352").await;
        assert_eq!((&accord["make"], &accord["model"], &accord["year"]), (&json!("honda"), &json!("accord"), &json!(2003)));
        assert_eq!((&accord["confidence"], &accord["coverage"]), (&json!("high"), &json!("full")));
        assert!(accord["vehicle_id"].as_str().unwrap().starts_with("cyv_"));
        for (number, status) in [
            ("1HGCM82633AO04352", 422),
            ("1HGCM82633A004353", 422),
            ("1HGCM8263", 400),
            ("1HGCM8263?year=2003", 200),
            ("WVWZZZ1KZ8W000001", 200),
            ("not-a-number", 400),
        ] {
            let answer = service.visit(&format!("/api/v1/vehicles/vin/{number}")).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{number}");
        }
    }

    async fn a_number_stands_in_the_place_of_words(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let resolve = async |body: Value| post(&service, &customer, "/api/v1/images/resolve", &body).await;
        let (status, accord) = resolve(json!({ "vin": "1HGCM82633A004352" })).await;
        let (found, params) = (&accord["data"], &accord["data"]["params"]);
        assert_eq!(status, 200, "{accord}");
        assert_eq!((&params["make"], &params["model"], &params["year"]), (&json!("honda"), &json!("accord"), &json!(2003)));
        assert_eq!((&found["confidence"], &found["display"]["make_name"]), (&json!("high"), &json!("Honda")), "{accord}");
        assert_eq!((&found["candidates"][0]["model_slug"], &found["extracted"]["unread"]), (&json!("accord"), &json!([])));
        // The image has the body that the VIN gives.
        let said = data(&service, "/api/v1/vehicles/vin/1HGCM82633A004352").await;
        assert_eq!((&said["body"], &params["body"]), (&json!("coupe"), &json!("coupe")));
        let picture = service.get(&customer, found["image_path"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(picture.status(), StatusCode::OK, "{accord}");
        assert!(header(&picture, "content-location").ends_with("&body=coupe"), "{:?}", picture.headers());

        let (status, begun) = resolve(json!({ "vin": "1HGCM8263", "year": 2003 })).await;
        assert_eq!((status, &begun["data"]["params"]["model"]), (200, &json!("accord")), "{begun}");
        for (body, status, code, parameter) in [
            (json!({ "vin": "1HGCM82633AO04352" }), 422, "wrong_vin", Value::Null),
            (json!({ "vin": "1HGCM82633A004353" }), 422, "wrong_vin", Value::Null),
            (json!({ "vin": "1HGCM8263" }), 400, "invalid_parameter", json!("vin")),
            (json!({ "vin": "not-a-number" }), 400, "invalid_parameter", json!("vin")),
            (json!({ "vin": "1HGCM82633A004352", "query": "accord" }), 400, "invalid_parameter", json!("vin")),
            (json!({ "vin": "1HGCM82633A004352", "make": "honda" }), 400, "invalid_parameter", json!("make")),
            (json!({ "year": 2003 }), 400, "invalid_parameter", json!("query")),
            (json!({ "vin": "WVWZZZ1KZ8W000001" }), 404, "vehicle_not_found", Value::Null),
        ] {
            let (answered, problem) = resolve(body.clone()).await;
            assert_eq!((answered, &problem["code"], &problem["parameter"]), (status, &json!(code), &parameter), "{body}: {problem}");
            if body["vin"] == "1HGCM82633AO04352" {
                assert_eq!(problem["suggestion"], "1HGCM82633A004352");
            }
            if status == 404 {
                assert_eq!(problem["makes"][0]["slug"], "volkswagen", "{problem}");
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 4, "the picture, and nothing else");
    }

    // At every endpoint, read or refused: afterwards neither the log, nor a trace, nor a table has
    // it.
    async fn a_number_is_kept_nowhere(db: DatabaseChoice) {
        let collector = Collector::open().await.unwrap();
        let mut service = Service::start_with(db, traced(&collector.endpoint)).await.unwrap();
        let customer = service.customer(5).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        // Right, mistyped, of no model, of no maker, cut short.
        let numbers = ["1HGCM82633A004352", "1HGCM82633A004353", "WVWZZZ1KZ8W000001", "0AA0B0C0D0E000001", "1HGCM8263"];
        for number in numbers {
            let path = format!("{}/api/v1/vehicles/vin/{number}", service.base_url);
            let parent = format!("00-{}-{}-01", CALLER.0, CALLER.1);
            service.http.get(path).header("traceparent", parent).send().await.unwrap();
            post(&service, &customer, "/api/v1/images/resolve", &json!({ "vin": number })).await;
            let rows = json!({ "vehicles": [{ "vin": number }, { "vin": number, "make": "honda", "model": "none", "year": 2003 }] });
            post(&service, &customer, "/api/v1/vehicles/check", &rows).await;
            for (tool, arguments) in [("check_vehicles", rows), ("resolve_vehicle", json!({ "vin": number }))] {
                let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
                let url = format!("{}/api/mcp", service.base_url);
                let call = service.http.post(url).bearer_auth(&customer.key).json(&call);
                call.header("accept", "application/json, text/event-stream").send().await.unwrap();
            }
            terminal.run(&["resolve", "--vin", number]).await;
        }
        let routes = ["GET /api/v1/vehicles/vin/{vin}", "POST /api/v1/images/resolve", "POST /api/v1/vehicles/check"];
        let spans = collector.wait_for(CALLER.0, &routes).await.unwrap();
        service.terminate().await.unwrap();
        let (log, told) = (service.log(), format!("{spans:?} {:?}", collector.spans()));
        assert!(log.contains("/api/v1/vehicles/vin/{vin}") || log.contains("/api/v1/vehicles/vin"), "the requests are in the log");
        let mut database = service.database().await.unwrap();
        // The first three characters identify a maker, and no vehicle.
        for number in numbers {
            let part = &number[..8];
            assert!(!log.contains(part) && !told.contains(part), "{number}");
            assert_eq!(columns_with(&mut database, db == DatabaseChoice::Sqlite, part).await, [""; 0], "{number}");
        }
    }
}

//! The right vehicle: permanent ids, bodies, years that look alike, names as people have them, lists and identification numbers.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
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

        // Pictures from before looks were known stay, under whichever year they were made.
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
        let log = service.log();
        assert!(!log.contains("1HGCM8") && !log.contains("WVWZZZ"), "{log}");
    }
}

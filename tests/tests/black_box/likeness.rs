//! The likeness of an image to the real vehicle: it is in every answer that finds or delivers a
//! vehicle, and in reports for the operator.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::{Value, json};

const LEVELS: [&str; 4] = ["generation", "model", "make", "body"];

async fn data(service: &Service, path: &str) -> Value {
    let answer = service.visit(path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json::<Value>().await.unwrap()["data"].take()
}

/// Make, model and year of a key.
fn parts(key: &str) -> [&str; 3] {
    key.split('/').collect::<Vec<_>>().try_into().unwrap()
}

/// The first vehicle with this likeness.
fn first<'a>(all: &'a [(String, String)], level: &str) -> Option<[&'a str; 3]> {
    all.iter().find(|(_, likeness)| likeness == level).map(|(key, _)| parts(key))
}

/// Key and likeness of all vehicles, from `cyclorama catalog list`.
fn listed(service: &Service) -> Vec<(String, String)> {
    let list = service.operator_text(&["catalog", "list"]).unwrap();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[..3].join("/"), fields[9].to_owned())
    };
    list.lines().map(line).collect()
}

on_both_databases! {
    async fn every_answer_says_the_same_likeness(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let all = listed(&service);
        let found = LEVELS.iter().filter_map(|level| Some((*level, first(&all, level)?)));
        for (level, [make, model, year]) in found {
            let year: u64 = year.parse().unwrap();
            let name = format!("make={make}&model={model}&year={year}");
            for path in [format!("/api/v1/images/car?{name}"), format!("/images/car.png?{name}")] {
                let url = format!("{}{path}", service.base_url);
                let answer = service.http.get(url).bearer_auth(&customer.key).send().await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK, "{path}");
                assert_eq!(answer.headers()["x-vehicle-likeness"], level, "{path}");
            }
            let body = json!({ "images": [{ "make": make, "model": model, "year": year }] });
            let made = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&body);
            let made: Value = made.send().await.unwrap().json().await.unwrap();
            assert_eq!(made["data"][0]["likeness"], level, "{made}");
            let loaded = service.http.get(made["data"][0]["url"].as_str().unwrap()).send().await.unwrap();
            assert_eq!(loaded.headers()["x-vehicle-likeness"], level, "{name}");
            let years = data(&service, &format!("/api/v1/vehicles?make={make}&model={model}")).await;
            let year_in = |span: &&Value| span["year_from"].as_u64().unwrap() <= year && span["year_to"].as_u64().unwrap() >= year;
            let span = years["likeness"].as_array().unwrap().iter().find(year_in).unwrap();
            assert_eq!(span["likeness"], level, "{years}");
            let models = data(&service, &format!("/api/v1/vehicles?make={make}&year={year}")).await;
            let listed = models["models"].as_array().unwrap().iter().find(|listed| listed["slug"] == model).unwrap();
            assert_eq!(listed["likeness"], level, "{listed}");
        }
        let (_, level) = all.iter().find(|(key, _)| key == "porsche/911/2024").unwrap();
        let body = json!({ "query": "porsche 911 2024" });
        let resolved = service.http.post(format!("{}/api/v1/images/resolve", service.base_url)).bearer_auth(&customer.key).json(&body);
        let resolved: Value = resolved.send().await.unwrap().json().await.unwrap();
        assert_eq!(resolved["data"]["likeness"], level.as_str(), "{resolved}");
    }

    async fn the_options_count_every_vehicle_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let options = data(&service, "/api/v1/images/options").await;
        let all = listed(&service);
        for level in LEVELS {
            let count = all.iter().filter(|(_, likeness)| likeness == level).count();
            assert_eq!(options["catalog"]["likeness"][level], count, "{level}");
        }
        assert!(all.iter().all(|(_, likeness)| LEVELS.contains(&likeness.as_str())));
    }

    async fn an_operator_sees_what_to_draw_next(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let all = listed(&service);
        let ([make, model, year], [good_make, good_model, good_year]) = (first(&all, "body").unwrap(), first(&all, "model").unwrap());
        // Two images of a vehicle that is drawn only as its class count more than three of one that
        // is drawn as its model.
        let name = |make: &str, model: &str, year: &str| format!("make={make}&model={model}&year={year}");
        for (query, times) in [(name(make, model, year), 2), (name(good_make, good_model, good_year), 3)] {
            for _ in 0..times {
                let answer = service.get(&customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK, "{query}");
            }
        }
        for (query, times) in [
            ("make=Citro%C3%ABn&model=Ami+Nobody&year=2024", 3),
            ("make=citroen&model=ami-nobody&year=2023", 1),
            ("make=porsche&model=911&year=1891", 1),
        ] {
            for _ in 0..times {
                let answer = service.get(&customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap();
                assert!([400, 404].contains(&answer.status().as_u16()), "{query}: {}", answer.status());
            }
        }
        let wanted = service.operator(&["catalog", "wanted"]).unwrap();
        let vehicles = wanted["vehicles"].as_array().unwrap();
        assert_eq!(vehicles.len(), 2, "{wanted}");
        let shown = |wanted: &Value| (wanted["model"].clone(), wanted["likeness"].clone(), wanted["pictures"].clone());
        assert_eq!(shown(&vehicles[0]), (json!(model), json!("body"), json!(2)));
        assert_eq!(shown(&vehicles[1]), (json!(good_model), json!("model"), json!(3)));
        let missing = wanted["missing"].as_array().unwrap();
        assert_eq!((&missing[0]["name"], &missing[0]["requests"]), (&json!("citroen/ami-nobody"), &json!(4)), "{wanted}");
        let told = service.operator_text(&["catalog", "wanted", "--limit", "1"]).unwrap();
        assert!(told.contains("citroen/ami-nobody") && told.contains(model) && !told.contains(good_model), "{told}");
        assert!(service.operator(&["catalog", "wanted", "--days", "0"]).is_err());
    }
}

//! Arguments of tools as hosts really send them: as text, as numbers in place of names, and null
//! for missing values.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use serde_json::{Value, json};

async fn ask(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key);
    request.header("accept", "application/json").json(&message).send().await.unwrap().json().await.unwrap()
}

async fn good(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let answer = ask(service, customer, tool, arguments.clone()).await;
    assert_eq!(answer["result"]["isError"], false, "{tool} {arguments}: {answer}");
    answer["result"]["structuredContent"].clone()
}

async fn problem(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let answer = ask(service, customer, tool, arguments.clone()).await;
    assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
    answer["result"]["structuredContent"].clone()
}

on_both_databases! {
    async fn arguments_are_read_by_their_declared_type(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let shown = good(&service, &customer, "get_car_image", json!({
            "make": " porsche ", "model": 911, "year": "2024", "width": " 100 ", "signed_url": "true", "color": " Red ",
            "size": null, "format": null, "idempotency_key": null,
        })).await;
        assert_eq!((&shown["vehicle"]["model"], &shown["vehicle"]["year"], &shown["vehicle"]["color"]), (&json!("911"), &json!(2024), &json!("red")));
        assert!(shown["signed_url"]["url"].is_string());
        let made = good(&service, &customer, "create_car_image_urls", json!({
            "images": "[{\"make\":\"porsche\",\"model\":911,\"year\":\"2024\",\"color\":null},{\"brand\":\"porsche\",\"model\":\"911\",\"year\":2.024e3}]",
            "ttl_seconds": "3600", "max_uses": null, "idempotency_key": 7,
        })).await;
        assert_eq!(made["data"].as_array().unwrap().len(), 2);
        assert_eq!(made["data"][0]["vehicle"], made["data"][1]["vehicle"]);
        let again = good(&service, &customer, "create_car_image_urls", json!({
            "images": ["{\"make\":\"Porsche\",\"model\":\"911\",\"year\":2024}", { "make": "porsche", "model": "911", "year": "2024" }],
            "idempotency_key": "7",
        })).await;
        assert_eq!((&again["replayed"], &again["data"]), (&json!(true), &made["data"]));
        let found = good(&service, &customer, "search_vehicles", json!({ "q": "golf", "limit": "5", "year": "2015", "make": null, "model": null })).await;
        assert!(found["data"]["results"].as_array().unwrap().len() <= 5 && found["data"]["year"] == 2015, "{found}");
        let years = good(&service, &customer, "search_vehicles", json!({ "make": "porsche", "model": 911 })).await;
        assert!(years["data"]["years"].as_array().unwrap().contains(&json!(2024)));
        let resolved = good(&service, &customer, "resolve_vehicle", json!({ "query": " red porsche 911 ", "year": "2024", "make": null })).await;
        assert_eq!(resolved["data"]["params"]["year"], 2024);
        let rated = json!({ "request_id": shown["request_id"], "rating": "5", "verdict": null, "make": null, "year": "null" });
        assert_eq!(good(&service, &customer, "rate_image", rated).await["data"]["recorded"], true);
        for tool in ["get_account", "list_image_options", "describe_api"] {
            for arguments in [Value::Null, json!({}), json!("{}"), json!(""), json!([]), json!("null"), json!({ "x": null })] {
                good(&service, &customer, tool, arguments).await;
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 17);
    }

    async fn what_does_not_read_is_refused_by_its_path_and_type(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let car = |rest: Value| {
            let mut car = json!({ "make": "porsche", "model": "911", "year": 2024 });
            car.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            car
        };
        let third = |rest: Value| json!({ "images": [car(json!({})), car(json!({})), car(rest)] });
        for (tool, arguments, parameter, index, says) in [
            ("get_car_image", car(json!({ "year": "20x4" })), "year", None, "`year` must be a whole number, not the string `20x4`."),
            ("get_car_image", car(json!({ "signed_url": "maybe" })), "signed_url", None, "`signed_url` must be true or false"),
            ("get_car_image", car(json!({ "model": ["911"] })), "model", None, "`model` must be a string, not a list."),
            ("get_car_image", car(json!({ "paint": "red" })), "paint", None, "it is called `color`"),
            ("get_car_image", car(json!({ "trim": "perhaps" })), "trim", None, "`trim` must be true or false"),
            ("get_car_image", json!({ "make": "porsche", "model": "911", "year": null }), "year", None, "`year` is required"),
            (
                "create_car_image_urls", third(json!({ "year": "20x4" })), "year", Some(2),
                "`images[2].year` must be a whole number, not the string `20x4`.",
            ),
            ("create_car_image_urls", third(json!({ "year": null })), "year", Some(2), "`images[2].year` is required"),
            ("create_car_image_urls", third(json!({ "view": {} })), "view", Some(2), "`images[2].view` must be a string, not an object."),
            ("create_car_image_urls", third(json!({ "hue": "red" })), "hue", Some(2), "`images[2].hue` is not an argument of this tool"),
            ("create_car_image_urls", third(json!({ "width": "5000" })), "width", Some(2), "`images[2].width` must be a whole number of pixels from 1 to 1024"),
            ("create_car_image_urls", json!({ "images": "porsche" }), "images", None, "`images` must be a list, not the string `porsche`."),
            ("create_car_image_urls", json!({ "images": [car(json!({}))], "max_uses": "many" }), "max_uses", None, "`max_uses` must be a whole number"),
            (
                "search_vehicles", json!({ "q": "golf", "limit": "few" }), "limit", None,
                "`limit` must be a whole number, not the string `few`.",
            ),
            ("search_vehicles", json!({ "q": { "make": "vw" } }), "q", None, "`q` must be a string, not an object."),
            ("resolve_vehicle", json!({ "query": "golf", "year": "new" }), "year", None, "`year` must be a whole number"),
            ("check_vehicles", json!({ "vehicles": [{ "query": "golf" }, { "hue": "red" }] }), "hue", Some(1), "`vehicles[1].hue` is not"),
            ("check_vehicles", json!({ "vehicles": "golf" }), "vehicles", None, "`vehicles` must be a list"),
            ("rate_image", json!({ "request_id": "x", "rating": "good" }), "rating", None, "`rating` must be a whole number"),
            ("get_account", json!({ "x": 1 }), "x", None, "it takes none"),
        ] {
            let refused = problem(&service, &customer, tool, arguments.clone()).await;
            assert_eq!((&refused["status"], &refused["parameter"], &refused["index"]), (&json!(400), &json!(parameter), &json!(index)), "{tool} {arguments}: {refused}");
            assert!(refused["detail"].as_str().unwrap().contains(says), "{tool} {arguments}: {refused}");
        }
        for (params, says) in [
            (json!({ "name": "get_account", "arguments": "x" }), "`arguments`"),
            (json!({ "name": "get_account", "arguments": 7 }), "`arguments`"),
            (json!({ "name": 7 }), "`name`"),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let request = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&message);
            let answer: Value = request.send().await.unwrap().json().await.unwrap();
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn a_refusal_names_the_tool_to_go_on_with(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        for (tool, arguments, status, names) in [
            ("resolve_vehicle", json!({ "query": "ford" }), 404, "search_vehicles with `make`: `ford`"),
            ("resolve_vehicle", json!({ "query": "qqxzzy wvvkkj" }), 404, "search_vehicles"),
            ("get_car_image", json!({ "make": "ford", "model": "qqxzzy", "year": 2020 }), 404, "resolve_vehicle"),
            ("search_vehicles", json!({ "make": "qqxzzy" }), 404, "search_vehicles with `q`"),
            ("search_vehicles", json!({ "make": "ford", "model": "qqxzzy" }), 404, "with `make` it lists models"),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020 }), 402, "get_account"),
            ("rate_image", json!({ "request_id": "nobody's", "rating": 1 }), 404, "get_car_image"),
        ] {
            let refused = problem(&service, &customer, tool, arguments.clone()).await;
            let detail = refused["detail"].as_str().unwrap();
            assert_eq!(refused["status"], status, "{tool} {arguments}: {refused}");
            assert!(detail.contains(names) && !detail.contains("/api/"), "{tool} {arguments}: {detail}");
        }
        let one = problem(&service, &customer, "get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020 })).await;
        assert!(one["detail"].as_str().unwrap().contains("needs 1 credit;"), "{one}");
        // Over HTTP the same refusal names the URL.
        let address = format!("{}/api/v1/images/resolve", service.base_url);
        let refused = service.http.post(address).bearer_auth(&customer.key).json(&json!({ "query": "ford" })).send().await.unwrap();
        let refused: Value = refused.json().await.unwrap();
        assert!(refused["detail"].as_str().unwrap().contains("GET /api/v1/vehicles?make=ford"), "{refused}");
    }
}

//! Feedback, review, and rerendering.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

const CIVIC: &str = "/api/v1/images/car?make=honda&model=civic&year=2018";

async fn say(service: &Service, customer: &Customer, body: Value) -> Response {
    let address = format!("{}/api/v1/feedback", service.base_url);
    service.http.post(address).bearer_auth(&customer.key).json(&body).send().await.unwrap()
}

async fn kept(answer: Response) -> Value {
    assert_eq!(answer.status(), StatusCode::CREATED);
    answer.json::<Value>().await.unwrap()["data"].take()
}

async fn wrong(answer: Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    let mut body: Value = answer.json().await.unwrap();
    (status, body["parameter"].take())
}

/// The answer of the tool `rate_image`.
async fn rated_by_tool(service: &Service, customer: &Customer, arguments: Value) -> Value {
    let params = json!({ "name": "rate_image", "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key);
    let answer = request.header("accept", "application/json").json(&message).send().await.unwrap();
    answer.json::<Value>().await.unwrap()["result"]["structuredContent"].take()
}

async fn etag(service: &Service, customer: &Customer, query: &str) -> (String, Vec<u8>) {
    let answer = service.get(customer, &format!("{CIVIC}{query}")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    (answer.headers()["etag"].to_str().unwrap().to_owned(), answer.bytes().await.unwrap().to_vec())
}

on_both_databases! {
    async fn a_picture_is_named_by_its_request_or_its_vehicle(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let asked = service.get(&customer, CIVIC).header("x-request-id", "order:7").send().await.unwrap();
        assert_eq!(asked.headers()["x-request-id"], "order:7");
        let ours = service.get(&customer, CIVIC).send().await.unwrap().headers()["x-request-id"].to_str().unwrap().to_owned();

        let by_name = kept(say(&service, &customer, json!({ "request_id": "order:7", "rating": 5 })).await).await;
        assert_eq!(by_name["recorded"], true);
        assert!(by_name.get("flagged").is_none());
        let by_id = kept(say(&service, &customer, json!({ "request_id": ours, "verdict": "good" })).await).await;
        let vehicle = json!({ "make": "Honda", "model": "Civic", "year": 2018, "view": "hero", "color": "silver", "verdict": "bad", "reason": "wheels\u{0}" });
        let by_vehicle = kept(say(&service, &customer, vehicle).await).await;
        assert_eq!((&by_id["asset_id"], &by_vehicle["asset_id"]), (&by_name["asset_id"], &by_name["asset_id"]));

        // The call that made a URL, and the load of it.
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key)
            .json(&json!({ "images": [{ "make": "honda", "model": "civic", "year": 2018 }, { "make": "honda", "model": "civic", "year": 2018, "color": "red" }] }))
            .send().await.unwrap().json::<Value>().await.unwrap();
        let load = service.http.get(minted["data"][1]["url"].as_str().unwrap()).send().await.unwrap();
        let load_id = load.headers()["x-request-id"].to_str().unwrap().to_owned();
        let red = kept(say(&service, &customer, json!({ "request_id": load_id, "rating": 4 })).await).await;
        assert_ne!(red["asset_id"], by_name["asset_id"]);
        let both = json!({ "request_id": minted["request_id"], "rating": 4 });
        assert_eq!(wrong(say(&service, &customer, both).await).await, (400, json!("request_id")));
        let one = json!({ "request_id": minted["request_id"], "make": "honda", "model": "civic", "year": 2018, "color": "red", "rating": 4 });
        assert_eq!(kept(say(&service, &customer, one).await).await["asset_id"], red["asset_id"]);

        // Somebody else's, unknown, and not rendered.
        let stranger = service.customer(1).unwrap();
        for (who, body) in [
            (&stranger, json!({ "request_id": "order:7", "rating": 1 })),
            (&customer, json!({ "request_id": "order:8", "rating": 1 })),
            (&customer, json!({ "make": "honda", "model": "civic", "year": 2018, "color": "gold", "rating": 1 })),
            (&customer, json!({ "make": "honda", "model": "civik", "year": 2018, "rating": 1 })),
        ] {
            assert_eq!(say(&service, who, body.clone()).await.status(), StatusCode::NOT_FOUND, "{body}");
        }
        for (body, parameter) in [
            (json!({ "request_id": "order:7" }), "rating"),
            (json!({ "rating": 3 }), "request_id"),
            (json!({ "request_id": "order:7", "rating": 6 }), "rating"),
            (json!({ "request_id": "order:7", "verdict": "fine" }), "verdict"),
            (json!({ "request_id": "", "rating": 1 }), "request_id"),
            (json!({ "request_id": "x".repeat(129), "rating": 1 }), "request_id"),
            (json!({ "request_id": "order:7", "rating": 1, "reason": "x".repeat(501) }), "reason"),
            (json!({ "request_id": "order:7", "rating": 1, "stars": 2 }), "stars"),
            (json!({ "make": "honda", "model": "civic", "rating": 1 }), "year"),
        ] {
            assert_eq!(wrong(say(&service, &customer, body.clone()).await).await, (400, json!(parameter)), "{body}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 6, "opinions are free");
    }

    async fn a_picture_in_any_paint_is_named_as_it_is_asked_for(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let mut rated = Vec::new();
        for (query, looks) in [
            ("&color=1f4e8c", json!({ "colour": "#1F4E8C" })),
            ("&color=1f4e8c&finish=matt", json!({ "color": "1f4e8c", "finish": "matt" })),
            ("&color=red&shadow=off", json!({ "color": "red", "shadow": "off" })),
        ] {
            etag(&service, &customer, query).await;
            let mut body = json!({ "make": "honda", "model": "civic", "year": 2018, "rating": 4 });
            body.as_object_mut().unwrap().extend(looks.as_object().unwrap().clone());
            let by_api = kept(say(&service, &customer, body.clone()).await).await["asset_id"].take();
            let by_tool = rated_by_tool(&service, &customer, body).await["data"]["asset_id"].take();
            assert_eq!(by_api, by_tool, "{query}");
            rated.push(by_api);
        }
        rated.dedup();
        assert_eq!(rated.len(), 3);
        let wrong_finish = json!({ "make": "honda", "model": "civic", "year": 2018, "color": "red", "finish": "matt", "rating": 4 });
        assert_eq!(wrong(say(&service, &customer, wrong_finish).await).await, (400, json!("finish")));
    }

    async fn three_accounts_flag_a_render_and_a_new_revision_takes_its_place(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customers = [(); 4].map(|()| service.customer(250).unwrap());
        let (silver, old_bytes) = etag(&service, &customers[0], "").await;
        let (red, _) = etag(&service, &customers[0], "&color=red").await;
        let bad = json!({ "make": "honda", "model": "civic", "year": 2018, "rating": 1, "reason": "it floats" });
        let mut flagged = Vec::new();
        // Two reports by one account count once; the fourth account's changes nothing.
        for who in [0, 0, 1, 2, 3] {
            let said = kept(say(&service, &customers[who], bad.clone()).await).await;
            flagged.push(said.get("flagged").cloned());
        }
        assert_eq!(flagged, [None, None, None, Some(json!(true)), None]);
        let listed = service.operator(&["render", "flagged"]).unwrap();
        let listed = &listed["flagged"][0];
        assert_eq!((&listed["vehicle"], &listed["color"], &listed["bad_reports"], &listed["reasons"][0]), (&json!("honda/civic/2018"), &json!("silver"), &json!(4), &json!("it floats")));
        let render_id = listed["render_id"].as_str().unwrap().to_owned();

        // While the new revision is not made, and when making it fails, the old one is served.
        drop(node);
        let again = service.operator(&["render", "rerender", &render_id]).unwrap();
        assert_eq!((&again["revision"], &again["colors"]), (&json!(2), &json!(["red", "silver"])));
        assert!(service.operator(&["render", "rerender", &render_id]).is_err(), "one at a time");
        assert_eq!(etag(&service, &customers[0], "").await.0, silver);
        let broken = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(800)).await;
        drop(broken);
        assert_eq!(etag(&service, &customers[0], "").await, (silver.clone(), old_bytes.clone()));

        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        service.operator(&["render", "rerender", &render_id]).unwrap();
        let mut now = silver.clone();
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            now = etag(&service, &customers[1], "&size=thumb").await.0;
            let is_stored = service.operator(&["render", "show", &render_id]).unwrap()["revision"] == 2;
            // The process learns of the revision right after it is stored.
            if is_stored && etag(&service, &customers[2], "").await.0 != silver {
                break;
            }
        }
        let (new_silver, new_bytes) = etag(&service, &customers[0], "").await;
        assert!(new_silver != silver && new_bytes != old_bytes && !now.is_empty());
        assert_ne!(etag(&service, &customers[0], "&color=red").await.0, red, "every colour has the new light");
        let known = service.get(&customers[0], CIVIC).header("if-none-match", &silver).send().await.unwrap();
        assert_eq!(known.status(), StatusCode::OK, "what the old validator named is another picture");
        assert_eq!(service.operator(&["render", "flagged"]).unwrap()["flagged"], json!([]));

        // An approved revision is not put into review again.
        for who in [0, 1, 2] {
            say(&service, &customers[who], bad.clone()).await;
        }
        service.operator(&["render", "approve", &render_id]).unwrap();
        assert!(service.operator(&["render", "approve", &render_id]).is_err());
        assert!(kept(say(&service, &customers[3], bad.clone()).await).await.get("flagged").is_none());
        assert_eq!(service.operator(&["render", "flagged"]).unwrap()["flagged"], json!([]));
    }

    async fn a_candidate_is_looked_at_beside_what_is_served_and_taken_or_turned_down(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customers = [(); 3].map(|()| service.customer(100).unwrap());
        let ada = &customers[0];
        let bad = |view: &str| json!({ "make": "honda", "model": "civic", "year": 2018, "view": view, "verdict": "bad" });
        let operator = |command: &[&str]| service.operator(&[&["render"], command].concat());
        // In two views, one for each decision.
        let mut flagged = Vec::new();
        for view in ["side", "rear"] {
            for color in ["silver", "red"] {
                etag(&service, ada, &format!("&view={view}&color={color}")).await;
            }
            for customer in &customers {
                kept(say(&service, customer, bad(view)).await).await;
            }
            let listed = operator(&["flagged"]).unwrap();
            flagged.push(listed["flagged"].as_array().unwrap().last().unwrap()["render_id"].as_str().unwrap().to_owned());
        }
        let [side, rear] = [flagged[0].as_str(), flagged[1].as_str()];
        let served = async |view: &str, color: &str| etag(&service, ada, &format!("&view={view}&color={color}")).await.0;
        let candidate_of = async |render_id: &str, revision: i64| {
            for _ in 0..200 {
                let listed = operator(&["flagged"]).unwrap();
                let one = listed["flagged"].as_array().unwrap().iter().find(|one| one["render_id"] == render_id).unwrap().clone();
                if one["candidate_revision"] == revision && one["is_in_the_making"] == false {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            panic!("no candidate of revision {revision}: {}", operator(&["flagged"]).unwrap());
        };
        let before = [served("side", "silver").await, served("side", "red").await, served("rear", "silver").await, served("rear", "red").await];
        assert!(operator(&["accept", side, "2"]).is_err() && operator(&["reject", side, "2"]).is_err(), "there is none yet");
        for render_id in [side, rear] {
            assert_eq!(operator(&["candidate", render_id]).unwrap()["revision"], 2);
            candidate_of(render_id, 2).await;
        }
        let now = [served("side", "silver").await, served("side", "red").await, served("rear", "silver").await, served("rear", "red").await];
        assert_eq!(now, before, "nobody is served a candidate");
        // A colour that is requested meanwhile has the light that is served.
        for view in ["side", "rear"] {
            served(view, "blue").await;
        }

        // Side by side in the console.
        let at = |path: &str| format!("{}{path}", service.admin_url());
        let token = service.operator_token().unwrap();
        let mut console = Browser::new(&service);
        console.post(&at("/console/sign-in"), &[("token", &token)]).await.unwrap();
        let page = console.get(&at("/console")).await.unwrap();
        assert!(page.text().contains("delivered: revision 1 candidate: revision 2"), "{}", page.text());
        let picture = |path: String| service.http.get(at(&path)).header("cookie", format!("console={}", console.cookies["console"])).send();
        let old = picture(format!("/console/pictures/{side}")).await.unwrap().bytes().await.unwrap();
        let new = picture(format!("/console/pictures/{side}/candidate")).await.unwrap();
        assert_eq!(new.headers()["content-type"], "image/webp");
        assert_ne!(new.bytes().await.unwrap(), old);
        let csrf = page.field("csrf").unwrap();
        assert_eq!(picture("/console/pictures/%00/candidate".to_owned()).await.unwrap().status(), StatusCode::NOT_FOUND);

        // Rejected, twice, and too late for anything else; no revision is made again.
        for _ in 0..2 {
            let path = at(&format!("/console/renders/{side}/candidates/2/reject"));
            assert_eq!(console.post(&path, &[("csrf", &csrf)]).await.unwrap().status, StatusCode::SEE_OTHER);
        }
        assert!(operator(&["accept", side, "2"]).is_err());
        assert_eq!([served("side", "silver").await, served("side", "red").await], before[..2]);
        assert_eq!(operator(&["rerender", side]).unwrap()["revision"], 3);

        // Once more, and then accepted: for every colour, and for a URL that was paid before.
        let body = json!({ "make": "honda", "model": "civic", "year": 2018, "view": "rear" });
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&ada.key).json(&body).send().await.unwrap();
        let url = minted.json::<Value>().await.unwrap()["data"][0]["url"].as_str().unwrap().to_owned();
        let loaded = async || service.http.get(&url).send().await.unwrap().headers()["etag"].clone();
        let paid = loaded().await;
        assert_eq!(operator(&["candidate", rear]).unwrap()["revision"], 3);
        candidate_of(rear, 3).await;
        assert!(operator(&["accept", rear, "2"]).is_err(), "another one waits by now");
        let path = at(&format!("/console/renders/{rear}/candidates/3/accept"));
        for _ in 0..2 {
            assert_eq!(console.post(&path, &[("csrf", &csrf)]).await.unwrap().status, StatusCode::SEE_OTHER);
        }
        assert!(operator(&["reject", rear, "3"]).is_err());
        assert!(served("rear", "silver").await != before[2] && served("rear", "red").await != before[3] && loaded().await != paid);
        assert_eq!(operator(&["flagged"]).unwrap()["flagged"], json!([]));
        let mut revisions = Vec::new();
        for _ in 0..200 {
            let listed = operator(&["list"]).unwrap();
            revisions = listed["renders"].as_array().unwrap().iter().filter(|one| one["view"] == "rear").map(|one| one["revision"].clone()).collect();
            if revisions == [json!(3), json!(3), json!(3)] {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(revisions, [json!(3), json!(3), json!(3)], "the colour that came meanwhile is painted in the new light");
    }
}

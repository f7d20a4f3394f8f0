//! The operator's console: who may open it, what it shows, and that it shows changes as they
//! happen.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases};
use futures::StreamExt;
use reqwest::StatusCode;
use serde_json::json;
use std::time::Duration;

fn token(service: &Service) -> String {
    service.operator_token().unwrap()
}

on_both_databases! {
    async fn opened_by_the_operators_token_alone(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let at = |path: &str| format!("{}{path}", service.admin_url());
        let mut operator = Browser::new(&service);
        for path in ["/console", "/console/events", "/console/pictures/x"] {
            let sent_away = operator.get(&at(path)).await.unwrap();
            assert_eq!((sent_away.status, sent_away.location()), (StatusCode::SEE_OTHER, "/console/sign-in"), "{path}");
            assert_eq!(operator.get(path).await.unwrap().status, StatusCode::NOT_FOUND, "not on the public address");
        }
        for wrong in ["", "cyco_wrong"] {
            assert_eq!(operator.post(&at("/console/sign-in"), &[("token", wrong)]).await.unwrap().status, StatusCode::FORBIDDEN);
        }
        operator.cookies.insert("console".to_owned(), "0".repeat(64));
        assert_eq!(operator.get(&at("/console")).await.unwrap().status, StatusCode::SEE_OTHER, "an invented cookie");
        let signed_in = operator.post(&at("/console/sign-in"), &[("token", &token(&service))]).await.unwrap();
        assert_eq!((signed_in.status, signed_in.location()), (StatusCode::SEE_OTHER, "/console"), "{}", signed_in.text());
        let cookie = signed_in.headers["set-cookie"].to_str().unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(&token(&service)), "{cookie}");
        assert!(!cookie.contains("Secure"), "{cookie}");
        let mut behind_https = Browser::new(&service);
        behind_https.headers.push(("origin", "https://console.example".to_owned()));
        let secure = behind_https.post(&at("/console/sign-in"), &[("token", &token(&service))]).await.unwrap();
        assert!(secure.headers["set-cookie"].to_str().unwrap().contains("Secure"));
        let (end, code) = operator.cookies["console"].split_once('.').map(|(end, code)| (end.to_owned(), code.to_owned())).unwrap();
        let mut late = Browser::new(&service);
        for end in ["1", &format!("{end}0")] {
            late.cookies.insert("console".to_owned(), format!("{end}.{code}"));
            assert_eq!(late.get(&at("/console")).await.unwrap().status, StatusCode::SEE_OTHER, "a cookie's end is part of its code");
        }
        assert_eq!(operator.get(&at("/console/pictures/%00")).await.unwrap().status, StatusCode::NOT_FOUND);
        let page = operator.get(&at("/console")).await.unwrap();
        assert!(page.text().contains("No node has joined"), "{}", page.text());
        let forged = operator.post(&at("/console/renders/x/rerender"), &[("csrf", "x")]).await.unwrap();
        assert_eq!(forged.status, StatusCode::FORBIDDEN);
        let csrf = page.field("csrf").unwrap();
        assert_eq!(operator.post(&at("/console/renders/x/rerender"), &[("csrf", &csrf)]).await.unwrap().status, StatusCode::NOT_FOUND);
        operator.post(&at("/console/sign-out"), &[("csrf", &csrf)]).await.unwrap();
        assert_eq!(operator.get(&at("/console")).await.unwrap().status, StatusCode::SEE_OTHER);
    }

    async fn shows_work_failures_and_reviews_and_tells_changes(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let at = |path: &str| format!("{}{path}", service.admin_url());
        let mut operator = Browser::new(&service);
        operator.post(&at("/console/sign-in"), &[("token", &token(&service))]).await.unwrap();
        let cookie = format!("console={}", operator.cookies["console"]);
        let events = service.http.get(at("/console/events")).header("cookie", cookie).send().await.unwrap();
        assert_eq!(events.headers()["content-type"], "text/event-stream");
        assert_eq!(events.headers()["x-accel-buffering"], "no", "no proxy gathers events");
        assert!(["no-cache", "no-store"].contains(&events.headers()["cache-control"].to_str().unwrap()));
        let mut events = events.bytes_stream();

        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let mut told = String::new();
        let heard = tokio::time::timeout(Duration::from_secs(20), async {
            while !told.contains("of 1 in use") && !told.contains("in use,") {
                told.push_str(&String::from_utf8_lossy(&events.next().await.unwrap().unwrap()));
            }
        });
        heard.await.expect("the node's arrival is told");

        const CIVIC: &str = "/api/v1/images/car?make=honda&model=civic&year=2018";
        for place in 0..3 {
            let customer = service.customer(5).unwrap();
            assert_eq!(service.get(&customer, CIVIC).send().await.unwrap().status(), StatusCode::OK);
            let report = json!({ "make": "honda", "model": "civic", "year": 2018, "verdict": "bad", "reason": format!("<i>crooked {place}") });
            let answer = service.http.post(format!("{}/api/v1/feedback", service.base_url)).bearer_auth(&customer.key).json(&report).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::CREATED);
        }
        drop(node);
        let broken = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let customer = service.customer(5).unwrap();
        assert_eq!(service.get(&customer, &format!("{CIVIC}&view=rear")).send().await.unwrap().status(), StatusCode::BAD_GATEWAY);
        drop(broken);

        service.operator(&["prewarm", "start", "--name", "winter colours", "make=honda", "model=civic", "years=2018", "views=all"]).unwrap();
        let page = operator.get(&at("/console")).await.unwrap();
        let text = page.text();
        assert!(page.html.contains("<progress max=\"100\" value=\"0\" aria-label=\"winter colours, in percent\">"), "{}", page.html);
        for expected in ["winter colours running, 0 of 6 rows", "honda/civic/2018, front-3-4, silver", "revision 1, 3 bad, 0 good", "Failures: 1 model", "No job is waiting", "revision 1, base shading only", "of $50"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(page.html.contains("&lt;i&gt;crooked"), "{}", page.html);
        let html = page.html.replace("&#x2f;", "/");
        let keep = html.split("action=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).find(|action| action.ends_with("/approve")).unwrap();
        let render_id = keep.split('/').nth(3).unwrap();
        let picture = operator.get(&at(&format!("/console/pictures/{render_id}"))).await.unwrap();
        assert_eq!((picture.status, &picture.headers["content-type"]), (StatusCode::OK, &"image/webp".parse().unwrap()));
        let csrf = page.field("csrf").unwrap();
        let kept = operator.post(&at(keep), &[("csrf", &csrf)]).await.unwrap();
        assert_eq!((kept.status, kept.location()), (StatusCode::SEE_OTHER, "/console"));
        assert!(operator.get(&at("/console")).await.unwrap().text().contains("No image is in review"));
        // An open console does not delay the end of the service.
        assert!(tokio::time::timeout(Duration::from_secs(20), service.terminate()).await.unwrap().unwrap().success());
    }
}

//! JSON bodies: one reader for all of them, so that the same mistake gets the same message
//! everywhere, with the name of the member.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{DatabaseChoice, Service, on_both_databases};
use serde_json::{Value, json};

/// The endpoint of a body, and the credentials for it.
#[derive(Clone, Copy)]
enum To {
    Api(&'static str),
    Open(&'static str),
    Operator(&'static str, &'static str),
}

async fn send(service: &Service, customer: &Customer, to: To, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = match to {
        To::Api(path) => service.http.post(format!("{}{path}", service.base_url)).bearer_auth(&customer.key),
        To::Open(path) => service.http.post(format!("{}{path}", service.base_url)),
        To::Operator(method, path) => {
            let token = service.operator_token().unwrap();
            let path = path.replace("{account}", &customer.account_id).replace("{key}", &customer.key_id);
            service.http.request(method.parse().unwrap(), format!("{}{path}", service.admin_url())).bearer_auth(token)
        }
    };
    let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// An endpoint, a valid body, one of its optional members with a value of another type, and the
/// place of both.
const BODIES: [(To, &str, &str, &str); 11] = [
    (To::Api("/api/v1/image-urls"), r#"{"make":"honda","model":"civic","year":2018"#, "color", "7"),
    (
        To::Api("/api/v1/image-urls"),
        r#"{"images":[{"make":"honda","model":"civic","year":2018}]"#,
        "ttl_seconds",
        "\"x\"",
    ),
    (To::Api("/api/v1/images/resolve"), r#"{"query":"vw golf""#, "make", "true"),
    (To::Api("/api/v1/images/resolve"), r#"{"query":"vw golf""#, "year", "\"2020\""),
    (To::Api("/api/v1/feedback"), r#"{"request_id":"x","rating":1"#, "verdict", "true"),
    (To::Api("/api/v1/feedback"), r#"{"request_id":"x","rating":1"#, "reason", "[]"),
    (To::Open("/api/auth/device/code"), "{\"x\":1", "client_name", "5"),
    (To::Operator("POST", "/admin/accounts"), r#"{"email":"a@example.com""#, "credits", "\"5000\""),
    (To::Operator("POST", "/admin/keys"), r#"{"account_id":"x""#, "scopes", "\"images:read\""),
    (To::Operator("POST", "/admin/accounts/{account}/grants"), r#"{"reason":"x""#, "credits", "\"5\""),
    (To::Operator("PUT", "/admin/budget"), "{", "usd_per_day", "\"5\""),
];

on_both_databases! {
    async fn the_same_slip_is_refused_alike_everywhere(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        for (to, good, member, wrong) in BODIES {
            let with = |value: &str| match good {
                "{" => format!("{{\"{member}\":{value}}}"),
                good => format!("{good},\"{member}\":{value}}}"),
            };
            let (status, problem) = send(&service, &customer, to, with("null")).await;
            let text = format!("`{member}` must not be null: leave it out instead.");
            assert_eq!((status, &problem["detail"], &problem["parameter"]), (400, &json!(text), &json!(member)), "{good}: {problem}");
            let (status, problem) = send(&service, &customer, to, with(wrong)).await;
            assert_eq!((status, &problem["parameter"]), (400, &json!(member)), "{good} {wrong}: {problem}");
            assert!(problem["detail"].as_str().unwrap().starts_with(&format!("`{member}` must be ")), "{problem}");
            let twice = with(&format!("{wrong},\"{member}\":{wrong}"));
            let (status, problem) = send(&service, &customer, to, twice).await;
            let text = format!("`{member}` is given more than once.");
            assert_eq!((status, &problem["detail"], &problem["parameter"]), (400, &json!(text), &json!(member)), "{good}: {problem}");
            let (status, problem) = send(&service, &customer, to, "[]").await;
            assert_eq!(status, 400, "{problem}");
            assert!(problem["detail"].as_str().unwrap().contains("JSON object"), "{problem}");
            let (status, problem) = send(&service, &customer, to, "{").await;
            assert_eq!((status, &problem["code"]), (400, &json!("invalid_json")), "{problem}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn wrong_members_are_named_by_their_path(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let car = |rest: &str| format!(r#"{{"images":[{{"make":"honda","model":"civic","year":2018}},{{"make":"honda","model":"civic",{rest}}}]}}"#);
        let (urls, checkout, events) = (To::Api("/api/v1/image-urls"), To::Api("/api/v1/billing/checkout"), To::Open("/api/v1/events"));
        for (to, body, parameter, index, says) in [
            (checkout, r#"{"credits":"5000"}"#.to_owned(), "credits", None, "`credits` must be a whole number, not a string."),
            (checkout, r#"{"credits":5000.5}"#.to_owned(), "credits", None, "`credits` must be a whole number"),
            (checkout, "{}".to_owned(), "credits", None, "`credits` is required."),
            (
                checkout, r#"{"credits":5000,"pack":1}"#.to_owned(), "pack", None,
                "`pack` is not a member of this body, which takes credits.",
            ),
            (To::Api("/api/v1/images/resolve"), r#"{"query":5}"#.to_owned(), "query", None, "`query` must be a string, not the number 5."),
            (To::Api("/api/v1/feedback"), r#"{"request_id":"x","verdict":true}"#.to_owned(), "verdict", None, "`verdict` must be a string, not a boolean."),
            (urls, car(r#""year":"2018""#), "year", Some(1), "`images[1].year` must be a whole number or `latest`, not a string"),
            (urls, car(r#""year":null"#), "year", Some(1), "`images[1].year` must not be null: leave it out instead."),
            (urls, car(r#""year":2018,"year":2019"#), "images[1].year", None, "`images[1].year` is given more than once."),
            (urls, car(r#""color":"red""#), "year", Some(1), "`images[1].year` is required"),
            (urls, car(r#""year":2018,"paint":"red""#), "paint", Some(1), "`color`"),
            (events, r#"{"events":[{"event":"a"},{"event":7}]}"#.to_owned(), "event", Some(1), "`events[1].event` must be a string, not the number 7."),
            (events, r#"{"events":[{"event":"a","utm":{"source":1}}]}"#.to_owned(), "utm.source", Some(0), "`events[0].utm.source` must be a string"),
            (events, r#"{"events":[{"event":"a","source":null}]}"#.to_owned(), "source", Some(0), "`events[0].source` must not be null"),
            (To::Operator("POST", "/admin/prewarm/plan"), r#"{"requests":[{"make":"honda","years":2018}]}"#.to_owned(), "requests[0].years", None, "`requests[0].years` must be a string"),
            (
                To::Operator("PUT", "/admin/budget"), r#"{"usd_per_day":null}"#.to_owned(), "usd_per_day", None,
                "`usd_per_day` must not be null",
            ),
        ] {
            let (status, problem) = send(&service, &customer, to, body.clone()).await;
            assert_eq!((status, &problem["parameter"], &problem["index"]), (400, &json!(parameter), &json!(index)), "{body}: {problem}");
            assert!(problem["detail"].as_str().unwrap().contains(says), "{body}: {problem}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn marks_numbers_and_nulls_that_are_values(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        // A byte order mark, as some systems write it, and the one kind of number that JSON has.
        for (to, body, status) in [
            (To::Api("/api/v1/images/resolve"), "\u{feff}{\"query\":\"vw golf\"}", 200),
            (To::Api("/api/v1/image-urls"), "\u{feff}{\"make\":\"honda\",\"model\":\"civic\",\"year\":2.018e3}", 201),
            (To::Api("/api/v1/billing/checkout"), "\u{feff}{\"credits\":5000.0}", 201),
            (To::Open("/api/auth/device/code"), "\u{feff}{\"client_name\":\"a\"}", 201),
            (To::Open("/api/v1/events"), "\u{feff}{\"events\":[{\"event\":\"a\",\"properties\":{\"x\":null},\"unknown\":null}]}", 202),
            (To::Api("/api/mcp"), "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 200),
            (To::Operator("PUT", "/admin/keys/{key}/cap"), "{\"monthly_cap_credits\":100.0}", 200),
            // Null is a value here: no cap.
            (To::Operator("PUT", "/admin/keys/{key}/cap"), "{\"monthly_cap_credits\":null}", 200),
        ] {
            let (answered, answer) = send(&service, &customer, to, body).await;
            assert_eq!(answered, status, "{body}: {answer}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
        let twice = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"get_account\",\"arguments\":{\"x\":1,\"x\":2}}}";
        let (status, refused) = send(&service, &customer, To::Api("/api/mcp"), twice).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32600)));
        assert!(refused["error"]["message"].as_str().unwrap().contains("`params.arguments.x` is given more than once"), "{refused}");
    }
}

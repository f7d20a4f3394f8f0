//! Floods of requests that try to make the service slow or full, each at a rate that one machine
//! with two cores can send beside everything else.

use crate::crowd::Requests;
use crate::setting::{AbuseSetup, PICTURES};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use std::sync::Arc;

pub struct Flood {
    pub name: &'static str,
    pub per_second: f64,
    pub requests: Requests,
}

/// The flood whose requests are paid for.
pub const PAID: &str = "paid sizes";

const FORMATS: [&str; 3] = ["png", "webp", "jpg"];

pub fn all(setting: &AbuseSetup) -> Vec<Flood> {
    let (http, base) = (setting.service.http.clone(), setting.service.base_url.clone());
    let ask_for = move |method: Method, path: &str| http.request(method, format!("{base}{path}"));
    let flood = |name, per_second, requests: Requests| Flood { name, per_second, requests };
    let (stranger, reader, keys) = (setting.stranger.clone(), setting.reader.clone(), setting.keys.clone());
    let form = setting.form.clone();
    let mut floods = Vec::new();

    // Free images, no two of the same size; every fifth request is a HEAD.
    let ask = ask_for.clone();
    floods.push(flood(
        "free sizes",
        10.0,
        Arc::new(move |number| {
            let path = format!("/images/car.png?{}&mode=cached", sized(number));
            let method = if number % 5 == 0 { Method::HEAD } else { Method::GET };
            from_elsewhere(ask(method, &path), number)
        }),
    ));
    let ask = ask_for.clone();
    floods.push(flood(
        PAID,
        4.0,
        Arc::new(move |number| {
            let path = format!("/api/v1/images/car?{}", sized(number * 7 + 3));
            from_elsewhere(ask(Method::GET, &path), number).bearer_auth(&stranger.0)
        }),
    ));
    // Images not rendered yet, while the budget is spent: each makes a hold that is released.
    let ask = ask_for.clone();
    floods.push(flood(
        "cold, 100 keys",
        20.0,
        Arc::new(move |number| {
            let year = 1996 + number % 25;
            let path = format!("/api/v1/images/car?make=toyota&model=corolla&year={year}&view=front");
            ask(Method::GET, &path).bearer_auth(&keys[number as usize % keys.len()])
        }),
    ));
    let ask = ask_for.clone();
    floods.push(flood("events", 10.0, Arc::new(move |number| {
        let event = json!({ "event": "page_view", "source": "web", "anonymous_id": format!("{number}"), "properties": { "x": "y".repeat(1_000) } });
        from_elsewhere(ask(Method::POST, "/api/v1/events"), number).json(&json!({ "events": vec![event; 20] }))
    })));
    let ask = ask_for.clone();
    floods.push(flood(
        "statements",
        2.0,
        Arc::new(move |number| {
            let form = if number % 2 == 0 { "" } else { "?format=csv" };
            ask(Method::GET, &format!("/api/v1/account/statement{form}")).bearer_auth(&reader.0)
        }),
    ));
    let ask = ask_for.clone();
    floods.push(flood(
        "public reads",
        25.0,
        Arc::new(move |number| {
            let path = match number % 4 {
                0 => format!("/api/v1/vehicles?q=porshe+{number}"),
                1 => "/api/v1/vehicles".to_owned(),
                2 => format!("/nothing/at/{number}"),
                _ => format!("/images/car.png?make=hnda&model=civc&year=20{:02}&view=side&mode=cached", number % 20),
            };
            from_elsewhere(ask(Method::GET, &path), number)
        }),
    ));
    let ask = ask_for.clone();
    floods.push(flood(
        "device codes",
        5.0,
        Arc::new(move |number| from_elsewhere(ask(Method::POST, "/api/auth/device/code"), number)),
    ));
    floods.push(flood(
        "sign-in",
        5.0,
        Arc::new(move |number| {
            let fields = [
                ("email", format!("person{}@example.com", number % 50)),
                ("password", format!("guess {number}")),
                ("csrf", form.csrf.clone()),
            ];
            from_elsewhere(ask_for(Method::POST, "/sign-in"), number)
                .header("accept", "text/html")
                .header("cookie", &form.cookies)
                .form(&fields)
        }),
    ));
    floods
}

/// Query of an image, size and format that do not repeat until all have been used. Images are
/// square, so the size is one number.
fn sized(number: u64) -> String {
    let (side, picture) = (17 + number % 1_007, PICTURES[(number / 1_007) as usize % PICTURES.len()]);
    format!("{picture}&w={side}&h={side}&format={}", FORMATS[(number % 3) as usize])
}

/// Adds the header with which the proxy of this machine forwards a request of one of a few thousand
/// clients.
fn from_elsewhere(request: RequestBuilder, number: u64) -> RequestBuilder {
    let client = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    request.header("x-forwarded-for", format!("127.{}.{}.1", 1 + client / 256, client % 256))
}

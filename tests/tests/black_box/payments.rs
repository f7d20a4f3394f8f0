//! Buying credits: the API's pages, the dashboard's, and that credits are added once.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Browser, DatabaseChoice, FakeStripe, Options, Service, on_both_databases, secrets};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

async fn checkout(service: &Service, customer: &Customer, body: &Value, name: Option<&str>) -> Response {
    let request = service
        .http
        .post(format!("{}/api/v1/billing/checkout", service.base_url))
        .bearer_auth(&customer.key)
        .json(body);
    let request = match name {
        Some(name) => request.header("idempotency-key", name),
        None => request,
    };
    request.send().await.unwrap()
}

fn page_of(answer: &Value) -> String {
    let url = answer["data"]["url"].as_str().unwrap().to_owned();
    secrets::note(url.rsplit('/').next().unwrap());
    url
}

on_both_databases! {
    async fn a_person_pays_and_the_credits_come_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let portal = || service.http.post(format!("{}/api/v1/billing/portal", service.base_url)).bearer_auth(&customer.key).send();
        let none = portal().await.unwrap();
        assert_eq!(none.status(), StatusCode::BAD_REQUEST);
        assert_eq!(none.json::<Value>().await.unwrap()["code"], "no_purchase");

        let answer = checkout(&service, &customer, &json!({ "credits": 5000 }), None).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        let answer: Value = answer.json().await.unwrap();
        assert_eq!((&answer["data"]["credits"], &answer["data"]["amount_cents"]), (&json!(5000), &json!(500)));
        let page = page_of(&answer);
        assert_eq!(service.balance(&customer).await.unwrap(), 5, "making a page charges and gives nothing");

        let mut browser = Browser::new(&service);
        assert!(browser.get(&page).await.unwrap().text().contains("$5 for 5,000 credits"));
        let forged = browser.post(&page, &[("decision", "pay")]).await.unwrap();
        assert_eq!((forged.status, service.balance(&customer).await.unwrap()), (StatusCode::FORBIDDEN, 5));
        let token = browser.get(&page).await.unwrap().field("csrf").unwrap();
        let fields = [("csrf", token.as_str()), ("decision", "pay")];
        let mut paying = Vec::new();
        for _ in 0..20 {
            let mut other = Browser::new(&service);
            other.cookies = browser.cookies.clone();
            let (page, fields) = (page.clone(), fields.map(|(name, value)| (name, value.to_owned())));
            paying.push(tokio::spawn(async move {
                let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
                other.post(&page, &fields).await.unwrap().text()
            }));
        }
        for told in paying {
            let told = told.await.unwrap();
            assert!(told.contains("5,000 credits were added to your account"), "{told}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
        assert!(browser.post(&page, &[("csrf", &token), ("decision", "cancel")]).await.unwrap().text().contains("Thank you"));
        let there = portal().await.unwrap();
        assert_eq!(there.status(), StatusCode::CREATED);
        assert_eq!(there.json::<Value>().await.unwrap()["data"]["url"], format!("{}/dashboard/billing", service.base_url));

        let cancelled = page_of(&checkout(&service, &customer, &json!({ "credits": 100_000 }), None).await.json().await.unwrap());
        assert!(browser.submit(&cancelled, &cancelled, &[("decision", "cancel")]).await.unwrap().text().contains("Cancelled"));
        assert!(browser.post(&cancelled, &[("csrf", &token), ("decision", "pay")]).await.unwrap().text().contains("Cancelled"));
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
        assert_eq!(browser.get(&format!("{}/pay/cycpay_invented", service.base_url)).await.unwrap().status, StatusCode::NOT_FOUND);
    }

    async fn a_page_of_ours_is_gone_once_stripe_takes_the_money(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let page = page_of(&checkout(&service, &customer, &json!({ "credits": 100_000 }), None).await.json().await.unwrap());
        let mut browser = Browser::new(&service);
        let token = browser.get(&page).await.unwrap().field("csrf").unwrap();
        service.terminate().await.unwrap();

        let stripe = FakeStripe::start().await.unwrap();
        let objects = format!("file:{}", service.data_dir().join("objects").display());
        let options =
            stripe.options().set("CYCLORAMA_DATABASE_URL", service.database_url()).set("CYCLORAMA_OBJECTS", objects);
        let now = Service::start_with(db, options).await.unwrap();
        let path = page.strip_prefix(&service.base_url).unwrap();
        let mut visitor = Browser::new(&now);
        visitor.cookies = browser.cookies.clone();
        assert_eq!(visitor.get(path).await.unwrap().status, StatusCode::NOT_FOUND);
        let paid = visitor.post(path, &[("csrf", &token), ("decision", "pay")]).await.unwrap();
        assert_eq!(paid.status, StatusCode::NOT_FOUND, "{}", paid.text());
        assert_eq!(now.balance(&customer).await.unwrap(), 5);
    }

    async fn wrong_and_repeated_orders(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_PACKS", "5000:500,7:9")).await.unwrap();
        let customer = service.customer(5).unwrap();
        for (body, parameter) in [
            (json!({ "credits": 6000 }), json!("credits")),
            (json!({ "credits": 10_000 }), json!("credits")),
            (json!({ "credits": -5000 }), json!("credits")),
            (json!({}), json!("credits")),
            (json!({ "credits": 5000, "price": 1 }), json!("price")),
            (json!({ "credits": "5000" }), json!("credits")),
            (json!([]), Value::Null),
        ] {
            let answer = checkout(&service, &customer, &body, None).await;
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{body}");
            assert_eq!(answer.json::<Value>().await.unwrap()["parameter"], parameter, "{body}");
        }
        let large = checkout(&service, &customer, &json!({ "credits": 7, "x": "y".repeat(2000) }), None).await;
        assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(checkout(&service, &customer, &json!({ "credits": 7 }), None).await.status(), StatusCode::CREATED, "a pack of this deployment");

        let first: Value = checkout(&service, &customer, &json!({ "credits": 5000 }), Some("order-1")).await.json().await.unwrap();
        page_of(&first);
        let again = checkout(&service, &customer, &json!({ "credits": 5000 }), Some("order-1")).await;
        assert_eq!((again.status(), &again.headers()["idempotent-replayed"]), (StatusCode::CREATED, &"true".parse().unwrap()));
        assert_eq!(again.json::<Value>().await.unwrap(), first);
        let other = checkout(&service, &customer, &json!({ "credits": 7 }), Some("order-1")).await;
        assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);

        let key = service.operator(&["key", "create", "--account", &customer.account_id, "--scopes", "images:read"]).unwrap();
        let narrow = Customer { key: key["key"].as_str().unwrap().to_owned(), ..customer.clone() };
        let refused = checkout(&service, &narrow, &json!({ "credits": 7 }), None).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        assert!(refused.json::<Value>().await.unwrap()["detail"].as_str().unwrap().contains("billing:write"));

        // A purchase that the operator enters counts as bought.
        service.operator(&["account", "purchase", &customer.account_id, "100", "--reference", "bank-1"]).unwrap();
        let portal = service.http.post(format!("{}/api/v1/billing/portal", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
        assert_eq!(portal.status(), StatusCode::CREATED);
    }

    async fn bought_in_the_dashboard(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let bought = ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "10000")]).await.unwrap();
        assert_eq!(bought.status, StatusCode::SEE_OTHER, "{}", bought.text());
        let page = bought.location().to_owned();
        secrets::note(page.rsplit('/').next().unwrap());
        ada.submit(&page, &page, &[("decision", "pay")]).await.unwrap();
        let billing = ada.get("/dashboard/billing").await.unwrap().text();
        assert!(billing.contains("10,100 credits") && billing.contains("10,000 $10 paid") && billing.contains("credits bought +10,000 10,100"), "{billing}");
        assert_eq!(ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "1")]).await.unwrap().status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sold_where_payments_are_off() {
    let options = Options::default().set("CYCLORAMA_PAYMENTS", "off");
    let mut service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    let customer = service.customer(5).unwrap();
    let page = page_of(&checkout(&service, &customer, &json!({ "credits": 5000 }), None).await.json().await.unwrap());
    assert!(service.terminate().await.unwrap().success());
    service.options = options;
    service.launch().await.unwrap();
    let refused = checkout(&service, &customer, &json!({ "credits": 5000 }), None).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "payments_off");
    let mut browser = Browser::new(&service);
    assert_eq!(browser.get(&page).await.unwrap().status, StatusCode::NOT_FOUND, "a page made before");
    browser.sign_up("ada@example.com", "a long password").await.unwrap();
    assert!(browser.get("/dashboard/billing").await.unwrap().text().contains("Ask its operator"));
    let token = browser.get("/dashboard/password").await.unwrap().field("csrf").unwrap();
    let bought = browser.post("/dashboard/billing", &[("csrf", &token), ("credits", "5000")]).await.unwrap();
    assert_eq!(bought.status, StatusCode::SERVICE_UNAVAILABLE);
}

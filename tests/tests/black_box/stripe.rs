//! Payment through Stripe: pages, events repeated and in any order, forgeries, refunds, reloads,
//! and Stripe being down.

use cyclorama_tests::mailbox::Mailbox;
use cyclorama_tests::service::Customer;
use cyclorama_tests::stripe::{
    SECRET_KEY, StripeBehaviour, WEBHOOK_SECRET, charge_event, send_signed, signature, unix_seconds,
};
use cyclorama_tests::{Browser, DatabaseChoice, FakeStripe, Service, on_both_databases, secrets, tools};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

async fn checkout(service: &Service, customer: &Customer, credits: i64, name: Option<&str>) -> Response {
    let request = service
        .http
        .post(format!("{}/api/v1/billing/checkout", service.base_url))
        .bearer_auth(&customer.key)
        .json(&json!({ "credits": credits }));
    let request = match name {
        Some(name) => request.header("idempotency-key", name),
        None => request,
    };
    let answer = request.send().await.unwrap();
    assert!(answer.status() != StatusCode::INTERNAL_SERVER_ERROR);
    answer
}

/// The service in front of the stand-in, with a customer who has five credits.
async fn selling(db: DatabaseChoice) -> (FakeStripe, Service, Customer) {
    let stripe = FakeStripe::start().await.unwrap();
    let service = Service::start_with(db, stripe.options()).await.unwrap();
    let customer = service.customer(5).unwrap();
    (stripe, service, customer)
}

async fn events_written(service: &Service) -> i64 {
    let mut connection = service.database().await.unwrap();
    sqlx::query_scalar("select count(*) from webhook_events").fetch_one(&mut connection).await.unwrap()
}

/// The account of a person who signed up, and a key of it.
async fn customer_of(service: &Service, email: &str) -> Customer {
    let mut connection = service.database().await.unwrap();
    let query = sqlx::query_scalar("select id from accounts where email = $1").bind(email);
    let account_id: String = query.fetch_one(&mut connection).await.unwrap();
    let key = service.operator(&["key", "create", "--account", &account_id]).unwrap();
    let text = |member: &str| key[member].as_str().unwrap().to_owned();
    Customer { key_id: text("key_id"), key: text("key"), account_id }
}

/// Waits until the balance is as expected, half a minute at most.
async fn balance_becomes(service: &Service, customer: &Customer, expected: i64) {
    let mut balance = 0;
    for _ in 0..300 {
        balance = service.balance(customer).await.unwrap();
        if balance == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a balance of {balance}, not {expected}");
}

on_both_databases! {
    async fn bought_on_stripes_page(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        let portal = || service.http.post(format!("{}/api/v1/billing/portal", service.base_url)).bearer_auth(&customer.key).send();
        assert_eq!(portal().await.unwrap().status(), StatusCode::BAD_REQUEST);
        let first: Value = checkout(&service, &customer, 5000, Some("order-1")).await.json().await.unwrap();
        assert_eq!((&first["data"]["credits"], &first["data"]["amount_cents"]), (&json!(5000), &json!(500)));
        assert!(first["data"]["url"].as_str().unwrap().starts_with("https://checkout.stripe.test/"), "{first}");
        let again: Value = checkout(&service, &customer, 5000, Some("order-1")).await.json().await.unwrap();
        assert_eq!(again, first);
        assert_eq!(checkout(&service, &customer, 10_000, None).await.status(), StatusCode::CREATED);
        let (sessions, customers) = (stripe.sessions(), stripe.customers());
        assert_eq!((sessions.len(), customers.len()), (2, 1), "one page for one order, one customer for one account");
        assert_eq!(customers[0]["metadata[cyclorama_account]"], customer.account_id);
        assert_eq!(sessions[0]["line_items[0][price_data][unit_amount]"], "500");
        assert_eq!(sessions[0]["line_items[0][price_data][currency]"], "usd");
        assert!(!sessions[0].contains_key("payment_intent_data[setup_future_usage]"), "nobody asked for the card to be kept");

        let back = sessions[0]["success_url"].clone();
        secrets::note(back.rsplit('/').next().unwrap());
        secrets::note(sessions[1]["success_url"].rsplit('/').next().unwrap());
        let mut browser = Browser::new(&service);
        assert!(browser.get(&back).await.unwrap().text().contains("Not paid yet"));
        // It cannot be paid as a session of the local provider.
        let token = browser.get("/sign-in").await.unwrap().field("csrf").unwrap();
        browser.post(&back, &[("csrf", &token), ("decision", "pay")]).await.unwrap();
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
        let paid = stripe.pay(&sessions[0]);
        assert_eq!(stripe.send(&service, &paid.completed).await.unwrap().as_u16(), 204);
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
        assert!(browser.get(&back).await.unwrap().text().contains("5,000 credits were added to your account"));
        let there = portal().await.unwrap();
        assert_eq!(there.status(), StatusCode::CREATED);
        let there: Value = there.json().await.unwrap();
        assert!(there["data"]["url"].as_str().unwrap().starts_with("https://billing.stripe.test/"), "{there}");
    }

    async fn bought_in_the_dashboard_without_a_redirect_that_browsers_refuse(db: DatabaseChoice) {
        let (stripe, service, _) = selling(db).await;
        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let leaving = ada.submit("/dashboard/billing", "/dashboard/billing", &[("credits", "10000")]).await.unwrap();
        assert_eq!(leaving.status, StatusCode::OK);
        assert!(leaving.html.contains("href=\"https:&#x2f;&#x2f;checkout.stripe.test"), "{}", leaving.html);
        assert!(leaving.headers["refresh"].to_str().unwrap().starts_with("0; url=https://checkout.stripe.test/"));
        assert!(leaving.headers["content-security-policy"].to_str().unwrap().contains("form-action 'self';"));
        let sessions = stripe.sessions();
        secrets::note(sessions[0]["success_url"].rsplit('/').next().unwrap());
        let paid = stripe.pay(&sessions[0]);
        stripe.send(&service, &paid.succeeded).await.unwrap();
        let billing = ada.get("/dashboard/billing").await.unwrap().text();
        assert!(billing.contains("10,100 credits") && billing.contains("10,000 $10 paid"), "{billing}");
        let portal = ada.submit("/dashboard/billing", "/dashboard/billing/portal", &[]).await.unwrap();
        assert!(portal.headers["refresh"].to_str().unwrap().contains("https://billing.stripe.test/"));
        stripe.send(&service, &paid.refunded(&stripe, 250)).await.unwrap();
        let billing = ada.get("/dashboard/billing").await.unwrap().text();
        assert!(billing.contains("7,600 credits") && billing.contains("refunded in part"), "{billing}");
    }

    async fn events_repeated_a_hundred_times_in_any_order(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        for credits in [5000, 5000, 25_000] {
            assert_eq!(checkout(&service, &customer, credits, None).await.status(), StatusCode::CREATED);
        }
        let sessions = stripe.sessions();
        for session in &sessions {
            secrets::note(session["success_url"].rsplit('/').next().unwrap());
        }
        let paid: Vec<_> = sessions.iter().map(|session| stripe.pay(session)).collect();
        // The refund is reported before the payment, and the smaller sum after the larger.
        assert_eq!(stripe.send(&service, &paid[1].refunded(&stripe, 500)).await.unwrap().as_u16(), 204);
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
        let mut events = vec![paid[2].refunded(&stripe, 1250), paid[2].refunded(&stripe, 100)];
        for one in &paid {
            events.extend([one.succeeded.clone(), one.completed.clone()]);
        }
        let expired = json!({ "id": sessions[0]["id"], "mode": "payment", "payment_status": "unpaid", "metadata": { "cyclorama_payment": paid[0].payment } });
        events.push(stripe.event("checkout.session.expired", expired));
        events.push(stripe.event("invoice.paid", json!({ "id": "in_1" })));
        let before = events_written(&service).await;
        for _ in 0..100 {
            let sent = events.iter().map(|event| stripe.send(&service, event));
            for status in futures::future::join_all(sent).await {
                assert_eq!(status.unwrap().as_u16(), 204);
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5005 + (25_000 - 12_500), "the second went back as a whole");
        assert_eq!(events_written(&service).await - before, events.len() as i64);
        let statement: Value = service.get(&customer, "/api/v1/account/statement").send().await.unwrap().json().await.unwrap();
        assert_eq!(statement.to_string().matches("\"purchase\"").count(), 3, "{statement}");

        // A payment that matches nothing is credited to nobody, and operators see it.
        let stray = json!({
            "id": "cs_stray", "mode": "payment", "payment_status": "paid", "amount_total": 700, "currency": "usd", "payment_intent": "pi_stray",
            "customer": "cus_stray", "metadata": { "cyclorama_payment": uuid::Uuid::now_v7().to_string() },
        });
        let stray = stripe.event("checkout.session.completed", stray);
        assert_eq!(stripe.send(&service, &stray).await.unwrap().as_u16(), 204);
        let token = service.operator_token().unwrap();
        let listed = service.http.get(format!("{}/admin/payments/refused", service.admin_url())).bearer_auth(&token);
        let listed: Value = listed.send().await.unwrap().json().await.unwrap();
        assert_eq!((listed["events"].as_array().unwrap().len(), &listed["events"][0]["event_id"]), (1, &stray["id"]), "{listed}");
        assert!(listed["events"][0]["why"].as_str().unwrap().contains("unknown payment"), "{listed}");
    }

    async fn forgeries_are_refused_and_nothing_is_written(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        assert_eq!(checkout(&service, &customer, 5000, None).await.status(), StatusCode::CREATED);
        let sessions = stripe.sessions();
        secrets::note(sessions[0]["success_url"].rsplit('/').next().unwrap());
        let paid = stripe.pay(&sessions[0]);
        let (body, now) = (paid.completed.to_string(), unix_seconds());
        let good = signature(WEBHOOK_SECRET, now, &body);
        let altered = body.replace("500", "501");
        assert_ne!(altered, body);
        for (header, sent) in [
            (None, &body),
            (Some(String::new()), &body),
            (Some("t=1,v1=".to_owned()), &body),
            (Some(signature("whsec_another", now, &body)), &body),
            (Some(signature(SECRET_KEY, now, &body)), &body),
            (Some(signature(WEBHOOK_SECRET, now - 310, &body)), &body),
            (Some(signature(WEBHOOK_SECRET, now + 330, &body)), &body),
            (Some(good.replace("v1=", "v0=")), &body),
            (Some(good.replacen(&now.to_string(), &(now - 1).to_string(), 1)), &body),
            (Some(good.clone()), &altered),
        ] {
            let status = send_signed(&service, header.as_deref(), sent.clone()).await.unwrap();
            assert_eq!(status.as_u16(), 400, "{header:?}");
        }
        let large = "x".repeat(300 * 1024);
        assert_eq!(send_signed(&service, Some(&good), large).await.unwrap().as_u16(), 413);
        let strange = "{\"id\":1}".to_owned();
        let header = signature(WEBHOOK_SECRET, now, &strange);
        assert_eq!(send_signed(&service, Some(&header), strange).await.unwrap().as_u16(), 400);
        assert_eq!((service.balance(&customer).await.unwrap(), events_written(&service).await), (5, 0));

        // Signed, but still wrong: it differs from the offer.
        for (number, (member, value)) in [("amount_total", json!(1)), ("currency", json!("jpy")), ("id", json!("cs_other"))].into_iter().enumerate() {
            let mut event = paid.completed.clone();
            event["id"] = json!(format!("evt_wrong_{number}"));
            event["data"]["object"][member] = value;
            assert_eq!(stripe.send(&service, &event).await.unwrap().as_u16(), 204);
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
        assert_eq!(service.log().matches("matches no payment").count(), 3, "an operator sees each");
        // While a secret is being replaced, Stripe signs with both.
        let both = format!("{},{}", signature("whsec_another", now, &body), good.split(',').nth(1).unwrap());
        assert_eq!(send_signed(&service, Some(&both), body).await.unwrap().as_u16(), 204);
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
    }

    async fn an_event_with_nul_in_a_text_is_taken(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        assert_eq!(checkout(&service, &customer, 5000, None).await.status(), StatusCode::CREATED);
        let sessions = stripe.sessions();
        secrets::note(sessions[0]["success_url"].rsplit('/').next().unwrap());
        let paid = stripe.pay(&sessions[0]);
        let mut completed = paid.completed.clone();
        completed["data"]["object"]["customer_details"] = json!({ "name": "A\0da", "address": { "city": "\0" } });
        // An event without a valid signature is refused as such, whatever its body is.
        let forged = send_signed(&service, Some("t=1,v1="), completed.to_string()).await.unwrap();
        assert_eq!((forged.as_u16(), service.balance(&customer).await.unwrap()), (400, 5));
        assert_eq!(stripe.send(&service, &completed).await.unwrap().as_u16(), 204);
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
        // A text that is stored: the reason why an operator should look at it.
        let mut strange = paid.completed.clone();
        strange["id"] = json!("evt_strange");
        strange["data"]["object"]["currency"] = json!("u\0d");
        assert_eq!(stripe.send(&service, &strange).await.unwrap().as_u16(), 204);
        assert_eq!(service.balance(&customer).await.unwrap(), 5005);
    }

    async fn refunds_and_disputes(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        for _ in 0..2 {
            checkout(&service, &customer, 10_000, None).await;
        }
        let sessions = stripe.sessions();
        for session in &sessions {
            secrets::note(session["success_url"].rsplit('/').next().unwrap());
        }
        let paid: Vec<_> = sessions.iter().map(|session| stripe.pay(session)).collect();
        for one in &paid {
            stripe.send(&service, &one.completed).await.unwrap();
        }
        for (cents, expected) in [(1, 19_995), (333, 16_675), (333, 16_675), (1000, 10_005)] {
            stripe.send(&service, &paid[0].refunded(&stripe, cents)).await.unwrap();
            assert_eq!(service.balance(&customer).await.unwrap(), expected, "{cents} cents refunded");
        }
        stripe.send(&service, &paid[0].refunded(&stripe, 1001)).await.unwrap();
        stripe.send(&service, &paid[1].disputed(&stripe)).await.unwrap();
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
        stripe.send(&service, &paid[1].refunded(&stripe, 1000)).await.unwrap();
        assert_eq!(service.balance(&customer).await.unwrap(), 5, "a disputed payment is not taken back twice");
        assert!(service.log().contains("is disputed"));
    }

    async fn stripe_is_down_and_no_payment_is_lost(db: DatabaseChoice) {
        let (stripe, service, customer) = selling(db).await;
        stripe.feel(StripeBehaviour::Down);
        // After a failure has been answered, the same key can be used again immediately.
        for _ in 0..5 {
            let refused = checkout(&service, &customer, 5000, Some("order-1")).await;
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(refused.headers().contains_key("retry-after"));
            assert_eq!(refused.json::<Value>().await.unwrap()["code"], "dependency_down");
        }
        stripe.feel(StripeBehaviour::Well);
        assert_eq!(checkout(&service, &customer, 5000, Some("order-1")).await.status(), StatusCode::CREATED);
        stripe.feel(StripeBehaviour::LosesAnswers);
        assert_eq!(checkout(&service, &customer, 5000, Some("order-2")).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        let sessions = stripe.sessions();
        assert_eq!(sessions.len(), 2, "asked twice under one name, made once");
        for session in &sessions {
            secrets::note(session["success_url"].rsplit('/').next().unwrap());
            // Money that came is credited, whether or not the checkout request succeeded.
            let paid = stripe.pay(session);
            stripe.send(&service, &paid.completed).await.unwrap();
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 10_005);
    }

    async fn a_low_balance_is_reloaded_once_until_the_card_is_declined(db: DatabaseChoice) {
        let (stripe, mailbox) = (FakeStripe::start().await.unwrap(), Mailbox::open().await.unwrap());
        let options = stripe.options().set("CYCLORAMA_SMTP_URL", &mailbox.smtp_url).set("CYCLORAMA_MAIL_FROM", "no-reply@example.com");
        let service = Service::start_with(db, options).await.unwrap();
        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let link = mailbox.wait_for(1).await.unwrap()[0].link(&format!("{}/confirm/", service.base_url)).unwrap();
        secrets::note(link.rsplit('/').next().unwrap().split('?').next().unwrap());
        ada.submit(&link, &link, &[("password", "a long password")]).await.unwrap();
        let mut set = async |fields: &[(&str, &str)]| ada.submit("/dashboard/billing", "/dashboard/billing/auto-reload", fields).await.unwrap().status;
        for (threshold, pack) in [("0", "5000"), ("5001", "5000"), ("x", "5000"), ("-5", "5000"), ("50", "77")] {
            assert_eq!(set(&[("on", "yes"), ("threshold", threshold), ("pack", pack)]).await, StatusCode::BAD_REQUEST, "{threshold} {pack}");
        }
        assert_eq!(set(&[("on", "yes"), ("threshold", "6000"), ("pack", "10000")]).await, StatusCode::SEE_OTHER);
        let customer = customer_of(&service, "ada@example.com").await;
        let shown = async || {
            let answer: Value = service.get(&customer, "/api/v1/account").send().await.unwrap().json().await.unwrap();
            (answer["data"]["auto_reload"] == true, answer["data"]["has_payment_method"] == true)
        };
        assert_eq!(shown().await, (true, false));

        // The card is saved with the purchase after it was requested. The balance is low at once,
        // and the card is charged once.
        checkout(&service, &customer, 5000, None).await;
        let session = stripe.sessions().remove(0);
        secrets::note(session["success_url"].rsplit('/').next().unwrap());
        assert_eq!(session["payment_intent_data[setup_future_usage]"], "off_session");
        let paid = stripe.pay(&session);
        for event in [&paid.completed, &paid.succeeded] {
            stripe.send(&service, event).await.unwrap();
        }
        balance_becomes(&service, &customer, 15_100).await;
        assert_eq!(shown().await, (true, true));
        let charge = stripe.charges().remove(0);
        for _ in 0..3 {
            stripe.send(&service, &charge_event(&stripe, &charge).unwrap()).await.unwrap();
        }
        assert_eq!((service.balance(&customer).await.unwrap(), stripe.charges().len()), (15_100, 1));

        // Stripe charges, but its answer is lost. A repetition with the same idempotency key does
        // not charge again.
        assert_eq!(set(&[("on", "yes"), ("threshold", "20000"), ("pack", "25000")]).await, StatusCode::SEE_OTHER);
        balance_becomes(&service, &customer, 40_100).await;
        stripe.feel(StripeBehaviour::LosesAnswers);
        // The settings request the card from Stripe, which still has it.
        assert_eq!(set(&[("on", "yes"), ("threshold", "90000"), ("pack", "100000")]).await, StatusCode::SEE_OTHER);
        for _ in 0..300 {
            if stripe.charges().len() == 3 && service.log().contains("tried again later") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        stripe.feel(StripeBehaviour::Well);
        balance_becomes(&service, &customer, 140_100).await;
        assert_eq!(stripe.charges().len(), 3);

        // Declined: auto-reload is off, with an email, and not tried again.
        stripe.feel(StripeBehaviour::Declines);
        stripe.send(&service, &paid.refunded(&stripe, 500)).await.unwrap();
        for charge in stripe.charges() {
            let refund = json!({ "amount_refunded": charge["amount"].parse::<i64>().unwrap(), "currency": "usd", "payment_intent": charge["id"], "metadata": {} });
            stripe.send(&service, &stripe.event("charge.refunded", refund)).await.unwrap();
        }
        let letters = mailbox.wait_for(2).await.unwrap();
        assert!(letters[1].to == "ada@example.com" && letters[1].text.contains("Auto-reload is now turned off"), "{letters:?}");
        assert_eq!(shown().await, (false, true));
        stripe.feel(StripeBehaviour::Well);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!((stripe.charges().len(), mailbox.letters().len()), (3, 2));
        assert_eq!(service.balance(&customer).await.unwrap(), 100);
        stripe.send(&service, &stripe.event("payment_method.detached", json!({ "id": paid.card, "customer": null }))).await.unwrap();
        assert_eq!(shown().await, (false, false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_webhook_is_not_there_without_stripe() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    let body = "{}".to_owned();
    let header = signature(WEBHOOK_SECRET, unix_seconds(), &body);
    assert_eq!(send_signed(&service, Some(&header), body).await.unwrap().as_u16(), 404);
}

on_both_databases! {
    // Against another implementation of Stripe (localstripe), for the parts that it has: customers,
    // saved cards, charges, signed events. It has no checkout sessions and no portal.
    async fn reloaded_through_localstripe(db: DatabaseChoice) {
        let folder = tools::installed("localstripe").unwrap();
        let port = std::net::TcpListener::bind("[::]:0").unwrap().local_addr().unwrap().port();
        let _localstripe = tokio::process::Command::new("python3")
            .env("PYTHONPATH", &folder)
            .args(["-m", "localstripe", "--from-scratch", "--port", &port.to_string()])
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let api = format!("http://127.0.0.1:{port}");
        let stripe = FakeStripe::start().await.unwrap();
        let options = stripe.options().set("CYCLORAMA_STRIPE_API_URL", &api);
        let service = Service::start_with(db, options).await.unwrap();
        let ask = |path: &str, fields: &[(&str, &str)]| {
            service.http.post(format!("{api}{path}")).bearer_auth(SECRET_KEY).form(fields).send()
        };
        let webhook = format!("{}/webhooks/stripe", service.base_url);
        let hook = [("url", webhook.as_str()), ("secret", WEBHOOK_SECRET)];
        let mut is_up = false;
        for _ in 0..200 {
            is_up = ask("/_config/webhooks/one", &hook).await.is_ok_and(|answer| answer.status().is_success());
            if is_up {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(is_up, "localstripe does not answer");
        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let customer = customer_of(&service, "ada@example.com").await;
        // It creates the customer, but has no sessions.
        let refused = checkout(&service, &customer, 5000, None).await;
        assert_eq!(refused.status(), StatusCode::BAD_GATEWAY);
        assert_eq!(refused.json::<Value>().await.unwrap()["code"], "payment_provider_refused");
        let list = service.http.get(format!("{api}/v1/customers?email=ada@example.com")).bearer_auth(SECRET_KEY).send().await.unwrap();
        let list: Value = list.json().await.unwrap();
        assert_eq!(list["data"][0]["metadata"]["cyclorama_account"], customer.account_id, "{list}");
        let customer_id = list["data"][0]["id"].as_str().unwrap();
        let card = async |number: &str| {
            let fields = [("type", "card"), ("card[number]", number), ("card[exp_month]", "12"), ("card[exp_year]", "2050"), ("card[cvc]", "123")];
            let card: Value = ask("/v1/payment_methods", &fields).await.unwrap().json().await.unwrap();
            let attach = format!("/v1/payment_methods/{}/attach", card["id"].as_str().unwrap());
            assert!(ask(&attach, &[("customer", customer_id)]).await.unwrap().status().is_success());
            card["id"].as_str().unwrap().to_owned()
        };
        let good = card("4242424242424242").await;
        let mut set = async |threshold: &str, pack: &str| {
            let fields = [("on", "yes"), ("threshold", threshold), ("pack", pack)];
            ada.submit("/dashboard/billing", "/dashboard/billing/auto-reload", &fields).await.unwrap().status
        };
        assert_eq!(set("200", "5000").await, StatusCode::SEE_OTHER);
        balance_becomes(&service, &customer, 5100).await;
        // Its signed event comes a second later, and adds no credits twice.
        for _ in 0..100 {
            if service.log().contains("payment_intent.succeeded") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(service.log().contains("payment_intent.succeeded"), "a signed event came");
        assert_eq!(service.balance(&customer).await.unwrap(), 5100);

        // A card that is declined when it is charged turns auto-reload off.
        let detached = ask(&format!("/v1/payment_methods/{good}/detach"), &[]).await.unwrap();
        assert!(detached.status().is_success());
        card("4000000000000341").await;
        assert_eq!(set("6000", "10000").await, StatusCode::SEE_OTHER);
        let mut is_on = true;
        for _ in 0..100 {
            let answer: Value = service.get(&customer, "/api/v1/account").send().await.unwrap().json().await.unwrap();
            is_on = answer["data"]["auto_reload"] == true;
            if !is_on {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!((is_on, service.balance(&customer).await.unwrap()), (false, 5100));
    }
}

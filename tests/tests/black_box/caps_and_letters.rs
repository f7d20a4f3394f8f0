//! Monthly caps of keys, and emails about low balances and high spending.

use super::dashboard::person;
use cyclorama_core::wire::FailureKind;
use cyclorama_tests::mailbox::Mailbox;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Options, Service, on_both_databases, secrets};
use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

const CAR: &str = "/api/v1/images/car?make=ford&model=mustang&year=2020";

/// A key of the customer's account with a cap.
fn capped_key(service: &Service, customer: &Customer, cap: &str) -> Customer {
    let arguments =
        ["key", "create", "--account", &customer.account_id, "--rate-limit", "100000", "--monthly-cap", cap];
    let made = service.operator(&arguments).unwrap();
    let text = |member: &str| made[member].as_str().unwrap().to_owned();
    Customer { key_id: text("key_id"), key: text("key"), ..customer.clone() }
}

async fn statuses(service: &Service, customer: &Customer, requests: usize) -> Vec<u16> {
    let answers = join_all((0..requests).map(|_| service.get(customer, CAR).send())).await;
    answers.into_iter().map(|answer| answer.unwrap().status().as_u16()).collect()
}

fn delivered(statuses: &[u16]) -> usize {
    assert!(statuses.iter().all(|status| [200, 402].contains(status)), "{statuses:?}");
    statuses.iter().filter(|status| **status == 200).count()
}

async fn mint(service: &Service, customer: &Customer, urls: usize) -> reqwest::Response {
    let images: Vec<Value> =
        (0..urls).map(|_| json!({ "make": "ford", "model": "mustang", "year": 2020, "view": "rear" })).collect();
    let request = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key);
    request.json(&json!({ "images": images })).send().await.unwrap()
}

on_both_databases! {
    async fn a_key_takes_no_more_than_its_cap(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(200))).await.unwrap();
        let customer = service.customer(1_000).unwrap();
        let capped = capped_key(&service, &customer, "7");
        assert_eq!(delivered(&statuses(&service, &capped, 40).await), 7, "cold: every one of them is held first");
        assert_eq!(delivered(&statuses(&service, &capped, 40).await), 0, "cached");
        assert_eq!(delivered(&statuses(&service, &customer, 5).await), 5, "another key of the account");
        let refused = service.get(&capped, CAR).send().await.unwrap();
        assert_eq!(refused.headers()["link"], "</pricing>; rel=payment");
        let refused: Value = refused.json().await.unwrap();
        for (member, expected) in [
            ("code", json!("monthly_cap_reached")), ("balance", json!(988)), ("required_credits", json!(1)),
            ("monthly_cap_credits", json!(7)), ("monthly_cap_spent", json!(7)),
        ] {
            assert_eq!(refused[member], expected, "{refused}");
        }
        assert!(refused["reset_at"].as_str().unwrap().ends_with("-01T00:00:00Z"), "{refused}");
        let account: Value = service.get(&capped, "/api/v1/account").send().await.unwrap().json().await.unwrap();
        assert_eq!(account["data"]["key"]["monthly_cap"]["spent"], 7, "{account}");
        let other: Value = service.get(&customer, "/api/v1/account").send().await.unwrap().json().await.unwrap();
        assert!(other["data"]["key"].get("monthly_cap").is_none(), "{other}");

        // A higher cap holds at once, earlier credits still count, and a restart changes nothing.
        service.operator(&["key", "cap", &capped.key_id, "10"]).unwrap();
        service.kill();
        service.launch().await.unwrap();
        assert_eq!(mint(&service, &capped, 4).await.status(), StatusCode::PAYMENT_REQUIRED, "all or none");
        assert_eq!(mint(&service, &capped, 2).await.status(), StatusCode::CREATED);
        assert_eq!(delivered(&statuses(&service, &capped, 10).await), 1);
        service.operator(&["key", "cap", &capped.key_id]).unwrap();
        assert_eq!(delivered(&statuses(&service, &capped, 5).await), 5, "without a cap");
        // A first cap counts the credits that the key has spent this month: ten, and five, and this
        // one.
        assert_eq!(delivered(&statuses(&service, &capped, 1).await), 1);
        service.operator(&["key", "cap", &capped.key_id, "18"]).unwrap();
        assert_eq!(delivered(&statuses(&service, &capped, 10).await), 2);
        for wrong in ["0", "x"] {
            assert!(service.operator(&["key", "cap", &capped.key_id, wrong]).is_err(), "{wrong}");
        }
        assert!(service.operator(&["key", "cap", "nobody", "5"]).is_err());
        assert_eq!(service.balance(&customer).await.unwrap(), 1_000 - 5 - 18);
    }

    async fn what_is_given_back_makes_room(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let failing = FakeNode::join(&service, Behaviour::Fail(FailureKind::Internal)).await.unwrap();
        let customer = service.customer(1_000).unwrap();
        let capped = capped_key(&service, &customer, "5");
        assert_eq!(service.get(&capped, CAR).send().await.unwrap().status(), StatusCode::BAD_GATEWAY);
        let minted: Value = mint(&service, &capped, 5).await.json().await.unwrap();
        assert_eq!(mint(&service, &capped, 1).await.status(), StatusCode::PAYMENT_REQUIRED);
        let load = service.http.get(minted["data"][0]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(load.status(), StatusCode::BAD_GATEWAY);
        drop(failing);
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        assert_eq!(delivered(&statuses(&service, &capped, 9).await), 1);
        assert_eq!(service.balance(&customer).await.unwrap(), 1_000 - 4 - 1);
    }

    async fn capped_in_the_dashboard(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let secret_of = |page: &cyclorama_tests::browser::Page| {
            let secret = page.html.split("class=\"secret\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
            secrets::note(&secret);
            secret
        };
        for (cap, expected) in [("0", StatusCode::BAD_REQUEST), ("-3", StatusCode::BAD_REQUEST), ("1e3", StatusCode::BAD_REQUEST), ("2", StatusCode::CREATED)] {
            let fields = [("name", "shop"), ("scope", "images:read"), ("monthly_cap", cap)];
            let made = ada.submit("/dashboard/keys", "/dashboard/keys", &fields).await.unwrap();
            assert_eq!(made.status, expected, "{cap}: {}", made.text());
            if made.status == StatusCode::CREATED {
                secret_of(&made);
            }
        }
        let keys = ada.get("/dashboard/keys").await.unwrap();
        assert!(keys.text().contains("0 of 2 credits spent this month"), "{}", keys.text());
        let id = keys.html.replace("&#x2f;", "/").split("<a href=\"/dashboard/keys/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let page = format!("/dashboard/keys/{id}");
        assert_eq!(ada.get(&page).await.unwrap().field("monthly_cap").as_deref(), Some("2"));
        // A rotated key keeps the cap and the credits that count against it.
        let rotated = ada.submit(&page, &format!("{page}/rotate"), &[]).await.unwrap();
        let shop = Customer { account_id: String::new(), key_id: String::new(), key: secret_of(&rotated) };
        assert_eq!(delivered(&statuses(&service, &shop, 3).await), 2);
        let keys = ada.get("/dashboard/keys").await.unwrap();
        assert!(keys.text().contains("2 of 2 credits spent this month: cap reached until next month"), "{}", keys.text());
        let id = keys.html.replace("&#x2f;", "/").split("<a href=\"/dashboard/keys/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let page = format!("/dashboard/keys/{id}");
        let rotated = ada.submit(&page, &format!("{page}/rotate"), &[]).await.unwrap();
        let shop = Customer { key: secret_of(&rotated), ..shop };
        assert_eq!(delivered(&statuses(&service, &shop, 3).await), 0);
        let keys = ada.get("/dashboard/keys").await.unwrap();
        let id = keys.html.replace("&#x2f;", "/").split("<a href=\"/dashboard/keys/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let page = format!("/dashboard/keys/{id}");
        let wrong = ada.submit(&page, &format!("{page}/cap"), &[("monthly_cap", "many")]).await.unwrap();
        assert!(wrong.status == StatusCode::BAD_REQUEST && wrong.text().contains("whole number"), "{}", wrong.text());
        let mut mallory = Browser::new(&service);
        mallory.sign_up("mallory@example.com", "a long password").await.unwrap();
        let foreign = mallory.submit("/dashboard/keys", &format!("{page}/cap"), &[("monthly_cap", "900")]).await.unwrap();
        assert_eq!(foreign.status, StatusCode::NOT_FOUND);
        assert_eq!(ada.submit(&page, &format!("{page}/cap"), &[("monthly_cap", "3")]).await.unwrap().status, StatusCode::SEE_OTHER);
        assert_eq!(delivered(&statuses(&service, &shop, 3).await), 1);
        assert_eq!(ada.submit(&page, &format!("{page}/cap"), &[("monthly_cap", "")]).await.unwrap().status, StatusCode::SEE_OTHER);
        assert_eq!(delivered(&statuses(&service, &shop, 3).await), 3);
    }

    async fn letters_come_once_also_after_a_restart(db: DatabaseChoice) {
        let mailbox = Mailbox::open().await.unwrap();
        let options = Options::default()
            .set("CYCLORAMA_SMTP_URL", &mailbox.smtp_url)
            .set("CYCLORAMA_MAIL_FROM", "Cyclorama <no-reply@example.com>")
            .set("CYCLORAMA_ALERT_SECONDS", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let email = email_of(&service, &customer.account_id).await;
        let link = service.operator(&["account", "password-link", "--email", &email]).unwrap();
        let link = link["link"].as_str().unwrap().to_owned();
        secrets::note(link.rsplit('/').next().unwrap());
        let mut ada = Browser::new(&service);
        ada.submit(&link, &link, &[("password", "a long password")]).await.unwrap();
        for wrong in ["0", "x", "-1"] {
            let refused = ada.submit("/dashboard/billing", "/dashboard/billing/alerts", &[("low_balance", wrong)]).await.unwrap();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
        }
        let fields = [("low_balance", "8"), ("daily_spend", "3")];
        let set = ada.submit("/dashboard/billing", "/dashboard/billing/alerts", &fields).await.unwrap();
        assert_eq!(set.status, StatusCode::SEE_OTHER, "{}", set.text());
        let page = ada.get("/dashboard/billing").await.unwrap();
        assert_eq!((page.field("low_balance").as_deref(), page.field("daily_spend").as_deref()), (Some("8"), Some("3")));
        let known = mailbox.letters().len();
        assert_eq!(delivered(&statuses(&service, &customer, 4).await), 4);
        letters_become(&mailbox, known + 2).await;
        let mut subjects: Vec<String> = mailbox.letters()[known..].iter().map(|letter| {
            assert_eq!(letter.to, email);
            letter.text.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap().to_owned()
        }).collect();
        subjects.sort();
        assert_eq!(subjects, ["Your credits are running low", "Your spend for one day is above your threshold"]);

        service.kill();
        service.launch().await.unwrap();
        assert_eq!(delivered(&statuses(&service, &customer, 1).await), 1);
        // The balance is above the threshold, so that it can be crossed again: that email comes
        // after any that must not be sent.
        service.operator(&["account", "grant", &customer.account_id, "5", "--reason", "test"]).unwrap();
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(delivered(&statuses(&service, &customer, 4).await), 4);
        letters_become(&mailbox, known + 3).await;
        assert!(mailbox.letters()[known + 2].text.contains("Subject: Your credits are running low"));
        let off = ada.submit("/dashboard/billing", "/dashboard/billing/alerts", &[("low_balance", ""), ("daily_spend", "")]).await.unwrap();
        assert_eq!(off.status, StatusCode::SEE_OTHER);
    }

    async fn where_no_mail_is_set_up_there_are_no_letters_to_ask_for(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let refused = ada.submit("/dashboard/billing", "/dashboard/billing/alerts", &[("low_balance", "8")]).await.unwrap();
        assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text());
        assert!(refused.text().contains("does not send email"), "{}", refused.text());
    }
}

async fn email_of(service: &Service, account_id: &str) -> String {
    let shown = service.operator(&["account", "show", account_id]).unwrap();
    shown["email"].as_str().unwrap().to_owned()
}

/// Waits until there are exactly `expected` emails, half a minute at most, and checks that no more
/// come for a while.
async fn letters_become(mailbox: &Mailbox, expected: usize) {
    for _ in 0..300 {
        if mailbox.letters().len() >= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(mailbox.letters().len(), expected);
}

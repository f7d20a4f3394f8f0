//! Forms that are sent twice, as by a double click: the action is done once, and the second answer
//! is that of the first.

use super::dashboard::{key_ids, person, secret_of};
use cyclorama_tests::browser::Page;
use cyclorama_tests::mailbox::Mailbox;
use cyclorama_tests::{Browser, DatabaseChoice, FakeStripe, Options, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use serde_json::Value;

const PASSWORD: &str = "a long way to Tipperary";

/// Sends the form of a page twice, the second time with the cookies that the browser had at the
/// first.
async fn twice(browser: &mut Browser, page: &str, action: &str, fields: &[(&str, &str)]) -> (Page, Page) {
    let token = browser.get(page).await.unwrap().field("csrf").unwrap();
    let fields = [fields, &[("csrf", &token)]].concat();
    let cookies = browser.cookies.clone();
    let first = browser.post(action, &fields).await.unwrap();
    browser.cookies = cookies;
    let second = browser.post(action, &fields).await.unwrap();
    (first, second)
}

fn same((first, second): &(Page, Page)) {
    assert_eq!((first.status, &first.html), (second.status, &second.html));
    assert_eq!(first.location(), second.location());
}

async fn stored_answers(service: &Service) -> Vec<String> {
    let mut connection = service.database().await.unwrap();
    let sql = "select answer from form_answers where answer is not null";
    sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
}

async fn forms_kept(service: &Service) -> i64 {
    let mut connection = service.database().await.unwrap();
    sqlx::query_scalar("select count(*) from form_answers").fetch_one(&mut connection).await.unwrap()
}

on_both_databases! {
    async fn a_key_is_made_rotated_and_revoked_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let account = |key: &str| service.visit("/api/v1/account").bearer_auth(key).send();
        let fields = [("name", "shop"), ("scope", "account:read")];
        let made = twice(&mut ada, "/dashboard/keys", "/dashboard/keys", &fields).await;
        same(&made);
        assert_eq!((made.1.status, key_ids(&mut ada).await.len()), (StatusCode::CREATED, 1));
        let key = secret_of(&made.1);
        assert_eq!(account(&key).await.unwrap().status(), StatusCode::OK);
        // The stored answer contains nothing that gives access.
        let kept = stored_answers(&service).await;
        assert!(!kept.is_empty());
        assert!(kept.iter().all(|answer| !answer.contains(&key) && !answer.contains(&hex::encode(&key))), "{kept:?}");

        let question = format!("/dashboard/keys/{}", key_ids(&mut ada).await[0]);
        let rotated = twice(&mut ada, &question, &format!("{question}/rotate"), &[]).await;
        same(&rotated);
        let fresh = secret_of(&rotated.1);
        assert_eq!(account(&fresh).await.unwrap().status(), StatusCode::OK);
        assert_eq!(account(&key).await.unwrap().status(), StatusCode::UNAUTHORIZED);
        // Another form of the same page, sent later, is another action.
        let again = ada.submit("/dashboard/keys", "/dashboard/keys", &fields).await.unwrap();
        assert_ne!(secret_of(&again), key);
        assert_eq!(key_ids(&mut ada).await.len(), 2);
        let question = format!("/dashboard/keys/{}", key_ids(&mut ada).await[0]);
        let revoked = twice(&mut ada, &question, &format!("{question}/revoke"), &[]).await;
        same(&revoked);
        assert_eq!(revoked.1.status, StatusCode::SEE_OTHER);

        // Another person who sends the same form is refused.
        let mut mallory = person(&service, "mallory").await;
        let token = ada.get("/dashboard/keys").await.unwrap().field("csrf").unwrap();
        let form = [("name", "shop"), ("scope", "account:read"), ("csrf", token.as_str())];
        assert_eq!(ada.post("/dashboard/keys", &form).await.unwrap().status, StatusCode::CREATED);
        assert_eq!(mallory.post("/dashboard/keys", &form).await.unwrap().status, StatusCode::FORBIDDEN);
        // A refused form is tried again.
        let bad = twice(&mut ada, "/dashboard/keys", "/dashboard/keys", &[("name", ""), ("scope", "account:read")]).await;
        assert_eq!((bad.0.status, bad.1.status), (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST));
    }

    async fn both_clicks_at_the_same_moment(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let token = ada.get("/dashboard/keys").await.unwrap().field("csrf").unwrap();
        let cookies: Vec<String> = ada.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let form = [("name", "shop"), ("scope", "account:read"), ("csrf", token.as_str())];
        let send = || {
            let request = service.http.post(format!("{}/dashboard/keys", service.base_url));
            request.header("cookie", cookies.join("; ")).header("accept", "text/html").form(&form).send()
        };
        let answers = futures::future::join_all((0..8).map(|_| send())).await;
        let mut pages = Vec::new();
        for answer in answers {
            let answer = answer.unwrap();
            assert_eq!(answer.status().as_u16(), 201);
            pages.push(answer.text().await.unwrap());
        }
        let secret = pages[0].split("class=\"secret\">").nth(1).unwrap().split('<').next().unwrap();
        secrets::note(secret);
        assert!(pages.iter().all(|page| page == &pages[0]));
        assert_eq!(key_ids(&mut ada).await.len(), 1);
    }

    async fn a_device_is_let_in_once_and_a_pack_is_one_page(db: DatabaseChoice) {
        let stripe = FakeStripe::start().await.unwrap();
        let service = Service::start_with(db, stripe.options()).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let started = service.http.post(format!("{}/api/auth/device/code", service.base_url)).send().await.unwrap();
        let started: Value = started.json().await.unwrap();
        secrets::note(started["device_code"].as_str().unwrap());
        let user_code = started["user_code"].as_str().unwrap();
        let page = format!("/device?user_code={user_code}");
        let approved = twice(&mut ada, &page, "/device", &[("user_code", user_code), ("decision", "approve")]).await;
        same(&approved);
        assert_eq!(approved.1.status, StatusCode::OK, "{}", approved.1.text());
        let bought = twice(&mut ada, "/dashboard/billing", "/dashboard/billing", &[("credits", "5000")]).await;
        same(&bought);
        assert_eq!(bought.1.headers["refresh"], bought.0.headers["refresh"]);
        assert_eq!(stripe.sessions().len(), 1);
        secrets::note(stripe.sessions()[0]["success_url"].rsplit('/').next().unwrap());
    }

    async fn a_form_that_ends_its_session_is_answered_alike(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let changed = [("old_password", "a long password"), ("password", "another long way")];
        let pages = twice(&mut ada, "/dashboard/password", "/dashboard/password", &changed).await;
        same(&pages);
        assert_eq!(pages.1.location(), "/dashboard/password?changed=yes");
        assert!(ada.is_signed_in().await.unwrap(), "the second answer has the cookies of the first");
        let made = service.operator(&["account", "password-link", "--email", "ada@example.com"]).unwrap();
        let link = made["link"].as_str().unwrap();
        secrets::note(link.rsplit('/').next().unwrap());
        let set = twice(&mut ada, link, link, &[("password", "yet another long way")]).await;
        same(&set);
        assert_eq!(set.1.location(), "/dashboard", "{}", set.1.text());
        assert!(ada.is_signed_in().await.unwrap());
    }

    async fn a_sign_up_by_mail_is_one_letter_and_its_link_one_account(db: DatabaseChoice) {
        let mailbox = Mailbox::open().await.unwrap();
        let options = Options::default()
            .set("CYCLORAMA_SMTP_URL", &mailbox.smtp_url)
            .set("CYCLORAMA_MAIL_FROM", "Cyclorama <no-reply@example.com>");
        let service = Service::start_with(db, options).await.unwrap();
        let mut ada = Browser::new(&service);
        secrets::note(PASSWORD);
        let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
        same(&twice(&mut ada, "/sign-up", "/sign-up", &fields).await);
        let link = mailbox.wait_for(1).await.unwrap()[0].link(&format!("{}/confirm/", service.base_url)).unwrap();
        secrets::note(link.rsplit('/').next().unwrap().split('?').next().unwrap());
        let confirmed = twice(&mut ada, &link, link.split('?').next().unwrap(), &[("password", PASSWORD)]).await;
        same(&confirmed);
        assert_eq!(confirmed.1.status, StatusCode::SEE_OTHER, "{}", confirmed.1.text());
        assert!(ada.is_signed_in().await.unwrap());
        assert_eq!(mailbox.letters().len(), 1);
    }

    async fn what_strangers_send_is_counted_before_it_is_kept(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_SIGN_UP_PER_MINUTE", 4).set("CYCLORAMA_SIGN_IN_PER_MINUTE", 4);
        let service = Service::start_with(db, options).await.unwrap();
        let mut stranger = Browser::new(&service);
        let token = stranger.get("/sign-up").await.unwrap().field("csrf").unwrap();
        service.early_in_a_minute().await;
        // Nobody is signed in, so nothing is done.
        for path in ["/dashboard/keys", "/dashboard/billing", "/dashboard/password", "/device", "/dashboard/keys/x/rotate"] {
            for number in 0..3 {
                let page = stranger.post(path, &[("csrf", &token), ("n", &number.to_string())]).await.unwrap();
                assert!(page.status == StatusCode::SEE_OTHER && page.location().starts_with("/sign-in"), "{path}");
            }
        }
        assert_eq!(forms_kept(&service).await, 0);
        let cookies = stranger.cookies.clone();
        for (path, done) in [("/sign-up", StatusCode::SEE_OTHER), ("/confirm/x", StatusCode::NOT_FOUND)] {
            for number in 0..8 {
                stranger.cookies = cookies.clone();
                let email = format!("stranger{number}@example.com");
                secrets::note(PASSWORD);
                let fields = [("csrf", token.as_str()), ("email", &email), ("password", PASSWORD)];
                let page = stranger.post(path, &fields).await.unwrap();
                let expected = if number < 4 { done } else { StatusCode::TOO_MANY_REQUESTS };
                assert_eq!(page.status, expected, "{path} {number}: {}", page.text());
            }
        }
        assert_eq!(forms_kept(&service).await, 4, "what was done, and nothing of what was refused");
        // The first form of a double click was counted, the second is not.
        stranger.cookies = cookies;
        let fields = [("csrf", token.as_str()), ("email", "stranger0@example.com"), ("password", PASSWORD)];
        assert_eq!(stranger.post("/sign-up", &fields).await.unwrap().status, StatusCode::SEE_OTHER);
    }

    async fn signing_out_in_a_second_tab_leads_to_the_start(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let [first, second] = [ada.get("/dashboard").await.unwrap(), ada.get("/dashboard/keys").await.unwrap()]
            .map(|page| page.field("csrf").unwrap());
        for token in [first, second] {
            let page = ada.post("/sign-out", &[("csrf", &token)]).await.unwrap();
            assert_eq!((page.status, page.location()), (StatusCode::SEE_OTHER, "/"), "{}", page.text());
        }
        // Nobody can sign another person out.
        let mut bob = person(&service, "bob").await;
        assert_eq!(bob.post("/sign-out", &[("csrf", "x")]).await.unwrap().status, StatusCode::FORBIDDEN);
        assert!(bob.is_signed_in().await.unwrap());
    }
}

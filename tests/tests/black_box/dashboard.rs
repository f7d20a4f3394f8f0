//! The dashboard: keys, deliveries, signed URLs, partner secrets, billing; and that nobody sees or
//! changes another person's.

use cyclorama_tests::browser::Page;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use serde_json::{Value, json};

const CIVIC: &str = "make=honda&model=civic&year=2018";

pub async fn person(service: &Service, name: &str) -> Browser {
    let mut browser = Browser::new(service);
    let page = browser.sign_up(&format!("{name}@example.com"), "a long password").await.unwrap();
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
    browser
}

/// The secret that a page shows once.
pub fn secret_of(page: &Page) -> String {
    assert_eq!(page.status, StatusCode::CREATED, "{}", page.text());
    assert!(page.headers["cache-control"].to_str().unwrap().contains("no-store"));
    let secret = page.html.split("class=\"secret\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    secrets::note(&secret);
    secret
}

async fn make_key(browser: &mut Browser, name: &str) -> String {
    let fields = [("name", name), ("scope", "images:read"), ("scope", "account:read")];
    secret_of(&browser.submit("/dashboard/keys", "/dashboard/keys", &fields).await.unwrap())
}

/// Ids of the keys in use on the page.
pub async fn key_ids(browser: &mut Browser) -> Vec<String> {
    let page = browser.get("/dashboard/keys").await.unwrap();
    let html = page.html.replace("&#x2f;", "/");
    html.split("<a href=\"/dashboard/keys/").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

on_both_databases! {
    async fn from_a_key_to_a_picture_to_its_end(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let mut ada = person(&service, "ada").await;
        assert!(ada.get("/dashboard").await.unwrap().text().contains("Start with a key"));
        let key = make_key(&mut ada, "shop <b>backend").await;
        let page = ada.get("/dashboard/keys").await.unwrap();
        assert!(page.html.contains("shop &lt;b&gt;backend") && !page.html.contains(&key), "shown once");

        let picture = service.visit(&format!("/api/v1/images/car?{CIVIC}&color=red")).bearer_auth(&key).send().await.unwrap();
        assert_eq!(picture.status(), StatusCode::OK);
        let request_id = picture.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body = json!({ "images": [{ "make": "honda", "model": "civic", "year": 2018, "color": "red" }], "max_uses": 3 });
        let made = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&key).json(&body).send().await.unwrap();
        let made: Value = made.json().await.unwrap();
        let url = made["data"][0]["url"].as_str().unwrap().to_owned();
        assert_eq!(service.http.get(&url).send().await.unwrap().status(), StatusCode::OK);

        let overview = ada.get("/dashboard").await.unwrap().text();
        for told in ["98", "Honda Civic 2018", &request_id, "2"] {
            assert!(overview.contains(told), "{told}: {overview}");
        }
        let deliveries = ada.get("/dashboard/deliveries").await.unwrap().text();
        assert!(deliveries.contains(&request_id) && deliveries.contains("shop"), "{deliveries}");
        let urls = ada.get("/dashboard/urls").await.unwrap();
        assert!(urls.text().contains("active 1 of 3 loads") && !urls.html.contains("/delivery/"), "{}", urls.text());
        let billing = ada.get("/dashboard/billing").await.unwrap().text();
        assert!(billing.contains("98 credits") && billing.contains("free credits of a new account") && billing.contains("+100"), "{billing}");
        let statement = ada.get("/dashboard/statement.csv").await.unwrap();
        assert_eq!(statement.headers["content-type"], "text/csv; charset=utf-8");
        assert!(statement.html.lines().count() >= 4, "{}", statement.html);
        let narrowed = ada.get("/dashboard/statement.csv?limit=1").await.unwrap();
        assert_eq!(narrowed.status, StatusCode::BAD_REQUEST);
        assert!(narrowed.text().contains("`limit` is not a parameter"), "{}", narrowed.text());

        // Everything that the key gave access to ends with it.
        let ids = key_ids(&mut ada).await;
        assert_eq!(ids.len(), 1);
        let question = format!("/dashboard/keys/{}", ids[0]);
        assert!(ada.get(&question).await.unwrap().text().contains("1 signed URL that can"));
        let rotated = ada.submit(&question, &format!("{question}/rotate"), &[]).await.unwrap();
        let fresh = secret_of(&rotated);
        let account = |key: &str| service.visit("/api/v1/account").bearer_auth(key).send();
        assert_eq!(account(&key).await.unwrap().status(), StatusCode::UNAUTHORIZED);
        assert_eq!(service.http.get(&url).send().await.unwrap().status(), StatusCode::FORBIDDEN);
        let told: Value = account(&fresh).await.unwrap().json().await.unwrap();
        assert_eq!(told["data"]["key"]["scopes"], json!(["images:read", "account:read"]), "the same rights");
        let question = format!("/dashboard/keys/{}", key_ids(&mut ada).await[0]);
        let revoked = ada.submit(&question, &format!("{question}/revoke"), &[]).await.unwrap();
        assert_eq!((revoked.status, revoked.location()), (StatusCode::SEE_OTHER, "/dashboard/keys"));
        assert_eq!(account(&fresh).await.unwrap().status(), StatusCode::UNAUTHORIZED);
        assert!(key_ids(&mut ada).await.is_empty());
    }

    async fn nobody_sees_or_ends_what_is_another_persons(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let (mut ada, mut mallory) = (person(&service, "ada").await, person(&service, "mallory").await);
        let key = make_key(&mut ada, "ada's key").await;
        make_key(&mut mallory, "mallory's key").await;
        let id = key_ids(&mut ada).await.remove(0);
        let question = format!("/dashboard/keys/{id}");
        let own = ada.submit("/dashboard/keys", &format!("{question}/partner-secrets"), &[]).await.unwrap();
        assert_eq!(own.status, StatusCode::NOT_FOUND, "a secret renders without pay: nobody issues one to themselves");
        let made: Value = service.operator(&["partner-secret", "create", "--key", &id]).unwrap();
        secrets::note(made["secret"].as_str().unwrap());
        let page = ada.get("/dashboard/keys").await.unwrap();
        let html = page.html.replace("&#x2f;", "/");
        let secret_id = html.split("/dashboard/partner-secrets/").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let secret_path = format!("/dashboard/partner-secrets/{secret_id}/revoke");

        assert_eq!(mallory.get(&question).await.unwrap().status, StatusCode::NOT_FOUND);
        for path in [format!("{question}/rotate"), format!("{question}/revoke"), secret_path.clone()] {
            let refused = mallory.submit("/dashboard/keys", &path, &[]).await.unwrap();
            assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
        }
        let still = service.visit("/api/v1/account").bearer_auth(&key).send().await.unwrap();
        assert_eq!(still.status(), StatusCode::OK);
        for path in ["/dashboard", "/dashboard/deliveries", "/dashboard/urls", "/dashboard/billing"] {
            let text = mallory.get(path).await.unwrap().text();
            assert!(!text.contains("ada@") && !text.contains("ada's"), "{path}: {text}");
        }
        assert!(page.text().contains("partner-secret create"), "it says who issues them: {}", page.text());
        let revoked = ada.submit("/dashboard/keys", &secret_path, &[]).await.unwrap();
        assert_eq!(revoked.status, StatusCode::SEE_OTHER, "{}", revoked.text());
        for (name, scope) in [("", "images:read"), ("x", ""), ("x", "everything")] {
            let refused = ada.submit("/dashboard/keys", "/dashboard/keys", &[("name", name), ("scope", scope)]).await.unwrap();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name} {scope}");
        }
    }

    async fn pictures_are_free_for_browsers_and_for_nobody_else(db: DatabaseChoice) {
        let options = cyclorama_tests::Options::default().set("CYCLORAMA_PLAYGROUND_PER_MINUTE", 3);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        service.early_in_a_minute().await;
        let picture = format!("/images/car.png?{CIVIC}&color=blue");
        let mut visitor = Browser::new(&service);
        assert_eq!(visitor.get(&picture).await.unwrap().status, StatusCode::UNAUTHORIZED, "no page was opened");
        visitor.cookies.insert("visitor".to_owned(), "AQAAAAE-invented".to_owned());
        assert_eq!(visitor.get(&picture).await.unwrap().status, StatusCode::UNAUTHORIZED, "an invented cookie");
        visitor.cookies.clear();
        let page = visitor.get(&format!("/playground?{CIVIC}&color=blue")).await.unwrap();
        assert_eq!(page.status, StatusCode::OK, "{}", page.text());
        assert!(page.html.replace("&#x2f;", "/").replace("&amp;", "&").contains(&format!("/images/car.png?{CIVIC}&view=front-3-4&color=blue")), "{}", page.html);
        let shown = visitor.get(&picture).await.unwrap();
        assert_eq!(shown.status, StatusCode::OK);
        assert!(shown.headers["cache-control"].to_str().unwrap().contains("private"));
        assert!(shown.headers["vary"].to_str().unwrap().contains("Cookie") && !shown.headers.contains_key("x-credits-charged"));
        for expected in [200, 200, 429] {
            assert_eq!(visitor.get(&picture).await.unwrap().status.as_u16(), expected);
        }
        // A person who is signed in has a separate limit, and pays nothing.
        let mut ada = person(&service, "ada").await;
        ada.cookies.remove("visitor");
        assert_eq!(ada.get(&picture).await.unwrap().status, StatusCode::OK);
        let session = ada.cookies["session"].clone();
        for (cookies, expected) in [(format!("session={session}"), 200), (format!("session=AAAAAAAAAAAAAAAAAAAAAA; session={session}"), 401)] {
            let answer = service.visit(&picture).header("cookie", cookies).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), expected, "the first cookie of a name is looked up, no other");
        }
        assert!(ada.get("/dashboard").await.unwrap().text().contains("Credits 100"));
        ada.submit("/dashboard", "/sign-out", &[]).await.unwrap();
        ada.cookies.remove("visitor");
        assert_eq!(ada.get(&picture).await.unwrap().status, StatusCode::UNAUTHORIZED);
        // A budget that is nearly spent is kept for paying accounts; existing images are still
        // shown.
        service.operator(&["budget", "set", "--usd-per-day", "0.004"]).unwrap();
        let mut bob = person(&service, "bob").await;
        assert_eq!(bob.get(&picture).await.unwrap().status, StatusCode::OK);
        let cold = bob.get(&format!("/images/car.png?{CIVIC}&view=rear&color=blue")).await.unwrap();
        assert_eq!(cold.status, StatusCode::SERVICE_UNAVAILABLE, "{}", cold.html);
        assert!(cold.html.contains("daily_budget_spent"));
    }

    async fn the_playground_reads_its_form_and_says_at_the_field_what_is_wrong(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut visitor = Browser::new(&service);
        let as_chosen = "&view=front-3-4&color=";
        for (sent, expected) in [
            ("color=other&hex=%231F4E8C&finish=matt&size=large&w=&h=", "1f4e8c&w=1024&format=png&finish=matt"),
            ("color=other&hex=teal&finish=metallic&size=&w=800&h=450&fit=cover", "008080&w=800&h=450&format=png&fit=cover"),
            ("color=red&hex=%231f4e8c&finish=matt&fit=inside&background=&ground=%23e6ebf0", "red&format=png"),
            (
                "color=blue&hex=&trim=true&padding=5&scale=true&shadow=off&background=other&ground=E6EBF0&format=avif",
                "blue&format=avif&trim=true&padding=5&background=e6ebf0&shadow=off&scale=true",
            ),
        ] {
            let sent = visitor.get(&format!("/playground?{CIVIC}&{sent}")).await.unwrap();
            let location = format!("/playground?{CIVIC}{as_chosen}{expected}");
            assert_eq!((sent.status, sent.location()), (StatusCode::SEE_OTHER, location.as_str()));
            let page = visitor.get(&location).await.unwrap();
            assert_eq!(page.status, StatusCode::OK, "{}", page.text());
            let html = page.html.replace("&#x2f;", "/").replace("&amp;", "&");
            assert!(html.contains(&format!("src=\"/images/car.png?{CIVIC}{as_chosen}{expected}\"")), "{html}");
            let snippets = html.matches(&format!("{as_chosen}{expected}")).count();
            assert!(snippets >= 5, "the picture and four snippets, not {snippets}");
            let picture = html.split("id=\"picture\"").nth(1).unwrap().split('>').next().unwrap();
            assert_eq!(picture.contains(" height=\""), !expected.contains("trim"), "unless it is cut: {picture}");
        }
        for (asked, field, words) in [
            ("color=blurple", "hex", "\"blurple\" is not a colour"),
            ("color=other&hex=", "hex", "Enter the other colour"),
            ("color=red&finish=matt", "finish", "A finish needs another colour"),
            ("w=800&fit=cover", "h", "need a width and a height"),
            ("padding=5", "padding", "Padding needs Trim"),
            ("background=blurple", "ground", "\"blurple\" is not a colour"),
        ] {
            let page = visitor.get(&format!("/playground?{CIVIC}&{asked}")).await.unwrap();
            assert_eq!(page.status, StatusCode::BAD_REQUEST, "{asked}");
            assert!(page.html.replace("&quot;", "\"").contains(words), "{asked}: {}", page.text());
            let tag = page.html.split(&format!(" id=\"{field}\"")).nth(1).unwrap();
            let at = tag.split('>').next().unwrap();
            assert!(at.contains("aria-invalid=\"true\""), "{asked}: {at}");
        }
    }

    async fn free_pictures_are_rendered_a_few_at_a_time(db: DatabaseChoice) {
        let options = cyclorama_tests::Options::default().set("CYCLORAMA_FREE_RENDERS_PER_MINUTE", 2);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let (mut ada, mut bob) = (person(&service, "ada").await, person(&service, "bob").await);
        service.early_in_a_minute().await;
        for (color, expected) in [("red", 200), ("green", 200), ("white", 429), ("red", 200)] {
            let picture = ada.get(&format!("/images/car.png?{CIVIC}&color={color}")).await.unwrap();
            assert_eq!(picture.status.as_u16(), expected, "{color}");
        }
        assert_eq!(bob.get(&format!("/images/car.png?{CIVIC}&color=white")).await.unwrap().status, StatusCode::OK, "counted by account");
    }

    async fn pages_are_counted_and_what_is_no_id_is_no_failure(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        assert_eq!(ada.get("/dashboard/deliveries?before=%00").await.unwrap().status, StatusCode::BAD_REQUEST);
        assert_eq!(ada.get("/dashboard/keys/%00").await.unwrap().status, StatusCode::NOT_FOUND);
        let key = make_key(&mut ada, "shop").await;
        let after = service.visit("/api/v1/account/statement?after=%00").bearer_auth(&key).send().await.unwrap();
        assert_eq!(after.status(), StatusCode::BAD_REQUEST);
        let mut eve = person(&service, "eve").await;
        service.early_in_a_minute().await;
        let mut statuses = Vec::new();
        for _ in 0..121 {
            statuses.push(eve.get("/dashboard/urls").await.unwrap().status.as_u16());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 1, "a hundred and twenty a minute");
        let mut bob = person(&service, "bob").await;
        assert_eq!(bob.get("/dashboard/urls").await.unwrap().status, StatusCode::OK);
    }

    async fn the_statement_of_the_dashboard_is_whole(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let mut connection = service.database().await.unwrap();
        let account: String = sqlx::query_scalar("select id from accounts").fetch_one(&mut connection).await.unwrap();
        sqlx::query("begin").execute(&mut connection).await.unwrap();
        for at in 0..1_001i64 {
            sqlx::query("insert into ledger_entries (id, account_id, number, kind, credits, balance, at_ms, reason) values ($1, $2, $3, 'grant', 1, $4, 1, 'x')")
                .bind(uuid::Uuid::now_v7().to_string()).bind(&account).bind(at + 2).bind(at + 101).execute(&mut connection).await.unwrap();
        }
        sqlx::query("update balances set credits = credits + 1001, entries = entries + 1001").execute(&mut connection).await.unwrap();
        sqlx::query("commit").execute(&mut connection).await.unwrap();
        let statement = ada.get("/dashboard/statement.csv").await.unwrap().html;
        assert_eq!(statement.lines().count(), 1 + 1_001 + 1, "a heading, and every entry");
        assert!(statement.lines().last().unwrap().contains(",1,1101,"), "{:?}", statement.lines().last());
    }

    async fn a_new_password_signs_every_other_browser_out(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = person(&service, "ada").await;
        let mut elsewhere = Browser::new(&service);
        elsewhere.sign_in("ada@example.com", "a long password").await.unwrap();
        let wrong = ada.submit("/dashboard/password", "/dashboard/password", &[("old_password", "x"), ("password", "another long one")]).await.unwrap();
        assert_eq!(wrong.status, StatusCode::FORBIDDEN);
        let changed = ada.submit("/dashboard/password", "/dashboard/password", &[("old_password", "a long password"), ("password", "another long one")]).await.unwrap();
        assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.text());
        assert!(ada.get(changed.location()).await.unwrap().text().contains("was changed"));
        assert!(ada.is_signed_in().await.unwrap() && !elsewhere.is_signed_in().await.unwrap());
    }
}

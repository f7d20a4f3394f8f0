//! Signing up, in and out; and what a session, a form and an emailed link can do and cannot do.

use cyclorama_tests::mailbox::Mailbox;
use cyclorama_tests::{Browser, DatabaseChoice, Options, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::Value;

const ADA: &str = "ada@example.com";
const PASSWORD: &str = "a long way to Tipperary";

fn credits(service: &Service, account_id: &str) -> i64 {
    service.operator(&["account", "show", account_id]).unwrap()["credits"].as_i64().unwrap()
}

/// Every account of the service, with its credits.
async fn accounts(service: &Service) -> Vec<(String, i64)> {
    let mut connection = service.database().await.unwrap();
    let sql = "select a.id, a.email from accounts a order by a.id";
    let rows = sqlx::query_as::<_, (String, String)>(sql).fetch_all(&mut connection).await.unwrap();
    rows.into_iter().map(|(id, email)| (email, credits(service, &id))).collect()
}

async fn with_mail(db: DatabaseChoice) -> (Service, Mailbox) {
    let mailbox = Mailbox::open().await.unwrap();
    let options = Options::default()
        .set("CYCLORAMA_SMTP_URL", &mailbox.smtp_url)
        .set("CYCLORAMA_MAIL_FROM", "Cyclorama <no-reply@example.com>");
    (Service::start_with(db, options).await.unwrap(), mailbox)
}

on_both_databases! {
    async fn sign_up_out_and_in_again(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut browser = Browser::new(&service);
        let page = browser.sign_up("Ada@Example.com ", PASSWORD).await.unwrap();
        assert_eq!((page.status, page.location()), (StatusCode::SEE_OTHER, "/dashboard"), "{}", page.text());
        let cookie = page.headers.get_all("set-cookie").iter().find_map(|cookie| {
            let cookie = cookie.to_str().unwrap();
            cookie.starts_with("session=").then(|| cookie.to_owned())
        });
        let cookie = cookie.expect("a session");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"), "{cookie}");
        assert_eq!(accounts(&service).await, [(ADA.to_owned(), 100)]);
        let home = browser.get("/").await.unwrap();
        assert!(home.text().contains("Dashboard") && !home.text().contains("Sign in"), "{}", home.text());
        assert!(home.headers["cache-control"].to_str().unwrap().contains("no-store"), "a page of one person");

        let session = browser.cookies["session"].clone();
        let signed_out = browser.submit("/dashboard", "/sign-out", &[]).await.unwrap();
        assert_eq!((signed_out.status, signed_out.location()), (StatusCode::SEE_OTHER, "/"));
        assert!(!browser.is_signed_in().await.unwrap());
        browser.cookies.insert("session".to_owned(), session);
        assert!(!browser.is_signed_in().await.unwrap(), "the session is over, not only forgotten by the browser");

        let mut other = Browser::new(&service);
        let taken = other.sign_up(ADA, "another password").await.unwrap();
        assert_eq!(taken.status, StatusCode::CONFLICT);
        assert!(!other.is_signed_in().await.unwrap());
        let page = other.sign_in(" ADA@example.com", PASSWORD).await.unwrap();
        assert_eq!((page.status, page.location()), (StatusCode::SEE_OTHER, "/dashboard"));
        assert!(other.is_signed_in().await.unwrap());
        assert_eq!(accounts(&service).await, [(ADA.to_owned(), 100)], "free once");
    }

    async fn a_session_known_before_is_worth_nothing_after_signing_in(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut victim = Browser::new(&service);
        // An attacker has planted the id of their own session, or an invented one.
        let mut attacker = Browser::new(&service);
        attacker.sign_up("mallory@example.com", PASSWORD).await.unwrap();
        for planted in [attacker.cookies["session"].clone(), "AAAAAAAAAAAAAAAAAAAAAA".to_owned()] {
            victim.cookies.clear();
            victim.cookies.insert("session".to_owned(), planted.clone());
            attacker.submit("/dashboard", "/sign-out", &[]).await.ok();
            let email = format!("{}@example.com", uuid::Uuid::now_v7());
            let page = victim.sign_up(&email, PASSWORD).await.unwrap();
            assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
            assert_ne!(victim.cookies["session"], planted);
            let mut thief = Browser::new(&service);
            thief.cookies.insert("session".to_owned(), planted);
            assert!(!thief.is_signed_in().await.unwrap());
            assert!(victim.is_signed_in().await.unwrap());
        }
    }

    async fn only_our_own_pages_forms_are_read(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = Browser::new(&service);
        let form = [("email", ADA), ("password", PASSWORD)];
        assert_eq!(ada.post("/sign-up", &form).await.unwrap().status, StatusCode::FORBIDDEN, "no token");
        let mut mallory = Browser::new(&service);
        let mallorys = mallory.get("/sign-in").await.unwrap().field("csrf").unwrap();
        ada.get("/sign-up").await.unwrap();
        let with = |token: &str| [form.to_vec(), vec![("csrf", token.to_owned().leak() as &str)]].concat();
        assert_eq!(ada.post("/sign-up", &with(&mallorys)).await.unwrap().status, StatusCode::FORBIDDEN, "another browser's");
        let own = ada.get("/sign-up").await.unwrap().field("csrf").unwrap();
        let visitor = ada.cookies.insert("visitor".to_owned(), "invented".to_owned()).unwrap();
        assert_eq!(ada.post("/sign-up", &with(&own)).await.unwrap().status, StatusCode::FORBIDDEN, "a cookie that is not ours");
        ada.cookies.insert("visitor".to_owned(), visitor);
        for site in ["cross-site", "same-site"] {
            ada.headers.push(("sec-fetch-site", site.to_owned()));
            assert_eq!(ada.post("/sign-up", &with(&own)).await.unwrap().status, StatusCode::FORBIDDEN, "{site}");
            ada.headers.pop();
        }
        ada.headers.push(("sec-fetch-site", "same-origin".to_owned()));
        assert_eq!(ada.post("/sign-up", &with(&own)).await.unwrap().status, StatusCode::SEE_OTHER);
        // The visitor's token is not the person's.
        let page = ada.post("/sign-out", &[("csrf", &own)]).await.unwrap();
        assert_eq!(page.status, StatusCode::FORBIDDEN);
        assert!(page.html.contains("<html") && page.text().contains("has expired"), "people get a page");
        assert!(ada.is_signed_in().await.unwrap());
    }

    async fn the_commonest_passwords_are_refused(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut ada = Browser::new(&service);
        for common in ["password", "Password", "12345678", "qwerty123", "iloveyou", "1q2w3e4r"] {
            let page = ada.submit("/sign-up", "/sign-up", &[("email", ADA), ("password", common)]).await.unwrap();
            assert_eq!(page.status, StatusCode::BAD_REQUEST, "{common}");
            assert!(page.text().contains("easily guessed"), "{}", page.text());
        }
        ada.sign_up(ADA, PASSWORD).await.unwrap();
        let fields = [("old_password", PASSWORD), ("password", "password1")];
        let page = ada.submit("/dashboard/password", "/dashboard/password", &fields).await.unwrap();
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text());
    }

    async fn strangers_do_not_lock_a_known_browser_out(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_SIGN_IN_PER_MINUTE", 1000).set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1");
        let service = Service::start_with(db, options).await.unwrap();
        let mut ada = Browser::new(&service);
        ada.sign_up(ADA, PASSWORD).await.unwrap();
        ada.submit("/dashboard", "/sign-out", &[]).await.unwrap();
        let mut stranger = Browser::new(&service);
        stranger.sign_up("mallory@example.com", PASSWORD).await.unwrap();
        stranger.submit("/dashboard", "/sign-out", &[]).await.unwrap();
        stranger.headers.push(("x-forwarded-for", String::new()));
        let mut statuses = std::collections::BTreeMap::new();
        for network in 0..12 {
            stranger.headers.last_mut().unwrap().1 = format!("198.51.100.{network}");
            for _ in 0..10 {
                let page = stranger.submit("/sign-in", "/sign-in", &[("email", ADA), ("password", "a guess")]).await.unwrap();
                *statuses.entry(page.status.as_u16()).or_insert(0) += 1;
            }
        }
        assert_eq!(statuses, [(403, 100), (429, 20)].into(), "a known browser of another account is a stranger's");
        // A browser that has never been here is locked out with them; the one that was here is not,
        // from any address.
        let mut fresh = Browser::new(&service);
        fresh.headers.push(("x-forwarded-for", "203.0.113.77".to_owned()));
        assert_eq!(fresh.sign_in(ADA, PASSWORD).await.unwrap().status, StatusCode::TOO_MANY_REQUESTS);
        ada.headers.push(("x-forwarded-for", "203.0.113.78".to_owned()));
        let cookie = ada.cookies["device"].clone();
        for _ in 0..9 {
            ada.submit("/sign-in", "/sign-in", &[("email", ADA), ("password", "a guess")]).await.unwrap();
        }
        assert_eq!(ada.sign_in(ADA, PASSWORD).await.unwrap().status, StatusCode::SEE_OTHER);
        // A browser has ten guesses of its own.
        let mut thief = Browser::new(&service);
        thief.cookies.insert("device".to_owned(), cookie);
        let mut last = StatusCode::OK;
        for _ in 0..11 {
            last = thief.submit("/sign-in", "/sign-in", &[("email", ADA), ("password", "a guess")]).await.unwrap().status;
        }
        assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    }

    async fn guessing_is_slow_and_tells_nothing(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_SIGN_IN_PER_MINUTE", 1000).set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1");
        let service = Service::start_with(db, options).await.unwrap();
        let mut browser = Browser::new(&service);
        browser.sign_up(ADA, PASSWORD).await.unwrap();
        let mut guesser = Browser::new(&service);
        let mut told = Vec::new();
        for email in [ADA, "nobody@example.com"] {
            let mut answers = Vec::new();
            for attempt in 0..12 {
                let page = guesser.sign_in(email, &format!("guess number {attempt}")).await.unwrap();
                answers.push((page.status.as_u16(), page.text()));
            }
            let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
            assert_eq!(statuses, [[403; 10].to_vec(), [429; 2].to_vec()].concat(), "{email}");
            told.push(answers);
        }
        assert_eq!(told[0], told[1], "an address with an account and one without");
        assert_eq!(guesser.sign_in(ADA, PASSWORD).await.unwrap().status, StatusCode::TOO_MANY_REQUESTS, "not even the right one");
        let mut elsewhere = Browser::new(&service);
        elsewhere.headers.push(("x-forwarded-for", "203.0.113.7".to_owned()));
        assert_eq!(elsewhere.sign_in(ADA, PASSWORD).await.unwrap().status, StatusCode::SEE_OTHER, "guessing locks nobody else out");
        for _ in 0..10 {
            guesser.sign_in(ADA, "another guess").await.unwrap();
        }
        // The owner signs in again by the operator's link, which ends the wait.
        let made: Value = service.operator(&["account", "password-link", "--email", ADA]).unwrap();
        let link = made["link"].as_str().unwrap().to_owned();
        let again = "a new long password";
        let page = guesser.submit(&link, &link, &[("password", again)]).await.unwrap();
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
        assert!(!browser.is_signed_in().await.unwrap(), "what the old password opened is closed");
        assert_eq!(guesser.get(&link).await.unwrap().status, StatusCode::NOT_FOUND, "used up");
        let mut fresh = Browser::new(&service);
        assert_eq!(fresh.sign_in(ADA, PASSWORD).await.unwrap().status, StatusCode::FORBIDDEN);
        assert_eq!(fresh.sign_in(ADA, again).await.unwrap().status, StatusCode::SEE_OTHER);
        assert!(service.operator(&["account", "password-link", "--email", "nobody@example.com"]).is_err());
    }

    async fn an_account_that_the_operator_made_is_nobody_elses(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        service.operator(&["account", "create", "--email", "demo@example.com", "--credits", "7"]).unwrap();
        let mut browser = Browser::new(&service);
        assert_eq!(browser.sign_up("demo@example.com", PASSWORD).await.unwrap().status, StatusCode::CONFLICT);
        let made: Value = service.operator(&["account", "password-link", "--email", "demo@example.com"]).unwrap();
        assert_eq!(browser.sign_in("demo@example.com", "!").await.unwrap().status, StatusCode::FORBIDDEN, "no password yet");
        let link = made["link"].as_str().unwrap().to_owned();
        let page = browser.submit(&link, &link, &[("password", PASSWORD)]).await.unwrap();
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
        assert!(browser.is_signed_in().await.unwrap());
        assert_eq!(accounts(&service).await, [("demo@example.com".to_owned(), 7)]);
    }

    async fn with_mail_an_address_is_proven_before_there_is_an_account(db: DatabaseChoice) {
        let (service, mailbox) = with_mail(db).await;
        let mut browser = Browser::new(&service);
        let first = browser.submit("/sign-up?next=/device", "/sign-up", &[("email", ADA), ("password", PASSWORD)]).await.unwrap();
        assert_eq!(first.status, StatusCode::OK, "{}", first.text());
        assert!(!browser.is_signed_in().await.unwrap() && accounts(&service).await.is_empty());
        let letters = mailbox.wait_for(1).await.unwrap();
        assert_eq!(letters[0].to, ADA);
        let link = letters[0].link(&format!("{}/confirm/", service.base_url)).unwrap();
        assert!(link.ends_with("?next=%2Fdevice"), "{link}");
        // A person who opens the email also needs the password, so nobody confirms another person's
        // sign-up by a click.
        let wrong = browser.submit(&link, &link, &[("password", "not the password")]).await.unwrap();
        assert_eq!(wrong.status, StatusCode::FORBIDDEN);
        assert!(accounts(&service).await.is_empty());
        let done = browser.submit(&link, &link, &[("password", PASSWORD)]).await.unwrap();
        assert_eq!((done.status, done.location()), (StatusCode::SEE_OTHER, "/device"), "{}", done.text());
        assert!(browser.is_signed_in().await.unwrap());
        assert_eq!(accounts(&service).await, [(ADA.to_owned(), 100)]);
        assert_eq!(browser.get(&link).await.unwrap().status, StatusCode::NOT_FOUND, "used up");

        // Signing up again gives the same page, another email, no second account, and the old
        // password stays.
        let mut other = Browser::new(&service);
        let second = other.sign_up(ADA, "somebody else's password").await.unwrap();
        assert_eq!((second.status, second.text()), (first.status, first.text()));
        let letters = mailbox.wait_for(2).await.unwrap();
        assert!(letters[1].text.contains("already has an account") && letters[1].link(&format!("{}/confirm", service.base_url)).is_none());
        assert_eq!(other.sign_in(ADA, "somebody else's password").await.unwrap().status, StatusCode::FORBIDDEN);
        assert_eq!(accounts(&service).await, [(ADA.to_owned(), 100)]);
    }

    async fn a_forgotten_password_is_set_anew_by_mail(db: DatabaseChoice) {
        let (service, mailbox) = with_mail(db).await;
        service.operator(&["account", "create", "--email", ADA, "--credits", "7"]).unwrap();
        let mut browser = Browser::new(&service);
        // The operator's account becomes that of the person who reads its email, and keeps its
        // credits.
        browser.sign_up(ADA, PASSWORD).await.unwrap();
        let link = mailbox.wait_for(1).await.unwrap()[0].link(&format!("{}/confirm/", service.base_url)).unwrap();
        browser.submit(&link, &link, &[("password", PASSWORD)]).await.unwrap();
        assert!(browser.is_signed_in().await.unwrap());
        assert_eq!(accounts(&service).await, [(ADA.to_owned(), 7)]);

        let mut forgetful = Browser::new(&service);
        let unknown = forgetful.submit("/forgot-password", "/forgot-password", &[("email", "nobody@example.com")]).await.unwrap();
        let known = forgetful.submit("/forgot-password", "/forgot-password", &[("email", ADA)]).await.unwrap();
        assert_eq!(unknown.text().replace("nobody@example.com", ADA), known.text(), "the page tells nothing");
        let letters = mailbox.wait_for(2).await.unwrap();
        assert_eq!((letters.len(), letters[1].to.as_str()), (2, ADA));
        let link = letters[1].link(&format!("{}/reset-password/", service.base_url)).unwrap();
        let weak = forgetful.submit(&link, &link, &[("password", "short")]).await.unwrap();
        assert_eq!(weak.status, StatusCode::BAD_REQUEST);
        let done = forgetful.submit(&link, &link, &[("password", "a better password")]).await.unwrap();
        assert_eq!((done.status, done.location()), (StatusCode::SEE_OTHER, "/dashboard"));
        assert!(!browser.is_signed_in().await.unwrap(), "signed out everywhere else");
        // A mailbox is not flooded: at most three emails of a kind in a quarter of an hour, whoever
        // requests them.
        let mut statuses = Vec::new();
        for _ in 0..3 {
            let page = forgetful.submit("/forgot-password", "/forgot-password", &[("email", ADA)]).await.unwrap();
            statuses.push(page.status.as_u16());
        }
        assert_eq!(statuses, [200, 200, 429], "three letters for a password");
        assert_eq!(Browser::new(&service).sign_up(ADA, PASSWORD).await.unwrap().status, StatusCode::OK, "and sign-ups are counted apart");
        assert!(mailbox.letters().len() <= 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_leads_to_our_own_pages_only() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    let mut browser = Browser::new(&service);
    browser.sign_up(ADA, PASSWORD).await.unwrap();
    for (next, location) in [
        ("/device?user_code=BDWP-HQPK", "/device?user_code=BDWP-HQPK"),
        ("//evil.example/", "/dashboard"),
        ("https://evil.example/", "/dashboard"),
        ("/\\evil.example", "/dashboard"),
    ] {
        let page = browser.get(&format!("/sign-in?next={}", next.replace('?', "%3F"))).await.unwrap();
        assert_eq!(page.location(), location, "{next}");
        let mut other = Browser::new(&service);
        let page = other
            .submit("/sign-in", "/sign-in", &[("email", ADA), ("password", PASSWORD), ("next", next)])
            .await
            .unwrap();
        assert_eq!(page.location(), location, "{next}");
    }
    // The input is shown again as text.
    let mut other = Browser::new(&service);
    let page = other.sign_in("\"><script>alert(1)</script>@x", "x").await.unwrap();
    assert!(!page.html.contains("<script>alert"), "{}", page.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_https_cookies_are_secure_and_of_this_host_alone() {
    let options =
        Options::default().set("CYCLORAMA_BASE_URL", "https://images.example.com").set("CYCLORAMA_PAYMENTS", "local");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let mut browser = Browser::new(&service);
    let page = browser.sign_up(ADA, PASSWORD).await.unwrap();
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    for name in ["__Host-session", "__Host-visitor"] {
        assert!(browser.cookies.contains_key(name), "{:?}", browser.cookies.keys());
    }
    assert!(page.headers["set-cookie"].to_str().unwrap().contains("Secure"));
}

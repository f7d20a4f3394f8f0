//! Sign-in with a provider: which account a person gets, and which claims are not believed.

use cyclorama_tests::openid::{self, OpenIdProvider};
use cyclorama_tests::{Browser, DatabaseChoice, Options, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use serde_json::json;
use std::time::Duration;

const PASSWORD: &str = "a long way to Tipperary";

/// A service with one provider or two; the second one puts claims into its tokens.
struct Scene {
    service: Service,
    work: OpenIdProvider,
    club: OpenIdProvider,
    _folder: tempfile::TempDir,
}

async fn scene(db: DatabaseChoice) -> Scene {
    let mut service = Service::start(db).await.unwrap();
    let back = |id: &str| format!("{}/sign-in/{id}/callback", service.base_url);
    let (work, club) =
        (OpenIdProvider::start(&back("work"), false).unwrap(), OpenIdProvider::start(&back("club"), true).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openid.toml");
    let text = openid::settings(&[("work", "Example Ltd", &work.issuer), ("club", "The <Club>", &club.issuer)]);
    std::fs::write(&file, text).unwrap();
    assert!(service.terminate().await.unwrap().success());
    service.options =
        Options::default().set("CYCLORAMA_OPENID_PROVIDERS", file.display()).set("CYCLORAMA_SIGN_IN_PER_MINUTE", 1000);
    service.launch().await.unwrap();
    Scene { service, work, club, _folder: folder }
}

impl Scene {
    /// Goes to the provider and back, up to the callback URL, which is returned and not opened yet.
    async fn come_back(&self, browser: &mut Browser, provider: &str, name: &str) -> String {
        let sent = browser.get(&format!("/sign-in/{provider}?next=/dashboard/keys")).await.unwrap();
        assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text());
        self.from(sent.location(), provider, name).await
    }

    async fn from(&self, address: &str, provider: &str, name: &str) -> String {
        let there = if provider == "work" { &self.work } else { &self.club };
        assert!(address.starts_with(&there.issuer), "{address}");
        for expected in ["code_challenge_method=S256", "response_type=code", "state=", "nonce="] {
            assert!(address.contains(expected), "{address}");
        }
        let back = there.sign_in(&self.service, address, name).await.unwrap();
        let code = back.split("code=").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default();
        if !code.is_empty() {
            secrets::note(code);
        }
        back
    }

    /// Makes all sessions ten minutes older.
    async fn age_sessions(&self) {
        let mut connection = self.service.database().await.unwrap();
        let sessions: Vec<(String, String)> =
            sqlx::query_as("select id_sha256, data from sessions").fetch_all(&mut connection).await.unwrap();
        for (id, data) in sessions {
            let mut data: serde_json::Value = serde_json::from_str(&data).unwrap();
            if let Some(at_ms) = data["user"]["at_ms"].as_i64() {
                data["user"]["at_ms"] = json!(at_ms - 600_000);
            }
            let update =
                sqlx::query("update sessions set data = $1 where id_sha256 = $2").bind(data.to_string()).bind(id);
            update.execute(&mut connection).await.unwrap();
        }
    }

    async fn sign_in(&self, browser: &mut Browser, provider: &str, name: &str) -> cyclorama_tests::browser::Page {
        let back = self.come_back(browser, provider, name).await;
        browser.get(&back).await.unwrap()
    }

    async fn accounts(&self) -> Vec<(String, i64)> {
        let mut connection = self.service.database().await.unwrap();
        let sql = "select a.email, b.credits from accounts a join balances b on b.account_id = a.id order by a.email";
        sqlx::query_as::<_, (String, i64)>(sql).fetch_all(&mut connection).await.unwrap()
    }
}

on_both_databases! {
    async fn an_account_by_a_provider(db: DatabaseChoice) {
        let scene = scene(db).await;
        let mut ada = Browser::new(&scene.service);
        for page in ["/sign-in", "/sign-up"] {
            let html = ada.get(page).await.unwrap().html;
            assert!(html.contains("Continue with Example Ltd") && html.contains("Continue with The &lt;Club&gt;"), "{html}");
        }
        // The provider has not verified that the email address belongs to the person.
        scene.work.order(json!({ "ada": { "email": "Ada@Example.com", "email_verified": false }, "eve": {} }), None).await.unwrap();
        for name in ["ada", "eve"] {
            let refused = scene.sign_in(&mut ada, "work", name).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text());
            assert!(refused.text().contains("did not confirm your email address"));
        }
        assert!(scene.accounts().await.is_empty() && !ada.is_signed_in().await.unwrap());

        scene.work.order(json!({ "ada": { "email": "Ada@Example.com", "email_verified": true } }), None).await.unwrap();
        let welcome = scene.sign_in(&mut ada, "work", "ada").await;
        assert_eq!((welcome.status, welcome.location()), (StatusCode::SEE_OTHER, "/dashboard/keys"), "{}", welcome.text());
        assert!(ada.get("/dashboard").await.unwrap().text().contains("Credits 100"));
        // From another browser it is the same account, whatever the email address is by then.
        scene.work.order(json!({ "ada": { "email": "new@example.com", "email_verified": true } }), None).await.unwrap();
        let mut elsewhere = Browser::new(&scene.service);
        scene.sign_in(&mut elsewhere, "work", "ada").await;
        assert!(elsewhere.is_signed_in().await.unwrap());
        assert_eq!(scene.accounts().await, [("ada@example.com".to_owned(), 100)], "free credits once");
        let there = elsewhere.get("/sign-in/work?next=/dashboard/urls").await.unwrap();
        assert_eq!(there.location(), "/dashboard/urls", "signed in already");
        // Claims in the token; the same person's address at another provider gives no access.
        scene.club.order(json!({ "1": { "email": "bob@example.com", "email_verified": true }, "2": { "email": "ada@example.com", "email_verified": true } }), None).await.unwrap();
        let mut bob = Browser::new(&scene.service);
        assert_eq!(scene.sign_in(&mut bob, "club", "1").await.status, StatusCode::SEE_OTHER);
        let refused = scene.sign_in(&mut Browser::new(&scene.service), "club", "2").await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text());
        assert_eq!(scene.accounts().await, [("ada@example.com".to_owned(), 100), ("bob@example.com".to_owned(), 100)]);
        // Where no password opens the account, only a person who has just signed in can link
        // another provider.
        let leaving = ada.submit("/dashboard/password", "/dashboard/password/providers/club", &[]).await.unwrap();
        assert!(leaving.headers["refresh"].to_str().unwrap().contains(&scene.club.issuer), "{}", leaving.text());
        scene.age_sessions().await;
        let refused = ada.submit("/dashboard/password", "/dashboard/password/providers/club", &[]).await.unwrap();
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text());
        assert!(refused.text().contains("Sign out and sign in again first"), "{}", refused.text());
        // No password opens it, and the only way to sign in cannot be removed.
        let mut guess = Browser::new(&scene.service);
        assert_eq!(guess.sign_in("ada@example.com", "!").await.unwrap().status, StatusCode::FORBIDDEN);
        let kept = ada.submit("/dashboard/password", "/dashboard/password/providers/work/unlink", &[]).await.unwrap();
        assert_eq!(kept.status, StatusCode::CONFLICT, "{}", kept.text());
        assert_eq!(guess.get("/sign-in/nobody").await.unwrap().status, StatusCode::NOT_FOUND);
    }

    async fn accounts_made_through_a_provider_count_for_their_network(db: DatabaseChoice) {
        let mut scene = scene(db).await;
        assert!(scene.service.terminate().await.unwrap().success());
        scene.service.options = scene.service.options.clone().set("CYCLORAMA_SIGN_UPS_PER_CLIENT_DAY", 1);
        scene.service.launch().await.unwrap();
        let verified = |email: &str| json!({ "email": email, "email_verified": true });
        scene.work.order(json!({ "ada": verified("ada@example.com"), "bob": verified("bob@example.com") }), None).await.unwrap();
        for (name, expected) in
            [("ada", StatusCode::SEE_OTHER), ("bob", StatusCode::TOO_MANY_REQUESTS), ("ada", StatusCode::SEE_OTHER)]
        {
            let mut browser = Browser::new(&scene.service);
            let page = scene.sign_in(&mut browser, "work", name).await;
            assert_eq!(page.status, expected, "{name}: {}", page.text());
            assert_eq!(browser.is_signed_in().await.unwrap(), expected == StatusCode::SEE_OTHER, "{name}");
        }
        // However they are made.
        let page = Browser::new(&scene.service).sign_up("eve@example.com", PASSWORD).await.unwrap();
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{}", page.text());
    }

    async fn an_account_with_a_password_is_linked_by_its_holder_alone(db: DatabaseChoice) {
        let scene = scene(db).await;
        let mut ada = Browser::new(&scene.service);
        ada.sign_up("ada@example.com", PASSWORD).await.unwrap();
        scene.service.operator(&["account", "create", "--email", "made@example.com", "--credits", "7"]).unwrap();
        let verified = |email: &str| json!({ "email": email, "email_verified": true });
        scene.work.order(json!({ "mallory": verified("ada@example.com"), "made": verified("made@example.com"), "ada": {} }), None).await.unwrap();
        let mut mallory = Browser::new(&scene.service);
        for name in ["mallory", "made"] {
            let refused = scene.sign_in(&mut mallory, "work", name).await;
            assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text());
            assert!(refused.text().contains("Sign in with its password") && !mallory.is_signed_in().await.unwrap());
        }
        // Linking begins with a form of ours.
        let forged = ada.post("/dashboard/password/providers/work", &[]).await.unwrap();
        assert_eq!(forged.status, StatusCode::FORBIDDEN);
        // A stolen session cannot add a way to sign in, because the password is required.
        for wrong in [&[] as &[(&str, &str)], &[("password", "a guess")]] {
            let refused = ada.submit("/dashboard/password", "/dashboard/password/providers/work", wrong).await.unwrap();
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text());
            assert!(refused.text().contains("The password of this account is incorrect"), "{}", refused.text());
        }
        let with_password = [("password", PASSWORD)];
        let leaving = ada.submit("/dashboard/password", "/dashboard/password/providers/work", &with_password).await.unwrap();
        let address = leaving.headers["refresh"].to_str().unwrap().split_once("url=").unwrap().1.to_owned();
        let back = scene.from(&address, "work", "ada").await;
        // A sign-in that was begun in one browser cannot be ended in another.
        assert_eq!(mallory.get(&back).await.unwrap().status, StatusCode::BAD_REQUEST);
        let linked = ada.get(&back).await.unwrap();
        assert_eq!((linked.status, linked.location()), (StatusCode::SEE_OTHER, "/dashboard/password"), "{}", linked.text());
        assert!(ada.get("/dashboard/password").await.unwrap().text().contains("Example Ltd linked"));
        let mut elsewhere = Browser::new(&scene.service);
        scene.sign_in(&mut elsewhere, "work", "ada").await;
        assert!(elsewhere.is_signed_in().await.unwrap());
        // It opens one account, not two.
        let mut bob = Browser::new(&scene.service);
        bob.sign_up("bob@example.com", PASSWORD).await.unwrap();
        let leaving = bob.submit("/dashboard/password", "/dashboard/password/providers/work", &with_password).await.unwrap();
        let address = leaving.headers["refresh"].to_str().unwrap().split_once("url=").unwrap().1.to_owned();
        let back = scene.from(&address, "work", "ada").await;
        assert_eq!(bob.get(&back).await.unwrap().status, StatusCode::CONFLICT);
        // A new password ends it only if its owner chooses so.
        let reset = async |ada: &mut Browser, more: &[(&str, &str)]| {
            let made = scene.service.operator(&["account", "password-link", "--email", "ada@example.com"]).unwrap();
            let link = made["link"].as_str().unwrap().to_owned();
            secrets::note(link.rsplit('/').next().unwrap());
            assert!(ada.get(&link).await.unwrap().text().contains("Unlink Example Ltd"));
            let fields = [more, &[("password", PASSWORD)]].concat();
            assert_eq!(ada.submit(&link, &link, &fields).await.unwrap().status, StatusCode::SEE_OTHER);
        };
        reset(&mut ada, &[]).await;
        assert!(ada.get("/dashboard/password").await.unwrap().text().contains("Example Ltd linked"));
        let mut stranger = Browser::new(&scene.service);
        reset(&mut stranger, &[("end", scene.work.issuer.as_str())]).await;
        assert!(stranger.get("/dashboard/password").await.unwrap().text().contains("Example Ltd not linked"));
        assert_eq!(scene.sign_in(&mut Browser::new(&scene.service), "work", "ada").await.status, StatusCode::FORBIDDEN);
        ada.sign_in("ada@example.com", PASSWORD).await.unwrap();
        let leaving = ada.submit("/dashboard/password", "/dashboard/password/providers/work", &with_password).await.unwrap();
        let address = leaving.headers["refresh"].to_str().unwrap().split_once("url=").unwrap().1.to_owned();
        let back = scene.from(&address, "work", "ada").await;
        assert_eq!(ada.get(&back).await.unwrap().status, StatusCode::SEE_OTHER);
        // After its removal every other browser is signed out, and the provider opens nothing any
        // more.
        let unlinked = ada.submit("/dashboard/password", "/dashboard/password/providers/work/unlink", &[]).await.unwrap();
        assert_eq!(unlinked.status, StatusCode::SEE_OTHER, "{}", unlinked.text());
        assert!(ada.is_signed_in().await.unwrap() && !elsewhere.is_signed_in().await.unwrap());
        assert_eq!(scene.sign_in(&mut Browser::new(&scene.service), "work", "ada").await.status, StatusCode::FORBIDDEN);
        assert_eq!(scene.accounts().await.len(), 3);
    }

    async fn what_is_not_believed(db: DatabaseChoice) {
        let mut scene = scene(db).await;
        let ada = json!({ "ada": { "email": "ada@example.com", "email_verified": true } });
        for lie in [
            "expired", "nonce", "no_nonce", "audience", "more_audiences", "issuer", "foreign_key", "unknown_key", "unsigned", "shared_secret", "changed",
            "access_token", "garbage", "missing", "user_information",
        ] {
            scene.work.order(ada.clone(), Some(lie)).await.unwrap();
            let mut browser = Browser::new(&scene.service);
            let refused = scene.sign_in(&mut browser, "work", "ada").await;
            assert!([403, 503].contains(&refused.status.as_u16()), "{lie}: {} {}", refused.status, refused.text());
            assert!(!browser.is_signed_in().await.unwrap(), "{lie}");
        }
        assert!(scene.accounts().await.is_empty(), "{:?}", scene.accounts().await);
        scene.work.order(ada.clone(), None).await.unwrap();
        scene.club.order(ada.clone(), None).await.unwrap();

        // States: none, another one, another provider's, one used before, another browser's,
        // another issuer's, a refusal of the provider.
        let mut browser = Browser::new(&scene.service);
        let never_begun = format!("{}/sign-in/work/callback?code=x&state=y", scene.service.base_url);
        assert_eq!(browser.get(&never_begun).await.unwrap().status, StatusCode::BAD_REQUEST);
        let with = |back: &str, name: &str, value: &str| {
            let mut url = reqwest::Url::parse(back).unwrap();
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().map(|(n, v)| if n == name { (n, value.to_owned()) } else { (n, v) }).collect();
            url.query_pairs_mut().clear().extend_pairs(pairs);
            url.to_string()
        };
        for change in ["state", "iss", "provider", "browser", "code"] {
            let mut browser = Browser::new(&scene.service);
            let back = scene.come_back(&mut browser, "work", "ada").await;
            let (changed, expected) = match change {
                "provider" => (back.replace("/sign-in/work/", "/sign-in/club/"), 400),
                "iss" => (with(&back, "iss", &scene.club.issuer), 400),
                "browser" => {
                    browser = Browser::new(&scene.service);
                    scene.come_back(&mut browser, "work", "ada").await;
                    (back.clone(), 400)
                }
                "code" => (with(&back, "code", "invented"), 403),
                name => (with(&back, name, "invented"), 400),
            };
            let refused = browser.get(&changed).await.unwrap();
            assert_eq!(refused.status.as_u16(), expected, "{change}: {}", refused.text());
            // The sign-in has ended: the true answer comes too late.
            assert_eq!(browser.get(&back).await.unwrap().status, StatusCode::BAD_REQUEST, "{change}");
            assert!(!browser.is_signed_in().await.unwrap(), "{change}");
        }
        let mut browser = Browser::new(&scene.service);
        let back = scene.come_back(&mut browser, "work", "ada").await;
        let denied = format!("{}&error=access_denied", back.replace("code=", "was="));
        let refused = browser.get(&denied).await.unwrap();
        assert!(refused.status == StatusCode::FORBIDDEN && refused.text().contains("Example Ltd did not sign you in"), "{}", refused.text());
        assert!(scene.accounts().await.is_empty());

        // A program that requests the URL with HEAD does not use up the sign-in of the browser.
        let back = scene.come_back(&mut browser, "work", "ada").await;
        let cookies: Vec<String> = browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let looked = scene.service.http.head(&back).header("cookie", cookies.join("; ")).send().await.unwrap();
        assert_eq!((looked.status(), &looked.headers()["allow"]), (StatusCode::METHOD_NOT_ALLOWED, &"GET".parse().unwrap()));
        let denied = format!("{}&error=access_denied", back.replace("code=", "was="));
        assert_eq!(browser.get(&denied).await.unwrap().status, StatusCode::FORBIDDEN, "the way back was still open");

        // A new key of the provider is fetched once, and a code can be used once.
        tokio::time::sleep(Duration::from_millis(2_100)).await;
        scene.work.order(ada.clone(), Some("newer_key")).await.unwrap();
        let back = scene.come_back(&mut browser, "work", "ada").await;
        let welcome = browser.get(&back).await.unwrap();
        assert_eq!(welcome.status, StatusCode::SEE_OTHER, "{}", welcome.text());
        assert_eq!(browser.get(&back).await.unwrap().status, StatusCode::BAD_REQUEST, "used");
        assert_eq!(scene.accounts().await, [("ada@example.com".to_owned(), 100)]);

        // While the provider is down, nobody is delayed for long, and passwords work.
        drop(std::mem::replace(&mut scene.club, OpenIdProvider::start("http://127.0.0.1:1/", false).unwrap()));
        let mut bob = Browser::new(&scene.service);
        let down = bob.get("/sign-in/club").await.unwrap();
        assert_eq!(down.status, StatusCode::SERVICE_UNAVAILABLE, "{}", down.text());
        assert_eq!(bob.sign_up("bob@example.com", PASSWORD).await.unwrap().status, StatusCode::SEE_OTHER);
    }
}

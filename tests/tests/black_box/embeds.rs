//! `GET /images/car.png`: its grants in their order, signatures of partners, and the canonical
//! spelling.

use std::time::{SystemTime, UNIX_EPOCH};

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use sha2::Sha256;

const CIVIC: &str = "make=honda&model=civic&year=2018";

fn in_seconds(seconds: i64) -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 + seconds
}

/// Adds the signature of a partner to a query whose keys are sorted already.
pub fn signed(secret: &str, sorted_query: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    let text = format!("/images/car.png?{sorted_query}");
    let signature = mac.chain_update(text.as_bytes()).finalize().into_bytes();
    format!("/images/car.png?{sorted_query}&sig={}", hex::encode(signature))
}

fn partner_secret(service: &Service, customer: &Customer) -> (String, String) {
    let made = service.operator(&["partner-secret", "create", "--key", &customer.key_id]).unwrap();
    (made["partner_secret_id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
}

async fn visit(service: &Service, path: &str) -> Response {
    service.visit(path).send().await.unwrap()
}

fn cache_control(answer: &Response) -> &str {
    answer.headers()["cache-control"].to_str().unwrap()
}

async fn code(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    (status, answer.json::<Value>().await.unwrap()["code"].as_str().unwrap().to_owned())
}

on_both_databases! {
    async fn a_partners_signature_is_free_public_and_never_redirected(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let (secret_id, secret) = partner_secret(&service, &customer);
        // Not the canonical spelling, and it is not redirected.
        let address = signed(&secret, &format!("brand=Honda&color=RED&exp={}&model=Civic&view=hero&w=200&year=2018", in_seconds(600)));
        let answer = visit(&service, &address).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let age: i64 = cache_control(&answer).strip_prefix("public, max-age=").unwrap().parse().unwrap();
        assert!((590..=600).contains(&age), "until exp: {age}");
        assert_eq!((&answer.headers()["content-type"], &answer.headers()["x-image-source"]), (&"image/png".parse().unwrap(), &"generated".parse().unwrap()));
        assert!(!answer.headers().contains_key("x-credits-charged"));
        let etag = answer.headers()["etag"].clone();
        let known = service.visit(&address).header("if-none-match", etag).send().await.unwrap();
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(service.balance(&customer).await.unwrap(), 5);

        // A wrong signature is always refused, even if another grant would be valid.
        let with_key = |path: String| service.get(&customer, &path).send();
        let other = format!("{}{}", &address[..address.len() - 2], if address.ends_with("00") { "11" } else { "00" });
        for (path, expected) in [
            (address.replace("RED", "BLUE"), "signature_invalid"),
            (other.clone(), "signature_invalid"),
            (address[..address.len() - 1].to_owned(), "signature_invalid"),
            (format!("/images/car.png?{CIVIC}&exp={}", in_seconds(60)), "signature_invalid"),
            (format!("/images/car.png?{CIVIC}&mode=cached&sig={}", "0".repeat(64)), "signature_invalid"),
            (signed(&secret, &format!("exp={}&{CIVIC}", in_seconds(-1))), "signature_expired"),
            (signed(&secret, &format!("exp={}&{CIVIC}", in_seconds(31 * 86_400))), "signature_invalid"),
            (signed("cycp_other", &format!("exp={}&{CIVIC}", in_seconds(60))), "signature_invalid"),
        ] {
            assert_eq!(code(with_key(path.clone()).await.unwrap()).await, (403, expected.to_owned()), "{path}");
        }
        assert_eq!(visit(&service, &signed(&secret, &format!("exp={}&{CIVIC}", in_seconds(29 * 86_400)))).await.status(), StatusCode::OK);

        // The URL ends with the secret, and with the key to which the secret belongs.
        service.operator(&["partner-secret", "revoke", &secret_id]).unwrap();
        assert_eq!(code(visit(&service, &address).await).await, (403, "signature_invalid".to_owned()));
        let (_, second) = partner_secret(&service, &customer);
        let address = signed(&second, &format!("exp={}&{CIVIC}", in_seconds(60)));
        assert_eq!(visit(&service, &address).await.status(), StatusCode::OK);
        service.operator(&["key", "revoke", &customer.key_id]).unwrap();
        assert_eq!(code(visit(&service, &address).await).await, (403, "signature_invalid".to_owned()));
        assert!(service.operator(&["partner-secret", "create", "--key", &customer.key_id]).is_err(), "a revoked key takes none");
    }

    async fn mode_cached_serves_what_exists_and_never_renders(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let path = format!("/images/car.png?{CIVIC}&mode=cached");
        assert_eq!(code(visit(&service, &path).await).await, (404, "not_rendered".to_owned()));
        assert_eq!(node.renders.load(std::sync::atomic::Ordering::SeqCst), 0);
        service.get(&customer, &format!("/api/v1/images/car?{CIVIC}")).send().await.unwrap();
        let answer = visit(&service, &path).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(cache_control(&answer), "public, max-age=300, s-maxage=3600, stale-while-revalidate=60");
        // A key beside it changes nothing, because the free grant takes precedence.
        let keyed = service.get(&customer, &path).send().await.unwrap();
        assert!(!keyed.headers().contains_key("x-credits-charged"));
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn a_key_pays_one_credit_and_keeps_it_private(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(2).unwrap();
        let path = format!("/images/car.png?{CIVIC}");
        let nobody = visit(&service, &path).await;
        assert_eq!(nobody.headers()["www-authenticate"], "Bearer");
        assert_eq!(code(nobody).await.0, 401);
        let head = service.http.head(format!("{}{path}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
        assert_eq!((head.status(), &head.headers()["x-credits-charged"]), (StatusCode::OK, &"0".parse().unwrap()));
        assert!(!head.headers().contains_key("content-length"), "its length is not known before it is rendered");
        let answer = service.visit(&path).header("x-api-key", &customer.key).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!((&answer.headers()["x-credits-charged"], &answer.headers()["x-credits-remaining"]), (&"1".parse().unwrap(), &"1".parse().unwrap()));
        assert!(cache_control(&answer).contains("private") && answer.headers().contains_key("ratelimit-limit"));
        let etag = answer.headers()["etag"].clone();
        let known = service.get(&customer, &path).header("if-none-match", etag).send().await.unwrap();
        assert_eq!((known.status(), &known.headers()["x-credits-charged"]), (StatusCode::NOT_MODIFIED, &"0".parse().unwrap()));
        assert_eq!(service.get(&customer, &path).send().await.unwrap().status(), StatusCode::OK);
        assert_eq!(code(service.get(&customer, &path).send().await.unwrap()).await.0, 402);
    }

    async fn a_free_picture_that_fails_speaks_of_no_credit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let customer = service.customer(5).unwrap();
        let (_, secret) = partner_secret(&service, &customer);
        let query = format!("exp={}&make=honda&model=civic&year=2018", in_seconds(600));
        let free = visit(&service, &signed(&secret, &query)).await;
        let paid = service.get(&customer, "/images/car.png?make=honda&model=civic&year=2018&view=rear").send().await.unwrap();
        for (answer, has_credit) in [(free, false), (paid, true)] {
            assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
            let problem: Value = answer.json().await.unwrap();
            assert_eq!(problem["code"], "render_failed");
            assert_eq!(problem["detail"].as_str().unwrap().contains("credit"), has_credit, "{problem}");
        }
    }

    async fn tags_that_others_add_to_an_address_change_nothing_and_are_named(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let named = |answer: &Response| answer.headers().get("x-ignored-parameters").map(|value| value.to_str().unwrap().to_owned());
        // With a key.
        let keyed = service.get(&customer, &format!("/api/v1/images/car?utm_medium=cpc&{CIVIC}&gclid=a&gclid=b")).send().await.unwrap();
        assert_eq!((keyed.status(), named(&keyed).as_deref()), (StatusCode::OK, Some("utm_medium, gclid")));
        assert!(!keyed.headers()["content-location"].to_str().unwrap().contains("gclid"));
        let head = service.http.head(format!("{}/api/v1/images/car?{CIVIC}&_hsenc=x", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
        assert_eq!((head.status(), named(&head).as_deref()), (StatusCode::OK, Some("_hsenc")));
        // Embedded: the canonical spelling has none of the tags.
        let moved = visit(&service, &format!("/images/car.png?{CIVIC}&mode=cached&fbclid=x&utm_source=mail")).await;
        assert_eq!((moved.status(), named(&moved).as_deref()), (StatusCode::PERMANENT_REDIRECT, Some("fbclid, utm_source")));
        assert_eq!(moved.headers()["location"], format!("/images/car.png?{CIVIC}&mode=cached"));
        // Signed: with tags added later, or signed with the rest.
        let (_, secret) = partner_secret(&service, &customer);
        let address = signed(&secret, &format!("exp={}&{CIVIC}", in_seconds(600)));
        let over_a_tag = signed(&secret, &format!("exp={}&{CIVIC}", in_seconds(600)).replace("&year=2018", "&utm_source=shop&year=2018"));
        for (address, expected) in [
            (format!("{address}&msclkid=x&utm_campaign=y"), Some("msclkid, utm_campaign")),
            (address.replace("?exp", "?mc_eid=1&exp"), Some("mc_eid")),
            (over_a_tag.clone(), Some("utm_source")),
            (address.clone(), None),
        ] {
            let answer = visit(&service, &address).await;
            assert_eq!((answer.status(), named(&answer).as_deref()), (StatusCode::OK, expected), "{address}");
        }
        for forged in [format!("{over_a_tag}&fbclid=x"), format!("{}&fbclid=x", address.replace("civic", "accord"))] {
            assert_eq!(code(visit(&service, &forged).await).await, (403, "signature_invalid".to_owned()), "{forged}");
        }
        // A parameter that is not a known tag is refused as before, by each endpoint with its own
        // parameters.
        for name in ["v", "_", "ref", "utm", "utm_"] {
            for (path, own) in [("/images/car.png", "mode, exp, sig and key"), ("/api/v1/images/car", "finish and response")] {
                let answer = service.get(&customer, &format!("{path}?{CIVIC}&{name}=2&twclid=x")).send().await.unwrap();
                assert_eq!((answer.status(), named(&answer).as_deref()), (StatusCode::BAD_REQUEST, Some("twclid")), "{path} {name}");
                let problem: Value = answer.json().await.unwrap();
                assert_eq!(problem["parameter"], name);
                assert!(problem["detail"].as_str().unwrap().contains(own), "{problem}");
            }
        }
        // Pages accept tags, and refuse other parameters.
        for (path, expected) in [("/playground?utm_source=x", 200), ("/playground?fbclid=1&make=honda&model=civic&year=2018", 200), ("/playground?v=1", 400)] {
            assert_eq!(visit(&service, path).await.status().as_u16(), expected, "{path}");
        }
    }

    async fn grey_is_gray(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        for color in ["gray", "grey", "Grey", "GREY"] {
            let answer = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}&color={color}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{color}");
            assert!(answer.headers()["content-location"].to_str().unwrap().contains("&color=gray&"));
        }
        let moved = visit(&service, &format!("/images/car.png?{CIVIC}&color=grey&mode=cached")).await;
        assert_eq!(moved.headers()["location"], format!("/images/car.png?{CIVIC}&color=gray&mode=cached"));
        let document: Value = visit(&service, "/openapi.json").await.json().await.unwrap();
        assert!(document["components"]["schemas"]["ImageRequest"].to_string().contains("\"grey\""));
    }

    async fn keys_in_the_query_only_where_the_deployment_says_so(db: DatabaseChoice) {
        let strict = Service::start(db).await.unwrap();
        let customer = strict.customer(2).unwrap();
        let path = format!("/images/car.png?{CIVIC}&key={}", customer.key);
        let moved = visit(&strict, &path).await;
        assert_eq!(moved.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(moved.headers()["location"], format!("/images/car.png?{CIVIC}"), "the key does not go on");
        assert_eq!(strict.balance(&customer).await.unwrap(), 2);

        let lenient = Service::start_with(db, Options::default().set("ALLOW_LEGACY_QUERY_KEYS", "true")).await.unwrap();
        let _node = FakeNode::join(&lenient, Behaviour::Deliver).await.unwrap();
        let customer = lenient.customer(2).unwrap();
        let path = format!("/images/car.png?{CIVIC}&key={}", customer.key);
        assert_eq!(visit(&lenient, &path).await.status(), StatusCode::OK);
        assert_eq!(lenient.balance(&customer).await.unwrap(), 1);
        let respelled = visit(&lenient, &path.replace("honda", "Honda")).await;
        assert_eq!(respelled.headers()["location"], path);
        assert!(cache_control(&respelled).contains("no-store"), "a key is in it");
        assert_eq!(code(visit(&lenient, &format!("/images/car.png?{CIVIC}&key=cyc_wrong")).await).await.0, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unsigned_addresses_have_one_spelling() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    for (given, canonical) in [
        ("brand=Honda&model=Civic&year=2018", CIVIC.to_owned()),
        ("year=2018&model=civic&make=honda", CIVIC.to_owned()),
        (
            "make=honda&model=civic&year=2018&view=hero&color=Red&format=jpeg",
            format!("{CIVIC}&view=front-3-4&color=red&format=jpg"),
        ),
        ("make=honda&model=civic&year=2018&size=small", format!("{CIVIC}&w=512")),
        ("make=honda&model=civic&year=2018&size=small&h=90", format!("{CIVIC}&h=90")),
        ("make=honda&model=civic&year=2018&mode=cached&w=0300", format!("{CIVIC}&w=300&mode=cached")),
        ("make=honda&model=civic&year=%32018", CIVIC.to_owned()),
    ] {
        let answer = visit(&service, &format!("/images/car.png?{given}")).await;
        assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT, "{given}");
        let location = answer.headers()["location"].to_str().unwrap().to_owned();
        assert_eq!(location, format!("/images/car.png?{canonical}"), "{given}");
        assert!([401, 404].contains(&visit(&service, &location).await.status().as_u16()), "once is enough: {given}");
    }
    for (query, parameter) in [
        ("make=honda&model=civic", "year"),
        ("make=honda&model=civic&year=2018&mode=fresh", "mode"),
        ("make=honda&model=civic&year=2018&mode=cached&mode=cached", "mode"),
        ("make=honda&model=civic&year=2018&response=url", "response"),
        ("make=honda&model=civic&year=2018&paint=red", "paint"),
    ] {
        let answer = visit(&service, &format!("/images/car.png?{query}")).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
        assert_eq!(answer.json::<Value>().await.unwrap()["parameter"], parameter, "{query}");
    }
    assert_eq!(code(visit(&service, "/images/car.png?make=honda&model=civik&year=2018").await).await.0, 404);
}

//! Framing, paints and formats beyond the contract's first version, on every endpoint that delivers
//! images.

use super::embeds::signed;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

const CAR: &str = "/api/v1/images/car?make=porsche&model=911&year=2024";
const CANONICAL: &str = "/api/v1/images/car?make=porsche&model=911&year=2024&view=front-3-4";

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).unwrap_or_else(|| panic!("no {name} in {:?}", answer.headers())).to_str().unwrap()
}

fn has_size(answer: &Response, (width, height): (u32, u32)) -> bool {
    header(answer, "x-image-width") == width.to_string() && header(answer, "x-image-height") == height.to_string()
}

/// The status of a refusal, and the parameter that it names.
async fn refusal(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    (status, body["parameter"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned())
}

on_both_databases! {
    async fn a_frame_has_its_size_its_address_and_its_validator(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(100).unwrap();
        // The fake node's master is visible everywhere, so nothing is trimmed away.
        let table = [
            ("&fit=contain&w=300&h=200", (300, 200), "&color=silver&w=300&h=200&format=png&fit=contain"),
            ("&fit=cover&w=300&h=200&format=webp", (300, 200), "&color=silver&w=300&h=200&format=webp&fit=cover"),
            ("&trim=true&w=300", (300, 300), "&color=silver&w=300&format=png&trim=true"),
            (
                "&trim=true&padding=50&width=300&bg=F4F4F2&format=jpg", (300, 300),
                "&color=silver&w=300&format=jpg&trim=true&padding=50&background=f4f4f2",
            ),
            ("&background=black&w=256", (256, 256), "&color=silver&w=256&format=png&background=black"),
            ("&fit=contain&w=1024&h=1024&trim=false&padding=0", (1024, 1024), "&color=silver&w=1024&h=1024&format=png&fit=contain"),
        ];
        let mut validators = Vec::new();
        for (query, size, canonical) in table {
            let answer = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{query}");
            assert!(has_size(&answer, size), "{query}");
            assert_eq!(header(&answer, "content-location"), format!("{CANONICAL}{canonical}"), "{query}");
            let etag = header(&answer, "etag").to_owned();
            let bytes = answer.bytes().await.unwrap();
            let picture = image::load_from_memory(&bytes).unwrap();
            assert_eq!((picture.width(), picture.height()), size, "{query}");
            assert_eq!(picture.to_rgba8().pixels().all(|p| p.0[3] == 255), canonical.contains("background"), "{query}");

            let known = service.get(&customer, &format!("{CAR}{query}")).header("if-none-match", &etag);
            assert_eq!(known.send().await.unwrap().status(), StatusCode::NOT_MODIFIED, "{query}");
            let other_spelling = service.get(&customer, &format!("{CANONICAL}{canonical}")).send().await.unwrap();
            assert_eq!(header(&other_spelling, "etag"), etag, "{query}");
            assert_eq!(other_spelling.bytes().await.unwrap(), bytes, "{query}");
            validators.push(etag);
        }
        validators.sort();
        validators.dedup();
        assert_eq!(validators.len(), table.len());
        assert_eq!(node.renders.load(Ordering::SeqCst), 1);
        assert_eq!(service.balance(&customer).await.unwrap(), 100 - 2 * table.len() as i64);
    }

    async fn vehicles_at_true_scale_say_how_large_a_pixel_is(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        // A 911 is under 6.6 m long, so it is drawn smaller than its master.
        let answer = service.get(&customer, &format!("{CAR}&view=side&scale=true&w=512")).send().await.unwrap();
        assert_eq!((header(&answer, "x-image-scale"), has_size(&answer, (512, 512))), ("13.000", true));
        let picture = image::load_from_memory(&answer.bytes().await.unwrap()).unwrap().to_rgba8();
        assert_eq!(picture.get_pixel(2, 2).0[3], 0, "there is room around it");
        let filled = service.get(&customer, &format!("{CAR}&view=side&w=512")).send().await.unwrap();
        assert!(!filled.headers().contains_key("x-image-scale"));
    }

    async fn any_paint_is_a_paint_job_for_one_credit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let mut validators = Vec::new();
        for (query, canonical) in [
            ("&color=silver", "&color=silver&format=png"),
            ("&colour=%231F4E8C", "&color=1f4e8c&format=png"),
            ("&color=1f4e8c&finish=matt", "&color=1f4e8c&format=png&finish=matt"),
            ("&color=1f4e8c&shadow=off", "&color=1f4e8c&format=png&shadow=off"),
            ("&shadow=off", "&color=silver&format=png&shadow=off"),
            ("&color=tomato&w=300", "&color=ff6347&w=300&format=png"),
        ] {
            let answer = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{query}");
            assert_eq!(header(&answer, "x-image-source"), "generated", "{query}");
            assert_eq!(header(&answer, "content-location"), format!("{CANONICAL}{canonical}"), "{query}");
            validators.push(header(&answer, "etag").to_owned());
            let again = service.get(&customer, &format!("{CANONICAL}{canonical}")).send().await.unwrap();
            assert_eq!(header(&again, "x-image-source"), "cache", "{query}");
            assert_eq!(header(&again, "etag"), validators.last().unwrap(), "{query}");
        }
        assert_eq!((node.renders.load(Ordering::SeqCst), node.paints.load(Ordering::SeqCst)), (1, 5));
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn an_account_has_so_many_new_paints_a_day(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_NEW_PAINTS_PER_ACCOUNT_DAY", 2);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let (customer, other) = (service.customer(20).unwrap(), service.customer(20).unwrap());
        let painted = |color: &str| service.get(&customer, &format!("{CAR}&color={color}")).send();
        for color in ["111111", "222222"] {
            assert_eq!(painted(color).await.unwrap().status(), StatusCode::OK);
        }
        let refused = painted("333333").await.unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.json::<Value>().await.unwrap()["code"], "too_many_new_paints");
        assert_eq!(service.balance(&customer).await.unwrap(), 18, "what was held for it was given back");
        for color in ["111111", "red"] {
            assert_eq!(painted(color).await.unwrap().status(), StatusCode::OK, "{color} exists, or is a preset");
        }
        let others = service.get(&other, &format!("{CAR}&color=333333")).send().await.unwrap();
        assert_eq!(others.status(), StatusCode::OK);
    }

    async fn what_cannot_go_together_is_refused_by_name(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        for (query, parameter) in [
            ("&fit=contain&w=300", "h"),
            ("&fit=cover&h=300", "w"),
            ("&fit=contain&size=small", "w"),
            ("&padding=5", "padding"),
            ("&trim=true&padding=51", "padding"),
            ("&trim=yes", "trim"),
            ("&format=jpg&background=transparent", "background"),
            ("&background=12345", "background"),
            ("&color=red&finish=matt", "finish"),
            ("&finish=matt", "finish"),
            ("&color=1f4e8c&finish=shiny", "finish"),
            ("&color=1f4e8", "color"),
            ("&shadow=none", "shadow"),
            ("&scale=2", "scale"),
            ("&format=heic", "format"),
            ("&w=1025&trim=true", "w"),
        ] {
            for path in ["/api/v1/images/car", "/images/car.png"] {
                let path = format!("{path}?make=porsche&model=911&year=2024{query}");
                let answer = service.get(&customer, &path).send().await.unwrap();
                assert_eq!(refusal(answer).await, (400, parameter.to_owned()), "{path}");
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn a_signed_address_keeps_its_frame_and_its_paint(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let image = json!({
            "make": "porsche", "model": "911", "year": 2024, "color": "#1F4E8C", "finish": "pearl", "width": 320, "height": 180,
            "fit": "contain", "trim": true, "padding": 5, "background": "WHITE", "shadow": "off", "scale": "true", "format": "webp",
        });
        let made = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&image);
        let made: Value = made.send().await.unwrap().json().await.unwrap();
        assert_eq!(
            made["data"][0]["vehicle"],
            json!({
                "make": "porsche", "model": "911", "year": 2024, "vehicle_id": "cyv_0hwrj14krt3sm", "body": "coupe",
                "likeness": "generation", "view": "front-3-4", "color": "1f4e8c", "finish": "pearl", "width": 320, "height": 180,
                "fit": "contain", "trim": true, "padding": 5, "background": "white", "shadow": "off", "scale": "true",
                "format": "webp",
            })
        );
        let loaded = service.http.get(made["data"][0]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(loaded.status(), StatusCode::OK);
        assert!(has_size(&loaded, (320, 180)));
        header(&loaded, "x-image-scale");
        let frame = "w=320&h=180&fit=contain&trim=true&padding=5&background=ffffff&scale=true";
        let keyed = format!("{CAR}&color=1f4e8c&finish=pearl&shadow=off&format=webp&{frame}");
        let keyed = service.get(&customer, &keyed).send().await.unwrap();
        assert_eq!(header(&keyed, "etag"), header(&loaded, "etag"));

        let statement = service.get(&customer, "/api/v1/account/statement").send().await.unwrap().text().await.unwrap();
        let about = "#1f4e8c-pearl-no-shadow, fit contain, trim true, padding 5, background white, scale true";
        assert!(statement.contains(about), "{statement}");
    }

    async fn auto_gives_what_the_client_names(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(30).unwrap();
        let chrome = "image/avif,image/webp,image/apng,image/*,*/*;q=0.8";
        for (query, accept, media_type) in [
            ("", None, "image/png"),
            ("", Some("*/*"), "image/png"),
            ("", Some("image/webp,*/*;q=0.5"), "image/webp"),
            ("", Some("image/jpeg"), "image/jpeg"),
            ("&background=white", Some("*/*"), "image/jpeg"),
            ("", Some(chrome), "image/webp"),
        ] {
            let request = service.get(&customer, &format!("{CAR}&w=200&format=auto{query}"));
            let request = accept.into_iter().fold(request, |request, accept| request.header("accept", accept));
            let answer = request.send().await.unwrap();
            assert_eq!(header(&answer, "content-type"), media_type, "{query} {accept:?}");
            assert!(header(&answer, "vary").contains("Accept"));
            assert!(header(&answer, "content-location").contains("&format=auto"), "{query} {accept:?}");
        }
        // An AVIF is made in the background, so a later request gets it.
        let mut last = String::new();
        for _ in 0..100 {
            let answer = service.get(&customer, &format!("{CAR}&w=200&format=auto")).header("accept", chrome).send().await.unwrap();
            last = header(&answer, "content-type").to_owned();
            if last == "image/avif" || service.balance(&customer).await.unwrap() == 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        assert_eq!(last, "image/avif");
        let asked = service.get(&customer, &format!("{CAR}&w=100&format=avif")).send().await.unwrap();
        assert_eq!((asked.status(), header(&asked, "content-type")), (StatusCode::OK, "image/avif"));
    }

    async fn a_partners_address_and_a_browsers_have_frames_too(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let made = service.operator(&["partner-secret", "create", "--key", &customer.key_id]).unwrap();
        let expires = cyclorama_tests::stripe::unix_seconds() + 600;
        let vehicle = "make=porsche&model=911&w=200&year=2024";
        let query = format!("background=white&color=1f4e8c&exp={expires}&fit=cover&format=webp&h=100&{vehicle}");
        let answer = service.visit(&signed(made["secret"].as_str().unwrap(), &query)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(has_size(&answer, (200, 100)));

        let given = "/images/car.png?year=2024&model=911&make=porsche&w=200&fit=contain&h=100&bg=%23FFFFFF&colour=Tomato&mode=cached";
        let redirect = service.visit(given).send().await.unwrap();
        assert_eq!(redirect.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(
            header(&redirect, "location"),
            "/images/car.png?make=porsche&model=911&year=2024&color=ff6347&w=200&h=100&fit=contain&background=white&mode=cached"
        );
        let missing = service.visit(header(&redirect, "location")).send().await.unwrap();
        assert_eq!(missing.status(), StatusCode::NOT_FOUND, "mode=cached never paints");
    }
}

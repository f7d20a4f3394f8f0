//! `GET /api/v1/images/car`: images, sizes, formats, headers, conditional requests.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::{Response, StatusCode};

const CAR: &str = "/api/v1/images/car?make=porsche&model=911&year=2024";

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).unwrap_or_else(|| panic!("no {name} in {:?}", answer.headers())).to_str().unwrap()
}

/// The documented headers of a delivered image, all of them.
fn assert_delivery_headers(answer: &Response) {
    for name in [
        "content-location",
        "etag",
        "x-credits-charged",
        "x-credits-remaining",
        "x-image-source",
        "x-image-width",
        "x-image-height",
        "x-vehicle-likeness",
        "x-request-id",
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
    ] {
        header(answer, name);
    }
    assert_eq!(header(answer, "cache-control"), "private, no-store");
    assert_eq!(header(answer, "x-credits-charged"), "1");
}

on_both_databases! {
    async fn a_picture_costs_one_credit_cold_or_cached(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let path = format!("{CAR}&view=front-3-4&color=red");

        let cold = service.get(&customer, &path).send().await.unwrap();
        assert_eq!(cold.status(), StatusCode::OK);
        assert_delivery_headers(&cold);
        assert_eq!(header(&cold, "content-type"), "image/png");
        assert_eq!(header(&cold, "x-image-source"), "generated");
        assert_eq!(header(&cold, "x-credits-remaining"), "9");
        assert_eq!(
            header(&cold, "content-location"),
            "/api/v1/images/car?make=porsche&model=911&year=2024&view=front-3-4&color=red&format=png"
        );
        let etag = header(&cold, "etag").to_owned();
        assert!(etag.starts_with('"') && etag.ends_with('"'), "a strong validator, not {etag}");
        let first = cold.bytes().await.unwrap();
        let picture = image::load_from_memory(&first).unwrap();
        assert_eq!((picture.width(), picture.height()), (1024, 1024));

        let cached = service.get(&customer, &path).send().await.unwrap();
        assert_eq!(header(&cached, "x-image-source"), "cache");
        assert_eq!(header(&cached, "x-credits-remaining"), "8");
        assert_eq!(header(&cached, "etag"), etag);
        assert_eq!(cached.bytes().await.unwrap(), first, "what an ETag names never changes");
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
        assert_eq!(node.renders.load(std::sync::atomic::Ordering::SeqCst), 1);
    }

    async fn formats_sizes_and_aliases(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(1000).unwrap();
        // Query, media type, side of the square image.
        let table = [
            ("", "image/png", 1024),
            ("&format=png&size=thumb", "image/png", 256),
            ("&format=webp&size=small", "image/webp", 512),
            ("&format=jpg&size=medium", "image/jpeg", 768),
            ("&format=jpeg&size=large", "image/jpeg", 1024),
            ("&w=300", "image/png", 300),
            ("&h=77&format=webp", "image/webp", 77),
            ("&w=800&h=450&format=jpg", "image/jpeg", 450),
            ("&w=1&h=1", "image/png", 1),
            ("&w=640&size=thumb", "image/png", 640),
            ("&w=1024&format=webp", "image/webp", 1024),
        ];
        for (query, media_type, side) in table {
            let answer = service.get(&customer, &format!("{CAR}{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{query}");
            assert_eq!(header(&answer, "content-type"), media_type, "{query}");
            assert_eq!(header(&answer, "x-image-width"), side.to_string(), "{query}");
            assert_eq!(header(&answer, "x-image-height"), side.to_string(), "{query}");
            let bytes = answer.bytes().await.unwrap();
            let picture = image::load_from_memory(&bytes).unwrap();
            assert_eq!((picture.width(), picture.height()), (side, side), "{query}");
            let transparent = picture.to_rgba8().pixels().any(|p| p.0[3] < 255);
            assert_eq!(transparent, media_type != "image/jpeg", "{query}");
        }
        // Other spellings of the same variant are the same image, rendered once.
        let reference = service.get(&customer, &format!("{CAR}&view=side")).send().await.unwrap();
        for query in [
            "make=Porsche&model=911&year=2024&view=profile", "brand=PORSCHE&model=911&year=2024&view=side-left&color=silver",
            "model=911&year=2024&make=porsche&format=png&view=side",
        ] {
            let answer = service.get(&customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{query}");
            assert_eq!(header(&answer, "etag"), header(&reference, "etag"), "{query}");
            assert_eq!(header(&answer, "content-location"), header(&reference, "content-location"), "{query}");
            assert_eq!(header(&answer, "x-image-source"), "cache", "{query}");
        }
    }

    async fn a_matching_etag_is_304_and_free(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let first = service.get(&customer, CAR).send().await.unwrap();
        let etag = header(&first, "etag").to_owned();

        for given in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let answer = service.get(&customer, CAR).header("if-none-match", &given).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{given}");
            assert_eq!(header(&answer, "etag"), etag);
            assert_eq!(header(&answer, "x-credits-charged"), "0");
            header(&answer, "x-request-id");
            header(&answer, "ratelimit-remaining");
            assert!(answer.bytes().await.unwrap().is_empty());
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 4);

        let other = service.get(&customer, CAR).header("if-none-match", "\"not-this\"").send().await.unwrap();
        assert_eq!(other.status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 3);
    }

    async fn request_ids_are_echoed_or_made(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let chosen = "My.request_1:a-b";
        let answer = service.get(&customer, CAR).header("x-request-id", chosen).send().await.unwrap();
        assert_eq!(header(&answer, "x-request-id"), chosen);
        let long = "x".repeat(129);
        for unusable in ["with space", "sl/ash", long.as_str()] {
            let answer = service.get(&customer, CAR).header("x-request-id", unusable).send().await.unwrap();
            assert!(answer.status() == StatusCode::OK || answer.status() == StatusCode::BAD_REQUEST);
            assert_ne!(header(&answer, "x-request-id"), unusable);
        }
    }

    async fn another_colour_is_a_paint_job(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        for colour in ["red", "blue", "white", "burgundy"] {
            let answer = service.get(&customer, &format!("{CAR}&color={colour}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(header(&answer, "x-image-source"), "generated", "{colour} was never made before");
        }
        assert_eq!(node.renders.load(std::sync::atomic::Ordering::SeqCst), 1);
        assert_eq!(node.paints.load(std::sync::atomic::Ordering::SeqCst), 3);
        assert_eq!(service.balance(&customer).await.unwrap(), 16);
    }

    async fn both_key_headers_work(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let answer = service.visit(CAR).header("x-api-key", &customer.key).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let head = service.http.head(format!("{}{CAR}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
        assert_eq!(head.status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 4, "HEAD is free");
    }
}

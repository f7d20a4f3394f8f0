//! The catalog as clients see it: options, browsing, search, resolve; and another release without a
//! restart.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, package_file};
use reqwest::StatusCode;
use serde_json::{Value, json};

async fn data(service: &Service, path: &str) -> Value {
    let answer = service.visit(path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json::<Value>().await.unwrap()["data"].take()
}

async fn resolve(service: &Service, key: &str, body: Value) -> (StatusCode, Value) {
    let url = format!("{}/api/v1/images/resolve", service.base_url);
    let answer = service.http.post(url).bearer_auth(key).json(&body).send().await.unwrap();
    assert!(answer.headers().contains_key("ratelimit-remaining"), "{body}");
    (answer.status(), answer.json().await.unwrap())
}

on_both_databases! {
    async fn options_have_every_key_and_real_numbers(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let answer = service.visit("/api/v1/images/options").send().await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "public, max-age=3600");
        let etag = answer.headers()["etag"].clone();
        let options: Value = answer.json::<Value>().await.unwrap()["data"].take();
        let counts = |key: &str| options[key].as_array().unwrap().len();
        assert_eq!((counts("views"), counts("colors"), counts("formats")), (6, 15, 4));
        assert_eq!(options["views"][1], json!({
            "id": "front-3-4", "label": "Front three-quarter", "yaw_degrees": 35, "description": "front and driver's side",
            "aliases": ["front34", "hero"],
        }));
        assert_eq!(options["colors"][0], json!({ "name": "white", "hex": "#f4f4f2" }));
        assert_eq!(options["sizes"], json!({ "presets": { "thumb": 256, "small": 512, "medium": 768, "large": 1024 }, "max": 1024, "source": 1024 }));
        assert_eq!(options["formats"][2], json!({ "id": "jpg", "mime": "image/jpeg", "transparent": false }));
        assert_eq!(options["formats"][3], json!({ "id": "avif", "mime": "image/avif", "transparent": true }));
        assert_eq!(options["auto_format"], json!({ "id": "auto", "formats": ["avif", "webp", "png", "jpg"], "without_accept": "png" }));
        assert_eq!(options["frame"], json!({
            "fits": ["inside", "contain", "cover"], "trim": true, "padding": { "min": 0, "max": 50 },
            "backgrounds": ["transparent", "white", "black"], "shadows": ["on", "off"], "scales": ["fill", "true"],
            "true_scale_mm_per_px": 6.5,
        }));
        assert_eq!(options["paints"], json!({
            "hex": true, "finishes": ["solid", "metallic", "pearl", "matt"], "default_finish": "metallic",
        }));
        let pricing = &options["pricing"];
        assert_eq!((&pricing["credits_per_image"], &pricing["credits_per_dollar"], &pricing["free_credits"]), (&json!(1), &json!(1000), &json!(100)));
        assert_eq!(pricing["packs"][0], json!({ "credits": 5000, "cents": 500 }));
        let catalog = &options["catalog"];
        assert_eq!((&catalog["makes"], &catalog["models"], &catalog["years"]), (&json!(1145), &json!(14841), &json!({ "from": 1990, "to": 2026 })));
        assert_eq!(catalog["sources"].as_array().unwrap().len(), 5);
        for source in catalog["sources"].as_array().unwrap() {
            assert!(["id", "name", "region", "license"].iter().all(|key| source[key].as_str().is_some_and(|text| !text.is_empty())), "{source}");
        }
        assert_eq!(catalog["release"]["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(options["limits"]["max_batch_urls"], 50);
        assert_eq!(options["limits"]["delivery_ttl"], json!({ "default": 3600, "min": 60, "max": 604800 }));
        assert!(options["links"].as_object().unwrap().values().all(|link| link.as_str().unwrap().starts_with("http")));
        let again = service.visit("/api/v1/images/options").header("if-none-match", etag).send().await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(again.headers().contains_key("etag") && again.headers().contains_key("cache-control"));
        // Every listed option is accepted.
        let customer = service.customer(1).unwrap();
        for view in options["views"].as_array().unwrap() {
            for name in view["aliases"].as_array().unwrap().iter().chain([&view["id"]]) {
                let query = format!("/api/v1/images/car?make=honda&model=civic&year=2018&view={}", name.as_str().unwrap());
                let asked = service.http.head(format!("{}{query}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
                assert_eq!(asked.status(), StatusCode::OK, "{name}");
            }
        }
    }

    async fn six_lists_of_vehicles(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let years = data(&service, "/api/v1/vehicles").await;
        assert_eq!((years["years"].as_array().unwrap().len(), &years["years"][0]), (37, &json!(1990)));
        let makes = data(&service, "/api/v1/vehicles?year=2024").await;
        assert_eq!(makes["year"], 2024);
        let ford = makes["makes"].as_array().unwrap().iter().find(|make| make["slug"] == "ford").unwrap();
        let models = data(&service, &format!("/api/v1/vehicles?year=2024&makeId={}", ford["id"])).await;
        assert_eq!((&models["year"], &models["make_id"]), (&json!(2024), &ford["id"]));
        let mustang = models["models"].as_array().unwrap().iter().find(|model| model["slug"] == "mustang").unwrap();
        assert_eq!(mustang, &json!({
            "name": "Mustang", "slug": "mustang", "vehicle_type": "passenger-car", "likeness": "model",
            "vehicle_id": "cyv_rqynmds6sm2ts", "body": "coupe",
        }));
        let of_make = data(&service, "/api/v1/vehicles?make=ford").await;
        assert_eq!(of_make["make"], *ford);
        assert!(of_make["models"].as_array().unwrap().len() > models["models"].as_array().unwrap().len() && of_make.get("year").is_none());
        let of_year = data(&service, "/api/v1/vehicles?make=ford&year=2024").await;
        assert_eq!((&of_year["year"], &of_year["models"]), (&json!(2024), &models["models"]));
        let model = data(&service, "/api/v1/vehicles?make=tesla&model=model-3").await;
        assert_eq!((&model["model"]["slug"], &model["years"][0]), (&json!("model-3"), &json!(2017)));
        assert_eq!(data(&service, "/api/v1/vehicles?make=porsche&model=pana").await["model"]["slug"], "panamera", "a unique beginning");
        let found = data(&service, "/api/v1/vehicles?q=toyta%20corola&year=2015&limit=3").await;
        assert_eq!((&found["query"], &found["year"]), (&json!("toyta corola"), &json!(2015)));
        assert!(found["results"].as_array().unwrap().len() <= 3);
        assert_eq!(found["results"][0], json!({
            "kind": "model", "make_name": "Toyota", "make_slug": "toyota", "model_name": "Corolla", "model_slug": "corolla",
            "vehicle_type": "passenger-car", "vehicle_id": "cyv_vvr98d5dwzyq4", "years": [2015], "match_kind": "fuzzy",
        }));
        let make = data(&service, "/api/v1/vehicles?q=chevy").await;
        assert_eq!((&make["results"][0]["kind"], &make["results"][0]["make_slug"]), (&json!("make"), &json!("chevrolet")));
        assert_eq!(data(&service, "/api/v1/vehicles?q=").await["results"], json!([]));

        let answer = service.visit("/api/v1/vehicles?q=golf").send().await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "public, max-age=86400");
        let etag = answer.headers()["etag"].clone();
        let other = service.visit("/api/v1/vehicles?q=polo").send().await.unwrap();
        assert_ne!(other.headers()["etag"], etag);
        let again = service.visit("/api/v1/vehicles?q=golf").header("if-none-match", etag).send().await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }

    async fn vehicles_that_are_not_there_and_questions_that_are_none(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        for (query, suggested) in [("make=frod", "ford"), ("make=ford&model=mustnag", "mustang"), ("make=tesla&model=model", "model-3"), ("year=2027", ""), ("make=tesla&year=1995", ""), ("year=2024&makeId=1", "")] {
            let answer = service.visit(&format!("/api/v1/vehicles?{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{query}");
            let problem: Value = answer.json().await.unwrap();
            assert_eq!(problem["code"], "vehicle_not_found", "{query}");
            assert!(suggested.is_empty() || problem["suggestions"].to_string().contains(suggested), "{problem}");
        }
        for (query, parameter) in [("year=1989", "year"), ("makeId=440", "year"), ("model=golf", "model"), ("q=x&limit=26", "limit"), ("colour=red", "colour")] {
            let answer = service.visit(&format!("/api/v1/vehicles?{query}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
            assert_eq!(answer.json::<Value>().await.unwrap()["parameter"], parameter, "{query}");
        }
        let long = "x".repeat(201);
        assert_eq!(service.visit(&format!("/api/v1/vehicles?q={long}")).send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    }

    async fn words_resolve_to_a_picture_that_can_be_had(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(1).unwrap();
        let (status, answer) = resolve(&service, &customer.key, json!({ "query": "red ford mustang 2019 from behind 512px webp" })).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let found = &answer["data"];
        assert_eq!(found["params"], json!({ "make": "ford", "model": "mustang", "year": 2019, "view": "rear", "color": "red", "width": 512, "format": "webp" }));
        assert_eq!(found["display"], json!({ "make_name": "Ford", "model_name": "Mustang" }));
        assert_eq!(found["confidence"], "high");
        assert_eq!(found["candidates"][0]["match_kind"], "exact");
        assert_eq!(found["extracted"], json!({ "year": 2019, "body": null, "color": "red", "view": "rear", "size": null, "width": 512, "format": "webp", "unread": [] }));
        let picture = service.get(&customer, found["image_path"].as_str().unwrap()).send().await.unwrap();
        assert_eq!((picture.status(), picture.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, "image/webp"));
        assert_eq!(service.balance(&customer).await.unwrap(), 0, "the picture costs, its resolution does not");

        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "golf thumb", "make": "vw", "year": 2010 })).await;
        assert_eq!(answer["data"]["params"], json!({ "make": "volkswagen", "model": "golf", "year": 2010, "view": "front-3-4", "color": "silver", "size": "thumb" }));
        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "camry" })).await;
        assert_eq!(answer["data"]["params"]["year"], 2026, "the newest");
        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "mustang flurb" })).await;
        assert_eq!((&answer["data"]["confidence"], &answer["data"]["extracted"]["unread"]), (&json!("low"), &json!(["flurb"])));

        let (status, answer) = resolve(&service, &customer.key, json!({ "query": "a red toyota" })).await;
        assert_eq!((status, answer["makes"][0]["slug"].as_str()), (StatusCode::NOT_FOUND, Some("toyota")), "{answer}");
        let (status, answer) = resolve(&service, &customer.key, json!({ "query": "xyzzy" })).await;
        assert_eq!((status, answer.get("makes")), (StatusCode::NOT_FOUND, None));
    }

    async fn a_make_answers_with_its_best_known_models(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        for query in ["q=ford", "q=Ford&year=2015"] {
            let found = data(&service, &format!("/api/v1/vehicles?{query}")).await;
            let hits = found["results"].as_array().unwrap();
            assert_eq!((&hits[0]["kind"], &hits[0]["make_slug"]), (&json!("make"), &json!("ford")), "{query}");
            assert!(hits.iter().skip(1).all(|hit| hit["kind"] == "model" && hit["make_slug"] == "ford"), "{query}: {found}");
            for model in ["f-150", "mustang", "explorer"] {
                assert!(hits.iter().any(|hit| hit["model_slug"] == model), "{query}: no {model} in {found}");
            }
        }
    }

    async fn a_refusal_leads_to_the_vehicle_of_that_year(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let car = |make: &str, model: &str, year: u16| format!("/api/v1/images/car?make={make}&model={model}&year={year}&w=64");
        for (make, model, year, meant) in
            [("mazda", "MX-55", 2018, "mx-5"), ("volkswagen", "gollf", 2015, "golf"), ("porsche", "taycann", 2021, "taycan")]
        {
            let refused = service.get(&customer, &car(make, model, year)).send().await.unwrap();
            assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{make} {model}");
            let first = refused.json::<Value>().await.unwrap()["suggestions"][0].take();
            assert_eq!(first["model_slug"], meant, "{make} {model}: {first}");
            let followed = car(first["make_slug"].as_str().unwrap(), first["model_slug"].as_str().unwrap(), year);
            let followed = service.http.head(format!("{}{followed}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
            assert_eq!(followed.status(), StatusCode::OK, "{make} {model}");
        }
        let nickname = service.http.head(format!("{}{}", service.base_url, car("Mercedes", "c-class", 2019))).bearer_auth(&customer.key).send();
        assert_eq!(nickname.await.unwrap().status(), StatusCode::OK);
    }

    async fn rows_of_registers_that_name_no_vehicle_are_not_certain(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        let (status, answer) = resolve(&service, &customer.key, json!({ "query": "red mercedes benz" })).await;
        assert_eq!((status, answer["makes"][0]["slug"].as_str()), (StatusCode::NOT_FOUND, Some("mercedes-benz")), "{answer}");
        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "2015 Honda Motorcycle" })).await;
        assert_eq!((&answer["data"]["params"]["model"], &answer["data"]["confidence"]), (&json!("motorcycle"), &json!("medium")), "{answer}");
        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "mercedes glc 2020" })).await;
        assert_eq!((&answer["data"]["params"]["model"], &answer["data"]["params"]["year"]), (&json!("glc-class"), &json!(2020)), "{answer}");
        let (_, answer) = resolve(&service, &customer.key, json!({ "query": "BMW X5 xDrive40i 2021" })).await;
        assert_eq!(answer["data"]["params"]["model"], "x5", "{answer}");
    }

    async fn wrong_questions_are_named_and_free(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        for (body, parameter) in [
            (json!({}), "query"),
            (json!({ "query": "" }), "query"),
            (json!({ "query": "   " }), "query"),
            (json!({ "query": "x".repeat(201) }), "query"),
            (json!({ "query": "golf", "year": 1989 }), "year"),
            (json!({ "query": "golf", "year": "2010" }), "year"),
            (json!({ "query": "golf", "make": "x".repeat(61) }), "make"),
            (json!({ "query": "golf", "model": null }), "model"),
            (json!({ "query": "golf", "color": "red" }), "color"),
        ] {
            let (status, problem) = resolve(&service, &customer.key, body.clone()).await;
            assert_eq!((status, problem["parameter"].as_str()), (StatusCode::BAD_REQUEST, Some(parameter)), "{body} {problem}");
        }
        let large = json!({ "query": "golf", "make": " ".repeat(5000) });
        assert_eq!(resolve(&service, &customer.key, large).await.0, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(service.balance(&customer).await.unwrap(), 1);
    }

    async fn another_release_without_a_restart(db: DatabaseChoice) {
        let built_in = Service::start(db).await.unwrap();
        let refusal = built_in.operator(&["catalog", "reload"]).unwrap_err().to_string();
        assert!(refusal.contains("CYCLORAMA_CATALOG"), "{refusal}");
        drop(built_in);

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vehicles.bin");
        let release = package_file("../catalog/data/vehicles.bin").display().to_string();
        let release = release.as_str();
        let supplement = package_file("../catalog/data/vehicles.cc-by-sa.bin");
        std::fs::copy(release, &file).unwrap();
        let options = Options::default().set("CYCLORAMA_CATALOG", file.display());
        let service = Service::start_with(db, options).await.unwrap();
        let digest = async || data(&service, "/api/v1/images/options").await["catalog"]["release"]["sha256"].clone();
        let before = digest().await;
        assert_eq!(service.operator(&["catalog", "reload"]).unwrap()["changed"], false);
        // Another release: the same with its supplement.
        std::fs::copy(&supplement, folder.path().join("vehicles.cc-by-sa.bin")).unwrap();
        let told = service.operator(&["catalog", "reload"]).unwrap();
        assert_eq!((&told["changed"], &told["counts"]["makes"]), (&json!(true), &json!(1145)));
        let after = digest().await;
        assert_ne!(before, after);
        let info = service.operator(&["catalog", "info", "--file", &file.display().to_string()]).unwrap();
        assert_eq!(info["sha256"], after);
        // A file that does not load changes nothing.
        std::fs::write(&file, b"no release").unwrap();
        assert!(service.operator(&["catalog", "reload"]).unwrap_err().to_string().contains("vehicles.bin"));
        assert_eq!(digest().await, after);
        assert_eq!(service.visit("/readyz").send().await.unwrap().status(), StatusCode::OK);

        let difference = service.operator(&["catalog", "diff", release, release]).unwrap();
        assert_eq!((&difference["added"], &difference["redrawn"]), (&json!({}), &json!({})));
        let plain = folder.path().join("plain.bin");
        std::fs::copy(release, &plain).unwrap();
        let difference = service.operator(&["catalog", "diff", &plain.display().to_string(), release]).unwrap();
        assert_eq!((&difference["makes_added"], &difference["added"], &difference["removed"]), (&json!([]), &json!({}), &json!({})));
        assert!(difference["redrawn"].as_object().unwrap().len() > 100, "the supplement knows better sizes");
    }
}

/// Two processes, each with its own release file, as on two hosts.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_reaches_every_process_of_a_farm() {
    let folder = tempfile::tempdir().unwrap();
    let release_file = |host: &str| folder.path().join(host).join("vehicles.bin");
    for host in ["a", "b"] {
        std::fs::create_dir(folder.path().join(host)).unwrap();
        std::fs::copy(package_file("../catalog/data/vehicles.bin"), release_file(host)).unwrap();
    }
    let options = |host| Options::default().set("CYCLORAMA_CATALOG", release_file(host).display());
    let a = Service::start_with(DatabaseChoice::Postgres, options("a")).await.unwrap();
    let shared = options("b").set("CYCLORAMA_DATABASE_URL", a.database_url());
    let mut b = Service::start_with(DatabaseChoice::Sqlite, shared.clone()).await.unwrap();
    let digest =
        async |service: &Service| data(service, "/api/v1/images/options").await["catalog"]["release"]["sha256"].clone();
    let before = digest(&a).await;
    assert_eq!(digest(&b).await, before);

    let supplement = |host: &str| folder.path().join(host).join("vehicles.cc-by-sa.bin");
    for host in ["a", "b"] {
        std::fs::copy(package_file("../catalog/data/vehicles.cc-by-sa.bin"), supplement(host)).unwrap();
    }
    let told = a.operator(&["catalog", "reload"]).unwrap();
    assert_eq!((&told["changed"], &told["everywhere"]), (&json!(true), &json!(true)), "{told}");
    let after = told["sha256"].clone();
    assert_ne!(before, after);
    let held: Vec<_> = told["processes"].as_array().unwrap().iter().map(|process| process["sha256"].clone()).collect();
    assert_eq!(held, [after.clone(), after.clone()], "{told}");
    assert_eq!((digest(&a).await, digest(&b).await), (after.clone(), after.clone()), "both answer from it by now");

    // A file that loads in one process and not in the other is reported, and changes nothing in the
    // other.
    std::fs::remove_file(supplement("a")).unwrap();
    std::fs::write(release_file("b"), b"no release").unwrap();
    let refusal = a.operator(&["catalog", "reload"]).unwrap_err().to_string();
    assert!(refusal.contains("not every process"), "{refusal}");
    assert_eq!((digest(&a).await, digest(&b).await), (before.clone(), after));
    assert!(b.log().contains("the catalog could not be reloaded, as other processes had done"));

    // A reload while a process is away takes effect at its start.
    b.kill();
    std::fs::copy(package_file("../catalog/data/vehicles.bin"), release_file("b")).unwrap();
    std::fs::remove_file(supplement("b")).unwrap();
    let told = a.operator(&["catalog", "reload"]).unwrap();
    assert_eq!((told["everywhere"].clone(), told["processes"].as_array().unwrap().len()), (json!(true), 1), "{told}");
    b.launch().await.unwrap();
    assert_eq!(digest(&b).await, before);
    let told = b.operator(&["catalog", "reload"]).unwrap();
    assert_eq!((told["everywhere"].clone(), told["processes"].as_array().unwrap().len()), (json!(true), 2), "{told}");
}

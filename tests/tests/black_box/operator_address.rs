//! The operator address: the host names that it accepts.

use cyclorama_tests::{DatabaseChoice, Options, Service};
use reqwest::StatusCode;

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_address_answers_to_no_strange_name() {
    let options = Options::default().set("CYCLORAMA_ADMIN_HOSTS", "control-plane, farm-1.example.com");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let port = service.admin_url().rsplit(':').next().unwrap().to_owned();
    for (host, expected) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        ("10.20.30.40:9090".to_owned(), 200),
        ("[::1]:9090".to_owned(), 200),
        ("control-plane:9090".to_owned(), 200),
        ("Farm-1.Example.com".to_owned(), 200),
        ("evil.example".to_owned(), 421),
        (format!("rebound.evil.example:{port}"), 421),
        (format!("127.0.0.1.evil.example:{port}"), 421),
        ("farm-2.example.com".to_owned(), 421),
    ] {
        for path in ["/metrics", "/healthz", "/console/sign-in"] {
            let answer =
                service.http.get(format!("{}{path}", service.admin_url())).header("host", &host).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), expected, "{host} {path}");
            let text = answer.text().await.unwrap();
            assert!(
                expected == 200 || (text.contains("CYCLORAMA_ADMIN_HOSTS") && !text.contains("cyclorama_")),
                "{host} {path}: {text}"
            );
        }
    }
    // Clients use the public address by names that its proxies have.
    let public = service.visit("/healthz").header("host", "anything.example").send().await.unwrap();
    assert_eq!(public.status(), StatusCode::OK);
}

//! A proxy in front of the service that gives some answers by itself.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::response::IntoResponse;
use cyclorama_tests::Service;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// An answer that a proxy gives by itself to one request.
#[derive(Clone, Copy)]
pub struct ProxyAnswer {
    /// The beginning of the path of the requests that it answers.
    pub path: &'static str,
    /// True if the service gets the request first, and its answer is discarded.
    pub passes_on: bool,
    pub status: u16,
    pub media_type: &'static str,
    /// Seconds after which the request is to be sent again.
    pub retry_after: Option<u64>,
    pub body: &'static str,
}

/// A proxy in front of the service that gives each of its own answers once, in their order, and
/// then passes everything on.
pub struct Proxy {
    pub address: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    pub async fn start(service: &Service, answers: &[ProxyAnswer]) -> Proxy {
        let (upstream, http) = (service.base_url.clone(), service.http.clone());
        let waiting = Arc::new(Mutex::new(VecDeque::from(answers.to_vec())));
        let answer = move |request: Request| {
            let (upstream, http, waiting) = (upstream.clone(), http.clone(), waiting.clone());
            async move {
                let (parts, body) = request.into_parts();
                let own = waiting.lock().unwrap().pop_front_if(|own| parts.uri.path().starts_with(own.path));
                let pass_on = async {
                    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                    let address = format!("{upstream}{}", parts.uri);
                    let sent = http.request(parts.method, address).headers(parts.headers).body(body).send();
                    let answer = sent.await.unwrap();
                    let (status, headers) = (answer.status(), answer.headers().clone());
                    (status, headers, answer.bytes().await.unwrap()).into_response()
                };
                let Some(own) = own else { return pass_on.await };
                if own.passes_on {
                    pass_on.await;
                }
                let status = StatusCode::from_u16(own.status).unwrap();
                let mut response = (status, [(CONTENT_TYPE, own.media_type)], own.body).into_response();
                if let Some(seconds) = own.retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().fallback(answer);
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Proxy { address, task }
    }
}

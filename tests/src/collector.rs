//! An OpenTelemetry collector (the part of OTLP over HTTP that an exporter needs) that keeps the
//! spans sent to it.

use anyhow::{Result, bail};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct Collector {
    pub endpoint: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The program that sent the span.
    pub service: String,
    pub name: String,
    /// Ids in hex, as in a `traceparent`; empty if there is none.
    pub trace_id: String,
    pub span_id: String,
    pub parent_id: String,
    pub attributes: BTreeMap<String, String>,
    /// The reason of the failure; empty if the span failed without a message, `None` if it did not
    /// fail.
    pub failed: Option<String>,
    pub nanoseconds: u64,
}

impl Collector {
    pub async fn open() -> Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let spans = Arc::new(Mutex::new(Vec::new()));
        let routes = Router::new().route("/v1/traces", post(take)).with_state(spans.clone());
        tokio::spawn(async { axum::serve(listener, routes).await });
        Ok(Collector { endpoint, spans })
    }

    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Waits until spans with these names have come, and returns all spans of the trace.
    pub async fn wait_for(&self, trace_id: &str, names: &[&str]) -> Result<Vec<Span>> {
        for _ in 0..200 {
            let mut spans = self.spans();
            spans.retain(|span| span.trace_id == trace_id);
            if names.iter().all(|name| spans.iter().any(|span| span.name == *name)) {
                return Ok(spans);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("not all of {names:?} among {:#?}", self.spans())
    }
}

async fn take(
    State(spans): State<Arc<Mutex<Vec<Span>>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Vec<u8>, StatusCode> {
    if headers.get("content-type").is_none_or(|kind| kind != "application/x-protobuf") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let request = ExportTraceServiceRequest::decode(body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let mut kept = spans.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for of_resource in request.resource_spans {
        let resource = attributes(of_resource.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = resource.get("service.name").cloned().unwrap_or_default();
        let spans = of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans);
        kept.extend(spans.map(|span| Span {
            service: service.clone(),
            name: span.name,
            trace_id: hex::encode(span.trace_id),
            span_id: hex::encode(span.span_id),
            parent_id: hex::encode(span.parent_span_id),
            attributes: attributes(span.attributes),
            failed: span.status.filter(|status| status.code == 2).map(|status| status.message),
            nanoseconds: span.end_time_unix_nano.saturating_sub(span.start_time_unix_nano),
        }));
    }
    Ok(ExportTraceServiceResponse::default().encode_to_vec())
}

fn attributes(given: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |attribute: KeyValue| {
        let value = match attribute.value.and_then(|value| value.value) {
            Some(Value::StringValue(text)) => text,
            Some(Value::IntValue(number)) => number.to_string(),
            other => format!("{other:?}"),
        };
        (attribute.key, value)
    };
    given.into_iter().map(text).collect()
}

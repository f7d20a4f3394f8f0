//! OpenTelemetry traces: spans, their parents across processes (W3C Trace Context), and their
//! export (OTLP over HTTP).
//!
//! The code that creates spans decides which spans there are. Without an [`Exporter`] in the
//! process they cost next to nothing and are not sent.

use opentelemetry::InstrumentationScope;
use opentelemetry::context::{Context, FutureExt, WithContext};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Span, SpanBuilder, Status, TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

pub use opentelemetry::KeyValue;
pub use opentelemetry::trace::SpanKind;

/// Name of the HTTP header and of the wire field that identify a span: W3C
/// Trace Context, section 3.2.
pub const TRACEPARENT: &str = "traceparent";

/// Maximum time that [`Exporter::stop`] waits for spans that have ended and were not sent yet.
const LAST_SPANS: Duration = Duration::from_secs(3);

const SCOPE: &str = "cyclorama";

/// The tracer that creates spans; set once an [`Exporter`] has started.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Sends this process's spans to a collector, in groups and in the background. Spans that the
/// collector does not accept are dropped.
///
/// The environment variables of the OpenTelemetry SDK (`OTEL_TRACES_SAMPLER`,
/// `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_*`) apply as
/// the SDK documents them.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Starts the exporter. `endpoint` is the collector's base URL without a path, such as
    /// `http://127.0.0.1:4318`. TLS needs the process's default crypto provider. Fails if the SDK
    /// cannot build the exporter, for example from a malformed endpoint.
    #[expect(
        clippy::disallowed_methods,
        reason = "the variable is the OpenTelemetry SDK's own, which reads its others by itself"
    )]
    pub fn start(endpoint: &str, service: &'static str, version: &'static str) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .build()?;
        let mut resource = Resource::builder().with_attribute(KeyValue::new("service.version", version));
        // The SDK's own variables take precedence.
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(service);
        }
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
        let tracer = provider.tracer_with_scope(InstrumentationScope::builder(SCOPE).build());
        // A process has one exporter; a second one does not replace the tracer.
        let _ = TRACER.set(tracer);
        Ok(Exporter(provider))
    }

    /// Sends the spans that are left. Blocks until the collector has accepted them, for at most 3
    /// seconds, so an async task must not call it directly.
    pub fn stop(self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(error = &error as &dyn std::error::Error, "the last spans could not be sent");
        }
    }
}

/// A span, or the absence of one. Clones are cheap. The span ends at [`Trace::end`] or when its
/// last clone is dropped.
#[derive(Debug, Clone, Default)]
pub struct Trace(Context);

impl Trace {
    /// Returns the absence of a span: a span that begins inside it starts a trace of its own.
    pub fn none() -> Self {
        Trace(Context::new())
    }

    /// Returns the span of the running future (see [`Trace::around`]).
    pub fn current() -> Self {
        Trace(Context::current())
    }

    /// Returns the span of another process, from its `traceparent`. Without one, or if it cannot be
    /// parsed, the result is [`Trace::none`].
    pub fn named(traceparent: Option<&str>) -> Self {
        let Some(name) = traceparent else { return Trace::none() };
        let named = HashMap::from([(TRACEPARENT.to_owned(), name.to_owned())]);
        Trace(TraceContextPropagator::new().extract_with_context(&Context::new(), &named))
    }

    pub fn is_none(&self) -> bool {
        !self.0.has_active_span()
    }

    /// Returns the text from which [`Trace::named`] restores this span in another process, or
    /// `None` where there is no span.
    pub fn traceparent(&self) -> Option<String> {
        let mut named = HashMap::new();
        TraceContextPropagator::new().inject_context(&self.0, &mut named);
        named.remove(TRACEPARENT)
    }

    /// Starts a span inside this one. Without an exporter in this process it
    /// returns this span itself.
    pub fn begin(&self, name: impl Into<String>, kind: SpanKind, attributes: Vec<KeyValue>) -> Self {
        let Some(tracer) = TRACER.get() else { return self.clone() };
        let builder = SpanBuilder::from_name(name.into()).with_kind(kind).with_attributes(attributes);
        Trace(self.0.with_span(builder.start_with_context(tracer, &self.0)))
    }

    /// Records a span inside this one that ends now and lasted for `took`. Does nothing if there is
    /// no exporter or no span to be inside of.
    #[expect(
        clippy::disallowed_methods,
        reason = "spans are stamped by the machine's clock, as the SDK stamps all others"
    )]
    pub fn past(&self, name: &'static str, took: Duration) {
        let Some(tracer) = TRACER.get().filter(|_| !self.is_none()) else { return };
        let ended = SystemTime::now();
        let builder = SpanBuilder::from_name(name).with_start_time(ended - took);
        builder.start_with_context(tracer, &self.0).end_with_timestamp(ended);
    }

    pub fn set(&self, attribute: KeyValue) {
        self.0.span().set_attribute(attribute);
    }

    /// Marks the span as failed. `reason` must hold no secret.
    pub fn fail(&self, reason: impl Into<String>) {
        self.0.span().set_status(Status::error(reason.into()));
    }

    pub fn end(&self) {
        self.0.span().end();
    }

    /// Runs `future` with this span as its current one.
    pub fn around<F>(&self, future: F) -> WithContext<F> {
        future.with_context(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_name_is_read_as_it_is_written_and_nonsense_is_none() {
        assert_eq!(Trace::named(Some(NAME)).traceparent().as_deref(), Some(NAME));
        for nonsense in
            [None, Some(""), Some("00-car-2-01"), Some("00-00000000000000000000000000000000-b7ad6b7169203331-01")]
        {
            assert_eq!(Trace::named(nonsense).traceparent(), None, "{nonsense:?}");
        }
    }

    #[test]
    fn without_an_exporter_spans_keep_the_name_of_what_they_belong_to() {
        let inside = Trace::named(Some(NAME)).begin("inside", SpanKind::Internal, Vec::new());
        assert_eq!(inside.traceparent().as_deref(), Some(NAME));
        assert_eq!(Trace::none().begin("alone", SpanKind::Internal, Vec::new()).traceparent(), None);
    }
}

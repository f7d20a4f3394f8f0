//! Settings of logs, traces and stopping.

use super::{ConfigError, SettingsSource};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    Json,
    Pretty,
}

#[derive(Debug, Clone)]
pub struct Logs {
    pub format: LogFormat,
    /// A filter in the form of `RUST_LOG`.
    pub level: String,
    /// URL of the collector that receives the spans.
    pub traces: Option<String>,
    /// Time for which everything is still served after the first signal to stop,
    /// so that load balancers notice.
    pub unready: Duration,
    /// Time that requests in flight may take after that.
    pub shutdown: Duration,
}

impl Logs {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let format = match source.text("log_format") {
            Some("auto") => LogFormat::Auto,
            Some("json") => LogFormat::Json,
            Some("pretty") => LogFormat::Pretty,
            _ => return Err(source.refuse("log_format", "auto, json or pretty")),
        };
        let level = source.text("log_level").unwrap_or("info").to_owned();
        if tracing_subscriber::EnvFilter::try_new(&level).is_err() {
            return Err(source.refuse("log_level", "a filter such as info or cyclorama=debug,info"));
        }
        let traces = source.text("otel_exporter_otlp_endpoint").map(str::to_owned);
        if traces.as_deref().is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            return Err(source.refuse("otel_exporter_otlp_endpoint", "a URL that begins with http:// or https://"));
        }
        let seconds = |name, range| source.number(name, range).map(Duration::from_secs);
        let (unready, shutdown) = (seconds("unready_seconds", 0..=120)?, seconds("shutdown_seconds", 0..=600)?);
        Ok(Logs { format, level, traces, unready, shutdown })
    }
}

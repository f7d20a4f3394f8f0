//! Logs to standard error: pretty for people, JSON for machines. Keys, tokens, paths and query
//! strings are never fields.

use crate::config::logs::{LogFormat, Logs};
use std::error::Error;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// Directives for libraries that log in full only if the configured level names them. One logs
/// every message several times, on finer levels with its content, one its requests with their
/// signatures, and one what it is about to send.
const QUIET: [(&str, &str); 4] = [
    ("rmcp", "rmcp=error"),
    // Its errors are answers that could not be sent because the client had disconnected. The panic
    // hook logs a handler's panic.
    ("rmcp", "rmcp::service=off"),
    ("aws_", "aws_=warn"),
    ("opentelemetry", "opentelemetry=warn"),
];

/// Installs the process's one subscriber and sends panics to it; later calls change nothing.
pub fn start(logs: &Logs) {
    let pretty = match logs.format {
        LogFormat::Auto => std::io::stderr().is_terminal(),
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    let mut filter = EnvFilter::try_new(&logs.level).unwrap_or_else(|_| EnvFilter::new("info"));
    for (target, quiet) in QUIET {
        if !logs.level.contains(target)
            && let Ok(quiet) = quiet.parse()
        {
            filter = filter.add_directive(quiet);
        }
    }
    // A line that cannot be written (a full disk) is lost. Reporting that on standard error as well
    // would make the logging code panic.
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).log_internal_errors(false);
    // Fails only if one is installed already, as when several tests start a service in one process.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {}", panic.payload_as_str().unwrap_or("no message"));
    }));
    let _ = if pretty {
        builder.compact().with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).with_span_list(false).try_init()
    };
}

/// Returns an error with its causes, on one line. The JSON form of the log prints an error
/// field without its causes.
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        // Transparent errors repeat the text of their cause.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text.replace('\n', " ")
}

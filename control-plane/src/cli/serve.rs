//! `cyclorama serve`: runs the service.

use super::print;
use crate::config::{Config, SettingsSource, variables};
use crate::{lifecycle, logs};
use anyhow::Context;
use cyclorama_core::traces::Exporter;
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Print every setting with its default and exit
    #[arg(long)]
    print_defaults: bool,
}

impl Serve {
    #[expect(
        clippy::disallowed_methods,
        reason = "looks at the names of all variables, to tell which of them nothing reads"
    )]
    pub async fn run(self, config: Option<&Path>) -> anyhow::Result<()> {
        if self.print_defaults {
            return Ok(print::text(SettingsSource::defaults_text())?);
        }
        let config = Config::load(config)?;
        logs::start(&config.logs);
        for unknown in variables::unknown(std::env::vars_os().map(|(name, _)| name)) {
            tracing::warn!("{unknown}");
        }
        let traces = config.logs.traces.as_deref().map(|collector| {
            // Fails if a provider is installed already, which is good enough.
            let _ = rustls::crypto::ring::default_provider().install_default();
            Exporter::start(collector, "cyclorama", env!("CARGO_PKG_VERSION"))
        });
        let traces = traces.transpose().context("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        let served = lifecycle::serve(config).await;
        if let Some(traces) = traces {
            let _ = tokio::task::spawn_blocking(|| traces.stop()).await;
        }
        served
    }
}

//! `cyclorama serve`

use crate::config::{Config, Source};
use crate::{lifecycle, logs};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Settings file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print every setting with its default and stop
    #[arg(long)]
    print_defaults: bool,
}

impl Serve {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.print_defaults {
            print!("{}", Source::defaults_text());
            return Ok(());
        }
        let config = Config::load(self.config.as_deref())?;
        logs::start(&config.logs);
        lifecycle::serve(config).await
    }
}

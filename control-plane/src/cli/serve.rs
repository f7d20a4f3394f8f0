//! `cyclorama serve`

use crate::config::{Config, Source};
use crate::{lifecycle, logs};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Print every setting with its default and stop
    #[arg(long)]
    print_defaults: bool,
}

impl Serve {
    pub async fn run(self, config: Option<&Path>) -> anyhow::Result<()> {
        if self.print_defaults {
            print!("{}", Source::defaults_text());
            return Ok(());
        }
        let config = Config::load(config)?;
        logs::start(&config.logs);
        lifecycle::serve(config).await
    }
}

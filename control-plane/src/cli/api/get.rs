//! `cyclorama get`: one picture, into a file or to standard output. What it cost goes to standard error.

use super::Service;
use super::picture::Asked;
use super::show::count;
use crate::cli::print;
use anyhow::Context;
use cyclorama_client::ImageInfo;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Get {
    #[command(flatten)]
    asked: Asked,
    /// File to write, `-` for standard output; named after the vehicle when not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    service: Service,
}

impl Get {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let client = self.service.client()?;
        let file = self.output.unwrap_or_else(|| self.asked.file_name().into());
        let asked = self.asked.picture(Some(&file));
        if file == Path::new("-") {
            let picture = client.get_car_image(&asked).await?;
            let mut output = std::io::stdout().lock();
            output
                .write_all(&picture.content)
                .and_then(|()| output.flush())
                .context("standard output cannot be written")?;
            tell(&picture.info, "standard output", as_json, true);
            return Ok(());
        }
        let info = client.save_car_image(&file, &asked).await?;
        tell(&info, &file.display().to_string(), as_json, false);
        Ok(())
    }
}

fn tell(info: &ImageInfo, written: &str, as_json: bool, output_is_taken: bool) {
    if as_json {
        let told = json!({
            "file": written, "width": info.width, "height": info.height, "media_type": info.media_type, "source": info.source,
            "credits_charged": info.credits_charged, "credits_remaining": info.credits_remaining, "request_id": info.request_id,
        });
        match output_is_taken {
            true => eprintln!("{told}"),
            false => print::answer(&told, true),
        }
        return;
    }
    let number = |value: Option<i64>| value.unwrap_or_default();
    eprintln!(
        "{written}: {} x {} px, {}, {} charged, {} left",
        number(info.width),
        number(info.height),
        info.media_type.as_deref().unwrap_or("picture"),
        count(number(info.credits_charged), "credit"),
        number(info.credits_remaining),
    );
}

//! `cyclorama get`: one picture, into a file or to standard output. What it cost goes to standard error.

use super::picture::{AUTO, Asked};
use super::service::Service;
use crate::cli::print::{self, Unseen};
use anyhow::Context;
use cyclorama_client::{ImageInfo, Picture};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Get {
    #[command(flatten)]
    asked: Asked,
    /// With --format auto, what is welcome, such as image/avif,image/webp; png comes when not given, or jpg on a background
    #[arg(long, value_name = "MEDIA TYPES")]
    accept: Option<String>,
    /// File to write, `-` for standard output; named after the vehicle when not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    service: Service,
}

impl Get {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let client = self.service.client()?;
        let is_named_later = self.output.is_none() && self.asked.is_negotiated();
        let mut file = self.output.unwrap_or_else(|| self.asked.file_name().into());
        let asked = Picture { accept: self.accept, ..self.asked.picture(Some(&file)) };
        if is_named_later {
            file.set_extension(AUTO);
        }
        if file != Path::new("-") {
            let info = client.save_car_image(&file, &asked).await?;
            if is_named_later {
                file = renamed(&file, &self.asked.file_name_of(&info))?;
            }
            return tell(&info, &file.to_string_lossy(), as_json, false);
        }
        let picture = client.get_car_image(&asked).await?;
        match print::bytes(&picture.content) {
            Ok(()) => tell(&picture.info, "standard output", as_json, true),
            Err(cause) => {
                let what = match keep(&picture.content, &self.asked.file_name_of(&picture.info)) {
                    Ok(kept) => format!("the picture is paid for, and kept in {}", kept.display()),
                    Err(error) => format!("the picture is paid for, and cannot be kept in a file either ({error})"),
                };
                Err(Unseen { what, cause }.into())
            }
        }
    }
}

/// Gives a picture the name of the format that came.
fn renamed(file: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let what = || format!("the picture is paid for, and in {}; it cannot be called {name}", file.display());
    std::fs::rename(file, name).with_context(what)?;
    Ok(name.into())
}

/// Keeps what was bought in a file of the folder that the command runs in, or of the temporary files where that takes none.
fn keep(content: &[u8], name: &str) -> std::io::Result<PathBuf> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "png"));
    let (prefix, suffix) = (format!("{stem}-"), format!(".{extension}"));
    let keep_in = |folder: &Path| {
        let mut file = tempfile::Builder::new().prefix(&prefix).suffix(&suffix).tempfile_in(folder)?;
        file.write_all(content)?;
        Ok(file.keep()?.1)
    };
    keep_in(Path::new(".")).or_else(|_: std::io::Error| keep_in(&std::env::temp_dir()))
}

fn tell(info: &ImageInfo, written: &str, as_json: bool, output_is_taken: bool) -> anyhow::Result<()> {
    if as_json {
        let told = json!({
            "file": written, "width": info.width, "height": info.height, "scale": info.scale, "media_type": info.media_type,
            "source": info.source,
            "credits_charged": info.credits_charged, "credits_remaining": info.credits_remaining, "request_id": info.request_id,
        });
        if output_is_taken {
            print::note(told);
            return Ok(());
        }
        let unseen = |cause| Unseen { what: format!("the picture is paid for, and in {written}"), cause };
        return Ok(print::answer(&told, true).map_err(unseen)?);
    }
    let number = |value: Option<i64>| value.unwrap_or_default();
    print::note(format_args!(
        "{written}: {} x {} px, {}, {} charged, {} left",
        number(info.width),
        number(info.height),
        info.media_type.as_deref().unwrap_or("picture"),
        print::count(number(info.credits_charged), "credit"),
        number(info.credits_remaining),
    ));
    Ok(())
}

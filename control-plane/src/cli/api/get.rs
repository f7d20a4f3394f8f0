//! `cyclorama get`: saves one image into a file or writes it to standard output. The cost is
//! printed on standard error.

use super::picture::{AUTO, PictureArguments};
use super::service::ServiceArguments;
use crate::cli::print::{self, UnprintedOutput};
use anyhow::Context;
use cyclorama_client::{ImageInfo, Picture};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Get {
    #[command(flatten)]
    asked: PictureArguments,
    /// With --format auto: media types that are accepted, such as image/avif,image/webp; default:
    /// png, or jpg if --background is a colour
    #[arg(long, value_name = "MEDIA TYPES")]
    accept: Option<String>,
    /// File to write; `-` writes to standard output; default: a name made of the vehicle
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArguments,
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
                    Ok(kept) => format!("the image was charged and is saved in {}", kept.display()),
                    Err(error) => format!("the image was charged, but it cannot be saved in a file either ({error})"),
                };
                Err(UnprintedOutput { what, cause }.into())
            }
        }
    }
}

/// Renames the file of an image, so that its name has the format that the service chose.
fn renamed(file: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let what = || format!("the image was charged and is in {}; the file cannot be renamed to {name}", file.display());
    std::fs::rename(file, name).with_context(what)?;
    Ok(name.into())
}

/// Stores an image that was paid for in a file of the current folder, or of the folder for
/// temporary files if that fails.
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
        let message = json!({
            "file": written, "width": info.width, "height": info.height, "scale": info.scale, "media_type": info.media_type,
            "source": info.source,
            "credits_charged": info.credits_charged, "credits_remaining": info.credits_remaining, "request_id": info.request_id,
        });
        if output_is_taken {
            print::note(message);
            return Ok(());
        }
        let unseen = |cause| UnprintedOutput { what: format!("the image was charged and is in {written}"), cause };
        return Ok(print::answer(&message, true).map_err(unseen)?);
    }
    let number = |value: Option<i64>| value.unwrap_or_default();
    print::note(format_args!(
        "{written}: {} x {} px, {}, {} charged, {} left",
        number(info.width),
        number(info.height),
        info.media_type.as_deref().unwrap_or("image"),
        print::count(number(info.credits_charged), "credit"),
        number(info.credits_remaining),
    ));
    Ok(())
}

//! Which picture is meant, as arguments. What words are allowed is the service's to say.

use cyclorama_client::types::ImageRequest;
use cyclorama_client::{AskedYear, Format, ImageInfo, Picture};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Asked {
    /// Name or slug, such as porsche
    #[arg(required_unless_present = "vehicle")]
    make: Option<String>,
    /// Name or slug, such as 911
    #[arg(required_unless_present = "vehicle")]
    model: Option<String>,
    /// A model year, or latest: the newest that the model has
    #[arg(required_unless_present = "of_year")]
    year: Option<AskedYear>,
    /// A permanent id of make, model and body in place of make and model, with --year
    #[arg(long, value_name = "ID", conflicts_with_all = ["make", "model", "year"], requires = "of_year")]
    vehicle: Option<String>,
    /// The year, where it does not follow make and model
    #[arg(long = "year", id = "of_year", value_name = "YEAR", conflicts_with = "year")]
    of_year: Option<AskedYear>,
    /// hatchback, estate, saloon, coupe, convertible, suv, pickup, van, ...: the model's usual body when not given
    #[arg(long)]
    body: Option<String>,
    /// front, front-3-4 (when not given), side, side-right, rear or rear-3-4
    #[arg(long)]
    view: Option<String>,
    /// A name that `cyclorama options` lists (silver when not given), six hex digits such as 1f4e8c, or the CSS name of a colour
    #[arg(long)]
    color: Option<String>,
    /// Of a colour that is no preset: solid, metallic (when not given), pearl or matt
    #[arg(long)]
    finish: Option<String>,
    /// The box the picture fits in, in pixels, up to 1024
    #[arg(long, value_name = "PIXELS")]
    width: Option<i64>,
    #[arg(long, value_name = "PIXELS")]
    height: Option<i64>,
    /// thumb, small, medium or large, in place of width and height
    #[arg(long)]
    size: Option<String>,
    /// png, webp, jpg, avif, or auto: the best of what is welcome
    #[arg(long)]
    format: Option<String>,
    /// inside (when not given): as large as fits into the box; contain: exactly the box, the vehicle whole; cover: exactly the box, filled
    #[arg(long)]
    fit: Option<String>,
    /// Cut the picture to what is seen, the vehicle and its shadow, before it is fitted
    #[arg(long)]
    trim: bool,
    /// With --trim: space on each side, 0 to 50 per cent of the longer side of what is cut out
    #[arg(long, value_name = "PERCENT")]
    padding: Option<i64>,
    /// transparent, white, black, six hex digits, or the CSS name of a colour; jpg is laid on white when not given
    #[arg(long)]
    background: Option<String>,
    /// The shadow on the ground: on (when not given) or off
    #[arg(long)]
    shadow: Option<String>,
    /// fill (when not given): each vehicle fills the picture; true: all at the same millimetres for a pixel, so that sizes compare
    #[arg(long)]
    scale: Option<String>,
}

impl Asked {
    /// As a delivery of its own; the format is the file's when none is given.
    pub fn picture(&self, file: Option<&Path>) -> Picture {
        let extension = file.and_then(|file| file.extension()).and_then(|extension| extension.to_str());
        let of_file =
            extension.map(str::to_lowercase).filter(|name| matches!(&**name, "png" | "webp" | "jpg" | "jpeg" | "avif"));
        let image = self.image();
        Picture { format: image.format.clone().or(of_file.map(Format::from)), ..image.into() }
    }

    /// As a part of a request for signed addresses.
    pub fn image(&self) -> ImageRequest {
        ImageRequest {
            make: self.make.clone(),
            brand: None,
            model: self.model.clone(),
            vehicle: self.vehicle.clone(),
            year: self.asked_year(),
            body: self.body.as_deref().map(Into::into),
            view: self.view.as_deref().map(Into::into),
            color: self.color.as_deref().map(Into::into),
            width: self.width,
            height: self.height,
            size: self.size.as_deref().map(Into::into),
            format: self.format.as_deref().map(Into::into),
            fit: self.fit.as_deref().map(Into::into),
            trim: self.trim.then_some(true),
            padding: self.padding,
            background: self.background.as_deref().map(Into::into),
            shadow: self.shadow.as_deref().map(Into::into),
            scale: self.scale.as_deref().map(Into::into),
            finish: self.finish.as_deref().map(Into::into),
        }
    }

    /// One of the two is always there.
    fn asked_year(&self) -> AskedYear {
        self.of_year.or(self.year).unwrap_or_default()
    }

    /// Whether only the answer says what format it is in.
    pub fn is_negotiated(&self) -> bool {
        self.format.as_deref().is_some_and(|format| format.eq_ignore_ascii_case(AUTO))
    }

    /// A file's name for it.
    pub fn file_name(&self) -> String {
        self.named(self.format.as_deref())
    }

    /// A file's name for the picture that came.
    pub fn file_name_of(&self, info: &ImageInfo) -> String {
        let media_type = info.media_type.as_deref().unwrap_or_default();
        match self.is_negotiated() {
            true => self.named(media_type.strip_prefix("image/")),
            false => self.file_name(),
        }
    }

    fn named(&self, format: Option<&str>) -> String {
        let (year, names) = (self.asked_year().to_string(), [&self.vehicle, &self.make, &self.model]);
        let names = names.into_iter().flatten().chain([&year]).chain(&self.body);
        file_name(&names.map(String::as_str).collect::<Vec<_>>(), format)
    }
}

/// The format that the answer chooses.
pub const AUTO: &str = "auto";

/// `porsche-911-2024.png`: letters and digits of the words, whatever was typed.
pub fn file_name(words: &[&str], format: Option<&str>) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: Vec<String> = words.iter().map(|word| word.chars().map(plain).collect()).collect();
    let extension = match format {
        Some("webp") => "webp",
        Some("jpg" | "jpeg") => "jpg",
        Some("avif") => "avif",
        _ => "png",
    };
    format!("{}.{extension}", name.join("-"))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn files_are_named_by_letters_and_digits() {
        for (words, format, expected) in [
            (vec!["Porsche", "911", "2024"], None, "porsche-911-2024.png"),
            (vec!["../../etc", "a/b"], Some("jpeg"), "------etc-a-b.jpg"),
            (vec!["x"], Some("webp"), "x.webp"),
            (vec!["x"], Some("avif"), "x.avif"),
            (vec!["x", "#1F4E8C"], Some("auto"), "x--1f4e8c.png"),
            (vec!["x"], Some("tiff"), "x.png"),
        ] {
            assert_eq!(file_name(&words, format), expected);
        }
    }
}

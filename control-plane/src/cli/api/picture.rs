//! The arguments that describe an image. The service decides which words are allowed.

use cyclorama_client::types::ImageRequest;
use cyclorama_client::{AskedYear, Format, ImageInfo, Picture};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct PictureArguments {
    /// Make: name or slug, such as porsche
    #[arg(required_unless_present = "vehicle")]
    make: Option<String>,
    /// Model: name or slug, such as 911
    #[arg(required_unless_present = "vehicle")]
    model: Option<String>,
    /// Model year, or latest for the newest year of the model
    #[arg(required_unless_present = "of_year")]
    year: Option<AskedYear>,
    /// Permanent id of make, model and body, instead of make and model; needs --year
    #[arg(long, value_name = "ID", conflicts_with_all = ["make", "model", "year"], requires = "of_year")]
    vehicle: Option<String>,
    /// Model year, if it does not follow make and model
    #[arg(long = "year", id = "of_year", value_name = "YEAR", conflicts_with = "year")]
    of_year: Option<AskedYear>,
    /// Body: hatchback, estate, saloon, coupe, convertible, suv, pickup, van, ...; default: the
    /// model's usual body
    #[arg(long)]
    body: Option<String>,
    /// front, front-3-4 (default), side, side-right, rear or rear-3-4
    #[arg(long)]
    view: Option<String>,
    /// Preset listed by `cyclorama options` (default: silver), six hex digits such as 1f4e8c, or a
    /// CSS colour name
    #[arg(long)]
    color: Option<String>,
    /// Finish of a colour that is not a preset: solid, metallic (default), pearl or matt
    #[arg(long)]
    finish: Option<String>,
    /// Width of the box in pixels, at most 1024; see --fit
    #[arg(long, value_name = "PIXELS")]
    width: Option<i64>,
    #[arg(long, value_name = "PIXELS")]
    height: Option<i64>,
    /// thumb, small, medium or large, instead of width and height
    #[arg(long)]
    size: Option<String>,
    /// png, webp, jpg, avif, or auto for the best accepted format
    #[arg(long)]
    format: Option<String>,
    /// inside (default): as large as fits into the box; contain: exactly the box, with the whole
    /// vehicle; cover: exactly the box, filled to the edges
    #[arg(long)]
    fit: Option<String>,
    /// Trim the image to the vehicle and its shadow before it is fitted
    #[arg(long)]
    trim: bool,
    /// With --trim: space on each side, 0 to 50 percent of the longer side of the trimmed image
    #[arg(long, value_name = "PERCENT")]
    padding: Option<i64>,
    /// transparent, white, black, six hex digits or a CSS colour name; default: white for jpg,
    /// otherwise transparent
    #[arg(long)]
    background: Option<String>,
    /// Shadow on the ground: on (default) or off
    #[arg(long)]
    shadow: Option<String>,
    /// fill (default): each vehicle fills the image; true: all vehicles have the same millimetres
    /// per pixel, so that their sizes compare
    #[arg(long)]
    scale: Option<String>,
}

impl PictureArguments {
    /// Returns the image as a request of its own. If no format is given, that of the file's
    /// extension is used.
    pub fn picture(&self, file: Option<&Path>) -> Picture {
        let extension = file.and_then(|file| file.extension()).and_then(|extension| extension.to_str());
        let of_file =
            extension.map(str::to_lowercase).filter(|name| matches!(&**name, "png" | "webp" | "jpg" | "jpeg" | "avif"));
        let image = self.image();
        Picture { format: image.format.clone().or(of_file.map(Format::from)), ..image.into() }
    }

    /// Returns the image as a part of a request for signed URLs.
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

    /// Returns the year. clap makes sure that one of the two arguments is given.
    fn asked_year(&self) -> AskedYear {
        self.of_year.or(self.year).unwrap_or_default()
    }

    /// True if only the response tells the format of the image.
    pub fn is_negotiated(&self) -> bool {
        self.format.as_deref().is_some_and(|format| format.eq_ignore_ascii_case(AUTO))
    }

    /// Returns a file name for the image.
    pub fn file_name(&self) -> String {
        self.named(self.format.as_deref())
    }

    /// Returns a file name for the image with the format that the service sent.
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

/// The format name with which the service chooses the format.
pub const AUTO: &str = "auto";

/// Returns a name such as `porsche-911-2024.png`, with nothing but letters and digits of the words,
/// whatever was typed.
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

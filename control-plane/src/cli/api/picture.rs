//! Which picture is meant, as arguments. What words are allowed is the service's to say.

use cyclorama_client::types::ImageRequest;
use cyclorama_client::{Format, Picture};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Asked {
    /// Name or slug, such as porsche
    make: String,
    /// Name or slug, such as 911
    model: String,
    year: i64,
    /// front, front-3-4 (when not given), side, side-right, rear or rear-3-4
    #[arg(long)]
    view: Option<String>,
    /// silver when not given; `cyclorama options` lists them
    #[arg(long)]
    color: Option<String>,
    /// The box the picture fits in, in pixels, up to 1024
    #[arg(long, value_name = "PIXELS")]
    width: Option<i64>,
    #[arg(long, value_name = "PIXELS")]
    height: Option<i64>,
    /// thumb, small, medium or large, in place of width and height
    #[arg(long)]
    size: Option<String>,
    /// png, webp or jpg
    #[arg(long)]
    format: Option<String>,
}

impl Asked {
    /// As a delivery of its own; the format is the file's when none is given.
    pub fn picture(&self, file: Option<&Path>) -> Picture {
        let extension = file.and_then(|file| file.extension()).and_then(|extension| extension.to_str());
        let of_file =
            extension.map(str::to_lowercase).filter(|name| matches!(&**name, "png" | "webp" | "jpg" | "jpeg"));
        Picture {
            view: self.view.as_deref().map(Into::into),
            color: self.color.as_deref().map(Into::into),
            w: self.width,
            h: self.height,
            size: self.size.as_deref().map(Into::into),
            format: self.format.clone().or(of_file).map(Format::from),
            ..Picture::new(&*self.make, &*self.model, self.year)
        }
    }

    /// As a part of a request for signed addresses.
    pub fn image(&self) -> ImageRequest {
        ImageRequest {
            view: self.view.as_deref().map(Into::into),
            color: self.color.as_deref().map(Into::into),
            width: self.width,
            height: self.height,
            size: self.size.as_deref().map(Into::into),
            format: self.format.as_deref().map(Into::into),
            ..ImageRequest::new(&*self.make, &*self.model, self.year)
        }
    }

    /// A file's name for it.
    pub fn file_name(&self) -> String {
        file_name(&[&self.make, &self.model, &self.year.to_string()], self.format.as_deref())
    }
}

/// `porsche-911-2024.png`: letters and digits of the words, whatever was typed.
pub fn file_name(words: &[&str], format: Option<&str>) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: Vec<String> = words.iter().map(|word| word.chars().map(plain).collect()).collect();
    let extension = match format {
        Some("webp") => "webp",
        Some("jpg" | "jpeg") => "jpg",
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
            (vec!["x"], Some("tiff"), "x.png"),
        ] {
            assert_eq!(file_name(&words, format), expected);
        }
    }
}

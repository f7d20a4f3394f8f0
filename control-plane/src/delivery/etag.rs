//! Validators. An ETag identifies the stored master and the recipe that made the delivered bytes
//! from it. Where the recipe makes other bytes each time and they are not kept for good, the ETag
//! identifies the bytes.
//!
//!
//! Why: `docs/decisions/pictures-and-caching.md` (`ETag` of a picture).

use cyclorama_core::encoding::ENCODE_RECIPE;
use cyclorama_core::{Format, Framing};
use sha2::{Digest, Sha256};

/// Returns the strong validator of a derivative, with its quotes. `certificate_id` is the id of the
/// certificate that signs the image's credentials, if they are signed.
pub(super) fn of_recipe(master_sha256: &str, frame: &Framing, format: Format, certificate_id: Option<&str>) -> String {
    let mut recipe = format!("{master_sha256} {ENCODE_RECIPE} {frame} {format}");
    if let Some(id) = certificate_id {
        recipe.push_str(&format!(" c2pa {id}"));
    }
    of_bytes(recipe.as_bytes())
}

/// Returns the strong validator of these bytes, with its quotes.
pub fn of_bytes(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    // With 128 bits there is no realistic chance that two bodies share a validator.
    format!("\"{}\"", hex::encode(&digest[..16]))
}

/// True if an `If-None-Match` value names the validator, by weak comparison (RFC 9110, sections
/// 8.8.3.2 and 13.1.2).
pub fn matches(if_none_match: &str, etag: &str) -> bool {
    let mut rest = if_none_match.trim_start_matches([' ', '\t', ',']);
    if rest.trim_end() == "*" {
        return true;
    }
    loop {
        let opaque = rest.strip_prefix("W/").unwrap_or(rest);
        let Some(end) = opaque.strip_prefix('"').and_then(|text| text.find('"')) else { return false };
        if &opaque[..end + 2] == etag {
            return true;
        }
        rest = opaque[end + 2..].trim_start_matches([' ', '\t', ',']);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{Fit, Scale};

    #[test]
    fn every_part_of_the_recipe_is_in_the_validator() {
        let [a, b] = ["a", "b"].map(|digit| digit.repeat(64));
        let all = [
            of_recipe(&a, &Framing::square(512), Format::Png, None),
            of_recipe(&b, &Framing::square(512), Format::Png, None),
            of_recipe(&a, &Framing::square(513), Format::Png, None),
            of_recipe(&a, &Framing { trim: true, ..Framing::square(512) }, Format::Png, None),
            of_recipe(&a, &Framing { background: Some([255; 3]), ..Framing::square(512) }, Format::Png, None),
            of_recipe(&a, &Framing { scale: Scale::True, ..Framing::square(512) }, Format::Png, None),
            of_recipe(&a, &Framing { height: Some(300), fit: Fit::Contain, ..Framing::square(512) }, Format::Png, None),
            of_recipe(&a, &Framing { height: Some(300), fit: Fit::Cover, ..Framing::square(512) }, Format::Png, None),
            of_recipe(&a, &Framing::square(512), Format::Webp, None),
            of_recipe(&a, &Framing::square(512), Format::Jpg, None),
            of_recipe(&a, &Framing::square(512), Format::Png, Some("01")),
            of_recipe(&a, &Framing::square(512), Format::Png, Some("02")),
        ];
        let mut distinct = all.to_vec();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        assert!(all.iter().all(|tag| tag.starts_with('"') && tag.ends_with('"') && tag.len() == 34));
        assert_eq!(of_recipe(&a, &Framing::square(512), Format::Png, None), all[0]);
    }

    #[test]
    fn comparison_is_weak() {
        for (given, expected) in [
            ("\"x\"", true),
            ("W/\"x\"", true),
            ("\"y\", \"x\"", true),
            ("\"y\",W/\"x\"", true),
            (" \"a,b\" , \"x\" ", true),
            ("*", true),
            (" * ", true),
            ("", false),
            ("x", false),
            ("\"x", false),
            ("\"xx\"", false),
            ("\"y\"", false),
            ("w/\"x\"", false),
            ("\"*\"", false),
            ("\"y\" junk \"x\"", false),
        ] {
            assert_eq!(matches(given, "\"x\""), expected, "{given}");
        }
    }
}

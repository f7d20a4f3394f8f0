//! Parses arguments that are one of the names known to the whole service: views, body shapes,
//! paints.

pub fn parse<T: std::str::FromStr<Err = cyclorama_core::UnknownName>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: cyclorama_core::UnknownName| e.to_string())
}

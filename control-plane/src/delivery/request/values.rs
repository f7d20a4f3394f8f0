//! Single values of a request, and the errors that name them.

use cyclorama_catalog::{AskedYear, VehicleId, body_of_word};
use cyclorama_core::{BodyClass, MASTER_SIDE_PX, UnknownName};
use serde_json::Value;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Model years that a request may name. 2027 is valid and then not found: the catalog's release
/// ends in 2026.
pub const YEARS: RangeInclusive<u16> = 1990..=2027;

/// The value of `year` that stands for a model's newest year.
pub(super) const LATEST: &str = "latest";

/// Maximum length of a make or model, in characters; the longest name of the catalog is under 50.
/// Bounds the cost of the catalog search for an unknown name.
pub const NAME_CHARS_MAX: usize = 120;

/// A parameter that is missing, given twice, unknown or out of range: a 400 that names it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct BadParameter {
    /// The query key at fault.
    pub parameter: String,
    /// A sentence for the caller; names the key and the allowed values.
    pub detail: String,
}

impl BadParameter {
    pub fn new(parameter: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { parameter: parameter.into(), detail: detail.into() }
    }
}

/// Reads a whole number of a JSON body, also in the form `4.0`: JSON knows one kind of number.
pub fn whole(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(number))?;
        Some(number as u64)
    })
}

/// Returns the kind of a value of a JSON body, in the words of an error.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(super) fn missing(key: &str) -> BadParameter {
    BadParameter::new(key, format!("`{key}` is required"))
}

/// Reads a make or a model, without blanks around it.
pub(super) fn name(key: &str, value: &str) -> Result<String, BadParameter> {
    let trimmed = value.trim();
    if trimmed.is_empty() {
        return Err(BadParameter::new(key, format!("`{key}` must not be empty")));
    }
    if trimmed.chars().count() > NAME_CHARS_MAX {
        return Err(BadParameter::new(key, format!("`{key}` must have at most {NAME_CHARS_MAX} characters")));
    }
    Ok(trimmed.to_owned())
}

pub fn vehicle_id(text: &str) -> Result<VehicleId, BadParameter> {
    text.parse().map_err(|error| {
        BadParameter::new("vehicle", format!("`vehicle`: `{}` is not the id of a vehicle: {error}", shortened(text)))
    })
}

/// Reads a body by its name or another word for it.
pub fn body(word: &str) -> Result<BodyClass, BadParameter> {
    body_of_word(word).ok_or_else(|| {
        let names: Vec<&str> = BodyClass::ALL.iter().map(|body| body.as_str()).collect();
        BadParameter::new("body", format!("`body`: `{}` is not one of {}", shortened(word), names.join(", ")))
    })
}

/// Reads a model year, or `latest`.
pub fn year(value: &str) -> Result<AskedYear, BadParameter> {
    if value == LATEST {
        return Ok(AskedYear::Latest);
    }
    let year = whole_number(value).and_then(|year| u16::try_from(year).ok()).filter(|year| YEARS.contains(year));
    year.map(AskedYear::Year).ok_or_else(|| {
        let detail = format!(
            "`year` must be a whole number from {} to {} or `{LATEST}`, not `{}`",
            YEARS.start(),
            YEARS.end(),
            shortened(value)
        );
        BadParameter::new("year", detail)
    })
}

/// Reads a width or height in pixels, from 1 to [`MASTER_SIDE_PX`].
pub(super) fn side(key: &str, value: Option<&str>) -> Result<Option<u32>, BadParameter> {
    let Some(value) = value else { return Ok(None) };
    whole_number(value).filter(|pixels| (1..=MASTER_SIDE_PX).contains(pixels)).map(Some).ok_or_else(|| {
        BadParameter::new(
            key,
            format!("`{key}` must be a whole number of pixels from 1 to {MASTER_SIDE_PX}, not `{}`", shortened(value)),
        )
    })
}

/// Reads digits only: `str::parse` would also accept a sign.
pub(super) fn whole_number(value: &str) -> Option<u32> {
    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok())?
}

/// Reads one of the names of `T`; the error lists all of them.
pub(super) fn one_of<T: FromStr<Err = UnknownName>>(key: &str, value: Option<&str>) -> Result<Option<T>, BadParameter> {
    value.map(str::parse).transpose().map_err(|unknown: UnknownName| {
        let detail = format!("`{key}`: `{}` is not one of {}", shortened(&unknown.given), unknown.allowed);
        BadParameter::new(key, detail)
    })
}

/// Returns the part of a wrong value that an error repeats.
pub(super) fn shortened(value: &str) -> String {
    value.chars().take(40).collect()
}

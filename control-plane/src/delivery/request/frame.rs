//! Reads the parameters of paint and framing.

use super::given::{GivenValues, KeyNames};
use super::values::{BadParameter, one_of, shortened, side, whole_number};
use cyclorama_core::frame::PADDING_PERCENT_MAX;
use cyclorama_core::paint::{hex_of_srgb, srgb_of_hex};
use cyclorama_core::{Colour, Finish, Fit, Format, Framing, Paint, PaintColour, Scale, SizePreset};
use std::fmt;
use std::str::FromStr;
use url::form_urlencoded;

/// The format that a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedFormat {
    One(Format),
    /// The best format that the client accepts, at each request.
    Auto,
}

/// The spelling of `auto`.
const AUTO: &str = "auto";

impl AskedFormat {
    pub const fn as_str(self) -> &'static str {
        match self {
            AskedFormat::One(format) => format.as_str(),
            AskedFormat::Auto => AUTO,
        }
    }

    /// Returns the format of the answer for a client that sends no `Accept`.
    pub const fn usual(self) -> Format {
        match self {
            AskedFormat::One(format) => format,
            AskedFormat::Auto => Format::Png,
        }
    }
}

impl Default for AskedFormat {
    fn default() -> Self {
        AskedFormat::One(Format::default())
    }
}

impl From<Format> for AskedFormat {
    fn from(format: Format) -> Self {
        AskedFormat::One(format)
    }
}

impl FromStr for AskedFormat {
    type Err = cyclorama_core::UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.eq_ignore_ascii_case(AUTO) {
            return Ok(AskedFormat::Auto);
        }
        text.parse().map(AskedFormat::One).map_err(|mut unknown: Self::Err| {
            unknown.allowed = format!("{}, {AUTO}", unknown.allowed);
            unknown
        })
    }
}

impl fmt::Display for AskedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Parses six hex digits with or without `#`, or one of CSS's colour names, as sRGB.
fn srgb(text: &str) -> Option<[u8; 3]> {
    let text = text.trim();
    srgb_of_hex(text.strip_prefix('#').unwrap_or(text)).or_else(|| {
        palette::named::from_str(&text.to_ascii_lowercase()).map(|named| [named.red, named.green, named.blue])
    })
}

/// Reads the paint from `color`, `finish` and `shadow`.
pub(super) fn paint(given: &GivenValues<'_>) -> Result<Paint, BadParameter> {
    let finish = one_of::<Finish>("finish", given.finish)?;
    let shadow = match given.shadow {
        None | Some("on") => true,
        Some("off") => false,
        Some(other) => {
            return Err(BadParameter::new("shadow", format!("`shadow`: `{}` is not one of on, off", shortened(other))));
        }
    };
    let preset = match given.color {
        None => Some(Colour::default()),
        Some(text) => text.parse().ok(),
    };
    let colour = match (preset, finish) {
        (Some(preset), None) => PaintColour::Preset(preset),
        (Some(preset), Some(_)) => {
            let detail = format!(
                "`finish` can only be used with a `color` that is not a preset; the preset {preset} has its own \
                 finish",
            );
            return Err(BadParameter::new("finish", detail));
        }
        (None, finish) => {
            let text = given.color.unwrap_or_default();
            let srgb = srgb(text).ok_or_else(|| {
                let presets = Colour::ALL.iter().map(|colour| colour.as_str()).collect::<Vec<_>>().join(", ");
                let detail = format!(
                    "`color`: `{}` is not one of {presets}, six hex digits such as 1f4e8c, or the CSS name of a colour",
                    shortened(text)
                );
                BadParameter::new("color", detail)
            })?;
            PaintColour::Custom { srgb, finish: finish.unwrap_or_default() }
        }
    };
    Ok(Paint { colour, shadow })
}

/// Reads the framing of a request. `format` is the format that it is encoded in, which the
/// background has to be compatible with.
pub(super) fn frame(given: &GivenValues<'_>, keys: KeyNames, format: AskedFormat) -> Result<Framing, BadParameter> {
    let size = one_of::<SizePreset>("size", given.size)?;
    let (mut width, height) = (side(keys.width, given.w)?, side(keys.height, given.h)?);
    let fit = one_of::<Fit>("fit", given.fit)?.unwrap_or_default();
    if fit != Fit::Inside {
        let missing = [(keys.width, width), (keys.height, height)].into_iter().find(|(_, side)| side.is_none());
        if let Some((key, _)) = missing {
            let detail = format!("`{key}` is missing: `fit={fit}` needs both `{}` and `{}`", keys.width, keys.height);
            return Err(BadParameter::new(key, detail));
        }
    }
    if let (Some(preset), None, None) = (size, width, height) {
        width = Some(preset.side_px());
    }
    let trim = match given.trim {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => {
            return Err(BadParameter::new("trim", format!("`trim`: `{}` is not one of true, false", shortened(other))));
        }
    };
    let padding_percent = padding(given.padding)?;
    if padding_percent > 0 && !trim {
        return Err(BadParameter::new(
            "padding",
            "`padding` can only be used with `trim=true`: it is added to the part that is cut out",
        ));
    }
    let background = background(given.background, format)?;
    let scale = one_of::<Scale>("scale", given.scale)?.unwrap_or_default();
    Ok(Framing { fit, width, height, trim, padding_percent, background, scale })
}

fn padding(given: Option<&str>) -> Result<u8, BadParameter> {
    let Some(text) = given else { return Ok(0) };
    let percent = whole_number(text).and_then(|percent| u8::try_from(percent).ok());
    percent.filter(|percent| *percent <= PADDING_PERCENT_MAX).ok_or_else(|| {
        let detail = format!(
            "`padding` must be a whole number from 0 to {PADDING_PERCENT_MAX}, in percent, not `{}`",
            shortened(text)
        );
        BadParameter::new("padding", detail)
    })
}

const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [0; 3];

/// Reads the background as sRGB. Returns `None` for transparent, or for white in a format without
/// transparency.
fn background(given: Option<&str>, format: AskedFormat) -> Result<Option<[u8; 3]>, BadParameter> {
    let is_flat = matches!(format, AskedFormat::One(format) if !format.keeps_transparency());
    let Some(text) = given else { return Ok(None) };
    if text.eq_ignore_ascii_case("transparent") {
        return match is_flat {
            false => Ok(None),
            true => Err(BadParameter::new(
                "background",
                "`background`: jpg has no transparency; leave `background` out for white, or send a colour",
            )),
        };
    }
    let srgb = srgb(text).ok_or_else(|| {
        let detail = format!(
            "`background`: `{}` is not one of transparent, white, black, six hex digits such as f4f4f2, or the CSS name of a colour",
            shortened(text)
        );
        BadParameter::new("background", detail)
    })?;
    Ok(Some(srgb).filter(|srgb| !(is_flat && *srgb == WHITE)))
}

/// Returns a background as URLs and answers spell it.
pub fn background_name(srgb: [u8; 3]) -> String {
    match srgb {
        WHITE => "white".to_owned(),
        BLACK => "black".to_owned(),
        other => hex_of_srgb(other),
    }
}

/// Returns keys and values of the API for everything in a framing but its width and height;
/// defaults are left out.
pub fn frame_pairs(frame: &Framing) -> Vec<(&'static str, String)> {
    let Framing { fit, width: _, height: _, trim, padding_percent, background, scale } = frame;
    let mut pairs = Vec::new();
    if *fit != Fit::default() {
        pairs.push(("fit", fit.to_string()));
    }
    if *trim {
        pairs.push(("trim", "true".to_owned()));
    }
    if *padding_percent > 0 {
        pairs.push(("padding", padding_percent.to_string()));
    }
    if let Some(background) = background {
        pairs.push(("background", background_name(*background)));
    }
    if *scale != Scale::default() {
        pairs.push(("scale", scale.to_string()));
    }
    pairs
}

/// Returns the pairs of [`frame_pairs`] as a query string.
pub fn frame_query(frame: &Framing) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(frame_pairs(frame)).finish()
}

/// Reads a query string of [`frame_query`] back, with its box beside it. Returns `None` for a
/// string that [`frame_query`] never writes.
pub fn frame_of_query(query: &str, width: Option<u32>, height: Option<u32>) -> Option<Framing> {
    let mut frame = Framing { width, height, ..Framing::default() };
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*key {
            "fit" => frame.fit = value.parse().ok()?,
            "trim" => frame.trim = value == "true",
            "padding" => frame.padding_percent = value.parse().ok()?,
            "background" => frame.background = Some(srgb(&value)?),
            "scale" => frame.scale = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(frame)
}

/// Returns keys and values of all parameters that come after `format` in a canonical URL, in its
/// order; defaults are left out.
pub fn added_pairs(frame: &Framing, paint: &Paint) -> Vec<(&'static str, String)> {
    let mut pairs = frame_pairs(frame);
    if !paint.shadow {
        let place = pairs.iter().position(|(key, _)| *key == "scale").unwrap_or(pairs.len());
        pairs.insert(place, ("shadow", "off".to_owned()));
    }
    if let Some(finish) = paint.colour.named_finish() {
        pairs.push(("finish", finish.to_string()));
    }
    pairs
}

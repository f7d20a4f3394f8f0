//! The query of `GET /api/v1/images/car`, or an item of a JSON body, as a validated [`ImageRequest`], and its one canonical spelling.
//!
//! Pure: whether the vehicle exists is the catalog's affair; who may ask, and what it costs, the handler's.

use cyclorama_core::{Colour, Format, MASTER_SIDE_PX, SizePreset, UnknownName, View};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::str::FromStr;
use url::form_urlencoded;

/// Model years a request may name. 2027 is valid and then not found: the catalog's release ends in 2026.
pub const YEARS: RangeInclusive<u16> = 1990..=2027;

/// Longest make or model taken, in characters; the longest name of the catalog is under 50. Keeps what the catalog
/// search does with an unknown name small.
pub const NAME_CHARS_MAX: usize = 120;

/// What the caller wants back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseKind {
    /// The picture's bytes.
    #[default]
    Image,
    /// A signed delivery URL, as JSON.
    Url,
}

/// One picture, as asked for. `make` and `model` are as given (name, slug or prefix) until the catalog has found them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRequest {
    pub make: String,
    pub model: String,
    pub year: u16,
    pub view: View,
    pub colour: Colour,
    pub format: Format,
    /// The box the picture is to fit in; `size` has become `width`. Pixels, 1 to 1024.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// Side of the square picture that fits in the box: never above [`MASTER_SIDE_PX`].
    pub side_px: u32,
    pub response: ResponseKind,
}

/// A parameter that is missing, given twice, unknown or out of range: a 400 that names it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct BadParameter {
    /// The query key at fault.
    pub parameter: String,
    /// A sentence for the caller; names the key and what is allowed.
    pub detail: String,
}

impl BadParameter {
    pub fn new(parameter: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { parameter: parameter.into(), detail: detail.into() }
    }
}

/// The values as they came, one slot a key. A slot that is filled twice is a refusal, never a choice.
#[derive(Default)]
struct Given<'a> {
    make: Option<&'a str>,
    brand: Option<&'a str>,
    model: Option<&'a str>,
    year: Option<&'a str>,
    view: Option<&'a str>,
    color: Option<&'a str>,
    w: Option<&'a str>,
    h: Option<&'a str>,
    size: Option<&'a str>,
    format: Option<&'a str>,
    response: Option<&'a str>,
}

/// What the two forms of a request call their keys, where they differ.
#[derive(Clone, Copy)]
struct Keys {
    width: &'static str,
    height: &'static str,
    takes_response: bool,
    all: &'static str,
}

/// Whose query is read: each takes keys of its own beside those of a picture, and names its own to whoever sends another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `GET /api/v1/images/car`
    Image,
    /// `GET /images/car.png`, which reads its own keys itself.
    Embed,
    /// A page of ours.
    Page,
}

impl Endpoint {
    const fn keys(self) -> Keys {
        let (takes_response, all) = match self {
            Endpoint::Image => (true, "make (or brand), model, year, view, color, w, h, size, format and response"),
            Endpoint::Embed => {
                (false, "make (or brand), model, year, view, color, w, h, size, format, mode, exp, sig and key")
            }
            Endpoint::Page => (false, "make (or brand), model, year, view, color, w, h, size and format"),
        };
        Keys { width: "w", height: "h", takes_response, all }
    }
}

const JSON: Keys = Keys {
    width: "width",
    height: "height",
    takes_response: false,
    all: "make (or brand), model, year, view, color, width, height, size and format",
};

const JSON_MEMBERS: [&str; 10] =
    ["make", "brand", "model", "year", "view", "color", "width", "height", "size", "format"];

impl<'a> Given<'a> {
    fn collect(pairs: &'a [(String, String)], keys: Keys) -> Result<Self, BadParameter> {
        let mut given = Self::default();
        for (key, value) in pairs {
            let slot = match key.as_str() {
                "make" => &mut given.make,
                "brand" => &mut given.brand,
                "model" => &mut given.model,
                "year" => &mut given.year,
                "view" => &mut given.view,
                "color" => &mut given.color,
                side if side == keys.width => &mut given.w,
                side if side == keys.height => &mut given.h,
                "size" => &mut given.size,
                "format" => &mut given.format,
                "response" if keys.takes_response => &mut given.response,
                // Refused, not ignored: a misspelt `colour=red` would otherwise be charged as a silver picture.
                unknown => return Err(unknown_key(unknown, keys)),
            };
            if slot.replace(value).is_some() {
                return Err(BadParameter::new(key, format!("`{key}` is given more than once")));
            }
        }
        Ok(given)
    }
}

/// What callers mean by a key that is not ours: a refusal names the right one.
pub fn meant(key: &str, [width, height]: [&'static str; 2]) -> Option<&'static str> {
    match key {
        "colour" => Some("color"),
        "manufacturer" => Some("make"),
        "angle" => Some("view"),
        "w" | "width" => Some(width),
        "h" | "height" => Some(height),
        _ => None,
    }
}

fn unknown_key(key: &str, keys: Keys) -> BadParameter {
    let shown: String = key.chars().take(40).collect();
    let detail = match meant(key, [keys.width, keys.height]) {
        Some(ours) => format!("`{shown}` is not a parameter of this endpoint; it is called `{ours}`"),
        None => format!("`{shown}` is not a parameter of this endpoint; it takes {}", keys.all),
    };
    BadParameter::new(shown, detail)
}

impl ImageRequest {
    /// Reads a raw query string (without the `?`).
    #[cfg(test)]
    pub fn parse_query(query: &str) -> Result<Self, BadParameter> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self::parse(&pairs, Endpoint::Image)
    }

    /// Reads an item of a JSON body; values have the types of the specification, section 2.
    pub fn parse_json(item: &Map<String, Value>) -> Result<Self, BadParameter> {
        let mut pairs = Vec::with_capacity(item.len());
        for (key, value) in item {
            if !JSON_MEMBERS.contains(&key.as_str()) {
                return Err(unknown_key(key, JSON));
            }
            let is_number = ["year", JSON.width, JSON.height].contains(&key.as_str());
            let text = match value {
                Value::String(text) if !is_number => text.clone(),
                Value::Number(number) if is_number => {
                    whole(value).map_or_else(|| number.to_string(), |number| number.to_string())
                }
                _ => {
                    let kind = if is_number { "a whole number" } else { "a string" };
                    return Err(BadParameter::new(key, format!("`{key}` is {kind}, not {}", kind_of(value))));
                }
            };
            pairs.push((key.clone(), text));
        }
        Self::from_pairs(&pairs, JSON)
    }

    /// Reads decoded key and value pairs; an endpoint with keys of its own takes those out first.
    pub fn parse(pairs: &[(String, String)], endpoint: Endpoint) -> Result<Self, BadParameter> {
        Self::from_pairs(pairs, endpoint.keys())
    }

    fn from_pairs(pairs: &[(String, String)], keys: Keys) -> Result<Self, BadParameter> {
        let given = Given::collect(pairs, keys)?;
        let make = match (given.make, given.brand) {
            (Some(_), Some(_)) => {
                return Err(BadParameter::new(
                    "brand",
                    "`brand` is another word for `make`: send one of them, not both",
                ));
            }
            (None, Some(brand)) => name("brand", brand)?,
            (make, None) => name("make", make.ok_or_else(|| missing("make"))?)?,
        };
        let model = name("model", given.model.ok_or_else(|| missing("model"))?)?;
        let year = year(given.year.ok_or_else(|| missing("year"))?)?;
        let view = one_of::<View>("view", given.view)?.unwrap_or_default();
        let colour = one_of::<Colour>("color", given.color)?.unwrap_or_default();
        let format = one_of::<Format>("format", given.format)?.unwrap_or_default();
        let size = one_of::<SizePreset>("size", given.size)?;
        let (mut width, height) = (side(keys.width, given.w)?, side(keys.height, given.h)?);
        if let (Some(preset), None, None) = (size, width, height) {
            width = Some(preset.side_px());
        }
        let response = match given.response {
            None | Some("image") => ResponseKind::Image,
            Some("url") => ResponseKind::Url,
            Some(other) => {
                return Err(BadParameter::new(
                    "response",
                    format!("`response`: `{}` is not one of image, url", shortened(other)),
                ));
            }
        };
        Ok(Self { make, model, year, view, colour, format, width, height, side_px: side_px(width, height), response })
    }

    /// The query that names this picture and nothing else, with the catalog's slugs: keys in the order make, model,
    /// year, view, color, w, h, format; defaults written out, `w` and `h` only where asked for. `response` says how to
    /// answer, not which picture, and is left out.
    pub fn canonical_query(&self, make_slug: &str, model_slug: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("make", make_slug)
            .append_pair("model", model_slug)
            .append_pair("year", &self.year.to_string());
        query.append_pair("view", self.view.as_str()).append_pair("color", self.colour.as_str());
        for (key, pixels) in [("w", self.width), ("h", self.height)] {
            if let Some(pixels) = pixels {
                query.append_pair(key, &pixels.to_string());
            }
        }
        query.append_pair("format", self.format.as_str());
        query.finish()
    }
}

/// Side of the square picture that fits in a box: the smaller of what is given, never enlarged.
pub fn side_px(width: Option<u32>, height: Option<u32>) -> u32 {
    width.unwrap_or(MASTER_SIDE_PX).min(height.unwrap_or(MASTER_SIDE_PX)).min(MASTER_SIDE_PX)
}

/// A whole number of a JSON body, also in the form `4.0`: JSON knows one kind of number.
pub fn whole(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(number))?;
        Some(number as u64)
    })
}

/// What a value of a JSON body is, in the words of a refusal.
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

fn missing(key: &str) -> BadParameter {
    BadParameter::new(key, format!("`{key}` is required"))
}

fn name(key: &str, value: &str) -> Result<String, BadParameter> {
    let trimmed = value.trim();
    if trimmed.is_empty() {
        return Err(BadParameter::new(key, format!("`{key}` is empty")));
    }
    if trimmed.chars().count() > NAME_CHARS_MAX {
        return Err(BadParameter::new(key, format!("`{key}` is longer than {NAME_CHARS_MAX} characters")));
    }
    Ok(trimmed.to_owned())
}

fn year(value: &str) -> Result<u16, BadParameter> {
    whole_number(value).and_then(|year| u16::try_from(year).ok()).filter(|year| YEARS.contains(year)).ok_or_else(|| {
        let detail =
            format!("`year` is a whole number from {} to {}, not `{}`", YEARS.start(), YEARS.end(), shortened(value));
        BadParameter::new("year", detail)
    })
}

fn side(key: &str, value: Option<&str>) -> Result<Option<u32>, BadParameter> {
    let Some(value) = value else { return Ok(None) };
    whole_number(value).filter(|pixels| (1..=MASTER_SIDE_PX).contains(pixels)).map(Some).ok_or_else(|| {
        BadParameter::new(
            key,
            format!("`{key}` is a whole number of pixels from 1 to {MASTER_SIDE_PX}, not `{}`", shortened(value)),
        )
    })
}

/// Digits only: `str::parse` would also take a sign.
fn whole_number(value: &str) -> Option<u32> {
    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok())?
}

fn one_of<T: FromStr<Err = UnknownName>>(key: &str, value: Option<&str>) -> Result<Option<T>, BadParameter> {
    value.map(str::parse).transpose().map_err(|unknown: UnknownName| {
        let detail = format!("`{key}`: `{}` is not one of {}", shortened(&unknown.given), unknown.allowed);
        BadParameter::new(key, detail)
    })
}

/// What a refusal repeats of a wrong value.
fn shortened(value: &str) -> String {
    value.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PORSCHE: &str = "make=porsche&model=911&year=2024";

    fn ok(rest: &str) -> ImageRequest {
        let query = format!("{PORSCHE}{rest}");
        ImageRequest::parse_query(&query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"))
    }

    #[test]
    fn defaults_are_a_silver_png_at_full_size_from_the_front_quarter() {
        let request = ok("");
        assert_eq!((request.make.as_str(), request.model.as_str(), request.year), ("porsche", "911", 2024));
        assert_eq!(
            (request.view, request.colour, request.format),
            (View::FrontThreeQuarter, Colour::Silver, Format::Png)
        );
        assert_eq!((request.width, request.height, request.side_px), (None, None, 1024));
        assert_eq!(request.response, ResponseKind::Image);
    }

    #[test]
    fn views_and_formats_by_name_and_alias() {
        let views = [
            ("front", View::Front),
            ("front-3-4", View::FrontThreeQuarter),
            ("front34", View::FrontThreeQuarter),
            ("hero", View::FrontThreeQuarter),
            ("side", View::Side),
            ("side-left", View::Side),
            ("profile", View::Side),
            ("side-right", View::SideRight),
            ("side-r", View::SideRight),
            ("rear", View::Rear),
            ("back", View::Rear),
            ("rear-3-4", View::RearThreeQuarter),
            ("rear34", View::RearThreeQuarter),
            ("HERO", View::FrontThreeQuarter),
        ];
        for (given, view) in views {
            assert_eq!(ok(&format!("&view={given}")).view, view, "{given}");
        }
        for (given, format) in
            [("png", Format::Png), ("webp", Format::Webp), ("jpg", Format::Jpg), ("jpeg", Format::Jpg)]
        {
            assert_eq!(ok(&format!("&format={given}")).format, format, "{given}");
        }
        for colour in Colour::ALL {
            assert_eq!(ok(&format!("&color={colour}")).colour, *colour);
        }
        assert_eq!(ok("&response=url").response, ResponseKind::Url);
        assert_eq!(ok("&response=image").response, ResponseKind::Image);
    }

    #[test]
    fn the_picture_fits_in_the_box_and_is_never_enlarged() {
        let boxes = [
            ("&w=800&h=450", Some(800), Some(450), 450),
            ("&w=450&h=800", Some(450), Some(800), 450),
            ("&w=1", Some(1), None, 1),
            ("&h=1024", None, Some(1024), 1024),
            ("&size=thumb", Some(256), None, 256),
            ("&size=small", Some(512), None, 512),
            ("&size=medium", Some(768), None, 768),
            ("&size=large", Some(1024), None, 1024),
            ("&size=large&w=300", Some(300), None, 300),
            ("&size=thumb&h=700", None, Some(700), 700),
        ];
        for (rest, width, height, side) in boxes {
            let request = ok(rest);
            assert_eq!((request.width, request.height, request.side_px), (width, height, side), "{rest}");
        }
    }

    #[test]
    fn brand_stands_for_make() {
        let request = ImageRequest::parse_query("brand=Mercedes-Benz&model=E-Class&year=1990").unwrap();
        assert_eq!(request.make, "Mercedes-Benz");
    }

    #[test]
    fn years_1990_to_2027() {
        for year in [1990, 2026, 2027] {
            assert!(ImageRequest::parse_query(&format!("make=a&model=b&year={year}")).is_ok(), "{year}");
        }
    }

    #[test]
    fn every_refusal_names_its_parameter() {
        let refused = [
            ("model=911&year=2024", "make"),
            ("make=porsche&year=2024", "model"),
            ("make=porsche&model=911", "year"),
            ("make=&model=911&year=2024", "make"),
            ("brand=%20&model=911&year=2024", "brand"),
            ("make=porsche&brand=porsche&model=911&year=2024", "brand"),
            ("make=porsche&model=+&year=2024", "model"),
            ("make=porsche&model=911&year=1989", "year"),
            ("make=porsche&model=911&year=2028", "year"),
            ("make=porsche&model=911&year=2024.0", "year"),
            ("make=porsche&model=911&year=-2024", "year"),
            ("make=porsche&model=911&year=%2B2024", "year"),
            ("make=porsche&model=911&year=", "year"),
            ("make=porsche&model=911&year=99999999999", "year"),
            ("make=porsche&model=911&year=2024&year=2024", "year"),
            ("make=porsche&make=porsche&model=911&year=2024", "make"),
        ];
        let with_vehicle = [
            ("&view=top", "view"),
            ("&view=", "view"),
            ("&view=side&view=side", "view"),
            ("&color=turquoise", "color"),
            ("&color=red&color=blue", "color"),
            ("&colour=red", "colour"),
            ("&format=gif", "format"),
            ("&size=huge", "size"),
            ("&size=huge&w=100", "size"),
            ("&w=0", "w"),
            ("&w=1025", "w"),
            ("&w=abc", "w"),
            ("&w=", "w"),
            ("&h=-1", "h"),
            ("&h=12.5", "h"),
            ("&h=1&h=1", "h"),
            ("&width=100", "width"),
            ("&response=json", "response"),
            ("&utm_source=mail", "utm_source"),
        ];
        let refused = refused.map(|(query, parameter)| (query.to_owned(), parameter)).into_iter();
        for (query, parameter) in
            refused.chain(with_vehicle.map(|(rest, parameter)| (format!("{PORSCHE}{rest}"), parameter)))
        {
            let refusal = ImageRequest::parse_query(&query).expect_err(&query);
            assert_eq!(refusal.parameter, parameter, "{query}");
            assert!(refusal.detail.contains(&format!("`{parameter}`")), "{query}: {}", refusal.detail);
        }
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        assert_eq!(ImageRequest::parse_query(&format!("make={long}&model=b&year=2000")).unwrap_err().parameter, "make");
        assert!(ImageRequest::parse_query(&format!("{PORSCHE}&colour=red")).unwrap_err().detail.contains("`color`"));
    }

    #[test]
    fn the_canonical_query_has_one_order_and_one_spelling() {
        let request =
            ImageRequest::parse_query("format=jpeg&size=small&color=RED&view=hero&year=2024&model=911&brand=Porsche")
                .unwrap();
        assert_eq!(
            request.canonical_query("porsche", "911"),
            "make=porsche&model=911&year=2024&view=front-3-4&color=red&w=512&format=jpg"
        );
        assert_eq!(
            ok("&h=9&w=7&response=url").canonical_query("porsche", "911"),
            "make=porsche&model=911&year=2024&view=front-3-4&color=silver&w=7&h=9&format=png"
        );
    }

    proptest! {
        #[test]
        fn parse_print_parse(
            make in "[a-z0-9ÄéŠ &=+%.-]{1,20}", model in "[A-Za-z0-9 &=+%#.-]{1,20}", year in YEARS,
            view in 0..View::ALL.len(), colour in 0..Colour::ALL.len(), format in 0..Format::ALL.len(),
            width in proptest::option::of(1u32..=1024), height in proptest::option::of(1u32..=1024),
        ) {
            prop_assume!(!make.trim().is_empty() && !model.trim().is_empty());
            let request = ImageRequest {
                make: make.trim().to_owned(), model: model.trim().to_owned(), year,
                view: View::ALL[view], colour: Colour::ALL[colour], format: Format::ALL[format],
                width, height, side_px: side_px(width, height), response: ResponseKind::Image,
            };
            let printed = request.canonical_query(&request.make, &request.model);
            let parsed = ImageRequest::parse_query(&printed);
            prop_assert_eq!(parsed.as_ref(), Ok(&request));
            prop_assert_eq!(parsed.map(|again| again.canonical_query(&request.make, &request.model)), Ok(printed));
        }

        #[test]
        fn any_query_is_answered(query in ".{0,200}") {
            let _ = ImageRequest::parse_query(&query);
        }
    }
}

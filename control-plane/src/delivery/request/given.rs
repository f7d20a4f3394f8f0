//! The keys of a request for an image, and their values before parsing.

use super::values::BadParameter;

/// The unparsed values, one slot per key. A slot that is filled twice is refused; no value is
/// preferred.
#[derive(Default)]
pub(super) struct GivenValues<'a> {
    pub(super) make: Option<&'a str>,
    pub(super) brand: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) vehicle: Option<&'a str>,
    pub(super) year: Option<&'a str>,
    pub(super) body: Option<&'a str>,
    pub(super) view: Option<&'a str>,
    pub(super) color: Option<&'a str>,
    pub(super) w: Option<&'a str>,
    pub(super) h: Option<&'a str>,
    pub(super) size: Option<&'a str>,
    pub(super) format: Option<&'a str>,
    pub(super) fit: Option<&'a str>,
    pub(super) trim: Option<&'a str>,
    pub(super) padding: Option<&'a str>,
    pub(super) background: Option<&'a str>,
    pub(super) shadow: Option<&'a str>,
    pub(super) scale: Option<&'a str>,
    pub(super) finish: Option<&'a str>,
    pub(super) response: Option<&'a str>,
}

/// The names of keys, where queries and JSON bodies differ.
#[derive(Clone, Copy)]
pub(super) struct KeyNames {
    pub(super) width: &'static str,
    pub(super) height: &'static str,
    /// Synonyms, each with the key that it stands for.
    synonyms: &'static [(&'static str, &'static str)],
    takes_response: bool,
    /// The endpoint's further keys, as an error lists them after those of an image.
    others: &'static str,
}

impl KeyNames {
    /// Returns the key that a word stands for.
    pub(super) fn meant<'k>(&self, key: &'k str) -> &'k str {
        self.synonyms.iter().find(|(synonym, _)| *synonym == key).map_or(key, |(_, ours)| ours)
    }

    /// Returns all keys, as an error lists them.
    fn all(&self) -> String {
        let KeyNames { width, height, others, .. } = self;
        format!(
            "make (or brand) and model, or vehicle, year, body, view, color, {width}, {height}, size, format, fit, trim, padding, \
             background, shadow, scale, finish{others}"
        )
    }
}

/// The endpoint whose query is read. Each accepts keys of its own beside those of an image, and its
/// errors about unknown keys list its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `GET /api/v1/images/car`
    Image,
    /// `GET /images/car.png`, which reads its own keys itself.
    Embed,
    /// A page of the service.
    Page,
}

impl Endpoint {
    /// Returns the key that a word stands for.
    pub fn meant(self, key: &str) -> &str {
        self.keys().meant(key)
    }

    pub(super) const fn keys(self) -> KeyNames {
        let (takes_response, others) = match self {
            Endpoint::Image => (true, " and response"),
            Endpoint::Embed => (false, ", mode, exp, sig and key"),
            Endpoint::Page => (false, ""),
        };
        KeyNames { width: "w", height: "h", synonyms: &QUERY_SYNONYMS, takes_response, others }
    }
}

/// The keys of an item of a JSON body.
pub(super) const JSON: KeyNames =
    KeyNames { width: "width", height: "height", synonyms: &SYNONYMS, takes_response: false, others: "" };

/// Other words for a key, where nothing else could be meant.
pub const SYNONYMS: [(&str, &str); 2] = [("colour", "color"), ("bg", "background")];
const QUERY_SYNONYMS: [(&str, &str); 4] = [("colour", "color"), ("bg", "background"), ("width", "w"), ("height", "h")];

impl<'a> GivenValues<'a> {
    /// Sorts the pairs into slots. Fails with [`BadParameter`] for an unknown key or one that is
    /// given twice.
    pub(super) fn collect(pairs: &'a [(String, String)], keys: KeyNames) -> Result<Self, BadParameter> {
        let mut given = Self::default();
        for (key, value) in pairs {
            let slot = match keys.meant(key) {
                "make" => &mut given.make,
                "brand" => &mut given.brand,
                "model" => &mut given.model,
                "vehicle" => &mut given.vehicle,
                "year" => &mut given.year,
                "body" => &mut given.body,
                "view" => &mut given.view,
                "color" => &mut given.color,
                side if side == keys.width => &mut given.w,
                side if side == keys.height => &mut given.h,
                "size" => &mut given.size,
                "format" => &mut given.format,
                "fit" => &mut given.fit,
                "trim" => &mut given.trim,
                "padding" => &mut given.padding,
                "background" => &mut given.background,
                "shadow" => &mut given.shadow,
                "scale" => &mut given.scale,
                "finish" => &mut given.finish,
                "response" if keys.takes_response => &mut given.response,
                // Refused, not ignored: a misspelt `colr=red` would otherwise be charged as a
                // silver image.
                unknown => return Err(unknown_key(unknown, keys)),
            };
            if slot.replace(value).is_some() {
                let key = keys.meant(key);
                return Err(BadParameter::new(key, format!("`{key}` is given more than once")));
            }
        }
        Ok(given)
    }
}

/// Returns the key that callers mean by an unknown key, so that the error names the right one.
pub fn meant(key: &str, [width, height]: [&'static str; 2]) -> Option<&'static str> {
    match key {
        "colour" | "paint" => Some("color"),
        "manufacturer" => Some("make"),
        "angle" => Some("view"),
        "bg" => Some("background"),
        "crop" => Some("fit"),
        "w" | "width" => Some(width),
        "h" | "height" => Some(height),
        _ => None,
    }
}

fn unknown_key(key: &str, keys: KeyNames) -> BadParameter {
    let shown: String = key.chars().take(40).collect();
    let detail = match meant(key, [keys.width, keys.height]) {
        Some(ours) => format!("`{shown}` is not a parameter of this endpoint; it is called `{ours}`"),
        None => format!("`{shown}` is not a parameter of this endpoint, which takes {}", keys.all()),
    };
    BadParameter::new(shown, detail)
}

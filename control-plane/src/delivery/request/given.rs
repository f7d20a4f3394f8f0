//! The keys of a request for a picture, and their values as they came.

use super::values::BadParameter;

/// The values as they came, one slot a key. A slot that is filled twice is a refusal, never a choice.
#[derive(Default)]
pub(super) struct Given<'a> {
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

/// What the two forms of a request call their keys, where they differ.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) width: &'static str,
    pub(super) height: &'static str,
    /// Each with the key that it stands for.
    synonyms: &'static [(&'static str, &'static str)],
    takes_response: bool,
    /// The endpoint's further keys, as a refusal lists them after those of a picture.
    others: &'static str,
}

impl Keys {
    /// The key that a word stands for.
    pub(super) fn meant<'k>(&self, key: &'k str) -> &'k str {
        self.synonyms.iter().find(|(synonym, _)| *synonym == key).map_or(key, |(_, ours)| ours)
    }

    /// All keys, as a refusal lists them.
    fn all(&self) -> String {
        let Keys { width, height, others, .. } = self;
        format!(
            "make (or brand) and model, or vehicle, year, body, view, color, {width}, {height}, size, format, fit, trim, padding, \
             background, shadow, scale, finish{others}"
        )
    }
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
    /// The key that a word stands for.
    pub fn meant(self, key: &str) -> &str {
        self.keys().meant(key)
    }

    pub(super) const fn keys(self) -> Keys {
        let (takes_response, others) = match self {
            Endpoint::Image => (true, " and response"),
            Endpoint::Embed => (false, ", mode, exp, sig and key"),
            Endpoint::Page => (false, ""),
        };
        Keys { width: "w", height: "h", synonyms: &QUERY_SYNONYMS, takes_response, others }
    }
}

pub(super) const JSON: Keys =
    Keys { width: "width", height: "height", synonyms: &SYNONYMS, takes_response: false, others: "" };

/// Other words for a key, where nothing else could be meant.
pub const SYNONYMS: [(&str, &str); 2] = [("colour", "color"), ("bg", "background")];
const QUERY_SYNONYMS: [(&str, &str); 4] = [("colour", "color"), ("bg", "background"), ("width", "w"), ("height", "h")];

impl<'a> Given<'a> {
    pub(super) fn collect(pairs: &'a [(String, String)], keys: Keys) -> Result<Self, BadParameter> {
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
                // Refused, not ignored: a misspelt `colr=red` would otherwise be charged as a silver picture.
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

/// What callers mean by a key that is not ours: a refusal names the right one.
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

fn unknown_key(key: &str, keys: Keys) -> BadParameter {
    let shown: String = key.chars().take(40).collect();
    let detail = match meant(key, [keys.width, keys.height]) {
        Some(ours) => format!("`{shown}` is not a parameter of this endpoint; it is called `{ours}`"),
        None => format!("`{shown}` is not a parameter of this endpoint; it takes {}", keys.all()),
    };
    BadParameter::new(shown, detail)
}

//! Rules for facts that the sources lack: body words, icons, families of trims, class templates and
//! corrections. All of them are data in `catalog/data/rules.toml`; this module reads and matches
//! them.

use super::ImportError;
use crate::names;
use cyclorama_core::{BodyClass, Dimensions};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

static RULES: &str = include_str!("../../data/rules.toml");

/// All rules, in the order of `rules.toml`. If several match, the first is used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The catalog's key of a make by a source's key.
    pub make_aliases: HashMap<String, String>,
    /// The spelling of a make's name, by key.
    pub make_names: HashMap<String, String>,
    pub words: Vec<WordRule>,
    pub families: Vec<FamilyRule>,
    pub bodies: Vec<BodyRule>,
    pub sizes: Vec<SizeRule>,
    pub templates: Vec<Template>,
}

/// A word in a model's name that tells its body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordRule {
    pub body: BodyClass,
    pub words: Vec<String>,
    /// The only makes for which the rule holds; for words that are not a body elsewhere
    /// (`touring`).
    #[serde(default)]
    pub makes: Vec<String>,
    /// Kinds of vehicle for which the rule holds: `road` (cars, trucks, MPVs, other) or
    /// `two-wheeler`.
    #[serde(default = "road")]
    pub on: String,
    /// True if the word takes precedence over [`BodyRule`]s.
    #[serde(default)]
    pub over_bodies: bool,
}

fn road() -> String {
    "road".into()
}

/// Trims that are sold as a separate model somewhere: `328i` of the `3 Series`. In a pattern, `#`
/// is a digit, and a `*` at the end is any rest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyRule {
    pub make: String,
    pub names: Vec<String>,
    pub family: String,
}

/// The body of named models, which takes precedence over the sources. A model is `make/model` in
/// keys, with `*` at the end for any rest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRule {
    pub body: BodyClass,
    pub models: Vec<String>,
    /// First and last year in which the rule holds.
    #[serde(default)]
    pub years: Option<(u16, u16)>,
    /// If not empty, the rule holds only where the sources give one of these bodies.
    #[serde(default)]
    pub instead_of: Vec<BodyClass>,
    #[serde(default, rename = "why")]
    pub _why: Option<String>,
}

/// Published outer dimensions of a well-known model that no source has, or has wrong.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeRule {
    pub models: Vec<String>,
    #[serde(default)]
    pub years: Option<(u16, u16)>,
    /// Length, width without mirrors, height and wheelbase.
    pub mm: [u32; 4],
    /// The only bodies for which the rule holds. If empty, it holds for all that are neither ridden
    /// nor heavy (`Honda N` is a car, `Honda NX` a motorcycle; the Daihatsu Delta was a car and is
    /// a truck).
    #[serde(default)]
    pub bodies: Vec<BodyClass>,
    /// True if the dimensions take precedence over a source.
    #[serde(default)]
    pub over_sources: bool,
}

impl SizeRule {
    fn is_for(&self, body: BodyClass) -> bool {
        match self.bodies.as_slice() {
            [] => !body.is_two_wheeler() && !matches!(body, BodyClass::Truck | BodyClass::Bus),
            named => named.contains(&body),
        }
    }
}

/// Dimensions of a body class in a period: length, width, height, wheelbase and front track, in
/// millimetres.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub body: BodyClass,
    #[serde(default)]
    pub years: Option<(u16, u16)>,
    pub mm: [u32; 5],
}

impl Rules {
    /// Reads the rules that are linked in.
    pub fn built_in() -> Result<Self, ImportError> {
        Self::parse(RULES)
    }

    /// Reads rules from a file. Returns [`ImportError`] if it cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ImportError::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, ImportError> {
        toml::from_str(text).map_err(|source| ImportError::Rules { source: Box::new(source) })
    }

    /// Returns the catalog's key of a make that a source names.
    pub fn make_key(&self, name: &str) -> String {
        let key = names::key(name);
        self.make_aliases.get(&key).cloned().unwrap_or(key)
    }

    /// Returns the body that a word of the name stands for. The last such word decides (`Focus
    /// Estate Van` is a van).
    pub fn word_body(&self, make: &str, words: &[String], on: &str) -> Option<BodyClass> {
        self.word_rule(make, words, on).map(|rule| rule.body)
    }

    /// Returns the rule of the last word of the name that is a body word.
    pub fn word_rule(&self, make: &str, words: &[String], on: &str) -> Option<&WordRule> {
        let says = |word: &String| {
            self.words.iter().find(|rule| {
                rule.on == on
                    && rule.words.contains(word)
                    && (rule.makes.is_empty() || rule.makes.iter().any(|other| other == make))
            })
        };
        let pairs = words.windows(2).rev().find_map(|pair| says(&pair.concat()));
        pairs.or_else(|| words.iter().rev().find_map(says))
    }

    /// Returns the key of the family that a trim belongs to.
    pub fn family(&self, make: &str, model: &str) -> Option<String> {
        let rule = self
            .families
            .iter()
            .find(|rule| rule.make == make && rule.names.iter().any(|pattern| matches(pattern, model)))?;
        Some(names::key(&rule.family)).filter(|family| family != model)
    }

    /// Returns the body that a rule gives for a model in a year. `from_sources` is the body that
    /// the sources give, which some rules require.
    pub fn body(&self, make: &str, model: &str, year: u16, from_sources: Option<BodyClass>) -> Option<BodyClass> {
        let path = format!("{make}/{model}");
        let rule = self.bodies.iter().find(|rule| {
            within(rule.years, year)
                && (rule.instead_of.is_empty() || from_sources.is_some_and(|body| rule.instead_of.contains(&body)))
                && rule.models.iter().any(|pattern| matches(pattern, &path))
        });
        rule.map(|rule| rule.body)
    }

    /// Returns length, width, height and wheelbase in millimetres that a rule gives for a model
    /// with a body in a year. `over_sources` selects the rules that take precedence over sources,
    /// or those that do not.
    pub fn size(&self, make: &str, model: &str, year: u16, body: BodyClass, over_sources: bool) -> Option<[u32; 4]> {
        let path = format!("{make}/{model}");
        let rule = self.sizes.iter().find(|rule| {
            rule.over_sources == over_sources
                && within(rule.years, year)
                && rule.is_for(body)
                && rule.models.iter().any(|pattern| matches(pattern, &path))
        });
        rule.map(|rule| rule.mm)
    }

    /// Returns the dimensions of a body class in a year. `rules.toml` has a template for every
    /// class; a test checks this.
    pub fn template(&self, body: BodyClass, year: u16) -> Dimensions {
        let template = self.templates.iter().find(|template| template.body == body && within(template.years, year));
        let [length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm] =
            template.map_or([4500, 1800, 1500, 2650, 1550], |template| template.mm);
        Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm }
    }
}

fn within(years: Option<(u16, u16)>, year: u16) -> bool {
    years.is_none_or(|(from, to)| (from..=to).contains(&year))
}

/// Matches a name against a pattern. `#` matches a digit, and `*` at the end any rest that does not
/// continue a number: `3##*` is `320d` and not `3000`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, open) = pattern.strip_suffix('*').map_or((pattern, false), |pattern| (pattern, true));
    let mut rest = name.chars();
    let begins = pattern
        .chars()
        .all(|wanted| rest.next().is_some_and(|c| if wanted == '#' { c.is_ascii_digit() } else { c == wanted }));
    let ends_in_digit = pattern.ends_with(|c: char| c == '#' || c.is_ascii_digit());
    let rest = rest.next();
    begins && (rest.is_none() || open && !(ends_in_digit && rest.is_some_and(|c| c.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("3##*", "328i", true),
            ("3##*", "3series", false),
            ("3##", "328i", false),
            ("jeep/wrangler*", "jeep/wranglerjk", true),
            ("jeep/wrangler", "jeep/wranglerjk", false),
            ("x", "", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn every_body_class_has_a_template_in_every_year() {
        let rules = Rules::built_in().unwrap();
        for body in BodyClass::ALL {
            for year in 1990..=2026 {
                let found =
                    rules.templates.iter().any(|template| template.body == *body && within(template.years, year));
                assert!(found, "{body} {year}");
            }
        }
    }

    #[test]
    fn patterns_are_keys_so_that_each_can_match() {
        let rules = Rules::built_in().unwrap();
        let paths =
            rules.bodies.iter().flat_map(|rule| &rule.models).chain(rules.sizes.iter().flat_map(|rule| &rule.models));
        for path in paths {
            let (make, model) = path.split_once('/').unwrap_or_else(|| panic!("`{path}` is no make/model"));
            let model = model.strip_suffix('*').unwrap_or(model).replace('#', "0");
            assert!(names::key(make) == make && names::key(&model) == model, "`{path}` is not written as keys");
        }
    }

    #[test]
    fn words_and_families() {
        let rules = Rules::built_in().unwrap();
        let word = |make: &str, name: &str| rules.word_body(make, &names::words(name), "road");
        assert_eq!(word("audi", "A4 Avant quattro"), Some(BodyClass::Wagon));
        assert_eq!(word("volkswagen", "Golf Cabriolet"), Some(BodyClass::Convertible));
        assert_eq!(word("bmw", "320d Touring"), Some(BodyClass::Wagon));
        assert_eq!(word("honda", "Gold Wing Touring"), None);
        assert_eq!(word("toyota", "HILUX D/CAB UTE"), Some(BodyClass::Pickup));
        assert_eq!(rules.family("bmw", "328i").as_deref(), Some("3series"));
        assert_eq!(rules.family("mercedesbenz", "c300").as_deref(), Some("cclass"));
        assert_eq!(rules.family("ford", "f150"), None);
        assert_eq!(rules.family("bmw", "3000"), None);
    }
}

//! Words for bodies (`estate`, `Variant`, `5-türig`) and the bodies they stand for:
//! `data/body-trims.toml`, read once.

use crate::search::Words;
use cyclorama_core::BodyClass;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

static TEXT: &str = include_str!("../data/body-trims.toml");

/// Atoms of the longest word for a body (`hatchback liftback notchback`).
pub const STYLE_ATOMS_MAX: usize = 5;

/// Words that follow a number of doors, without accents.
const DOORS: [&str; 16] = [
    "door", "doors", "dr", "turig", "turige", "turiger", "tuerig", "turer", "tuerer", "turen", "porte", "portes",
    "puertas", "deurs", "deuren", "drs",
];

/// Groups of bodies that one word is used for, the body that it usually means first.
const ALIKE: [&[BodyClass]; 7] = [
    &[BodyClass::Sedan, BodyClass::Fastback],
    &[BodyClass::Hatchback, BodyClass::Fastback],
    &[BodyClass::Coupe, BodyClass::Fastback],
    &[BodyClass::Suv, BodyClass::OffRoader],
    &[BodyClass::Pickup, BodyClass::Truck],
    &[BodyClass::Van, BodyClass::Minivan],
    &[BodyClass::Motorcycle, BodyClass::Scooter],
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    body: Vec<StyleEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StyleEntry {
    body: BodyClass,
    /// Slugs of makes; empty for words that every make uses in this sense.
    #[serde(default)]
    makes: Vec<String>,
    words: Vec<String>,
}

/// One meaning of a word for a body.
#[derive(Debug)]
pub struct Style {
    pub body: BodyClass,
    /// Slugs of the makes that use the word in this sense; empty for all.
    pub makes: Vec<String>,
}

impl Style {
    /// True if the make uses the word in this sense.
    pub fn is_of(&self, make: &str) -> bool {
        self.makes.is_empty() || self.makes.iter().any(|other| other == make)
    }
}

fn read(text: &str) -> Result<HashMap<String, Vec<Style>>, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    let mut styles: HashMap<String, Vec<Style>> = HashMap::new();
    for entry in file.body {
        for phrase in &entry.words {
            let meanings = styles.entry(Words::of(phrase).key().to_owned()).or_default();
            if meanings.iter().all(|other| other.body != entry.body || other.makes != entry.makes) {
                meanings.push(Style { body: entry.body, makes: entry.makes.clone() });
            }
        }
    }
    Ok(styles)
}

/// Returns the meanings that the atoms `from..to`, joined, have as a word for a body. Empty if they
/// are no such word.
pub fn at(words: &Words, from: usize, to: usize) -> &'static [Style] {
    of_key(words.join(from, to))
}

fn of_key(key: &str) -> &'static [Style] {
    /// The embedded list. A test reads it, so that it is never left empty by a mistake.
    static READ: LazyLock<HashMap<String, Vec<Style>>> = LazyLock::new(|| read(TEXT).unwrap_or_default());
    READ.get(key).map_or(&[], Vec::as_slice)
}

/// Returns the body that a word or phrase stands for with every make.
pub fn body_of_phrase(phrase: &str) -> Option<BodyClass> {
    of_key(Words::of(phrase).key()).iter().find(|style| style.makes.is_empty()).map(|style| style.body)
}

/// Reads a number of doors from an atom on: `5-türig`, `4 porte`, `3dr`, `two door`, `4D`. Returns
/// the first atom behind it and the number.
pub fn doors_at(words: &Words, from: usize) -> Option<(usize, u16)> {
    let doors = match words.join(from, from + 1) {
        "2" | "two" => 2,
        "3" | "three" => 3,
        "4" | "four" => 4,
        "5" | "five" => 5,
        _ => return None,
    };
    let unit = if from + 1 < words.len() { words.join(from + 1, from + 2) } else { "" };
    let is_written_in_one = words.is_glued(from + 1) && words.is_number(from) && !words.is_glued(from);
    let is_unit = match unit {
        "d" | "p" => is_written_in_one && !words.is_glued(from + 2),
        _ => DOORS.contains(&unit),
    };
    is_unit.then_some((from + 2, doors))
}

/// True if a vehicle with this number of doors can have a body. The hatch counts as a door in
/// Europe and not in America.
pub fn doors_fit(doors: u16, body: BodyClass) -> bool {
    use BodyClass::*;
    match doors {
        2 => !matches!(body, Sedan | Hatchback | Fastback | Wagon | Minivan),
        3 => !matches!(body, Sedan | Wagon | Minivan | Convertible),
        4 => !matches!(body, Hatchback | Coupe | Convertible),
        _ => !matches!(body, Sedan | Coupe | Convertible | Pickup),
    }
}

/// The body that a number of doors stands for where the usual body does not have as many.
pub fn body_of_doors(doors: u16) -> BodyClass {
    match doors {
        2 => BodyClass::Coupe,
        4 => BodyClass::Sedan,
        _ => BodyClass::Hatchback,
    }
}

/// True if the same words are used for two bodies.
pub fn are_alike(one: BodyClass, other: BodyClass) -> bool {
    one == other || ALIKE.iter().any(|alike| alike.contains(&one) && alike.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    #[test]
    fn the_words_for_bodies_read() {
        let catalog = Catalog::embedded().unwrap();
        let file: File = toml::from_str(TEXT).unwrap();
        for entry in &file.body {
            assert!(!entry.words.is_empty());
            for slug in &entry.makes {
                assert!(catalog.makes().iter().any(|make| make.slug == *slug), "no make {slug}");
            }
            for word in &entry.words {
                assert!(Words::of(word).len() <= STYLE_ATOMS_MAX, "{word}");
            }
        }
        // A word means one body for one make.
        for (word, styles) in read(TEXT).unwrap() {
            let alone = styles.iter().filter(|style| style.makes.is_empty()).count();
            assert!(alone <= 1, "{word} has two meanings");
        }
    }

    #[test]
    fn numbers_of_doors() {
        for (text, expected) in [
            ("5 door", Some(5)),
            ("5-türig", Some(5)),
            ("4 porte", Some(4)),
            ("3dr", Some(3)),
            ("two door", Some(2)),
            ("4D", Some(4)),
            ("5p", Some(5)),
            ("4 d", None),
            ("6 doors", None),
            ("5", None),
        ] {
            assert_eq!(doors_at(&Words::of(text), 0).map(|(_, doors)| doors), expected, "{text}");
        }
    }
}

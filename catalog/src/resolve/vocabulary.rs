//! The words that are not names, with the meanings that each may have: `vocabulary.toml`, read
//! once.

use cyclorama_core::{Colour, Format, SizePreset};
use serde::Deserialize;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::search::Words;

/// Minimum length of a colour name in which a typing mistake is accepted. Shorter names are one
/// edit away from too many words.
const COLOUR_BYTES_MIN: usize = 4;

static TEXT: &str = include_str!("vocabulary.toml");

/// A part of a description of where the camera stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewPart {
    Front,
    Rear,
    Side,
    SideRight,
    Quarter,
    FrontQuarter,
    RearQuarter,
}

impl ViewPart {
    pub const ALL: [ViewPart; 7] = [
        ViewPart::Front,
        ViewPart::Rear,
        ViewPart::Side,
        ViewPart::SideRight,
        ViewPart::Quarter,
        ViewPart::FrontQuarter,
        ViewPart::RearQuarter,
    ];

    fn named(name: &str) -> Option<Self> {
        let names = ["front", "rear", "side", "side-right", "quarter", "front-3-4", "rear-3-4"];
        names.iter().position(|other| *other == name).map(|position| Self::ALL[position])
    }
}

/// One meaning of a word or phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Colour(Colour),
    View(ViewPart),
    Size(SizePreset),
    Format(Format),
    Filler,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    colors: HashMap<String, Vec<String>>,
    views: HashMap<String, Vec<String>>,
    sizes: HashMap<String, Vec<String>>,
    formats: HashMap<String, Vec<String>>,
    fillers: Plain,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    words: Vec<String>,
}

/// Meanings by phrase; the words of a phrase are joined.
#[derive(Default)]
pub struct Vocabulary {
    meanings: HashMap<String, Vec<Meaning>>,
    /// Colour names with their colours, sorted: few enough to be compared one by one with a
    /// mistyped word.
    colours: Vec<(String, Colour)>,
}

impl Vocabulary {
    /// The embedded list. A test reads it, so it is never empty here.
    pub fn embedded() -> &'static Self {
        static READ: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::read(TEXT).unwrap_or_default());
        &READ
    }

    fn read(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut meanings: HashMap<String, Vec<Meaning>> = HashMap::new();
        let mut add = |phrases: &[String], meaning: Meaning| {
            for phrase in phrases {
                let known = meanings.entry(Words::of(phrase).key().to_owned()).or_default();
                if !known.contains(&meaning) {
                    known.push(meaning);
                }
            }
        };
        fn named<T: FromStr>(name: &str) -> Result<T, String> {
            name.parse().map_err(|_| format!("`{name}` is none"))
        }
        for (name, phrases) in &file.colors {
            add(phrases, Meaning::Colour(named(name)?));
        }
        for (name, phrases) in &file.views {
            add(phrases, Meaning::View(ViewPart::named(name).ok_or_else(|| format!("`{name}` is no part of a view"))?));
        }
        for (name, phrases) in &file.sizes {
            add(phrases, Meaning::Size(named(name)?));
        }
        for (name, phrases) in &file.formats {
            add(phrases, Meaning::Format(named(name)?));
        }
        add(&file.fillers.words, Meaning::Filler);
        let colour = |(phrase, meanings): (&String, &Vec<Meaning>)| match meanings.first() {
            Some(Meaning::Colour(colour)) if phrase.len() >= COLOUR_BYTES_MIN => Some((phrase.clone(), *colour)),
            _ => None,
        };
        let mut colours: Vec<(String, Colour)> = meanings.iter().filter_map(colour).collect();
        colours.sort_unstable();
        Ok(Self { meanings, colours })
    }

    /// Returns the meanings that a phrase, joined, may have.
    pub fn meanings(&self, joined: &str) -> &[Meaning] {
        self.meanings.get(joined).map_or(&[], Vec::as_slice)
    }

    /// Returns the colour whose name is one typing mistake away.
    pub fn mistyped_colour(&self, word: &str) -> Option<Colour> {
        let near = |name: &str| name.len().abs_diff(word.len()) <= 1 && strsim::osa_distance(name, word) == 1;
        self.colours.iter().find(|(name, _)| near(name)).map(|(_, colour)| *colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_whole() {
        let read = Vocabulary::read(TEXT).expect("vocabulary.toml");
        assert!(read.meanings.len() > 700, "{}", read.meanings.len());
        assert_eq!(read.meanings("rosso"), [Meaning::Colour(Colour::Red)]);
        assert_eq!(read.meanings("threequarter"), [Meaning::View(ViewPart::Quarter)]);
        for colour in Colour::ALL {
            assert!(read.meanings(colour.as_str()).contains(&Meaning::Colour(*colour)), "{colour}");
        }
    }
}

//! Says which rows of a release name no vehicle. Registers have `Honda Motorcycle` and
//! `Mercedes-Benz Benz` beside real models, and makes that are kinds of vehicles (`Moped`). The
//! words and the exceptions are data, in `nameless.toml`.

use super::search::{Words, make_nicknames};
use super::{Make, Model, names};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::LazyLock;

static TEXT: &str = include_str!("../data/nameless.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Slugs of makes that name no maker.
    makes: Vec<String>,
    words: Vec<String>,
    /// Further words for a kind of thing: enough to request a row with, but too little to be
    /// certain of the row without its make.
    kinds: Vec<String>,
    named: Vec<ListedModels>,
    nameless: Vec<ListedModels>,
    /// Rows that are certain without their make, although every word of their name is a word for a
    /// kind.
    certain: Vec<ListedModels>,
}

/// Rows by `make/model` in slugs, with the reason why they are listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedModels {
    #[serde(rename = "why")]
    _why: String,
    models: Vec<String>,
}

#[derive(Debug, Default)]
struct Nameless {
    makes: HashSet<String>,
    words: HashSet<String>,
    kinds: HashSet<String>,
    named: HashSet<String>,
    nameless: HashSet<String>,
    certain: HashSet<String>,
}

impl Nameless {
    /// The embedded list. A test reads it, so it is never empty here.
    fn embedded() -> &'static Self {
        static READ: LazyLock<Nameless> = LazyLock::new(|| Nameless::read(TEXT).unwrap_or_default());
        &READ
    }

    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let models = |listed: Vec<ListedModels>| listed.into_iter().flat_map(|one| one.models).collect();
        Ok(Self {
            makes: file.makes.into_iter().collect(),
            words: file.words.into_iter().collect(),
            kinds: file.kinds.into_iter().collect(),
            named: models(file.named),
            nameless: models(file.nameless),
            certain: models(file.certain),
        })
    }

    fn is_listed(list: &HashSet<String>, make: &Make, model: &Model) -> bool {
        list.contains(&format!("{}/{}", make.slug, model.slug))
    }

    /// True if the model's name has only words for a kind of vehicle, behind the make's name or
    /// alone.
    fn is_kind(&self, make: &Make, model: &Model) -> bool {
        let words = model.slug.strip_prefix(&make.slug).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&model.slug);
        make.models.len() > 1 && words.split('-').all(|word| self.words.contains(word))
    }
}

/// True if a make is not the name of a maker.
pub fn is_nameless_make(make: &Make) -> bool {
    Nameless::embedded().makes.contains(&make.slug)
}

/// True if a model names no vehicle, or its make does not.
pub fn is_nameless(make: &Make, model: &Model) -> bool {
    let list = Nameless::embedded();
    is_nameless_make(make)
        || Nameless::is_listed(&list.nameless, make, model)
        || !Nameless::is_listed(&list.named, make, model) && (list.is_kind(make, model) || repeats_make(make, model))
}

/// True if a word, in lower case, is a word for a kind of thing and by itself not the name of a
/// vehicle: `tractor`, `fast`, `none`.
pub fn is_word_for_a_kind(word: &str) -> bool {
    let list = Nameless::embedded();
    list.words.contains(word) || list.kinds.contains(word)
}

/// All words for a kind of thing.
#[cfg(test)]
pub fn words_for_kinds() -> impl Iterator<Item = &'static str> {
    let list = Nameless::embedded();
    list.words.iter().chain(&list.kinds).map(String::as_str)
}

/// True if a model is certain without its make, although its name is made of words for a kind of
/// thing.
pub fn is_known_without_make(make: &Make, model: &Model) -> bool {
    Nameless::is_listed(&Nameless::embedded().certain, make, model)
}

/// True if the model has its make's name (`Honda Honda`) or a part of it (`Mercedes-Benz Benz`).
/// The only model of a make may bear the make's name.
fn repeats_make(make: &Make, model: &Model) -> bool {
    let key = names::key(&model.name);
    let name = names::words(&make.name);
    let is_run = |count: usize| name.windows(count).any(|run| run.concat() == key);
    let other = || make.aliases.iter().chain(make_nicknames(make)).any(|other| names::key(other) == key);
    (1..name.len()).any(is_run) || make.models.len() > 1 && (name.concat() == key || other())
}

/// True if a text has the make and the name of a row that names no vehicle, written out one behind
/// the other: nothing less requests such a row. The make may be given beside the text.
pub fn is_written_out(text: &Words, make: &Make, model: &Model, make_is_given: bool) -> bool {
    let model = Words::of(&model.name);
    let wanted =
        if make_is_given { model.key().to_owned() } else { Words::of(&make.name).key().to_owned() + model.key() };
    text.key().contains(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    #[test]
    fn the_list_is_of_this_release_and_every_line_of_it_counts() {
        let catalog = Catalog::embedded().expect("the embedded release loads");
        let list = Nameless::read(TEXT).expect("nameless.toml");
        let find = |key: &str| {
            let (make, model) = key.split_once('/').expect(key);
            let make =
                catalog.makes().iter().find(|other| other.slug == make).unwrap_or_else(|| panic!("no make {key}"));
            let model =
                make.models.iter().find(|other| other.slug == model).unwrap_or_else(|| panic!("no model {key}"));
            (make, model)
        };
        for slug in &list.makes {
            assert!(catalog.makes().iter().any(|make| make.slug == *slug), "no make {slug}");
        }
        for key in &list.named {
            let (make, model) = find(key);
            assert!(list.is_kind(make, model) || repeats_make(make, model), "{key} is a name without being listed");
            assert!(!is_nameless(make, model), "{key}");
        }
        for key in &list.certain {
            let (make, model) = find(key);
            let is_kind = |word: &str| list.words.contains(word) || list.kinds.contains(word);
            assert!(model.slug.split('-').all(is_kind), "{key} is certain without being listed");
            assert!(!is_nameless(make, model), "{key}");
        }
        let twice: Vec<_> = list.words.intersection(&list.kinds).collect();
        assert!(twice.is_empty(), "in both lists: {twice:?}");
        for key in &list.nameless {
            let (make, model) = find(key);
            assert!(!list.is_kind(make, model), "{key} is found by its words");
            assert!(is_nameless(make, model), "{key}");
        }
    }

    #[test]
    fn parts_of_the_make_s_own_name_are_no_models() {
        let catalog = Catalog::embedded().expect("the embedded release loads");
        for (make, model, expected) in [
            ("mercedes-benz", "benz", true),
            ("costin-sports-car", "sports-car", true),
            ("consulier-gtp", "gtp", true),
            ("honda", "honda", true),
            ("smart", "smart-car", true),
            ("mini", "mini", false),
            ("delorean", "delorean", false),
            ("mercedes-benz", "c-class", false),
            ("alfa-romeo", "spider", false),
            ("ford", "classic", true),
            ("moped", "honda", true),
        ] {
            let make = catalog.makes().iter().find(|other| other.slug == make).expect(make);
            let Some(model) = make.models.iter().find(|other| other.slug == model) else {
                assert!(!expected, "no model {model}");
                continue;
            };
            assert_eq!(is_nameless(make, model), expected, "{}/{}", make.slug, model.slug);
        }
    }
}

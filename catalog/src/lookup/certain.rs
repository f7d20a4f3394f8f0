//! Names as people, feeds and decoders have them, taken where they are certain: nicknames, other rows of the same car, and
//! models with words of their version or body behind them. What is not certain stays a refusal with suggestions.

use super::{Catalog, Found, Make, Matched, Model, Words};
use crate::resolve::{self, Confidence};
use crate::search::is_trim;
use crate::{bodies, names};
use cyclorama_core::BodyClass;
use serde::Deserialize;
use std::sync::LazyLock;

/// Atoms of the longest word for a body (`sport wagon`, `t modell`).
const BODY_ATOMS_MAX: usize = 3;

static BODY_TRIMS: &str = include_str!("../../data/body-trims.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    body: Vec<BodyTrim>,
}

/// Makers' words for a body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTrim {
    body: BodyClass,
    /// Slugs; empty for words that every make uses alike.
    #[serde(default)]
    makes: Vec<String>,
    words: Vec<String>,
}

fn body_trims() -> &'static [BodyTrim] {
    /// The embedded list; a test reads it, so it is never left empty by a mistake.
    static READ: LazyLock<File> = LazyLock::new(|| toml::from_str(BODY_TRIMS).unwrap_or_default());
    &READ.body
}

/// What stands behind the name of a model, as far as it is understood.
struct Behind {
    body: Option<BodyClass>,
}

impl Catalog {
    /// The vehicle of that year that a name certainly stands for, though no model of the make has it.
    pub(super) fn certain(&self, make: &Make, asked: &str, year: u16, body: Option<BodyClass>) -> Option<Found> {
        let key = names::key(asked);
        // A row of the make that it has in other years.
        let row = make.models.iter().find(|model| model.slug.replace('-', "") == key);
        let words = Words::of(asked);
        let beginning = self.beginning(make, &words, 0, year);
        let distinct = |first: &Model| beginning.models.iter().all(|(_, other)| other.slug == first.slug);
        if let Some((make, model)) = beginning.models.first().filter(|(_, first)| distinct(first)) {
            // The row is the same car under another name or a version of its family, never what else is called so: the `C5` of 1994 is
            // no Corvette.
            let is_whole = beginning.to == words.len();
            let of_row = |row: &Model| {
                let same = self.same_car_in(make, row, year).or_else(|| self.family_in(make, row, year));
                same.is_some_and(|(_, other)| other.slug == model.slug)
            };
            if is_whole && !row.is_none_or(of_row) {
                return None;
            }
            let behind = behind(make, &words, beginning.to)?;
            let matched = if is_whole && !beginning.is_version { Matched::Alias } else { Matched::Trim };
            return self.in_body(make, model, year, body, behind.body, matched);
        }
        if row.is_some() {
            return None;
        }
        let request = resolve::Request { query: asked, year: Some(year), make: Some(&make.slug), model: None };
        let resolved = resolve::resolve(self, &request).ok()?;
        let is_sure = resolved.confidence == Confidence::High && resolved.year == year && resolved.make.id == make.id;
        let has_no_picture_words = resolved.extracted.colour.is_none() && resolved.extracted.view.is_none();
        if !is_sure || !has_no_picture_words {
            return None;
        }
        let is_name = key == resolved.model.slug.replace('-', "");
        let matched = if is_name { Matched::Alias } else { Matched::Trim };
        self.in_body(resolved.make, resolved.model, year, body, None, matched)
    }

    /// With the body that was asked for beside the name, or that the name says; none if those contradict each other
    /// or there is no such body.
    fn in_body(
        &self,
        make: &Make,
        model: &Model,
        year: u16,
        asked: Option<BodyClass>,
        said: Option<BodyClass>,
        matched: Matched,
    ) -> Option<Found> {
        let found = self.found(make, model, year, matched)?;
        let found = self.with_chosen_body(make, model, found, asked.or(said)).ok()?;
        let agrees = |said: BodyClass| bodies::meant(said, std::slice::from_ref(&found.vehicle)).is_some();
        said.is_none_or(agrees).then_some(found)
    }
}

/// What the atoms from one on say, if all of them are words for a version or a body.
fn behind(make: &Make, words: &Words, from: usize) -> Option<Behind> {
    let mut behind = Behind { body: None };
    let mut at = from;
    while at < words.len() {
        let longest_first = || (at + 1..=(at + BODY_ATOMS_MAX).min(words.len())).rev();
        let body = longest_first().find_map(|to| Some((to, body_at(make, words, at, to)?)));
        let trim = longest_first().find(|to| is_trim(words, at, *to));
        at = match (body, trim) {
            (Some((to, body)), _) if behind.body.is_none_or(|other| other == body) => {
                behind.body = Some(body);
                to
            }
            (None, Some(to)) => to,
            _ => return None,
        };
    }
    Some(behind)
}

fn body_at(make: &Make, words: &Words, from: usize, to: usize) -> Option<BodyClass> {
    let joined = words.join(from, to);
    let of_make = body_trims().iter().filter(|trim| trim.makes.is_empty() || trim.makes.contains(&make.slug));
    let named = of_make.filter(|trim| trim.words.iter().any(|word| names::key(word) == joined)).map(|trim| trim.body);
    named.into_iter().next().or_else(|| resolve::body_of_phrase(joined))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_for_bodies_read() {
        let file: File = toml::from_str(BODY_TRIMS).unwrap();
        assert!(file.body.iter().all(|trim| !trim.words.is_empty()));
        let catalog = Catalog::embedded().unwrap();
        for slug in file.body.iter().flat_map(|trim| &trim.makes) {
            assert!(catalog.makes().iter().any(|make| make.slug == *slug), "no make {slug}");
        }
    }
}

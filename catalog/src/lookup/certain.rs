//! Accepts names as people, feeds and decoders write them where they are certain: nicknames, other
//! rows of the same car, and models followed by words for their version or body. An uncertain name
//! stays a refusal with suggestions.

use super::{Catalog, Found, Make, Model, NameMatch, Words};
use crate::resolve::{self, Confidence};
use crate::search::is_trim;
use crate::styles::{self, STYLE_ATOMS_MAX};
use crate::{bodies, names};
use cyclorama_core::BodyClass;

/// The words behind the name of a model, as far as they are understood.
struct Behind {
    body: Option<BodyClass>,
    doors: Option<u16>,
}

impl Behind {
    /// The body that is named, or, where the usual body does not fit the number of doors, the body
    /// that has as many.
    fn body(&self, usual: BodyClass) -> Option<BodyClass> {
        let of_doors = self.doors.filter(|doors| !styles::doors_fit(*doors, usual)).map(styles::body_of_doors);
        self.body.or(of_doors)
    }
}

impl Catalog {
    /// Returns the vehicle of that year that a name certainly stands for, though no model of the
    /// make has that name.
    pub(super) fn certain(&self, make: &Make, asked: &str, year: u16, body: Option<BodyClass>) -> Option<Found> {
        let key = names::key(asked);
        // A row of the make with this name, which exists in other years.
        let row = make.models.iter().find(|model| model.slug.replace('-', "") == key);
        let words = Words::of(asked);
        let beginning = self.beginning(make, &words, 0, year);
        let distinct = |first: &Model| beginning.models.iter().all(|(_, other)| other.slug == first.slug);
        if let Some((make, model)) = beginning.models.first().filter(|(_, first)| distinct(first)) {
            // The row must be the same car under another name or a version of its family. Another
            // car that happens to have the same name does not count: the `C5` of 1994 is not the
            // Corvette.
            let is_whole = beginning.to == words.len();
            let of_row = |row: &Model| {
                // `golf-gti` is a Golf in a year in which the register has no separate row for it.
                let is_version = beginning.is_version && row.slug.starts_with(&format!("{}-", model.slug));
                let same = self.same_car_in(make, row, year).or_else(|| self.family_in(make, row, year));
                is_version || same.is_some_and(|(_, other)| other.slug == model.slug)
            };
            if is_whole && !row.is_none_or(of_row) {
                return None;
            }
            let behind = behind(make, &words, beginning.to)?;
            let matched = if is_whole && !beginning.is_version { NameMatch::Alias } else { NameMatch::Trim };
            let said = behind.body(model.body_in(year));
            return self.in_body((make, model), year, body, said, matched);
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
        let matched = if is_name { NameMatch::Alias } else { NameMatch::Trim };
        self.in_body((resolved.make, resolved.model), year, body, resolved.extracted.body, matched)
    }

    /// Returns the vehicle with the body that was requested beside the name, or that the name says.
    /// `None` if those two contradict each other or there is no such body.
    fn in_body(
        &self,
        (make, model): (&Make, &Model),
        year: u16,
        asked: Option<BodyClass>,
        said: Option<BodyClass>,
        matched: NameMatch,
    ) -> Option<Found> {
        let row = said.and_then(|said| self.row_with_body(make, model, year, said));
        let (make, model) = row.map_or((make, model), |row| (row.make, row.model));
        let found = self.found(make, model, year, matched)?;
        let found = self.with_chosen_body(make, model, found, asked.or(said)).ok()?;
        let agrees = |said: BodyClass| bodies::meant(said, std::slice::from_ref(&found.vehicle)).is_some();
        said.is_none_or(agrees).then_some(found)
    }
}

/// Reads the atoms from `from` to the end. `None` unless each belongs to a word for a version, a
/// body or a number of doors.
fn behind(make: &Make, words: &Words, from: usize) -> Option<Behind> {
    let mut behind = Behind { body: None, doors: None };
    let mut at = from;
    while at < words.len() {
        let longest_first = || (at + 1..=(at + STYLE_ATOMS_MAX).min(words.len())).rev();
        let body = longest_first().find_map(|to| Some((to, body_at(make, words, at, to)?)));
        let trim = longest_first().find(|to| is_trim(words, at, *to));
        at = match (body, styles::doors_at(words, at), trim) {
            (Some((to, body)), ..) if behind.body.is_none_or(|other| other == body) => {
                behind.body = Some(body);
                to
            }
            (None, Some((to, doors)), _) if behind.doors.is_none_or(|other| other == doors) => {
                behind.doors = Some(doors);
                to
            }
            (None, None, Some(to)) => to,
            _ => return None,
        };
    }
    Some(behind)
}

fn body_at(make: &Make, words: &Words, from: usize, to: usize) -> Option<BodyClass> {
    let mut styles = styles::at(words, from, to).iter().filter(|style| style.is_of(&make.slug));
    // A maker's own word for a body takes precedence over the general meaning of that word.
    let own = styles.clone().find(|style| !style.makes.is_empty());
    own.or_else(|| styles.next()).map(|style| style.body)
}

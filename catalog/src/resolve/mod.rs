//! Finds the one vehicle of the catalog that a text means, and reads from the text how the image is
//! to be made. Pure: no I/O, no clock, no randomness; the same words always give the same result.
//!
//! A word can be a name and something else (Gold Wing, Peugeot 2008). [`recognise`] lists what each
//! word can be beside a name, the catalog's search weighs that against every name, and the reading
//! that fits best as a whole is taken.

mod body;
mod confidence;
mod recognise;
mod views;
mod vocabulary;

pub use confidence::Confidence;

use crate::nameless::{is_known_without_make, is_nameless, is_nameless_make, is_word_for_a_kind, is_written_out};
use crate::search::{
    ASIDES_MAX, Aside, BODY_SLOT, DOORS_SLOT, Effort, Fit, Match, MatchKind, Query, Words, YEAR_SLOT, atom_bits,
};
use crate::{Catalog, Make, Model};
use cyclorama_core::{BodyClass, Colour, Format, SizePreset, Vehicle, View};
use std::cmp::Reverse;

/// Maximum number of vehicles that are offered to choose from.
const CANDIDATES_MAX: usize = 8;
/// A vehicle that is more points behind the best than this is not offered.
const CANDIDATE_POINTS_BEHIND_MAX: i32 = 40;
/// Maximum number of makes that are offered where the text says nothing more than a make.
const MAKES_MAX: usize = 5;

/// Minimum renown of a make that is meant wherever it is written. Names of lesser known makes are
/// words as well (`Standard`, `Access`).
const KNOWN_MAKE_RENOWN: u16 = 20;

/// A text that describes a vehicle, with fields that may be given beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request<'a> {
    pub query: &'a str,
    /// Takes precedence over a year in the words.
    pub year: Option<u16>,
    /// `make` and `model` narrow the search.
    pub make: Option<&'a str>,
    pub model: Option<&'a str>,
}

/// Everything that the words say beside the vehicle; `None` where they say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extraction {
    pub year: Option<u16>,
    /// The body that the words name, or one that has the number of doors they name. Where the model
    /// has the body, it is the catalog's name for it.
    pub body: Option<BodyClass>,
    pub colour: Option<Colour>,
    pub view: Option<View>,
    pub size: Option<SizePreset>,
    pub width_px: Option<u32>,
    pub format: Option<Format>,
    /// Words that were not understood, in their order.
    pub unread: Vec<String>,
}

/// A vehicle that may be meant.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    pub make: &'a Make,
    pub model: &'a Model,
    pub kind: MatchKind,
}

/// The vehicle that is meant.
#[derive(Debug, Clone)]
pub struct ResolvedVehicle<'a> {
    pub make: &'a Make,
    pub model: &'a Model,
    /// One of the model's years: the requested one, else the nearest to it; the newest if none was
    /// requested.
    pub year: u16,
    /// The vehicle that is drawn, with the body that the text means.
    pub vehicle: Vehicle,
    /// The body that the words choose; `None` for the one that the model usually has in that year.
    pub chosen_body: Option<BodyClass>,
    pub extracted: Extraction,
    /// Vehicles that may be meant, the best first; the resolved one is the first.
    pub candidates: Vec<Candidate<'a>>,
    pub confidence: Confidence,
}

/// The result if no vehicle was found that can be drawn.
#[derive(Debug, Clone)]
pub struct UnresolvedText<'a> {
    /// Makes that were recognised.
    pub makes: Vec<&'a Make>,
    pub extracted: Extraction,
}

/// Finds the one vehicle that is meant, or returns the makes that were recognised.
pub fn resolve<'a>(catalog: &'a Catalog, request: &Request<'_>) -> Result<ResolvedVehicle<'a>, UnresolvedText<'a>> {
    let mut words = Words::of(request.query);
    let atoms = words.len();
    let make = request.make.and_then(|name| catalog.make_position(name));
    for (given, known) in [(request.make, make.is_some()), (request.model, false)] {
        // A given make or model that the words contain already is not added a second time.
        let said = given.is_some_and(|text| words.key().contains(Words::of(text).key()));
        if let Some(text) = given.filter(|_| !known && !said) {
            words.push(text);
        }
    }
    let mut asides = recognise::asides(&words, atoms);
    let find = |asides: &[Aside]| {
        let query = Query { words: &words, asides, year: request.year, make, effort: Effort::Decide };
        let mut found = catalog.search_index().matches(&query);
        // A row that names no vehicle is found only if all of its words are written.
        found.retain(|found| {
            let is_asked_for = |(of, model)| is_written_out(&words, of, model, make.is_some());
            !catalog.search_index().is_nameless(found.subject) || model_of(catalog, found).is_none_or(is_asked_for)
        });
        found.sort_by_key(|found| (Reverse((found.score, found.renown)), found.subject));
        found
    };
    let mut found = find(&asides);
    // Only a word that no name explains is tried as a mistyped colour.
    let left = found.first().map_or(u32::MAX, |best| best.reading.left);
    let is_left = |(from, to): &(usize, usize)| (*from..*to).all(|atom| left >> atom & 1 == 1) && *to <= atoms;
    // `Mini` is a make, not `mint` with a typing mistake.
    let is_make = |(from, to): &(usize, usize)| catalog.make_position(words.join(*from, *to)).is_some();
    let colours: Vec<Aside> = words
        .written()
        .into_iter()
        .filter(|word| is_left(word) && !is_make(word))
        .filter_map(|(from, to)| recognise::mistyped_colour(&words, from, to))
        .collect();
    if !colours.is_empty() && asides.len() + colours.len() <= ASIDES_MAX {
        asides.extend(colours);
        found = find(&asides);
    }
    let mut decided = decide(catalog, request, &words, &asides, &found);
    let fewer = decided.as_ref().ok().and_then(|decided| body::without_misread(catalog, &asides, decided));
    if let Some(fewer) = fewer {
        decided = decide(catalog, request, &words, &fewer, &find(&fewer));
    }
    decided.map_err(|mut unresolved| {
        // The make may have been given as a field though the words do not name it.
        let given = make.and_then(|position| catalog.makes().get(position as usize));
        if unresolved.makes.is_empty() {
            unresolved.makes.extend(given);
        }
        unresolved
    })
}

fn decide<'a>(
    catalog: &'a Catalog,
    request: &Request<'_>,
    words: &Words,
    asides: &[Aside],
    found: &[Match],
) -> Result<ResolvedVehicle<'a>, UnresolvedText<'a>> {
    let best = found.iter().find(|best| best.is_model && says_enough(request, best, words, asides));
    let mut makes: Vec<&Match> =
        found.iter().filter(|found| !found.is_model && says_enough(request, found, words, asides)).collect();
    makes.sort_by_key(|found| Reverse((found.reading.points, found.renown)));
    // A make alone is meant when it explains more of the words. Renown decides only at a tie.
    let explains = |found: &Match| (found.reading.points, found.renown);
    let mut best = best.filter(|best| makes.first().is_none_or(|make| explains(best) >= explains(make)));
    let is_known = |make: &&Match| !make.is_model && make.kind == MatchKind::Exact && make.renown >= KNOWN_MAKE_RENOWN;
    // Somebody who writes a well-known make does not mean another make's model (`classic ford`).
    let ignores = |best: &Match, make: &&Match| {
        let aside = make.asides(asides).fold(make.reading.left, |taken, aside| taken | bits(aside));
        is_known(make)
            && best.reading.make.is_none()
            && best.reading.left & !aside & atom_bits(0, words.len() as u8) != 0
    };
    if let Some(ignored) = best.and_then(|best| found.iter().find(|make| ignores(best, make))) {
        best = None;
        if makes.is_empty() {
            makes.push(ignored);
        }
    }
    let best = written_out(catalog, request, found, words, best).or(best);
    let is_real = |found: &&Match| make_of(catalog, found).is_some_and(|make| !is_nameless_make(make));
    // A make that is a kind of vehicle gives way to a well-known one (`all wheel drive bmw`).
    if !makes.is_empty() && !makes.iter().any(is_real) {
        makes.splice(0..0, found.iter().find(is_known));
    }
    if makes.iter().any(is_real) {
        makes.retain(is_real);
    }
    let Some((best, (make, model))) = best.and_then(|best| Some((best, model_of(catalog, best)?))) else {
        let extracted = makes.first().map_or_else(Extraction::default, |best| extracted(words, asides, best).0);
        let top = makes.first().map_or(0, |best| best.reading.points);
        let alike = makes.into_iter().filter(|found| found.reading.points >= top);
        let makes = alike.filter_map(|found| make_of(catalog, found)).take(MAKES_MAX).collect();
        return Err(UnresolvedText { makes, extracted });
    };
    let (mut extracted, said, doubts) = extracted(words, asides, best);
    let asked = request.year.or(extracted.year);
    let same_car = asked.and_then(|year| catalog.same_car_in(make, model, year));
    let family = asked.filter(|_| same_car.is_none()).and_then(|year| catalog.family_in(make, model, year));
    let row = same_car.or(family).unwrap_or((make, model));
    // Every model of the catalog has a year, so there is always a vehicle to choose.
    let bodied = body::choose(catalog, row, asked, said)
        .ok_or_else(|| UnresolvedText { makes: vec![make], extracted: extracted.clone() })?;
    let (make, model, year) = (bodied.make, bodied.model, bodied.vehicle.year);
    if bodied.is_said {
        extracted.body = Some(bodied.vehicle.body);
    }
    let doubts = confidence::Doubts {
        wrong_year: asked.is_some_and(|asked| asked != year) || family.is_some(),
        other_body: bodied.is_missing,
        nameless: is_nameless(make, model),
        kind_without_make: request.make.is_none()
            && best.reading.make.is_none()
            && !is_known_without_make(make, model)
            && says_only_a_kind(words, best, asides),
        ..doubts
    };
    // A twin is the same car, so it is not a rival.
    let twins: Vec<&Model> = catalog.twins(make, model).map(|(_, twin)| twin).collect();
    let is_twin = |other: &Match| {
        model_of(catalog, other).is_some_and(|(_, other)| twins.iter().any(|twin| std::ptr::eq(*twin, other)))
    };
    let confidence = confidence::judge(best, found.iter().filter(|other| !is_twin(other)), asides, words, &doubts);
    let near = |other: &&Match| {
        other.is_model && other.subject != best.subject && other.score >= best.score - CANDIDATE_POINTS_BEHIND_MAX
    };
    let others = std::iter::once(best).chain(found.iter().filter(near)).filter_map(|other| {
        let (make, model) = model_of(catalog, other)?;
        Some(Candidate { make, model, kind: other.kind })
    });
    let mut candidates = vec![Candidate { make, model, kind: best.kind }];
    candidates.extend(others.filter(|other| !std::ptr::eq(other.model, model)).take(CANDIDATES_MAX - 1));
    let chosen_body = bodied.chosen();
    Ok(ResolvedVehicle { make, model, year, vehicle: bodied.vehicle, chosen_body, extracted, candidates, confidence })
}

/// Finds a make and one of its models that are both written out as whole words. They are meant,
/// whatever the rest of the text is: words that are not understood (`BMW X5 xDrive40i`), or words
/// that are near the name of another vehicle (`BMW X5 30d`, `530d`). Returns `None`, so that `best`
/// stays, where `best` is written out itself or is a longer name with the same beginning.
fn written_out<'a>(
    catalog: &Catalog,
    request: &Request<'_>,
    found: &'a [Match],
    words: &Words,
    best: Option<&Match>,
) -> Option<&'a Match> {
    let key = |found: &Match| model_of(catalog, found).map(|(_, model)| model.slug.replace('-', ""));
    let written = words.written();
    let place = |key: &str| {
        let begins = |at: usize| written[at..].iter().any(|(_, to)| words.join(written[at].0, *to) == key);
        (0..written.len()).find(|at| key.len() > 1 && begins(*at))
    };
    let is_named = |found: &&Match| {
        found.is_model
            && !found.by_nickname
            && found.kind == MatchKind::Exact
            && (found.reading.make == Some(Fit::Exact) || request.make.is_some())
            && key(found).is_some_and(|key| place(&key).is_some())
    };
    // In `GLC 300` the model stands first.
    let order = |found: &&Match| (key(found).and_then(|key| place(&key)), Reverse((found.reading.had, found.score)));
    let named = found.iter().filter(is_named).min_by_key(|found| order(found))?;
    let name = key(named)?;
    let goes_on = |best: &Match| key(best).is_some_and(|other| other.starts_with(&name));
    let inexact = |best: &Match| {
        let reading = &best.reading;
        reading.edits > 0 || reading.inside || reading.begun || reading.missing > 0
    };
    // Registers also have a row `400` beside the model in `EQC 400`.
    let is_number = |best: &Match| key(best).is_some_and(|key| key.bytes().all(|byte| byte.is_ascii_digit()));
    let make = |found: &Match| catalog.search_index().subject(found.subject).0;
    let follows =
        |best: &Match| is_named(&best) && is_number(best) && make(best) == make(named) && order(&named) < order(&best);
    best.is_none_or(|best| (inexact(best) || follows(best)) && !goes_on(best)).then_some(named)
}

/// True if more of the query is understood than not, and either some word of it is a name and
/// nothing else, or the make is named. `the car` is not the model `Car` that somebody once
/// registered.
fn says_enough(request: &Request<'_>, found: &Match, words: &Words, asides: &[Aside]) -> bool {
    let reading = &found.reading;
    let letters = |atom: usize| words.start(atom + 1) - words.start(atom);
    let left: usize = (0..words.len()).filter(|atom| reading.left >> atom & 1 == 1).map(letters).sum();
    let taken = found.asides(asides).fold(reading.left, |taken, aside| taken | bits(aside));
    let can_be_aside = asides.iter().fold(0, |all, aside| all | bits(aside));
    let names_something = (0..words.len()).any(|atom| (taken | can_be_aside) >> atom & 1 == 0);
    let whole_phrase = found.kind == MatchKind::Exact && reading.covered.count_ones() > 1;
    let whole_make = !found.is_model && found.kind == MatchKind::Exact;
    let make_given = request.make.is_some() && found.kind < MatchKind::Contains;
    let make_named = reading.make.is_some() || make_given || whole_make;
    let left_max = if make_named { 2 * words.key().len() / 3 } else { reading.had as usize };
    reading.points > 0 && left <= left_max && (names_something || whole_phrase || make_named)
}

/// True if every word that is read as a part of the name is, as it is written, a word for a kind of
/// thing: `none` is one, `n-one` is not.
fn says_only_a_kind(words: &Words, found: &Match, asides: &[Aside]) -> bool {
    let taken = found.asides(asides).fold(0, |taken, aside| taken | bits(aside));
    let is_name = |(from, to): &(usize, usize)| (*from..*to).any(|atom| taken >> atom & 1 == 0);
    words.written().into_iter().filter(is_name).all(|(from, to)| is_word_for_a_kind(words.join(from, to)))
}

fn bits(aside: &Aside) -> u32 {
    atom_bits(aside.from, aside.to)
}

fn make_of<'a>(catalog: &'a Catalog, found: &Match) -> Option<&'a Make> {
    Some(catalog.subject(found)?.0)
}

fn model_of<'a>(catalog: &'a Catalog, found: &Match) -> Option<(&'a Make, &'a Model)> {
    let (make, model) = catalog.subject(found)?;
    Some((make, model?))
}

/// Collects everything that a reading takes for something other than a name, and the doubts about
/// it.
fn extracted(words: &Words, asides: &[Aside], found: &Match) -> (Extraction, body::Said, confidence::Doubts) {
    let value = |slot: u8| found.aside(asides, slot);
    let sides: Vec<u16> =
        found.asides(asides).filter(|aside| aside.slot == recognise::VIEW).map(|aside| aside.value).collect();
    let (view, clear) = views::view(&sides);
    let (size, width_px) = value(recognise::SIZE_SLOT).map_or((None, None), recognise::size);
    let left = |(from, to): &(usize, usize)| (*from..*to).any(|atom| found.reading.left >> atom & 1 == 1);
    let unread = words.written().into_iter().filter(left).map(|(from, to)| words.join(from, to).to_owned()).collect();
    let body = value(BODY_SLOT).and_then(|number| BodyClass::ALL.get(usize::from(number)).copied());
    let said = body::Said { body, doors: value(DOORS_SLOT) };
    let extracted = Extraction {
        year: value(YEAR_SLOT),
        body,
        colour: value(recognise::COLOUR_SLOT).and_then(|number| Colour::ALL.get(usize::from(number)).copied()),
        view,
        size,
        width_px,
        format: value(recognise::FORMAT_SLOT).and_then(|number| Format::ALL.get(usize::from(number)).copied()),
        unread,
    };
    (extracted, said, confidence::Doubts { unclear_view: !clear, ..Default::default() })
}

#[cfg(test)]
mod tests;

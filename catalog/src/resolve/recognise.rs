//! Lists which words of a request can be a year, a colour, a part of a view, a size, a format, or
//! filler words around them. Whether they are is decided together with the names, by points: a
//! letter of a name has ten.

use super::vocabulary::{Meaning, Vocabulary};
use crate::search::{ASIDES_MAX, Aside, TRIM, Words, YEAR_SLOT, bodies_at, is_trim, short_year, trim_points};
use cyclorama_core::{Colour, Format, MASTER_SIDE_PX, SizePreset};

/// Slots of the readings. A request has one value for each slot; the view is put together from its
/// parts afterwards.
pub const COLOUR_SLOT: u8 = 1;
pub const SIZE_SLOT: u8 = 2;
pub const FORMAT_SLOT: u8 = 3;
/// Readings outside of the slots, of which any number may stand side by side.
pub const VIEW: u8 = 16;
pub const FILLER: u8 = 17;

/// Years that people write; the catalog has fewer.
const YEARS: std::ops::RangeInclusive<u16> = 1900..=2035;

/// Points of two digits that nothing marks as a year. Any name has more.
const GUESSED_YEAR: i32 = 6;

/// Atoms of the longest phrase.
const PHRASE_ATOMS_MAX: usize = 5;

/// Sizes share one slot: values below this are a width in pixels, and those from it on are presets.
const PRESETS_FROM: u16 = 10_000;

/// Returns every reading of the first `atoms` atoms as something other than a name.
pub fn asides(words: &Words, atoms: usize) -> Vec<Aside> {
    let mut asides: Vec<Aside> = Vec::new();
    for from in 0..atoms {
        asides.extend(bodies_at(words, from).into_iter().filter(|aside| usize::from(aside.to) <= atoms));
        let mut add = |to: usize, slot: u8, value: u16, points: i32| {
            if to <= atoms && asides.len() < ASIDES_MAX {
                // A year of two digits without an apostrophe, and a word for a trim, leave a doubt.
                let guessed = slot == TRIM || slot == YEAR_SLOT && points <= GUESSED_YEAR;
                asides.push(Aside { from: from as u8, to: to as u8, slot, value, points, guessed, makes: &[] });
            }
        };
        years(words, from, &mut add);
        widths(words, from, &mut add);
        distances(words, from, &mut add);
        for to in from + 1..=(from + PHRASE_ATOMS_MAX).min(atoms) {
            let joined = words.join(from, to);
            let letters = joined.len() as i32;
            let several = (from + 1..to).any(|atom| !words.is_glued(atom));
            for meaning in Vocabulary::embedded().meanings(joined) {
                match meaning {
                    Meaning::Colour(colour) => add(to, COLOUR_SLOT, number(Colour::ALL, colour), 9 * letters + 1),
                    Meaning::View(part) => add(to, VIEW, *part as u16, 9 * letters),
                    Meaning::Size(size) => {
                        add(to, SIZE_SLOT, PRESETS_FROM + number(SizePreset::ALL, size), 8 * letters)
                    }
                    Meaning::Format(format) => add(to, FORMAT_SLOT, number(Format::ALL, format), 9 * letters),
                    // A phrase is meant as a whole: `white background` is not a white car.
                    Meaning::Filler if several => add(to, FILLER, 0, 8 * letters),
                    Meaning::Filler => add(to, FILLER, 0, letters),
                }
            }
            if is_trim(words, from, to) {
                add(to, TRIM, 0, trim_points(words, from, to));
            }
        }
    }
    asides.truncate(ASIDES_MAX);
    asides
}

/// Returns the reading of words as a colour with one typing mistake. For words that nothing else
/// explains.
pub fn mistyped_colour(words: &Words, from: usize, to: usize) -> Option<Aside> {
    let text = words.join(from, to);
    let colour = Vocabulary::embedded().mistyped_colour(text)?;
    let value = number(Colour::ALL, &colour);
    Some(Aside {
        from: from as u8,
        to: to as u8,
        slot: COLOUR_SLOT,
        value,
        points: 9 * text.len() as i32 - 13,
        guessed: true,
        makes: &[],
    })
}

fn number<T: PartialEq>(all: &[T], value: &T) -> u16 {
    all.iter().position(|other| other == value).unwrap_or(0) as u16
}

/// Returns the size preset or the width in pixels that a value of the size slot stands for.
pub fn size(value: u16) -> (Option<SizePreset>, Option<u32>) {
    match value.checked_sub(PRESETS_FROM) {
        Some(preset) => (SizePreset::ALL.get(usize::from(preset)).copied(), None),
        None => (None, Some(u32::from(value))),
    }
}

fn years(words: &Words, from: usize, add: &mut impl FnMut(usize, u8, u16, i32)) {
    let atom = |at: usize| if at < words.len() { words.join(at, at + 1) } else { "" };
    let digits = |at: usize, count: usize| {
        let text = atom(at);
        (text.len() == count).then(|| text.parse::<u16>().ok()).flatten()
    };
    let short = |at: usize| digits(at, 2).and_then(short_year);
    if let Some(year) = digits(from, 4).filter(|year| YEARS.contains(year)) {
        add(from + 1, YEAR_SLOT, year, 34);
        // Germans write `2015er`.
        if atom(from + 1) == "er" && words.is_glued(from + 1) {
            add(from + 2, YEAR_SLOT, year, 56);
        }
    }
    // `03/2017` and `2019/03` are the month of a first registration.
    let month = |at: usize| digits(at, 2).is_some_and(|month| (1..=12).contains(&month)) && !words.is_glued(at);
    let year = |at: usize| digits(at, 4).filter(|year| YEARS.contains(year)).filter(|_| !words.is_glued(at));
    if let Some(year) = year(from + 1).filter(|_| month(from)) {
        add(from + 2, YEAR_SLOT, year, 44);
    }
    if let Some(year) = year(from).filter(|_| month(from + 1) && !words.is_glued(from + 2)) {
        add(from + 2, YEAR_SLOT, year, 44);
    }
    // `15.03.2017` is a date.
    let day = digits(from, 2).is_some_and(|day| (1..=31).contains(&day)) && !words.is_glued(from);
    if let Some(year) = year(from + 2).filter(|_| day && month(from + 1)) {
        add(from + 3, YEAR_SLOT, year, 54);
    }
    if let Some(year) = short(from) {
        // Two digits by themselves count as a year only where they can mean nothing else.
        add(from + 1, YEAR_SLOT, year, if words.has_apostrophe(from) { 26 } else { GUESSED_YEAR });
    }
    // `2k19`
    if atom(from) == "2"
        && atom(from + 1) == "k"
        && words.is_glued(from + 1)
        && words.is_glued(from + 2)
        && let Some(year) = short(from + 2).filter(|year| *year >= 2000)
    {
        add(from + 3, YEAR_SLOT, year, 36);
    }
    // `MY19`, `my2019`
    let model_year = || short(from + 1).or_else(|| digits(from + 1, 4).filter(|year| YEARS.contains(year)));
    if atom(from) == "my"
        && words.is_glued(from + 1)
        && let Some(year) = model_year()
    {
        add(from + 2, YEAR_SLOT, year, 40);
    }
}

/// Reads a mileage as filler words: `180.000 km`, `48k miles`. It says nothing about the image.
fn distances(words: &Words, from: usize, add: &mut impl FnMut(usize, u8, u16, i32)) {
    let atom = |at: usize| if at < words.len() { words.join(at, at + 1) } else { "" };
    let is_number = |at: usize| at < words.len() && words.is_number(at);
    if !is_number(from) || words.is_glued(from) {
        return;
    }
    // In `180.000` the groups are thousands. In `2010, 180.000 km` the year is not a part of the
    // number.
    let is_group = |at: &usize| is_number(*at) && atom(*at).len() == 3 && !words.is_glued(*at);
    let groups = if atom(from).len() <= 3 { 2 } else { 0 };
    let thousands = (from + 1..=from + groups).take_while(is_group).count();
    let mut end = from + 1 + thousands;
    if atom(end) == "k" {
        end += 1;
    }
    if ["km", "kms", "miles", "mls", "kilometer", "kilometers", "kilometre", "kilometres"].contains(&atom(end)) {
        add(end + 1, FILLER, 0, 9 * (words.start(end + 1) - words.start(from)) as i32);
    }
}

fn widths(words: &Words, from: usize, add: &mut impl FnMut(usize, u8, u16, i32)) {
    let atom = |at: usize| if at < words.len() { words.join(at, at + 1) } else { "" };
    let pixels = |at: usize| {
        let number: u32 = atom(at).parse().ok().filter(|number| (1..=16_384).contains(number))?;
        // No larger image is ever delivered.
        Some(number.min(MASTER_SIDE_PX) as u16)
    };
    let letters = |to: usize| 9 * (words.start(to) - words.start(from)) as i32;
    if ["width", "w", "wide", "size", "breite", "largeur", "ancho", "larghezza"].contains(&atom(from))
        && let Some(width) = pixels(from + 1).filter(|width| *width >= 16)
    {
        add(from + 2, SIZE_SLOT, width, letters(from + 2) - 8);
    }
    let bare = SizePreset::ALL.iter().any(|size| atom(from) == size.side_px().to_string());
    let Some(width) = pixels(from) else { return };
    // A size such as `640x480` means its smaller side, because images are square.
    let (width, end) = match (atom(from + 1), pixels(from + 2)) {
        ("x", Some(height)) if width >= 16 && height >= 16 => {
            let side = width.min(height);
            add(from + 3, SIZE_SLOT, side, letters(from + 3));
            (side, from + 3)
        }
        _ => (width, from + 1),
    };
    if ["px", "pixel", "pixels", "pixeles", "wide", "width", "breit"].contains(&atom(end)) {
        add(end + 1, SIZE_SLOT, width, letters(end + 1));
    } else if end == from + 1 && bare {
        add(end, SIZE_SLOT, width, 5 * (words.start(end) - words.start(from)) as i32);
    }
}

//! Rates how well the schemas of a year fit a VIN, to choose between the two years that a letter
//! means. The order and the weights are those of vPIC's own procedure (`spVinDecode` and its table
//! of errors, published with the tables).

use crate::number::Number;
use crate::tables::{self, Elements, WeighedElements, element};
use crate::vpic::Reading;

/// vPIC's weight of the error that nothing fits.
const NOTHING_FITS: i32 = -1000;
/// vPIC's weight of the error that several characters do not fit.
const SEVERAL_DO_NOT: i32 = -300;
/// vPIC's weight of one character that does not fit, if several may have been meant.
const ONE_DOES_NOT: i32 = -200;
/// vPIC's weight of one character that does not fit, if it is clear which was meant.
const ONE_IS_PLAIN: i32 = -100;
/// vPIC's weight of characters that give no element.
const SOME_TELL_NOTHING: i32 = -30;
/// Places, from 0, of the columns of `Schema::allowed`.
const ALLOWED_PLACES: [usize; 9] = [3, 4, 5, 6, 7, 10, 11, 12, 13];
/// Places, from 0, each of which must give some element.
const TELLING_PLACES: [usize; 6] = [3, 4, 5, 6, 7, 10];
/// The first place that keys describe.
const FIRST_PLACE: usize = 3;

/// In vPIC's order: errors (0 is best), weight of the elements that were found, and how many of
/// them patterns give.
pub type Score = (i32, u32, u32);

/// The elements that the fitting patterns of all schemas give together.
#[derive(Default)]
pub struct Found {
    elements: Elements,
    /// Number of elements beyond the first, for elements that a vehicle may have several of.
    more: u32,
    /// Places by which patterns gave the elements, one bit for each place.
    places: u32,
    allowed: [u64; 9],
}

impl Found {
    /// Adds the characters that a schema allows at `ALLOWED_PLACES`, whether or not the schema
    /// fits.
    pub fn allow(&mut self, allowed: &[u64; 9]) {
        for (all, some) in self.allowed.iter_mut().zip(allowed) {
            *all |= some;
        }
    }

    /// Adds the elements of patterns that fit, and the sets of their key.
    pub fn add(&mut self, elements: Elements, sets: &[u64]) {
        self.more += elements.shared(self.elements).shared(Elements::of(element::SEVERAL)).count();
        self.elements = self.elements.with(elements);
        let told = sets.iter().enumerate().filter(|(_, set)| **set != u64::MAX);
        self.places |= told.fold(0, |places, (at, _)| places | 1 << (at + FIRST_PLACE));
    }

    /// Computes the score of everything that was found for a VIN.
    pub fn score(&self, number: &Number, vehicle_type: u8, reading: &Reading<'_>, weighed: &WeighedElements) -> Score {
        let make = Elements::of(reading.make.is_some().then_some(element::MAKE));
        let filled_in = weighed.filled_in.get(usize::from(vehicle_type)).copied().unwrap_or_default();
        let computed = weighed.computed.iter().filter(|(from, _)| self.elements.has(*from)).map(|&(_, to)| to);
        let all = self.elements.with(make).with(filled_in).with(Elements::of(computed));
        let weights = all.numbers().filter_map(|number| weighed.weights.get(usize::from(number)));
        (self.errors(number), weights.map(|&weight| u32::from(weight)).sum(), self.elements.count() + self.more)
    }

    fn errors(&self, number: &Number) -> i32 {
        if self.elements == Elements::default() {
            return NOTHING_FITS;
        }
        let last = if number.small_maker().is_some() { 11 } else { 14 };
        let wrong: Vec<(usize, u64)> = ALLOWED_PLACES
            .into_iter()
            .zip(self.allowed)
            .filter(|&(place, set)| {
                place < last.min(number.length()) && set != 0 && tables::bit(number.at(place)) & set == 0
            })
            .collect();
        let of_wrong = match *wrong.as_slice() {
            [] => 0,
            [(place, set)] if is_plain(number, place, set) => ONE_IS_PLAIN,
            [_] => ONE_DOES_NOT,
            _ => SEVERAL_DO_NOT,
        };
        let is_silent = |place: usize| place < number.length() && self.places & 1 << place == 0;
        let has_no_model = wrong.is_empty() && !self.elements.has(element::MODEL);
        let is_silent = TELLING_PLACES.into_iter().any(is_silent) || has_no_model;
        of_wrong + if is_silent { SOME_TELL_NOTHING } else { 0 }
    }
}

/// True if only one character may stand at a place, or only one with which the check digit is
/// correct.
fn is_plain(number: &Number, place: usize, set: u64) -> bool {
    let may_stand = (b'0'..=b'9').chain(b'A'..=b'Z').filter(|&character| tables::bit(character) & set != 0);
    set.count_ones() == 1 || may_stand.filter(|&character| number.is_right_with(place, character)).count() == 1
}

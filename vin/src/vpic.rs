//! Looks a number up in vPIC's tables, as vPIC's own procedure does for the parts that we tell (`spVinDecode`, published with the tables).

use crate::number::{Number, UNKNOWN};
use crate::tables::{self, Maker, NONE, Tables, element};
use crate::{VinError, body};
use std::ops::Range;

/// Of what the tables unpack to; the file of 2026 is 5.5 million bytes.
const UNPACKED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// vPIC's weights of errors, for choosing between two years: nothing fits; several characters do not; one does not; some tell nothing.
const NOTHING_FITS: i32 = -1000;
const SEVERAL_DO_NOT: i32 = -300;
const ONE_DOES_NOT: i32 = -200;
const SOME_TELL_NOTHING: i32 = -30;
/// Places from 0 of the columns of `Schema::allowed`.
const ALLOWED_PLACES: [usize; 9] = [3, 4, 5, 6, 7, 10, 11, 12, 13];

pub struct Vpic {
    tables: Tables,
    /// Sets of all keys, one after the other, and where each key's begin.
    sets: Vec<u64>,
    set_begins: Vec<u32>,
    /// Where the patterns of each schema begin.
    pattern_begins: Vec<u32>,
}

/// What the tables say of a number in one year.
#[derive(Default)]
pub struct Reading<'a> {
    pub year: Option<u16>,
    pub make: Option<&'a str>,
    pub model: Option<&'a str>,
    pub body: Option<&'static str>,
    pub series: Option<&'a str>,
    pub trim: Option<&'a str>,
    pub plant_country: Option<&'a str>,
    /// For the choice between two years, in vPIC's order: errors, weight of what was told, how many patterns fit.
    pub score: (i32, u32, usize),
}

/// A pattern that fits, with what vPIC orders by when several tell the same thing.
#[derive(Clone, Copy)]
struct Fit {
    pattern: usize,
    from: u16,
}

impl Vpic {
    pub fn unpack(file: &str, packed: &[u8]) -> Result<Self, VinError> {
        let broken = |reason: String| VinError::Data { file: file.to_owned(), reason };
        let bytes = zstd::bulk::decompress(packed, UNPACKED_BYTES_MAX).map_err(|error| broken(error.to_string()))?;
        let tables: Tables = postcard::from_bytes(&bytes).map_err(|error| broken(error.to_string()))?;
        check(&tables).map_err(|part| broken(format!("{part} name places that are not there")))?;
        let (mut sets, mut set_begins) = (Vec::new(), vec![0]);
        for key in &tables.keys {
            // A key that is not well formed fits nothing: no number has this set's character.
            sets.extend(tables::sets_of_key(key).unwrap_or_else(|| vec![0]));
            set_begins.push(place(sets.len()));
        }
        sets.shrink_to_fit();
        let mut pattern_begins = vec![0];
        let mut end = 0;
        for schema in &tables.schemas {
            end += schema.patterns;
            pattern_begins.push(end);
        }
        Ok(Self { tables, sets, set_begins, pattern_begins })
    }

    pub fn month(&self) -> &str {
        &self.tables.month
    }

    /// How much memory all of it takes, in bytes, without the allocator's own.
    pub fn size(&self) -> usize {
        let texts = |texts: &[String]| texts.iter().map(|text| size_of::<String>() + text.len()).sum::<usize>();
        let makers = self.tables.makers.iter().map(|maker| {
            size_of::<Maker>()
                + maker.code.len()
                + maker.makes.len() * 4
                + maker.schemas.len() * size_of::<tables::Use>()
        });
        let numbers = self.tables.model_names.len() * 8 + self.tables.pattern_keys.len() * 13;
        let places = (self.set_begins.len() + self.pattern_begins.len()) * 4;
        texts(&self.tables.names)
            + texts(&self.tables.keys)
            + makers.sum::<usize>()
            + self.tables.schemas.len() * size_of::<tables::Schema>()
            + self.sets.len() * 8
            + numbers
            + places
    }

    /// Whose a number is, by the three or six characters that name the maker.
    pub fn maker(&self, number: &Number) -> Option<&Maker> {
        let find = |code: &str| {
            let at = self.tables.makers.binary_search_by(|maker| maker.code.as_str().cmp(code)).ok()?;
            self.tables.makers.get(at)
        };
        match number.small_maker() {
            Some(code) => find(&code),
            None => find(&number.maker()),
        }
    }

    /// Names of the makes of a maker.
    pub fn makes<'a>(&'a self, maker: &'a Maker) -> impl Iterator<Item = &'a str> {
        maker.makes.iter().filter_map(|&make| self.name(make))
    }

    pub fn covers(&self, maker: &Maker, year: u16) -> bool {
        maker.schemas.iter().any(|used| used.from <= year && year <= used.to)
    }

    /// What the schemas that a maker used in a year say; all of them where the year is not known.
    pub fn read<'a>(&'a self, number: &Number, maker: &'a Maker, year: Option<u16>) -> Reading<'a> {
        let text = described(number);
        let mut fits = Vec::new();
        let mut allowed = [0_u64; 9];
        for used in maker.schemas.iter().filter(|used| year.is_none_or(|year| used.from <= year && year <= used.to)) {
            let Some(schema) = self.tables.schemas.get(used.schema as usize) else { continue };
            for (all, some) in allowed.iter_mut().zip(schema.allowed) {
                *all |= some;
            }
            let patterns = self.patterns(used.schema as usize).filter(|&pattern| self.fits(pattern, &text));
            fits.extend(patterns.map(|pattern| Fit { pattern, from: used.from }));
        }
        let best = element::TOLD.map(|told| self.best(&fits, told));
        self.reading(number, maker, year, &fits, best, &allowed)
    }

    fn reading<'a>(
        &'a self,
        number: &Number,
        maker: &'a Maker,
        year: Option<u16>,
        fits: &[Fit],
        best: [Option<usize>; 5],
        allowed: &[u64; 9],
    ) -> Reading<'a> {
        let [body, model, series, trim, plant] =
            best.map(|pattern| pattern.map(|pattern| self.tables.pattern_values[pattern]));
        let of_model =
            |column: &[u32]| model.and_then(|model| column.get(model as usize)).and_then(|&name| self.name(name));
        let only = match maker.makes.as_slice() {
            [make] => self.name(*make),
            _ => None,
        };
        let make = if model.is_some() { of_model(&self.tables.model_makes) } else { only };
        let weights = [
            (body.is_some(), 99),
            (model.is_some(), 99),
            (series.is_some(), 61),
            (trim.is_some(), 61),
            (plant.is_some(), 99),
        ];
        let weight =
            weights.into_iter().chain([(make.is_some(), 99)]).filter(|(told, _)| *told).map(|(_, weight)| weight).sum();
        Reading {
            year,
            make,
            model: of_model(&self.tables.model_names),
            body: body.and_then(body::of_body).or_else(|| body::of_vehicle_type(maker.vehicle_type)),
            series: series.and_then(|name| self.name(name)),
            trim: trim.and_then(|name| self.name(name)),
            plant_country: plant.and_then(|name| self.name(name)),
            score: (self.errors(number, fits, &best, allowed), weight, fits.len()),
        }
    }

    /// vPIC's judgement of a reading: 0 is best.
    fn errors(&self, number: &Number, fits: &[Fit], best: &[Option<usize>; 5], allowed: &[u64; 9]) -> i32 {
        if fits.is_empty() {
            return NOTHING_FITS;
        }
        let last = if number.small_maker().is_some() { 11 } else { 14 };
        let wrong = ALLOWED_PLACES.iter().zip(allowed).filter(|(place, set)| {
            **place < last.min(number.length()) && **set != 0 && tables::bit(number.at(**place)) & **set == 0
        });
        let of_wrong = match wrong.count() {
            0 => 0,
            1 => ONE_DOES_NOT,
            _ => SEVERAL_DO_NOT,
        };
        let mut told = [false; 14];
        for set in best.iter().flatten().flat_map(|&pattern| self.sets_of(pattern).iter().enumerate()) {
            let (place, set) = set;
            let position = place + 3;
            if *set != u64::MAX && position < told.len() {
                told[position] = true;
            }
        }
        let silent = [3, 4, 5, 6, 7, 10].into_iter().any(|place| place < number.length() && !told[place]);
        of_wrong + if silent { SOME_TELL_NOTHING } else { 0 }
    }

    /// Of the patterns that tell one thing, the one that vPIC takes: of the schema that began last, then the newest, then by the key.
    fn best(&self, fits: &[Fit], told: u8) -> Option<usize> {
        let of_it = fits.iter().filter(|fit| self.tables.pattern_elements[fit.pattern] == told);
        let best = of_it.min_by_key(|fit| {
            let key = self.tables.keys.get(self.tables.pattern_keys[fit.pattern] as usize).map_or("", String::as_str);
            let fixed = key.bytes().filter(|&byte| byte != UNKNOWN).count();
            let without_brackets: String = key.chars().filter(|character| !matches!(character, '[' | ']')).collect();
            let changed = self.tables.pattern_changed[fit.pattern];
            (u16::MAX - fit.from, u32::MAX - changed, fixed, without_brackets, fit.pattern)
        })?;
        (self.tables.pattern_values[best.pattern] != NONE).then_some(best.pattern)
    }

    fn patterns(&self, schema: usize) -> Range<usize> {
        self.pattern_begins[schema] as usize..self.pattern_begins[schema + 1] as usize
    }

    fn sets_of(&self, pattern: usize) -> &[u64] {
        let key = self.tables.pattern_keys[pattern] as usize;
        &self.sets[self.set_begins[key] as usize..self.set_begins[key + 1] as usize]
    }

    fn fits(&self, pattern: usize, text: &[u64]) -> bool {
        let sets = self.sets_of(pattern);
        sets.len() <= text.len() && sets.iter().zip(text).all(|(set, bit)| set & bit != 0)
    }

    fn name(&self, place: u32) -> Option<&str> {
        self.tables.names.get(place as usize).map(String::as_str)
    }
}

/// What keys describe of a number, as sets of one: characters 4 to 8, a bar, and 10 to 17, as far as it goes.
fn described(number: &Number) -> Vec<u64> {
    let bits = |places: Range<usize>| places.map(|place| tables::bit(number.at(place)));
    let length = number.length();
    let mut text: Vec<u64> = bits(3..length.min(8)).collect();
    if length > 9 {
        text.push(tables::bit(b'|'));
        text.extend(bits(9..length));
    }
    text
}

/// Every place that one column holds in another is there; otherwise the column's name.
fn check(tables: &Tables) -> Result<(), &'static str> {
    let below = |column: &[u32], end: usize| column.iter().all(|&place| (place as usize) < end || place == NONE);
    let patterns = tables.pattern_keys.len();
    let sum: u64 = tables.schemas.iter().map(|schema| u64::from(schema.patterns)).sum();
    let columns = [tables.pattern_elements.len(), tables.pattern_values.len(), tables.pattern_changed.len()];
    let is_sorted = tables.makers.is_sorted_by(|a, b| a.code < b.code);
    match () {
        () if sum != patterns as u64 || columns.iter().any(|&length| length != patterns) => Err("schemas"),
        () if tables.pattern_keys.iter().any(|&key| key as usize >= tables.keys.len()) => Err("patterns"),
        () if !below(&tables.model_names, tables.names.len()) || !below(&tables.model_makes, tables.names.len()) => {
            Err("models")
        }
        () if !is_sorted => Err("makers"),
        () if tables
            .makers
            .iter()
            .flat_map(|maker| &maker.schemas)
            .any(|used| used.schema as usize >= tables.schemas.len()) =>
        {
            Err("uses")
        }
        () => Ok(()),
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

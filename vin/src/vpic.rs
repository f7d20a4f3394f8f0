//! Looks a VIN up in vPIC's tables, as vPIC's own procedure does for the parts that we return
//! (`spVinDecode`, published with the tables).

use crate::number::{Number, UNKNOWN};
use crate::score::{Found, Score};
use crate::tables::{self, Elements, Maker, NONE, Tables, Use, element};
use crate::{VinError, body};
use std::ops::Range;

/// Maximum size of the unpacked tables, in bytes; the file of October 2026 has 6.3 million.
const UNPACKED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The tables of vPIC, with positions that make them quick to search.
pub struct Vpic {
    tables: Tables,
    /// The sets of all keys, one key after the other, and the position where those of each key
    /// begin.
    sets: Vec<u64>,
    set_begins: Vec<u32>,
    /// The positions where the patterns and the groups of each schema begin.
    pattern_begins: Vec<u32>,
    group_begins: Vec<u32>,
}

/// The parts that the tables give for a VIN in one year.
#[derive(Default)]
pub struct Reading<'a> {
    pub year: Option<u16>,
    pub make: Option<&'a str>,
    pub model: Option<&'a str>,
    pub body: Option<&'static str>,
    pub series: Option<&'a str>,
    pub trim: Option<&'a str>,
    pub plant_country: Option<&'a str>,
}

/// A pattern that fits, with the values by which vPIC orders several patterns for one element.
#[derive(Clone, Copy)]
struct Fit {
    pattern: usize,
    from: u16,
}

impl Vpic {
    /// Unpacks and checks the tables of a file. `file` is its name, for the error.
    pub fn unpack(file: &str, packed: &[u8]) -> Result<Self, VinError> {
        let broken = |reason: String| VinError::Data { file: file.to_owned(), reason };
        let bytes = zstd::bulk::decompress(packed, UNPACKED_BYTES_MAX).map_err(|error| broken(error.to_string()))?;
        let tables: Tables = postcard::from_bytes(&bytes).map_err(|error| broken(error.to_string()))?;
        check(&tables).map_err(|part| broken(format!("{part} name places that are not there")))?;
        let (mut sets, mut set_begins) = (Vec::new(), vec![0]);
        for key in tables.keys.iter() {
            // A key that is not well formed fits nothing, because no character of a VIN is in this
            // set.
            sets.extend(tables::sets_of_key(key).unwrap_or_else(|| vec![0]));
            set_begins.push(place(sets.len()));
        }
        sets.shrink_to_fit();
        let pattern_begins = begins(tables.schemas.iter().map(|schema| schema.patterns));
        let group_begins = begins(tables.schemas.iter().map(|schema| schema.groups));
        Ok(Self { tables, sets, set_begins, pattern_begins, group_begins })
    }

    pub fn month(&self) -> &str {
        &self.tables.month
    }

    /// Memory that the tables occupy, in bytes, without the allocator's own.
    pub fn size(&self) -> usize {
        let makers = self.tables.makers.iter().map(|maker| {
            size_of::<Maker>() + maker.code.len() + maker.makes.len() * 4 + maker.schemas.len() * size_of::<Use>()
        });
        let numbers = self.tables.model_names.len() * 8 + self.tables.pattern_keys.len() * 13;
        let places = (self.set_begins.len() + self.pattern_begins.len() + self.group_begins.len()) * 4;
        let weighed = self.tables.weighed.group_keys.len() * 6 + self.tables.weighed.sets.len() * size_of::<Elements>();
        self.tables.names.size()
            + self.tables.keys.size()
            + makers.sum::<usize>()
            + self.tables.schemas.len() * size_of::<tables::Schema>()
            + self.sets.len() * 8
            + numbers
            + places
            + weighed
    }

    /// Returns the maker of a VIN, by the three or six characters that identify it.
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

    /// The names of a maker's makes.
    pub fn makes<'a>(&'a self, maker: &'a Maker) -> impl Iterator<Item = &'a str> {
        maker.makes.iter().filter_map(|&make| self.name(make))
    }

    /// True if the maker has a scheme for the year.
    pub fn covers(&self, maker: &Maker, year: u16) -> bool {
        maker.schemas.iter().any(|used| used.from <= year && year <= used.to)
    }

    /// Reads the VIN by the schemas that a maker used in a year, or by all of them where the year
    /// is not known.
    pub fn read<'a>(&'a self, number: &Number, maker: &'a Maker, year: Option<u16>) -> Reading<'a> {
        let text = described(number);
        let mut fits = Vec::new();
        for used in uses(maker, year) {
            let patterns = self.patterns(used.schema as usize).filter(|&pattern| self.fits(pattern, &text));
            fits.extend(patterns.map(|pattern| Fit { pattern, from: used.from }));
        }
        let [body, model, series, trim, plant] =
            element::TOLD.map(|told| self.best(&fits, told).map(|pattern| self.tables.pattern_values[pattern]));
        let of_model =
            |column: &[u32]| model.and_then(|model| column.get(model as usize)).and_then(|&name| self.name(name));
        let only = match maker.makes.as_slice() {
            [make] => self.name(*make),
            _ => None,
        };
        Reading {
            year,
            make: if model.is_some() { of_model(&self.tables.model_makes) } else { only },
            model: of_model(&self.tables.model_names),
            body: body.and_then(body::of_body).or_else(|| body::of_vehicle_type(maker.vehicle_type)),
            series: series.and_then(|name| self.name(name)),
            trim: trim.and_then(|name| self.name(name)),
            plant_country: plant.and_then(|name| self.name(name)),
        }
    }

    /// Rates how well the schemas of a year fit, in vPIC's order: the better year has the greater
    /// score.
    pub fn score(&self, number: &Number, maker: &Maker, reading: &Reading<'_>) -> Score {
        let text = described(number);
        let weighed = &self.tables.weighed;
        let mut found = Found::default();
        for used in uses(maker, reading.year) {
            let schema = used.schema as usize;
            found.allow(&self.tables.schemas[schema].allowed);
            for pattern in self.patterns(schema).filter(|&pattern| self.fits(pattern, &text)) {
                found.add(Elements::of([self.tables.pattern_elements[pattern]]), self.sets_of(pattern));
            }
            for group in self.group_begins[schema] as usize..self.group_begins[schema + 1] as usize {
                let sets = self.sets_of_key(weighed.group_keys[group]);
                if fit(sets, &text) {
                    found.add(weighed.sets[usize::from(weighed.group_sets[group])], sets);
                }
            }
        }
        found.score(number, maker.vehicle_type, reading, weighed)
    }

    /// Chooses one pattern among those that give one element, as vPIC does: of the schema that
    /// began last, then the newest, then by the key.
    fn best(&self, fits: &[Fit], told: u8) -> Option<usize> {
        let of_it = fits.iter().filter(|fit| self.tables.pattern_elements[fit.pattern] == told);
        let best = of_it.min_by_key(|fit| {
            let key = self.tables.keys.get(self.tables.pattern_keys[fit.pattern]).unwrap_or_default();
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
        self.sets_of_key(self.tables.pattern_keys[pattern])
    }

    fn sets_of_key(&self, key: u32) -> &[u64] {
        let key = key as usize;
        &self.sets[self.set_begins[key] as usize..self.set_begins[key + 1] as usize]
    }

    fn fits(&self, pattern: usize, text: &[u64]) -> bool {
        fit(self.sets_of(pattern), text)
    }

    fn name(&self, place: u32) -> Option<&str> {
        self.tables.names.get(place)
    }
}

/// The schemas that a maker used in a year, or all of them where the year is not known.
fn uses(maker: &Maker, year: Option<u16>) -> impl Iterator<Item = &Use> {
    maker.schemas.iter().filter(move |used| year.is_none_or(|year| used.from <= year && year <= used.to))
}

/// True if a key allows every described character at its place.
fn fit(sets: &[u64], text: &[u64]) -> bool {
    sets.len() <= text.len() && sets.iter().zip(text).all(|(set, bit)| set & bit != 0)
}

/// Returns the position where each of several runs begins, and at the end the total length.
fn begins(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let ends = lengths.scan(0_u32, |end, length| {
        *end = end.saturating_add(length);
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// The part of a VIN that keys describe, as sets of one character: characters 4 to 8, a bar, and 10
/// to 17, as far as the VIN goes.
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

/// Checks that every position that one column holds in another exists. Returns the name of the
/// first column that fails.
fn check(tables: &Tables) -> Result<(), &'static str> {
    let below = |column: &[u32], end: usize| column.iter().all(|&place| (place as usize) < end || place == NONE);
    let patterns = tables.pattern_keys.len();
    let sum: u64 = tables.schemas.iter().map(|schema| u64::from(schema.patterns)).sum();
    let groups: u64 = tables.schemas.iter().map(|schema| u64::from(schema.groups)).sum();
    let weighed = &tables.weighed;
    let columns = [tables.pattern_elements.len(), tables.pattern_values.len(), tables.pattern_changed.len()];
    let is_sorted = tables.makers.is_sorted_by(|a, b| a.code < b.code);
    match () {
        () if sum != patterns as u64 || columns.iter().any(|&length| length != patterns) => Err("schemas"),
        () if tables.pattern_keys.iter().any(|&key| key as usize >= tables.keys.len()) => Err("patterns"),
        () if groups != weighed.group_keys.len() as u64 || groups != weighed.group_sets.len() as u64 => Err("schemas"),
        () if weighed.group_keys.iter().any(|&key| key as usize >= tables.keys.len())
            || weighed.group_sets.iter().any(|&set| usize::from(set) >= weighed.sets.len()) =>
        {
            Err("groups")
        }
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

//! Collects the elements that vPIC weighs beside those that the service returns, for schemas where
//! a letter may mean two years.

use crate::tables::{Elements, Weighed, element};
use crate::{FOR_EVER, is_light, text};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use ultravin::tables::{ArchivedPattern, ArchivedVpicData, NULL_I32, NULL_I64};

/// Model years of the second cycle.
const NEWER: std::ops::Range<i32> = 2010..2040;
/// Years between two model years with one code.
const CYCLE: i32 = 30;
/// Make, maker, year and vehicle type, which do not come from patterns.
const NOT_BY_PATTERNS: [i32; 4] = [26, 27, 29, 39];
/// The element of the engine's model. vPIC has further elements for each engine model.
const ENGINE_MODEL: i32 = 18;
/// Larger than every number of a vehicle type; vPIC's greatest is 13.
const VEHICLE_TYPES: i32 = 20;

pub struct Weighing<'a> {
    data: &'a ArchivedVpicData,
    pub weighed: Weighed,
    concerned: HashSet<i32>,
    public: HashSet<i32>,
    engines: HashMap<String, Vec<u8>>,
    places: HashMap<Elements, u16>,
}

impl<'a> Weighing<'a> {
    pub fn new(data: &'a ArchivedVpicData) -> Self {
        let mut weights = vec![0; 256];
        for row in data.element.iter().filter(|row| row.weight.to_native() != NULL_I32) {
            weights[row.id.to_native() as usize] = row.weight.to_native() as u16;
        }
        let filled_in = (0..VEHICLE_TYPES).map(|vehicle_type| {
            let rows = data
                .defaultvalue
                .iter()
                .filter(|row| row.vehicletypeid.to_native() == vehicle_type && row.defaultvalue_present);
            Elements::of(rows.filter_map(|row| u8::try_from(row.elementid.to_native()).ok()))
        });
        let computed = data.conversion.iter().filter_map(|row| {
            let (from, to) = (row.fromelementid.to_native(), row.toelementid.to_native());
            Some((u8::try_from(from).ok()?, u8::try_from(to).ok()?))
        });
        let (filled_in, computed) = (filled_in.collect(), computed.collect());
        let weighed = Weighed { weights, filled_in, computed, ..Weighed::default() };
        let public =
            data.element.iter().filter(|row| row.decode_present && !row.isprivate).map(|row| row.id.to_native());
        let public = public.filter(|id| !NOT_BY_PATTERNS.contains(id)).collect();
        Self { data, weighed, concerned: concerned(data), public, engines: engines(data), places: HashMap::new() }
    }

    /// True if a maker uses the schema in one of two years that a letter means to it.
    pub fn concerns(&self, schema: i32) -> bool {
        self.concerned.contains(&schema)
    }

    /// Adds the groups of a schema's patterns: each key with the elements that its patterns give
    /// beside those for which `Tables` has patterns. Returns the number of groups.
    pub fn groups(&mut self, rows: &[ArchivedPattern], mut place_of_key: impl FnMut(&str) -> u32) -> u32 {
        let mut groups: BTreeMap<u32, BTreeSet<u8>> = BTreeMap::new();
        for row in rows {
            let key = text(self.data, row.keys.to_native()).to_ascii_uppercase();
            let elements = self.elements(row, &key);
            if !elements.is_empty() {
                groups.entry(place_of_key(&key)).or_default().extend(elements);
            }
        }
        let count = groups.len() as u32;
        for (key, elements) in groups {
            let set = Elements::of(elements);
            let next = self.places.len() as u16;
            let place = *self.places.entry(set).or_insert_with(|| {
                self.weighed.sets.push(set);
                next
            });
            self.weighed.group_keys.push(key);
            self.weighed.group_sets.push(place);
        }
        count
    }

    /// Returns the elements that a pattern adds. A key with `#` is a formula: digits of the VIN are
    /// the value. vPIC never matches a formula with other digits or classes in its key.
    fn elements(&self, row: &ArchivedPattern, key: &str) -> Vec<u8> {
        let id = row.elementid.to_native();
        let is_formula = key.contains('#');
        let fits_nothing = is_formula && key.chars().any(|character| character.is_ascii_digit() || character == '[');
        let counts = if is_formula { !NOT_BY_PATTERNS.contains(&id) } else { self.public.contains(&id) };
        let Ok(number) = u8::try_from(id) else { return Vec::new() };
        if fits_nothing || !counts || (element::TOLD.contains(&number) && !is_formula) {
            return Vec::new();
        }
        let value = || text(self.data, row.attributeid.to_native()).trim().to_ascii_lowercase();
        let of_engine = (id == ENGINE_MODEL).then(|| self.engines.get(&value())).flatten();
        std::iter::once(number).chain(of_engine.into_iter().flatten().copied()).collect()
    }
}

/// Returns the schemas of makers that have schemas for both years of a letter, unless position 7
/// tells the year.
fn concerned(data: &ArchivedVpicData) -> HashSet<i32> {
    let mut found = HashSet::new();
    for row in data.wmi.iter().filter(|row| row.publicavailabilitydate.to_native() != NULL_I64 && !is_light(row)) {
        let id = row.id.to_native();
        let from = data.wmi_vinschema.partition_point(|link| link.wmiid.to_native() < id);
        let to = data.wmi_vinschema.partition_point(|link| link.wmiid.to_native() <= id);
        let uses = data.wmi_vinschema[from..to].iter().map(|link| {
            let last = link.yearto.to_native();
            let last = if last == NULL_I32 { FOR_EVER } else { last };
            (link.vinschemaid.to_native(), link.yearfrom.to_native()..=last)
        });
        let uses: Vec<_> = uses.collect();
        let covers = |year: i32| uses.iter().any(|(_, years)| years.contains(&year));
        let both: Vec<i32> =
            NEWER.filter(|&year| covers(year) && covers(year - CYCLE)).flat_map(|year| [year, year - CYCLE]).collect();
        found.extend(
            uses.iter().filter(|(_, years)| both.iter().any(|year| years.contains(year))).map(|(schema, _)| schema),
        );
    }
    found
}

/// Returns the elements that vPIC has for each engine model, by its name in lower case.
fn engines(data: &ArchivedVpicData) -> HashMap<String, Vec<u8>> {
    let mut found: HashMap<String, Vec<u8>> = HashMap::new();
    for row in data.enginemodel.iter() {
        let id = row.id.to_native();
        let elements = data.enginemodelpattern.iter().filter(|row| row.enginemodelid.to_native() == id);
        let elements = elements.filter_map(|row| u8::try_from(row.elementid.to_native()).ok()).collect();
        found.entry(text(data, row.name.to_native()).trim().to_ascii_lowercase()).or_insert(elements);
    }
    found
}

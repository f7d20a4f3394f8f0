//! `cyclorama-vin-maker LIBRARY MANIFEST OUT`: extracts vPIC's tables from the library of the
//! `ultravin` wheel, keeps the elements that give make, model, year, body, series, trim and plant,
//! and writes `vpic.bin`. The wheel's manifest has the size of the tables in bytes.

#[allow(dead_code, reason = "some of it is for the reader alone")]
#[path = "../../src/tables.rs"]
mod tables;
mod weighing;

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use tables::{Maker, NONE, Schema, Tables, Use, element};
use ultravin::tables::{
    ArchivedPattern, ArchivedVpicData, ArchivedWmi, HEADER_LEN, MAGIC, NULL_I32, NULL_I64, check_header, validate_body,
};
use weighing::Weighing;

/// The last year that the reference has for spans of years without an end.
const FOR_EVER: i32 = 2999;
/// Compression level. The file is a tenth smaller than with level 19, and it is read only once.
const LEVEL: i32 = 22;
/// Elements whose values are names in their own right.
const TEXTS: [i32; 2] = [element::SERIES as i32, element::TRIM as i32];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, manifest, out] = arguments.as_slice() else {
        return Err("usage: cyclorama-vin-maker LIBRARY MANIFEST OUT".into());
    };
    let manifest = std::fs::read_to_string(manifest)?;
    let length: usize = member(&manifest, "artifact_bytes")?.parse()?;
    let month = member(&manifest, "month")?;
    let library = std::fs::read(library)?;
    let begin = library
        .windows(MAGIC.len())
        .enumerate()
        .filter(|(_, window)| *window == MAGIC)
        .map(|(at, _)| at)
        .find(|at| library.get(*at..at + length).is_some_and(|bytes| check_header(bytes).is_ok()))
        .ok_or("the library holds no tables of that length")?;
    let mut body = rkyv::util::AlignedVec::<16>::new();
    body.extend_from_slice(&library[begin + HEADER_LEN..begin + length]);
    let tables = Making::new(validate_body(&body)?).tables(month);
    let encoded = postcard::to_stdvec(&tables)?;
    let packed = zstd::encode_all(encoded.as_slice(), LEVEL)?;
    println!(
        "{}: {} makers, {} schemas, {} patterns, {} groups of {} sets, {} keys, {} models, {} names; {} bytes, {} packed",
        tables.month,
        tables.makers.len(),
        tables.schemas.len(),
        tables.pattern_keys.len(),
        tables.weighed.group_keys.len(),
        tables.weighed.sets.len(),
        tables.keys.len(),
        tables.model_names.len(),
        tables.names.len(),
        encoded.len(),
        packed.len()
    );
    std::fs::write(out, packed)?;
    Ok(())
}

/// Returns a member of the manifest, which is JSON with one member a line.
fn member(manifest: &str, name: &str) -> Result<String, String> {
    let quoted = format!("\"{name}\":");
    let line = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix(&quoted))
        .ok_or(format!("no {name} in the manifest"))?;
    Ok(line.trim().trim_end_matches(',').trim_matches('"').to_owned())
}

/// Names and keys, each once, in the order in which they were added.
#[derive(Default)]
struct Interned {
    /// Each text ends with a line feed, and contains no other.
    lines: String,
    places: HashMap<String, u32>,
}

impl Interned {
    fn place(&mut self, text: &str) -> u32 {
        let next = self.places.len() as u32;
        *self.places.entry(text.replace('\n', " ")).or_insert_with_key(|text| {
            self.lines.push_str(text);
            self.lines.push('\n');
            next
        })
    }
}

struct Making<'a> {
    data: &'a ArchivedVpicData,
    lookups: HashMap<(u16, i32), &'a str>,
    names: Interned,
    keys: Interned,
}

impl<'a> Making<'a> {
    fn new(data: &'a ArchivedVpicData) -> Self {
        let mut lookups = HashMap::new();
        for row in data.lookups.iter() {
            lookups.insert((row.tag.to_native(), row.id.to_native()), text(data, row.name.to_native()));
        }
        Self { data, lookups, names: Interned::default(), keys: Interned::default() }
    }

    fn name(&mut self, table: &str, id: i32) -> Option<u32> {
        let tag = ultravin::tables::tag_of_table(table)?;
        let name = self.lookups.get(&(tag, id))?.trim().to_owned();
        Some(self.names.place(&name))
    }

    fn tables(mut self, month: String) -> Tables {
        let mut tables = Tables { month, ..Tables::default() };
        let models = self.models(&mut tables);
        let ranks = self.ranks();
        let mut weighing = Weighing::new(self.data);
        let schemas = self.schemas(&mut tables, &models, &ranks, &mut weighing);
        self.makers(&mut tables, &schemas);
        tables.names = self.names.lines.into();
        tables.keys = self.keys.lines.into();
        tables.weighed = weighing.weighed;
        tables
    }

    /// Returns positions of models by vPIC's number. Every model of vPIC has one make.
    fn models(&mut self, tables: &mut Tables) -> HashMap<i32, u32> {
        let mut places = HashMap::new();
        for row in self.data.make_model.iter() {
            let (model, make) = (row.modelid.to_native(), row.makeid.to_native());
            let (Some(name), Some(make)) = (self.name("model", model), self.name("make", make)) else { continue };
            places.entry(model).or_insert_with(|| {
                tables.model_names.push(name);
                tables.model_makes.push(make);
                tables.model_names.len() as u32 - 1
            });
        }
        places
    }

    /// Returns ranks of times of change. A pattern without a time ranks above all others, as the
    /// reference sorts it.
    fn ranks(&self) -> HashMap<i64, u32> {
        let times: BTreeSet<i64> = self.data.pattern.iter().map(|row| row.createdon_key.to_native()).collect();
        let ranks = times.into_iter().filter(|time| *time != NULL_I64).zip(0..).chain([(NULL_I64, NONE)]);
        ranks.collect()
    }

    /// Writes schemas with their patterns, and returns their positions by vPIC's number. Schemas
    /// that vPIC has not checked are left out, as in vPIC's procedure.
    fn schemas(
        &mut self,
        tables: &mut Tables,
        models: &HashMap<i32, u32>,
        ranks: &HashMap<i64, u32>,
        weighing: &mut Weighing<'_>,
    ) -> HashMap<i32, u32> {
        let data = self.data;
        let mut places = HashMap::new();
        for schema in data.vinschema.iter().filter(|schema| !schema.tobeqced) {
            let id = schema.id.to_native();
            let from = data.pattern.partition_point(|row| row.vinschemaid.to_native() < id);
            let to = data.pattern.partition_point(|row| row.vinschemaid.to_native() <= id);
            let rows = &data.pattern[from..to];
            let mut allowed = [0_u64; 9];
            for row in rows {
                allow(&mut allowed, text(data, row.keys.to_native()));
            }
            let before = tables.pattern_keys.len();
            for row in rows {
                self.pattern(tables, row, models, ranks);
            }
            places.insert(id, tables.schemas.len() as u32);
            let patterns = (tables.pattern_keys.len() - before) as u32;
            let groups = if weighing.concerns(id) { weighing.groups(rows, |key| self.keys.place(key)) } else { 0 };
            tables.schemas.push(Schema { patterns, groups, allowed });
        }
        places
    }

    fn pattern(
        &mut self,
        tables: &mut Tables,
        row: &ArchivedPattern,
        models: &HashMap<i32, u32>,
        ranks: &HashMap<i64, u32>,
    ) {
        let told = row.elementid.to_native();
        let Some(told) = element::TOLD.into_iter().find(|element| i32::from(*element) == told) else { return };
        let attribute = text(self.data, row.attributeid.to_native());
        let number = attribute.parse::<i32>().ok();
        let value = match told {
            element::MODEL => number.and_then(|id| models.get(&id).copied()),
            element::BODY => number.and_then(|id| u32::try_from(id).ok()),
            element::PLANT_COUNTRY => number.and_then(|id| self.name("country", id)),
            _ if TEXTS.contains(&i32::from(told)) => Some(self.names.place(attribute.trim())),
            _ => None,
        };
        let key = text(self.data, row.keys.to_native()).to_ascii_uppercase();
        if key.contains('#') {
            // The value of such a pattern is made of digits of the VIN.
            return;
        }
        tables.pattern_keys.push(self.keys.place(&key));
        tables.pattern_elements.push(told);
        tables.pattern_values.push(value.unwrap_or(NONE));
        tables.pattern_changed.push(ranks[&row.createdon_key.to_native()]);
    }

    fn makers(&mut self, tables: &mut Tables, schemas: &HashMap<i32, u32>) {
        let data = self.data;
        for row in data.wmi.iter() {
            let id = row.id.to_native();
            if row.publicavailabilitydate.to_native() == NULL_I64 {
                continue;
            }
            let vehicle_type = row.vehicletypeid.to_native();
            let light = is_light(row);
            let makes: BTreeSet<i32> = data
                .wmi_make
                .iter()
                .filter(|link| link.wmiid.to_native() == id)
                .map(|link| link.makeid.to_native())
                .collect();
            let from = data.wmi_vinschema.partition_point(|link| link.wmiid.to_native() < id);
            let to = data.wmi_vinschema.partition_point(|link| link.wmiid.to_native() <= id);
            let uses = data.wmi_vinschema[from..to].iter().filter_map(|link| {
                let last = link.yearto.to_native();
                let last = if last == NULL_I32 { FOR_EVER } else { last };
                let schema = *schemas.get(&link.vinschemaid.to_native())?;
                Some(Use { schema, from: link.yearfrom.to_native() as u16, to: last as u16 })
            });
            tables.makers.push(Maker {
                code: text(data, row.wmi.to_native()).to_owned(),
                vehicle_type: u8::try_from(vehicle_type).unwrap_or(0),
                light,
                makes: makes.into_iter().filter_map(|make| self.name("make", make)).collect(),
                schemas: uses.collect(),
            });
        }
        tables.makers.sort_by(|a, b| a.code.cmp(&b.code));
    }
}

/// True for passenger cars, MPVs and light trucks, by vPIC's numbers of vehicle and truck types.
fn is_light(row: &ArchivedWmi) -> bool {
    let vehicle_type = row.vehicletypeid.to_native();
    matches!(vehicle_type, 2 | 7) || (vehicle_type == 3 && row.trucktypeid.to_native() == 1)
}

fn text(data: &ArchivedVpicData, id: u32) -> &str {
    let offset = |at: usize| data.arena_offsets[at].to_native() as usize;
    std::str::from_utf8(&data.arena_bytes[offset(id as usize)..offset(id as usize + 1)]).unwrap_or_default()
}

/// Adds the characters that a key allows: places 0 to 4 of a key are positions 4 to 8, and 7 to 10
/// are 11 to 14. Place 5 is the bar, 6 the year.
fn allow(allowed: &mut [u64; 9], key: &str) {
    let Some(sets) = tables::sets_of_key(&key.to_ascii_uppercase()) else { return };
    for (place, set) in sets.into_iter().enumerate().filter(|(_, set)| *set != u64::MAX) {
        match place {
            0..=4 => allowed[place] |= set,
            7..=10 => allowed[place - 2] |= set,
            _ => {}
        }
    }
}

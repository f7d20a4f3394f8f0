//! The format of `data/vpic.bin`: the part of vPIC that is needed to read a VIN, in columns, which
//! compress well. The program that writes the file (`vin/maker`) compiles this same source.

use serde::{Deserialize, Serialize};

/// Stands for "none" where a column holds positions in another column.
pub const NONE: u32 = u32::MAX;

/// The elements that a pattern can give, with their numbers in vPIC's table of elements.
pub mod element {
    pub const BODY: u8 = 5;
    pub const MODEL: u8 = 28;
    pub const SERIES: u8 = 34;
    pub const TRIM: u8 = 38;
    pub const PLANT_COUNTRY: u8 = 75;
    pub const TOLD: [u8; 5] = [BODY, MODEL, SERIES, TRIM, PLANT_COUNTRY];
    /// Not given by patterns, but weighed: vPIC finds the make by the model, or by the maker where
    /// that has only one make.
    pub const MAKE: u8 = 26;
    /// A vehicle may have several of these elements, which vPIC counts one by one: axles, wheels,
    /// notes and similar ones.
    pub const SEVERAL: [u8; 8] = [114, 121, 129, 150, 154, 155, 169, 186];
}

/// A set of elements, one bit for each number.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Elements([u64; 4]);

impl Elements {
    pub fn of(elements: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::default();
        for element in elements {
            set.0[usize::from(element / 64)] |= 1 << (element % 64);
        }
        set
    }

    pub fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    pub fn shared(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub fn has(self, element: u8) -> bool {
        self.0[usize::from(element / 64)] & 1 << (element % 64) != 0
    }

    pub fn count(self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |&element| self.has(element))
    }
}

/// Texts of one line each, in one piece of memory: a hundred thousand separate strings would take
/// three times as much.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Texts {
    lines: String,
    /// The position where each line begins, and at the end the total length.
    begins: Vec<u32>,
}

impl Texts {
    pub fn get(&self, place: u32) -> Option<&str> {
        let place = place as usize;
        let (begin, next) = (*self.begins.get(place)?, *self.begins.get(place + 1)?);
        self.lines.get(begin as usize..next as usize)?.strip_suffix('\n')
    }

    pub fn len(&self) -> usize {
        self.begins.len().saturating_sub(1)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.lines()
    }

    /// Memory that the texts occupy, in bytes.
    pub fn size(&self) -> usize {
        self.lines.len() + self.begins.len() * size_of::<u32>()
    }
}

impl From<String> for Texts {
    fn from(lines: String) -> Self {
        let ends = lines.bytes().zip(1..).filter_map(|(byte, next)| (byte == b'\n').then_some(next));
        let begins = std::iter::once(0).chain(ends).collect();
        Self { lines, begins }
    }
}

impl From<Texts> for String {
    fn from(texts: Texts) -> Self {
        texts.lines
    }
}

/// The tables of one month of vPIC.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Tables {
    /// Year and month of vPIC's publication, such as `2026_10`.
    pub month: String,
    /// Every name, once: makes, models, series, trims, countries.
    pub names: Texts,
    /// For each model, the positions of its name and of its make's name in `names`.
    pub model_names: Vec<u32>,
    pub model_makes: Vec<u32>,
    /// Keys of patterns: the required characters 4 to 8 and, after a `|`, 10 to 17. `*` stands for
    /// any, `#` for a digit, `[A-C1]` for one of several.
    pub keys: Texts,
    pub makers: Vec<Maker>,
    pub schemas: Vec<Schema>,
    /// Patterns, schema after schema: positions in `keys`; elements; values (a model's position,
    /// vPIC's number of the body, a name's position); and the time of the last change, as the rank
    /// of that time.
    pub pattern_keys: Vec<u32>,
    pub pattern_elements: Vec<u8>,
    pub pattern_values: Vec<u32>,
    pub pattern_changed: Vec<u32>,
    pub weighed: WeighedElements,
}

/// The elements that vPIC weighs beside those that we return, to choose between the two years of a
/// letter. Only those schemas have groups whose makers have schemas for both years of a letter and
/// no rule that tells the cycle.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WeighedElements {
    /// Weights by the number of the element. Most elements have none.
    pub weights: Vec<u16>,
    /// By the number of the vehicle type: the elements that each vehicle of that type has, because
    /// vPIC fills them in.
    pub filled_in: Vec<Elements>,
    /// Pairs of elements. vPIC computes the second where a pattern gives the first: displacement
    /// has three units.
    pub computed: Vec<(u8, u8)>,
    /// Sets of elements, each once.
    pub sets: Vec<Elements>,
    /// Keys with the elements that their patterns give, schema after schema: positions in `keys`
    /// and in `sets`.
    pub group_keys: Vec<u32>,
    pub group_sets: Vec<u16>,
}

/// A maker, as its world manufacturer identifier gives it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Maker {
    /// Three characters, or six (1 to 3 and 12 to 14) for makers of fewer than a thousand vehicles
    /// a year.
    pub code: String,
    /// vPIC's number of the vehicle type; 0 where it has none.
    pub vehicle_type: u8,
    /// True for makers of passenger cars, MPVs and light trucks, whose seventh character tells the
    /// cycle of years.
    pub light: bool,
    /// Positions of the names of its makes.
    pub makes: Vec<u32>,
    pub schemas: Vec<Use>,
}

/// A schema, and the model years in which a maker used it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Use {
    pub schema: u32,
    pub from: u16,
    pub to: u16,
}

/// One scheme of numbers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Schema {
    /// Number of its patterns.
    pub patterns: u32,
    /// Number of its groups in `WeighedElements`.
    pub groups: u32,
    /// For positions 4 to 8 and 11 to 14: the characters that any pattern of the schema allows
    /// there, with bits as in `bit`; 0 if no pattern says anything.
    pub allowed: [u64; 9],
}

const DIGITS: u64 = (1 << 10) - 1;

/// The bit of a character in a set: digits, capital letters, and the bar between both halves of a
/// key.
pub fn bit(character: u8) -> u64 {
    match character {
        b'0'..=b'9' => 1 << (character - b'0'),
        b'A'..=b'Z' => 1 << (character - b'A' + 10),
        b'|' => 1 << 36,
        // An unknown character, or one that no VIN has, is matched only by a place that allows any
        // character.
        _ => 1 << 37,
    }
}

/// Returns the sets of characters that a key allows, one for each of its places. `None` for a key
/// that is not well formed.
pub fn sets_of_key(key: &str) -> Option<Vec<u64>> {
    let mut sets = Vec::new();
    let mut rest = key.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        sets.push(match first {
            b'*' | b'_' => u64::MAX,
            b'#' => DIGITS,
            b'[' => {
                let end = rest.iter().position(|&character| character == b']')?;
                let set = set_of_class(&rest[..end]);
                rest = &rest[end + 1..];
                set
            }
            character => bit(character.to_ascii_uppercase()),
        });
    }
    Some(sets)
}

/// Returns the characters of a class such as `A-C1`.
fn set_of_class(class: &[u8]) -> u64 {
    let mut set = 0;
    let mut rest = class;
    while let Some((&first, after)) = rest.split_first() {
        match after {
            [b'-', last, after @ ..] => {
                set |= (first..=*last).filter(u8::is_ascii_alphanumeric).fold(0, |set, character| set | bit(character));
                rest = after;
            }
            _ => {
                set |= bit(first.to_ascii_uppercase());
                rest = after;
            }
        }
    }
    set
}

//! Fits a query to one name. Each atom of the query is read as a part of the name, as the make, as
//! something other than a name (a year, a colour), or is left over; the best of all such readings
//! is found.

use super::words::{Words, atom_bits};

/// Points for each letter of a query that is part of a name. All other points are weighed against
/// this.
const LETTER: i32 = 10;
/// Points for each letter that is left over.
const LEFT_LETTER: i32 = -6;
/// Points for each atom that is left over, besides those for its letters.
const LEFT_ATOM: i32 = -4;
/// Points for breaking a written word in two, at each end of a part.
const BROKEN_WORD: i32 = -5;
/// Points for an edit: a little more than the letter that it spoils.
const EDIT: i32 = -13;
/// Points for each letter of the name that the query does not have.
const MISSING_LETTER: i32 = -2;
/// Points for each atom of the name that the query does not have at all, besides those for its
/// letters.
const MISSING_ATOM: i32 = -4;
/// Points for a query without the first atom of the name.
const MISSING_BEGINNING: i32 = -8;
/// Number of readings that are kept at each atom.
const BEAM: usize = 4;

/// Number of kinds of [`Aside`] of which a query has one value.
pub const SLOTS: usize = 8;

/// A reading of atoms `from..to` of a query as something other than a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    pub from: u8,
    pub to: u8,
    /// Below [`SLOTS`], two readings of one slot go together only with the same value. Other
    /// readings always go together.
    pub slot: u8,
    pub value: u16,
    /// Weighed against ten points for each letter of a name.
    pub points: i32,
    /// True if the reading leaves a doubt.
    pub guessed: bool,
    /// Slugs of the makes for whose vehicles the reading is valid; empty for all.
    pub makes: &'static [String],
}

impl Aside {
    /// True if the reading is valid for a vehicle of this make.
    pub fn is_of(&self, make: &str) -> bool {
        self.makes.is_empty() || self.makes.iter().any(|other| other == make)
    }
}

/// The way in which atoms of a query fit a part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Exact,
    /// The atoms are the beginning of the part, which goes on for this many bytes.
    Beginning(u8),
    /// The letters stand inside of the part.
    Inside,
    /// The atoms are this many edits away from the part.
    Near(u8),
}

impl Fit {
    fn points(self) -> i32 {
        match self {
            Fit::Exact => 0,
            Fit::Beginning(_) => -3,
            Fit::Inside => -6,
            Fit::Near(edits) => EDIT * i32::from(edits),
        }
    }
}

/// Atoms `from..to` of the query, read as a part of the name or as the make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub from: u8,
    pub to: u8,
    /// First and last atom (exclusive) of the part of the name; `None` for the make.
    pub part: Option<(u8, u8)>,
    pub fit: Fit,
    pub bonus: i8,
    /// True if the make and the name are written as one word.
    pub with_make: bool,
}

/// The best reading of a query with one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub points: i32,
    /// Atoms of the name that the query has, as bits.
    pub covered: u32,
    /// Bytes of the query that are read as parts of the name.
    pub had: u32,
    /// Bytes of the name that the query does not have.
    pub missing: u16,
    /// Number of edits in all parts.
    pub edits: u8,
    /// True if some part is only begun (`begun`), or stands inside of another word (`inside`).
    pub begun: bool,
    pub inside: bool,
    pub make: Option<Fit>,
    /// True if the make, then the name from its first atom on, are written without anything out of
    /// place.
    pub in_order: bool,
    /// Positions in the asides, as bits.
    pub asides: u64,
    /// Atoms of the query that are left over, as bits.
    pub left: u32,
}

impl Reading {
    /// True if the query has every atom of a name with this many atoms, to its end.
    pub fn is_whole(&self, atoms: usize) -> bool {
        self.covered == atom_bits(0, atoms as u8) && !self.begun
    }
}

#[derive(Clone, Copy)]
struct State {
    reading: Reading,
    values: [Option<u16>; SLOTS],
    /// The next atom of the name, if the query goes on in order.
    next: u8,
}

/// A function that returns the number of bytes of the name's atoms from one to another.
pub trait Measure: Fn(usize, usize) -> usize {}
impl<F: Fn(usize, usize) -> usize> Measure for F {}

/// Finds the best reading of a query with a name of this make, or `None` if no part of the query
/// fits the name. The name has `atoms` atoms, which `bytes` measures.
pub fn align(
    words: &Words,
    (make, atoms): (&str, usize),
    bytes: impl Measure,
    edges: &[Edge],
    asides: &[Aside],
) -> Option<Reading> {
    let none = Reading {
        points: 0,
        covered: 0,
        had: 0,
        missing: 0,
        edits: 0,
        begun: false,
        inside: false,
        make: None,
        in_order: true,
        asides: 0,
        left: 0,
    };
    let mut states: Vec<Vec<State>> = vec![Vec::new(); words.len() + 1];
    states[0].push(State { reading: none, values: [None; SLOTS], next: 0 });
    // The edges and asides that begin at an atom are found once, and serve every reading that
    // reaches the atom.
    let (mut edges_here, mut asides_here) = (Vec::new(), Vec::new());
    for at in 0..words.len() {
        let here = std::mem::take(&mut states[at]);
        edges_here.clear();
        edges_here.extend(edges.iter().filter(|edge| usize::from(edge.from) == at));
        asides_here.clear();
        let begins_here = |(_, aside): &(usize, &Aside)| usize::from(aside.from) == at && aside.is_of(make);
        asides_here.extend(asides.iter().enumerate().filter(begins_here));
        for state in &here {
            keep(&mut states[at + 1], skip(state, words, at));
            for edge in &edges_here {
                if let Some(next) = take(state, words, edge) {
                    keep(&mut states[usize::from(edge.to)], next);
                }
            }
            for (number, aside) in &asides_here {
                if let Some(next) = put_aside(state, words, *number, aside) {
                    keep(&mut states[usize::from(aside.to)], next);
                }
            }
        }
    }
    let finished = states.pop()?.into_iter().filter(|state| state.reading.covered != 0);
    finished.map(|state| finish(state.reading, atoms, &bytes)).max_by_key(|reading| reading.points)
}

fn keep(states: &mut Vec<State>, state: State) {
    let at = states.partition_point(|other| other.reading.points >= state.reading.points);
    if at < BEAM {
        states.insert(at, state);
        states.truncate(BEAM);
    }
}

fn letters(words: &Words, from: usize, to: usize) -> i32 {
    (words.start(to) - words.start(from)) as i32
}

/// Points for a reading that begins or ends inside of a written word.
fn broken(words: &Words, from: usize, to: usize) -> i32 {
    BROKEN_WORD * (i32::from(words.is_glued(from)) + i32::from(words.is_glued(to)))
}

fn skip(state: &State, words: &Words, at: usize) -> State {
    let mut state = *state;
    state.reading.points += LEFT_LETTER * letters(words, at, at + 1).min(8) + LEFT_ATOM;
    state.reading.left |= 1 << at;
    state
}

fn take(state: &State, words: &Words, edge: &Edge) -> Option<State> {
    let mut state = *state;
    let (from, to) = (usize::from(edge.from), usize::from(edge.to));
    let reading = &mut state.reading;
    reading.points += LETTER * letters(words, from, to) + edge.fit.points() + broken(words, from, to);
    if let Fit::Near(edits) = edge.fit {
        reading.edits += edits;
    }
    reading.inside |= edge.fit == Fit::Inside;
    match edge.part {
        None if reading.make.is_some() => return None,
        None => {
            reading.points += i32::from(edge.bonus);
            reading.make = Some(edge.fit);
            disorder(reading, state.next == 0);
        }
        Some((first, end)) => {
            let part = atom_bits(first, end);
            if reading.covered & part != 0 || edge.with_make && reading.make.is_some() {
                return None;
            }
            if edge.with_make {
                reading.make = Some(edge.fit);
            }
            reading.covered |= part;
            reading.had += letters(words, from, to) as u32;
            disorder(reading, first == state.next);
            state.next = end;
            if let Fit::Beginning(rest) = edge.fit {
                reading.begun = true;
                reading.missing += u16::from(rest);
            }
        }
    }
    Some(state)
}

/// Takes a point from a reading whose words are out of order, so that an otherwise equal reading in
/// order wins.
fn disorder(reading: &mut Reading, in_order: bool) {
    reading.points -= i32::from(!in_order);
    reading.in_order &= in_order;
}

fn put_aside(state: &State, words: &Words, number: usize, aside: &Aside) -> Option<State> {
    let mut state = *state;
    if let Some(value) = state.values.get_mut(usize::from(aside.slot)) {
        if value.is_some_and(|value| value != aside.value) {
            return None;
        }
        *value = Some(aside.value);
    }
    state.reading.points += aside.points + broken(words, usize::from(aside.from), usize::from(aside.to));
    state.reading.asides |= 1 << number;
    Some(state)
}

fn finish(mut reading: Reading, atoms: usize, bytes: &impl Measure) -> Reading {
    let absent = (0..atoms).filter(|atom| reading.covered >> atom & 1 == 0);
    let (count, missing) = absent.fold((0, 0), |(count, sum), atom| (count + 1, sum + bytes(atom, atom + 1)));
    reading.missing += missing as u16;
    reading.points += MISSING_LETTER * i32::from(reading.missing.min(20)) + MISSING_ATOM * count;
    if reading.covered & 1 == 0 {
        reading.points += MISSING_BEGINNING;
    }
    reading
}

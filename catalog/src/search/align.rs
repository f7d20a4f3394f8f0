//! How a query and one name fit together: each atom of the query is read as a part of the name, as the make, as something
//! that is no name (a year, a colour), or is left over, and the best of all such readings is found.

use super::words::{Words, atom_bits};

/// Points for each letter of a query that is part of a name; what else there is weighs against this.
const LETTER: i32 = 10;
/// A letter that is left over, and beginning something that is left over.
const LEFT_LETTER: i32 = -6;
const LEFT_ATOM: i32 = -4;
/// Breaking a written word in two.
const BROKEN_WORD: i32 = -5;
/// An edit: a little more than the letter it spoils.
const EDIT: i32 = -13;
/// A letter of the name that the query does not have, and an atom that it does not have at all.
const MISSING_LETTER: i32 = -2;
const MISSING_ATOM: i32 = -4;
/// The name begins otherwise.
const MISSING_BEGINNING: i32 = -8;
/// Readings that are kept at each atom.
const BEAM: usize = 4;

/// Kinds of [`Aside`] of which a query has one value.
pub const SLOTS: usize = 8;

/// A reading of atoms `from..to` of a query as something that is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    pub from: u8,
    pub to: u8,
    /// Below [`SLOTS`]: two readings of one slot go together only with the same value. Others always do.
    pub slot: u8,
    pub value: u16,
    /// To be weighed against ten for each letter of a name.
    pub points: i32,
    /// It leaves a doubt.
    pub guessed: bool,
    /// Slugs of the makes whose vehicles it is said of; empty for all.
    pub makes: &'static [String],
}

impl Aside {
    /// Whether it can be said of a vehicle of this make.
    pub fn is_of(&self, make: &str) -> bool {
        self.makes.is_empty() || self.makes.iter().any(|other| other == make)
    }
}

/// How atoms of a query fit a part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Exact,
    /// The part begins so and goes on for so many bytes.
    Beginning(u8),
    /// The letters stand inside of the part.
    Inside,
    /// So many edits away.
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

/// A part of the name (atoms `name.0..name.1`) or the make at atoms `from..to` of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub from: u8,
    pub to: u8,
    /// `None`: the make.
    pub part: Option<(u8, u8)>,
    pub fit: Fit,
    pub bonus: i8,
    /// The make is written in one with the name.
    pub with_make: bool,
}

/// The best reading of a query with one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub points: i32,
    /// Atoms of the name that the query has, as bits.
    pub covered: u32,
    /// Bytes that are read as parts of the name, and bytes of the name that are not there.
    pub had: u32,
    pub missing: u16,
    /// Edits in all.
    pub edits: u8,
    /// Some part is only begun, or stands inside of another word.
    pub begun: bool,
    pub inside: bool,
    pub make: Option<Fit>,
    /// Make, then the name from its first atom on, nothing of either out of place.
    pub in_order: bool,
    /// Positions in the asides, as bits.
    pub asides: u64,
    /// Atoms left over, as bits.
    pub left: u32,
}

impl Reading {
    /// Whether the query has every atom of a name of so many, to its end.
    pub fn is_whole(&self, atoms: usize) -> bool {
        self.covered == atom_bits(0, atoms as u8) && !self.begun
    }
}

#[derive(Clone, Copy)]
struct State {
    reading: Reading,
    values: [Option<u16>; SLOTS],
    /// The next atom of the name, if it goes on in order.
    next: u8,
}

/// Bytes of the name's atoms.
pub trait Measure: Fn(usize, usize) -> usize {}
impl<F: Fn(usize, usize) -> usize> Measure for F {}

/// Finds the best reading of a name of this make. `atoms` of the name are measured by `bytes`.
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
    // The edges and asides that begin at an atom are found once, and serve every reading that reaches the atom.
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

/// A reading that begins or ends inside of a written word breaks it.
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

/// Of two readings alike, the one in order counts.
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

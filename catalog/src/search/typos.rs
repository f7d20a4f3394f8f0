//! Finds words within one or two typing mistakes of another, by symmetric deletion: two words that
//! are this near have a string in common that remains of both when as many letters are deleted.
//! Every term is filed under the strings that deletions leave of it. A look-up tries the strings
//! that deletions leave of the word, and measures only the terms that it finds under them. Its cost
//! depends on the length of the word, hardly on the number of terms.
//!
//! Why: `docs/decisions/catalog-and-search.md` (Search: symmetric deletion for mistyped words).

/// Bytes of a term's beginning that are filed. Two deletions from eight letters leave 37 strings,
/// and the rest is compared anyway.
const PREFIX_BYTES: usize = 8;
/// Length of the longest text that is filed whole, in bytes.
const WHOLE_BYTES_MAX: usize = 48;
/// Shorter terms than this are not filed under the strings that two deletions leave: these would
/// match too much.
const TWO_EDITS_BYTES_MIN: usize = 5;
/// Maximum number of terms of one string that are measured.
const FILED_MAX: usize = 96;

/// Number of upper bits of a key that select its shelf. They tell nearly where a key is filed,
/// because a CRC spreads evenly.
const SHELF_BITS: u32 = 16;

/// Terms by the strings that deletions leave of them.
#[derive(Default)]
pub struct Typos {
    /// CRC-32 of the string in the upper half and number of the term in the lower half, in order.
    filed: Vec<u64>,
    /// The position where the keys with each value of the upper bits begin, and at the end the
    /// number of keys.
    shelves: Vec<u32>,
}

impl Typos {
    /// Files the terms, which come in the order of their numbers. Terms with letters other than
    /// ASCII are left out.
    pub fn new<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut filed = Vec::new();
        for (number, term) in terms.enumerate().filter(|(_, term)| term.is_ascii()) {
            let deletions = if term.len() >= TWO_EDITS_BYTES_MIN { 2 } else { 1 };
            each_deletion::<PREFIX_BYTES>(term, deletions, |left| filed.push(key(left) | number as u64));
        }
        Self::filed(filed)
    }

    /// Files whole texts, for [`Typos::near_whole`], because many of them begin with the same
    /// letters.
    pub fn of_wholes<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut filed = Vec::new();
        let fits = |text: &str| text.is_ascii() && text.len() <= WHOLE_BYTES_MAX;
        for (number, text) in texts.enumerate().filter(|(_, text)| fits(text)) {
            each_deletion::<WHOLE_BYTES_MAX>(text, 1, |left| filed.push(key(left) | number as u64));
        }
        Self::filed(filed)
    }

    /// Sorts `keys`, which come in any order.
    fn filed(keys: Vec<u64>) -> Self {
        // Each shelf is sorted separately, because sorting many small runs is faster than sorting
        // all keys at once.
        let mut from = shelves(&keys);
        let mut filed = vec![0; keys.len()];
        for key in keys {
            let at = &mut from[shelf(key)];
            filed[*at as usize] = key;
            *at += 1;
        }
        // Each position is now the end of its shelf.
        let mut first = 0;
        for end in &from[..1 << SHELF_BITS] {
            filed[first..*end as usize].sort_unstable();
            first = *end as usize;
        }
        filed.dedup();
        filed.shrink_to_fit();
        Self { shelves: shelves(&filed), filed }
    }

    /// Returns numbers of whole texts that may be within one edit. The caller must measure them.
    pub fn near_whole(&self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if text.len() <= WHOLE_BYTES_MAX {
            each_deletion::<WHOLE_BYTES_MAX>(text, 1, |left| self.look_up(left, &mut found));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns numbers of terms that may be within `edits` (1 or 2) edits. The caller must measure
    /// them.
    pub fn near(&self, text: &str, edits: u8) -> Vec<u32> {
        let mut found = Vec::new();
        each_deletion::<PREFIX_BYTES>(text, edits, |left| self.look_up(left, &mut found));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn look_up(&self, left: &[u8], found: &mut Vec<u32>) {
        let key = key(left);
        let Some([from, to]) = self.shelves.get(shelf(key)..shelf(key) + 2) else { return };
        let shelf = &self.filed[*from as usize..*to as usize];
        let first = shelf.partition_point(|filed| *filed < key);
        let here = shelf[first..].iter().take(FILED_MAX).take_while(|filed| *filed >> 32 == key >> 32);
        found.extend(here.map(|filed| *filed as u32));
    }

    /// Memory that the index occupies, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.filed) + size_of_val(&*self.shelves)
    }
}

/// Returns the position where the keys of each shelf begin when all are in order, and at the end
/// the number of keys.
fn shelves(keys: &[u64]) -> Vec<u32> {
    let mut shelves = vec![0; (1 << SHELF_BITS) + 1];
    for key in keys {
        shelves[shelf(*key) + 1] += 1;
    }
    for at in 1..shelves.len() {
        shelves[at] += shelves[at - 1];
    }
    shelves
}

fn shelf(key: u64) -> usize {
    (key >> (u64::BITS - SHELF_BITS)) as usize
}

/// The upper half of a filed key: a checksum of the string that deletions leave.
fn key(left: &[u8]) -> u64 {
    u64::from(crc32fast::hash(left)) << 32
}

/// Calls `each` with every string that up to `deletions` (1 or 2) leave of the first `PREFIX` bytes
/// of a text, and with these bytes themselves.
fn each_deletion<const PREFIX: usize>(text: &str, deletions: u8, mut each: impl FnMut(&[u8])) {
    let prefix = &text.as_bytes()[..text.len().min(PREFIX)];
    each(prefix);
    let mut once = [0; PREFIX];
    for first in 0..prefix.len() {
        let once = without(prefix, first, &mut once);
        each(once);
        if deletions > 1 {
            let mut twice = [0; PREFIX];
            for second in first..once.len() {
                each(without(once, second, &mut twice));
            }
        }
    }
}

fn without<'a, const PREFIX: usize>(text: &[u8], at: usize, into: &'a mut [u8; PREFIX]) -> &'a [u8] {
    let length = text.len().saturating_sub(1);
    into[..at].copy_from_slice(&text[..at]);
    into[at..length].copy_from_slice(&text[at + 1..]);
    &into[..length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every word within two edits is found, wherever the edits are.
        #[test]
        fn nothing_near_is_missed(term in "[a-e0-2]{6,12}", edits in prop::collection::vec((0usize..3, 0usize..14, b'a'..b'f'), 0..3)) {
            let mut word = term.clone().into_bytes();
            for (kind, at, letter) in edits {
                let at = at % word.len();
                match kind {
                    0 => word[at] = letter,
                    1 => word.insert(at, letter),
                    _ => drop(word.remove(at)),
                }
            }
            let word = String::from_utf8(word).expect("ASCII");
            let typos = Typos::new([term.as_str()].into_iter());
            prop_assert_eq!(typos.near(&word, 2), [0]);
        }

        #[test]
        fn a_whole_is_met_within_one_edit(text in "[a-c0-1]{1,40}", at in 0usize..40, letter in "[a-c]") {
            let typos = Typos::of_wholes([text.as_str()].into_iter());
            let at = at % (text.len() + 1);
            let inserted = format!("{}{letter}{}", &text[..at], &text[at..]);
            let replaced = format!("{}{letter}{}", &text[..at], text.get(at + 1..).unwrap_or(""));
            let removed = format!("{}{}", &text[..at], text.get(at + 1..).unwrap_or(""));
            for word in [inserted, replaced, removed] {
                prop_assert_eq!(typos.near_whole(&word), [0], "{}", word);
            }
        }
    }
}

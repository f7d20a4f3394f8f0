//! Words within one or two typing mistakes of another, by symmetric deletion: whatever two words that are so near have in
//! common is left of both when as many letters are deleted. Every term is filed under what deletions leave of it; a
//! look-up tries what they leave of the word, and measures only what it meets there. Its cost depends on the
//! word, hardly on how many terms there are.
//!
//! Why: `docs/decisions/catalog-and-search.md` (Search: symmetric deletion for mistyped words).

/// Beginnings that are filed: two deletions of so many letters are 37 strings, and the rest is compared anyway.
const PREFIX_BYTES: usize = 8;
/// Longest text that is filed whole.
const WHOLE_BYTES_MAX: usize = 48;
/// Shorter terms are not filed under what two deletions leave: that says nothing.
const TWO_EDITS_BYTES_MIN: usize = 5;
/// Terms of one string that are measured.
const FILED_MAX: usize = 96;

/// The upper bits of a key say nearly where it is filed: a CRC spreads evenly.
const SHELF_BITS: u32 = 16;

#[derive(Default)]
pub struct Typos {
    /// CRC-32 of the string in the upper half, number of the term in the lower, in order.
    filed: Vec<u64>,
    /// Where keys with each value of their upper bits begin, and the end of the last.
    shelves: Vec<u32>,
}

impl Typos {
    /// `terms` in the order of their numbers. Those with other letters than ASCII are left out.
    pub fn new<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut filed = Vec::new();
        for (number, term) in terms.enumerate().filter(|(_, term)| term.is_ascii()) {
            let deletions = if term.len() >= TWO_EDITS_BYTES_MIN { 2 } else { 1 };
            each_deletion::<PREFIX_BYTES>(term, deletions, |left| filed.push(key(left) | number as u64));
        }
        Self::filed(filed)
    }

    /// Whole texts, for [`Typos::near_whole`]: many of these begin alike.
    pub fn of_wholes<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut filed = Vec::new();
        let fits = |text: &str| text.is_ascii() && text.len() <= WHOLE_BYTES_MAX;
        for (number, text) in texts.enumerate().filter(|(_, text)| fits(text)) {
            each_deletion::<WHOLE_BYTES_MAX>(text, 1, |left| filed.push(key(left) | number as u64));
        }
        Self::filed(filed)
    }

    /// `keys` in any order.
    fn filed(keys: Vec<u64>) -> Self {
        // Each shelf is sorted by itself, because a few keys at a time are sorted sooner than all at once.
        let mut from = shelves(&keys);
        let mut filed = vec![0; keys.len()];
        for key in keys {
            let at = &mut from[shelf(key)];
            filed[*at as usize] = key;
            *at += 1;
        }
        // Each place is now the end of its shelf.
        let mut first = 0;
        for end in &from[..1 << SHELF_BITS] {
            filed[first..*end as usize].sort_unstable();
            first = *end as usize;
        }
        filed.dedup();
        filed.shrink_to_fit();
        Self { shelves: shelves(&filed), filed }
    }

    /// Numbers of whole texts that may be within one edit; the caller measures.
    pub fn near_whole(&self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if text.len() <= WHOLE_BYTES_MAX {
            each_deletion::<WHOLE_BYTES_MAX>(text, 1, |left| self.look_up(left, &mut found));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Numbers of terms that may be within so many edits (1 or 2); the caller measures.
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

    /// Bytes held.
    pub fn size(&self) -> usize {
        size_of_val(&*self.filed) + size_of_val(&*self.shelves)
    }
}

/// Where the keys of each shelf begin when all are in order, and the end of the last.
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

/// What is left of a text, as the upper half of what is filed.
fn key(left: &[u8]) -> u64 {
    u64::from(crc32fast::hash(left)) << 32
}

/// Everything that up to `deletions` (1 or 2) leave of the first `PREFIX` bytes of a text, these bytes included.
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
        /// Whatever is within two edits is met, wherever the edits are.
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

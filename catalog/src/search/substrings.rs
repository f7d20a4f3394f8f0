//! Finds the places where a piece of text stands inside of names: a suffix array, so that a look-up
//! is a binary search.

/// Minimum length of a piece, in bytes. Shorter ones stand in too many names to say anything.
pub const LENGTH_MIN: usize = 3;

/// Maximum number of occurrences that are read.
const OCCURRENCES_MAX: usize = 256;

/// A suffix array over many names.
pub struct Substrings {
    /// All names, each ended by a zero byte.
    text: Vec<u8>,
    /// First byte of each name.
    starts: Vec<u32>,
    /// Positions in the text, in the order of the text from each position on.
    suffixes: Vec<u32>,
}

impl Substrings {
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut starts) = (Vec::new(), Vec::new());
        for name in names {
            starts.push(text.len() as u32);
            text.extend_from_slice(name.as_bytes());
            text.push(0);
        }
        let mut suffixes: Vec<u32> = (0..text.len() as u32).filter(|at| text[*at as usize] != 0).collect();
        suffixes.sort_unstable_by(|a, b| rest(&text, *a).cmp(rest(&text, *b)));
        Self { text, starts, suffixes }
    }

    /// Returns the names (by number) that contain the piece, and the byte where it begins.
    pub fn holding(&self, piece: &str) -> impl Iterator<Item = (u32, usize)> {
        let piece = if piece.len() < LENGTH_MIN { "\u{1}" } else { piece }.as_bytes();
        let first = self.suffixes.partition_point(|at| rest(&self.text, *at) < piece);
        let found = self.suffixes[first..].partition_point(|at| rest(&self.text, *at).starts_with(piece));
        self.suffixes[first..first + found.min(OCCURRENCES_MAX)].iter().map(|at| {
            let name = self.starts.partition_point(|start| start <= at) - 1;
            (name as u32, (at - self.starts[name]) as usize)
        })
    }

    /// Memory that the index occupies, in bytes.
    pub fn size(&self) -> usize {
        self.text.len() + 4 * (self.starts.len() + self.suffixes.len())
    }
}

/// The name from one of its bytes to its end.
fn rest(text: &[u8], at: u32) -> &[u8] {
    let from = &text[at as usize..];
    &from[..from.iter().position(|byte| *byte == 0).unwrap_or(from.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_wherever_they_stand() {
        let substrings = Substrings::new(["mustang", "mustangmache", "tango", "ka"].into_iter());
        let holding = |piece: &str| {
            let mut found: Vec<_> = substrings.holding(piece).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(holding("tang"), [(0, 3), (1, 3), (2, 0)]);
        assert_eq!(holding("mache"), [(1, 7)]);
        assert_eq!(holding("tangk"), []);
        assert_eq!(holding("ka"), [], "too short to say anything");
    }
}

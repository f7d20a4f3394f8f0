//! Nouns with numbers: one credit, two credits.

pub use cyclorama_core::output::count;

/// Returns the noun for a number: `one` for 1, `many` for every other.
pub fn noun<'n>(number: i64, one: &'n str, many: &'n str) -> &'n str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many() {
        assert_eq!((noun(1, "address", "addresses"), noun(11, "address", "addresses")), ("address", "addresses"));
    }
}

//! One credit, two credits.

/// The noun for a number: `one` for 1, `many` for every other.
pub fn noun<'n>(number: i64, one: &'n str, many: &'n str) -> &'n str {
    if number == 1 { one } else { many }
}

/// `1 credit`, `20 credits`, `0 pictures`: for nouns that take an s.
pub fn count(number: i64, one: &str) -> String {
    format!("{number} {one}{}", noun(number, "", "s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many() {
        for (number, expected) in [(0, "0 credits"), (1, "1 credit"), (2, "2 credits"), (-1, "-1 credits")] {
            assert_eq!(count(number, "credit"), expected);
        }
        assert_eq!((noun(1, "address", "addresses"), noun(11, "address", "addresses")), ("address", "addresses"));
    }
}

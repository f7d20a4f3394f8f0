//! The code that a person types from a device into a browser: two groups of four characters,
//! without characters that can be mistaken for others or form words.

use rand::RngExt;

/// No vowels, and none of I, L, O, 0 and 1: RFC 8628, section 6.1.
const LETTERS: &[u8; 19] = b"BCDFGHJKMNPQRSTVWXZ";
const GROUP: usize = 4;

/// A code in upper case, without the hyphen. There are 19^8 codes, which cannot be guessed in ten
/// minutes under our limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCode(String);

impl UserCode {
    pub fn generate(rng: &mut impl rand::CryptoRng) -> Self {
        UserCode((0..2 * GROUP).map(|_| LETTERS[rng.random_range(0..LETTERS.len())] as char).collect())
    }

    /// Parses a code as people type it: in any case, with or without the hyphen, with spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: String =
            text.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_uppercase()).collect();
        let valid = letters.len() == 2 * GROUP && letters.bytes().all(|letter| LETTERS.contains(&letter));
        valid.then_some(UserCode(letters))
    }

    /// Returns the stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for UserCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (first, second) = self.0.split_at(GROUP);
        write!(f, "{first}-{second}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    proptest! {
        #[test]
        fn what_is_shown_is_read_back_however_it_is_typed(seed: u64, spaces in 0usize..4) {
            let code = UserCode::generate(&mut StdRng::seed_from_u64(seed));
            let shown = code.to_string();
            prop_assert_eq!(shown.len(), 9);
            prop_assert_eq!(UserCode::parse(&shown), Some(code.clone()));
            let typed = format!("{}{}", " ".repeat(spaces), shown.to_lowercase().replace('-', ""));
            prop_assert_eq!(UserCode::parse(&typed), Some(code));
        }

        #[test]
        fn anything_else_is_no_code(text in "\\PC{0,12}") {
            if let Some(code) = UserCode::parse(&text) {
                prop_assert_eq!(UserCode::parse(&code.to_string()), Some(code));
            }
        }
    }

    #[test]
    fn what_is_no_code() {
        for text in ["", "BCDF", "BCDF-GHJ", "BCDF-GHJKM", "BCDA-GHJK", "BCD0-GHJK", "BCDF_GHJK"] {
            assert_eq!(UserCode::parse(text), None, "{text}");
        }
    }
}

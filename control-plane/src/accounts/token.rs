//! The text form of keys and tokens: a prefix that leak scanners know, a random part, and a
//! checksum, so that a mistyped or invented one is refused without querying the database.
//!
//! The plain key can be shown, once; only its hash can be stored. They are two types, and
//! `Debug` prints neither.

use rand::RngExt;
use sha2::{Digest, Sha256};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 32 characters of 62 are 190 bits, which cannot be guessed.
const RANDOM_CHARS: usize = 32;
/// 62^6 is above 2^32, so that six characters hold a CRC-32.
const CHECKSUM_CHARS: usize = 6;

/// A key in plain text, as its holder has it.
#[derive(Clone, PartialEq, Eq)]
pub struct PlainKey(String);

/// SHA-256 of a plain key, in lower-case hex: the only form that is stored. A plain hash is enough,
/// because keys are random.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyHash(String);

impl PlainKey {
    pub fn generate(prefix: &str, rng: &mut impl rand::CryptoRng) -> Self {
        let mut text = prefix.to_owned();
        for _ in 0..RANDOM_CHARS {
            text.push(ALPHABET[rng.random_range(0..ALPHABET.len())] as char);
        }
        text.push_str(&checksum(&text));
        PlainKey(text)
    }

    /// Returns `None` for any text that was not made by
    /// [`generate`](Self::generate) with this prefix.
    pub fn parse(prefix: &str, text: &str) -> Option<Self> {
        let body = text.strip_prefix(prefix)?;
        if body.len() != RANDOM_CHARS + CHECKSUM_CHARS || !body.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return None;
        }
        let (signed, sum) = text.split_at(prefix.len() + RANDOM_CHARS);
        (checksum(signed) == sum).then(|| PlainKey(text.to_owned()))
    }

    pub fn hash(&self) -> KeyHash {
        KeyHash(hex::encode(Sha256::digest(self.0.as_bytes())))
    }

    /// Returns the text, for the one answer that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl KeyHash {
    /// Wraps a hash that was read from the database.
    pub fn from_stored(hex: String) -> Self {
        KeyHash(hex)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for PlainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlainKey")
    }
}

impl std::fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHash")
    }
}

/// Returns the CRC-32 of a text in base 62, most significant digit first.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes()) as usize;
    let mut digits = [0u8; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % 62];
        rest /= 62;
    }
    digits.iter().map(|&b| b as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    #[test]
    fn keys_parse_back_and_every_single_mistake_is_refused() {
        let key = PlainKey::generate("cyc_", &mut StdRng::seed_from_u64(7));
        let text = key.reveal().to_owned();
        assert_eq!(text.len(), 4 + 38);
        assert!(PlainKey::parse("cyc_", &text).is_some_and(|again| again == key));
        assert!(PlainKey::parse("cycn_", &text).is_none());
        for at in 4..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[at] = if wrong[at] == b'a' { b'b' } else { b'a' };
            let wrong = String::from_utf8(wrong).expect("ascii");
            assert!(PlainKey::parse("cyc_", &wrong).is_none(), "{at}");
        }
        for wrong in ["", "cyc_", &text[..text.len() - 1], &format!("{text}0"), &text.to_lowercase()] {
            assert!(PlainKey::parse("cyc_", wrong).is_none());
        }
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        let key = PlainKey::generate("cyc_", &mut StdRng::seed_from_u64(7));
        assert_eq!(format!("{key:?} {:?}", key.hash()), "PlainKey KeyHash");
    }
}

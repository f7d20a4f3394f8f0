//! The seventeen characters of a VIN: which are allowed, the check digit, and repairs of a mistyped
//! one.

use crate::VinError;

/// Number of characters of a complete VIN (ISO 3779).
pub const LENGTH: usize = 17;
/// Minimum length of a beginning with a model year beside it: maker and description.
const LENGTH_MIN_WITH_YEAR: usize = 8;
/// Minimum length of a beginning without one: maker, description, year and plant.
const LENGTH_MIN: usize = 11;
/// Place of the check digit, from 0.
const CHECK: usize = 8;
/// Weights of the check digit: 49 CFR 565.15, table IV.
const WEIGHTS: [u32; LENGTH] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/// Letters that no VIN has, because they are mistaken for digits, with the digit that each is
/// mistaken for.
const NEVER: [(u8, u8); 3] = [(b'I', b'1'), (b'O', b'0'), (b'Q', b'0')];
/// Characters that people and text recognition mistake for each other.
const ALIKE: [(u8, u8); 4] = [(b'S', b'5'), (b'B', b'8'), (b'Z', b'2'), (b'G', b'6')];
/// Stands for an unknown character.
pub const UNKNOWN: u8 = b'*';

/// A VIN or the beginning of one. It can reveal where a vehicle is and who owns it, so nothing here
/// prints it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Number {
    characters: [u8; LENGTH],
    length: usize,
}

impl Number {
    /// Reads capital and small letters; spaces and hyphens are skipped. Letters that no VIN has are
    /// kept, for `mistaken`.
    pub fn read(text: &str, with_year: bool) -> Result<Self, VinError> {
        let mut number = Self { characters: [UNKNOWN; LENGTH], length: 0 };
        let mut found = 0;
        for character in text.chars().filter(|character| !matches!(character, ' ' | '-' | '\t' | '\u{a0}')) {
            found += 1;
            let Some(place) = number.characters.get_mut(found - 1) else { continue };
            let known = u8::try_from(character).ok().map(|byte| byte.to_ascii_uppercase());
            *place = known
                .filter(|byte| byte.is_ascii_alphanumeric() || *byte == UNKNOWN)
                .ok_or(VinError::Character { character, position: found })?;
        }
        let needed = if with_year { LENGTH_MIN_WITH_YEAR } else { LENGTH_MIN };
        if found < needed {
            return Err(VinError::TooShort { found, needed });
        }
        if found > LENGTH {
            return Err(VinError::TooLong { found });
        }
        number.length = found;
        Ok(number)
    }

    /// The character at a place, from 0; `UNKNOWN` beyond the end.
    pub fn at(&self, place: usize) -> u8 {
        self.characters.get(place).copied().unwrap_or(UNKNOWN)
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn is_whole(&self) -> bool {
        self.length == LENGTH && !self.characters.contains(&UNKNOWN)
    }

    /// The world manufacturer identifier.
    pub fn maker(&self) -> String {
        self.characters[..3].iter().map(|&byte| char::from(byte)).collect()
    }

    /// The code of a maker of few vehicles, whose third character is a 9: the identifier with the
    /// three characters that tell such makers apart.
    pub fn small_maker(&self) -> Option<String> {
        let all = self.characters[..3].iter().chain(&self.characters[11..14]);
        (self.characters[2] == b'9' && self.length >= 14).then(|| all.map(|&byte| char::from(byte)).collect())
    }

    /// The first letter that no VIN has, and its position from 1.
    pub fn mistaken(&self) -> Option<(char, usize)> {
        let never = |byte: &u8| NEVER.iter().any(|(letter, _)| letter == byte);
        let place = self.characters.iter().position(never)?;
        Some((char::from(self.characters[place]), place + 1))
    }

    /// Replaces the letters that no VIN has by digits.
    pub fn without_mistaken(mut self) -> Self {
        for byte in &mut self.characters {
            if let Some((_, digit)) = NEVER.iter().find(|(letter, _)| letter == byte) {
                *byte = *digit;
            }
        }
        self
    }

    /// True if makers of the VIN's region put a check digit at position 9: North America (1 to 5,
    /// and 7F to 70, which belong to the United States too) by 49 CFR 565 and the corresponding
    /// rules of Canada and Mexico, and China (L) by GB 16735. Elsewhere the maker uses the position
    /// freely.
    pub fn region_has_check_digit(&self) -> bool {
        match self.characters[0] {
            b'1'..=b'5' | b'L' => true,
            b'7' => matches!(self.characters[1], b'F'..=b'Z' | b'0'..=b'9'),
            _ => false,
        }
    }

    /// True if the check digit is correct. `None` where there is none to check: in a part of a VIN,
    /// or with unknown characters.
    pub fn check_digit_is_right(&self) -> Option<bool> {
        self.is_whole().then(|| check_digit(&self.characters) == Some(self.characters[CHECK]))
    }

    /// Returns the VINs that this one may have been meant to be: one look-alike replaced by the
    /// other, or two neighbours swapped, with a correct check digit. There are about fifty at most.
    pub fn repairs(&self) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut try_it = |characters: [u8; LENGTH]| {
            let number = Self { characters, ..*self };
            if number.check_digit_is_right() == Some(true) && !found.contains(&number) {
                found.push(number);
            }
        };
        for place in 0..LENGTH {
            for (letter, digit) in ALIKE {
                let mut characters = self.characters;
                let other = match characters[place] {
                    byte if byte == letter => digit,
                    byte if byte == digit => letter,
                    _ => continue,
                };
                characters[place] = other;
                try_it(characters);
            }
            if place > 0 && self.characters[place] != self.characters[place - 1] {
                let mut characters = self.characters;
                characters.swap(place, place - 1);
                try_it(characters);
            }
        }
        found
    }

    /// True if the check digit would be correct with another character at a place.
    pub fn is_right_with(&self, place: usize, character: u8) -> bool {
        let mut other = *self;
        if let Some(byte) = other.characters.get_mut(place) {
            *byte = character;
        }
        other.check_digit_is_right() == Some(true)
    }

    /// The characters, for a suggestion that only the requester gets.
    pub fn text(&self) -> String {
        self.characters[..self.length].iter().map(|&byte| char::from(byte)).collect()
    }
}

/// Computes position 9: `0` to `9` or `X`. `None` for characters that no VIN has.
fn check_digit(characters: &[u8; LENGTH]) -> Option<u8> {
    let mut sum = 0;
    for (character, weight) in characters.iter().zip(WEIGHTS) {
        sum += value(*character)? * weight;
    }
    Some(match sum % 11 {
        10 => b'X',
        digit => b'0' + u8::try_from(digit).ok()?,
    })
}

/// The value of a character: 49 CFR 565.15, table III.
fn value(character: u8) -> Option<u32> {
    Some(match character {
        b'0'..=b'9' => u32::from(character - b'0'),
        b'A'..=b'H' => u32::from(character - b'A') + 1,
        b'J'..=b'N' => u32::from(character - b'J') + 1,
        b'P' => 7,
        b'R' => 9,
        b'S'..=b'Z' => u32::from(character - b'S') + 2,
        _ => return None,
    })
}

/// True if a text of a list looks like a VIN: seventeen letters and digits besides spaces and
/// hyphens, both kinds among them, with at most two letters that no VIN has, and a digit among the
/// last four.
pub fn looks_like_vin(text: &str) -> bool {
    let mut bytes = [0_u8; LENGTH];
    let mut length = 0;
    for byte in text.bytes().filter(|byte| !matches!(byte, b' ' | b'-')) {
        let Some(place) = bytes.get_mut(length) else { return false };
        *place = byte.to_ascii_uppercase();
        length += 1;
    }
    let never = bytes.iter().filter(|byte| NEVER.iter().any(|(letter, _)| letter == *byte)).count();
    length == LENGTH
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && bytes[LENGTH - 4..].iter().any(u8::is_ascii_digit)
        && never <= 2
}

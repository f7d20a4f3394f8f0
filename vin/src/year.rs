//! Reads the model year from position 10. Its codes repeat every thirty years.

use crate::number::Number;

/// Codes of 1980 to 2009, and of 2010 to 2039.
const CODES: &[u8; 30] = b"ABCDEFGHJKLMNPRSTVWXY123456789";
const FIRST: u16 = 1980;
const CYCLE: u16 = 30;
/// Place, from 0, of the code of the year.
const YEAR: usize = 9;
/// Place, from 0, of the character that tells the cycle.
const CYCLE_TELLER: usize = 6;

/// The years that a VIN may mean: the likelier one, and the other one where nothing tells the
/// cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Years {
    pub likely: Option<u16>,
    pub other: Option<u16>,
}

impl Years {
    const NONE: Self = Self { likely: None, other: None };

    /// Reads the year by the American rule (49 CFR 565.15): cars, MPVs and light trucks tell the
    /// cycle by position 7, which is a letter from 2010 on. `covers` returns whether the maker has
    /// a scheme for a year. A maker that has none for this year but one for the year of the other
    /// cycle means the other.
    pub fn american(number: &Number, light: bool, latest: u16, covers: impl Fn(u16) -> bool) -> Self {
        let Some(code) = code(number) else { return Self::NONE };
        let newer = FIRST + CYCLE + code;
        let teller = number.at(CYCLE_TELLER);
        let older_by_rule = (light && teller.is_ascii_digit()) || newer > latest;
        if !(older_by_rule || light && teller.is_ascii_uppercase()) {
            return Self { likely: Some(newer), other: Some(newer - CYCLE) };
        }
        let (year, other) = if older_by_rule { (newer - CYCLE, newer) } else { (newer, newer - CYCLE) };
        let other_fits = other <= latest && covers(other) && !covers(year);
        Self { likely: Some(if other_fits { other } else { year }), other: None }
    }

    /// Reads the year of a maker that encodes it but follows no rule for the cycle.
    pub fn elsewhere(number: &Number, latest: u16) -> Self {
        match code(number).map(|code| FIRST + code) {
            None => Self::NONE,
            Some(older) if older + CYCLE > latest => Self { likely: Some(older), other: None },
            Some(older) => Self { likely: Some(older + CYCLE), other: Some(older) },
        }
    }

    /// Applies the year that the caller knows. It is used where the VIN gives none, gives this year
    /// as one of two, or where the cycle came from a rule.
    pub fn hinted(self, hint: Option<u16>) -> Self {
        match (hint, self.likely) {
            (Some(hint), None) => Self { likely: Some(hint), other: None },
            (Some(hint), Some(likely)) if hint % CYCLE == likely % CYCLE => Self { likely: Some(hint), other: None },
            _ => self,
        }
    }
}

/// The code as the number of years after 1980 in the first cycle.
fn code(number: &Number) -> Option<u16> {
    let place = CODES.iter().position(|&code| code == number.at(YEAR))?;
    u16::try_from(place).ok()
}

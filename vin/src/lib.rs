//! Reads vehicle identification numbers (VINs) without a network: make, model, model year, body,
//! series, trim and country of the plant.
//!
//! [`Decoder::embedded`] unpacks the tables once. [`Decoder::decode`] is a pure function of the
//! tables and its arguments. `docs/vins.md` says which parts are read, which are not, and where the
//! tables come from. A VIN can reveal where a vehicle is and who owns it. Therefore nothing that
//! this crate returns prints one, except a [`Suggestion`] by `as_str`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands"))]

mod body;
mod makers;
mod number;
mod score;
mod tables;
#[cfg(test)]
mod tests;
mod vpic;
mod year;

pub use number::looks_like_vin;

use makers::Elsewhere;
use number::Number;
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tables::Maker;
use vpic::{Reading, Vpic};
use year::Years;

/// The tables, unpacked. They take about 15 MB of memory, so make one at the first use and keep it.
pub struct Decoder {
    vpic: Vpic,
    elsewhere: Vec<Elsewhere>,
}

/// The parts that a VIN gives, without the VIN itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VinParts {
    /// As vPIC writes it, such as `Honda` or `BMW`.
    pub make: String,
    pub model: Option<String>,
    pub year: Option<u16>,
    /// The other year that position 10 may mean, thirty years away, where no rule tells which;
    /// `year` is then the one that fits better.
    pub other_year: Option<u16>,
    /// A word of the catalog's body classes.
    pub body: Option<&'static str>,
    pub series: Option<String>,
    pub trim: Option<String>,
    pub plant_country: Option<String>,
    pub coverage: Coverage,
    pub confidence: Confidence,
}

impl VinParts {
    /// Names of the parts that were read, in the order of the fields above.
    pub fn parts(&self) -> Vec<&'static str> {
        let parts = [
            ("make", true),
            ("model", self.model.is_some()),
            ("year", self.year.is_some()),
            ("body", self.body.is_some()),
            ("series", self.series.is_some()),
            ("trim", self.trim.is_some()),
            ("plant_country", self.plant_country.is_some()),
        ];
        parts.into_iter().filter(|(_, is_read)| *is_read).map(|(name, _)| name).collect()
    }
}

/// The part of the VIN that the tables explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// vPIC has the maker's scheme for that year.
    Scheme,
    /// vPIC has no scheme that fits. The make comes from the maker's identifier, and the year from
    /// position 10 where that maker encodes one.
    MakeAndYear,
}

/// The certainty of an answer: whether it may be used without a check by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The model or the year is missing.
    Low,
    /// The model is read, but the VIN is only a part, has no correct check digit, or may be of
    /// another year.
    Medium,
    /// A complete VIN with a correct check digit, one model and one year.
    High,
}

/// A VIN that was probably meant. Only `as_str` shows it, so that an error that holds one may be
/// printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Suggestion(String);

impl Suggestion {
    /// The VIN, for the answer to the requester and nobody else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Suggestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Suggestion(hidden)")
    }
}

/// The reason why a VIN was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VinError {
    #[error("{found} characters are too few for a VIN: at least {needed} are needed (8 with a model year, 11 without)")]
    TooShort { found: usize, needed: usize },
    #[error("{found} characters are too many for a VIN, which has 17")]
    TooLong { found: usize },
    #[error("{character:?} at position {position} is neither a letter nor a digit")]
    Character { character: char, position: usize },
    /// The letter is I, O or Q.
    #[error("a VIN never has the letter {letter} (position {position}), because it is taken for a digit")]
    Letter { letter: char, position: usize, suggestion: Option<Suggestion> },
    #[error("the check digit at position 9 is not that of the other characters: one of them is mistyped")]
    CheckDigit { suggestion: Option<Suggestion> },
    #[error("no maker is known by the characters {maker}")]
    UnknownMaker { maker: String },
    #[error("the characters {maker} are of several makes, and the rest does not tell which: {}", makes.join(", "))]
    SeveralMakes { maker: String, makes: Vec<String> },
    #[error("the tables in {file} cannot be read: {reason}")]
    Data { file: String, reason: String },
}

/// The knowledge of the year beside the VIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YearLimits {
    /// The model year, if the caller knows it.
    pub hint: Option<u16>,
    /// The last possible model year: next year's, by the caller's clock.
    pub latest: u16,
}

/// Maximum number of makes that an error names.
const MAKES_NAMED: usize = 8;

impl Decoder {
    /// Unpacks the tables that are linked in.
    pub fn embedded() -> Result<Self, VinError> {
        Self::of("vpic.bin", include_bytes!("../data/vpic.bin"))
    }

    /// Unpacks the tables of a file of the same format, such as one of a later month. Returns
    /// `VinError::Data` if it cannot be read.
    pub fn load(file: &Path) -> Result<Self, VinError> {
        let name = file.display().to_string();
        let packed =
            std::fs::read(file).map_err(|error| VinError::Data { file: name.clone(), reason: error.to_string() })?;
        Self::of(&name, &packed)
    }

    fn of(file: &str, packed: &[u8]) -> Result<Self, VinError> {
        Ok(Self { vpic: Vpic::unpack(file, packed)?, elsewhere: makers::read() })
    }

    /// Year and month of vPIC's tables, such as `2026_10`.
    pub fn month(&self) -> &str {
        self.vpic.month()
    }

    /// Memory that the tables occupy, in bytes.
    pub fn size(&self) -> usize {
        self.vpic.size()
    }

    /// Reads a complete VIN, or its beginning: 11 characters, or 8 with a model year. `*` stands
    /// for an unknown character.
    pub fn decode(&self, text: &str, years: YearLimits) -> Result<VinParts, VinError> {
        let number = Number::read(text, years.hint.is_some())?;
        if let Some((letter, position)) = number.mistaken() {
            let meant = number.without_mistaken();
            let is_right = !meant.region_has_check_digit() || meant.check_digit_is_right() != Some(false);
            let suggestion = (is_right && self.read(&meant, years).is_ok()).then(|| Suggestion(meant.text()));
            return Err(VinError::Letter { letter, position, suggestion });
        }
        if number.region_has_check_digit() && number.check_digit_is_right() == Some(false) {
            return Err(VinError::CheckDigit { suggestion: self.only_repair(&number, years) });
        }
        self.read(&number, years)
    }

    /// Returns the one VIN that this one may have been meant to be. A repair counts only if vPIC
    /// has a scheme for it and the region of the maker stays the same.
    fn only_repair(&self, number: &Number, years: YearLimits) -> Option<Suggestion> {
        let repairs = number.repairs();
        let mut readable = repairs.iter().filter(|repair| {
            repair.region_has_check_digit()
                && self.read(repair, years).is_ok_and(|decoded| decoded.coverage == Coverage::Scheme)
        });
        match (readable.next(), readable.next()) {
            (Some(only), None) => Some(Suggestion(only.text())),
            _ => None,
        }
    }

    fn read(&self, number: &Number, limits: YearLimits) -> Result<VinParts, VinError> {
        let elsewhere = makers::find(&self.elsewhere, number);
        let Some(maker) = self.vpic.maker(number) else {
            let unknown = || VinError::UnknownMaker { maker: number.maker() };
            return elsewhere.map(|maker| of_elsewhere(number, maker, limits)).ok_or_else(unknown);
        };
        let (reading, other_year) = self.reading(number, maker, elsewhere, limits);
        let make = reading.make.or_else(|| elsewhere.map(|maker| maker.make));
        let make = make.ok_or_else(|| self.undecided(number, maker))?.to_owned();
        let is_checked = number.check_digit_is_right() == Some(true);
        let confidence = match (reading.model, reading.year) {
            (Some(_), Some(_)) if is_checked && other_year.is_none() => Confidence::High,
            (Some(_), Some(_)) => Confidence::Medium,
            _ => Confidence::Low,
        };
        Ok(VinParts {
            make,
            coverage: if reading.model.is_some() { Coverage::Scheme } else { Coverage::MakeAndYear },
            model: reading.model.map(str::to_owned),
            year: reading.year,
            other_year,
            body: reading.body,
            series: reading.series.map(str::to_owned),
            trim: reading.trim.map(str::to_owned),
            plant_country: reading.plant_country.map(str::to_owned),
            confidence,
        })
    }

    /// Reads the VIN in the year that it means, and returns the other year where nothing tells the
    /// two apart.
    fn reading<'a>(
        &'a self,
        number: &Number,
        maker: &'a Maker,
        elsewhere: Option<&Elsewhere>,
        limits: YearLimits,
    ) -> (Reading<'a>, Option<u16>) {
        // vPIC's schemes are for vehicles made for the United States, all of which have a check
        // digit. A VIN without a correct one is of another market, where position 7 says nothing
        // about the year, and position 10 does for some makers only.
        let is_american =
            number.region_has_check_digit() || number.check_digit_is_right() == Some(true) || !number.is_whole();
        let covers = |year| self.vpic.covers(maker, year);
        let years = match elsewhere {
            _ if is_american => Years::american(number, maker.light, limits.latest, covers),
            Some(maker) if maker.tells_year => Years::elsewhere(number, limits.latest),
            _ => Years { likely: None, other: None },
        };
        let years = years.hinted(limits.hint.filter(|hint| *hint <= limits.latest));
        if years.likely.is_none() {
            return (self.without_a_year(number, maker), None);
        }
        let likely = self.vpic.read(number, maker, years.likely);
        let Some(other_year) = years.other else { return (likely, None) };
        let other = self.vpic.read(number, maker, Some(other_year));
        if self.vpic.score(number, maker, &other) > self.vpic.score(number, maker, &likely) {
            return (other, likely.model.is_some().then_some(likely.year).flatten());
        }
        let is_open = other.model.is_some() || likely.model.is_none();
        (likely, is_open.then_some(other_year))
    }

    /// Reads a VIN whose year is not known. A model from the schemes of all years together would be
    /// a guess, so only the make is used, and a body that all of the maker's vehicles have.
    fn without_a_year<'a>(&'a self, number: &Number, maker: &'a Maker) -> Reading<'a> {
        let all = self.vpic.read(number, maker, None);
        Reading { make: all.make, body: body::of_vehicle_type(maker.vehicle_type), ..Reading::default() }
    }

    fn undecided(&self, number: &Number, maker: &Maker) -> VinError {
        let makes: Vec<String> = self.vpic.makes(maker).take(MAKES_NAMED).map(str::to_owned).collect();
        let code = number.maker();
        if makes.is_empty() {
            VinError::UnknownMaker { maker: code }
        } else {
            VinError::SeveralMakes { maker: code, makes }
        }
    }
}

/// Reads make and year of a VIN whose maker vPIC does not have.
fn of_elsewhere(number: &Number, maker: &Elsewhere, limits: YearLimits) -> VinParts {
    let none = Years { likely: None, other: None };
    let years = if maker.tells_year { Years::elsewhere(number, limits.latest) } else { none };
    let years = years.hinted(limits.hint.filter(|hint| *hint <= limits.latest));
    VinParts {
        make: maker.make.to_owned(),
        model: None,
        year: years.likely,
        other_year: years.other,
        body: None,
        series: None,
        trim: None,
        plant_country: None,
        coverage: Coverage::MakeAndYear,
        confidence: Confidence::Low,
    }
}

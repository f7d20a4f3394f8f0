//! Reads vehicle identification numbers (VINs) without a network: make, model, model year, body, series, trim and country of the plant.
//!
//! [`Decoder::embedded`] unpacks the tables once; [`Decoder::decode`] is a pure function of them and of what it is given. What is read,
//! what
//! is not, and where the tables come from is in `docs/vins.md`. A number says where a vehicle is and whose it is: nothing that this crate
//! gives prints it, except for a [`Suggestion`] that is asked for its text.

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

/// The tables, ready to be asked. Some 15 MB of memory: whoever holds one makes it at the first use, and once.
pub struct Decoder {
    vpic: Vpic,
    elsewhere: Vec<Elsewhere>,
}

/// What a number tells. Never the number itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decoded {
    /// As vPIC writes it: `Honda`, `BMW`.
    pub make: String,
    pub model: Option<String>,
    pub year: Option<u16>,
    /// The other year that position 10 may mean, thirty away, where no rule tells which: `year` is the one that fits better.
    pub other_year: Option<u16>,
    /// In the words of the catalog's body classes.
    pub body: Option<&'static str>,
    pub series: Option<String>,
    pub trim: Option<String>,
    pub plant_country: Option<String>,
    pub coverage: Coverage,
    pub confidence: Confidence,
}

impl Decoded {
    /// Names of the parts that were read, in their order above.
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

/// How much of the number the tables explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// vPIC has the maker's scheme for that year.
    Scheme,
    /// vPIC has no scheme that fits: the maker's identifier tells the make, and position 10 the year where that maker gives one.
    MakeAndYear,
}

/// How far an answer may be used without looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// No model, or no year.
    Low,
    /// The model is read, but the number is only a piece, or has no check digit that is right, or may be of another year.
    Medium,
    /// A whole number whose check digit is right, with one model and one year.
    High,
}

/// A number that was probably meant. Only `as_str` shows it: an error that holds one may be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Suggestion(String);

impl Suggestion {
    /// For the answer to the one who asked, and nobody else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Suggestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Suggestion(hidden)")
    }
}

/// Why a number was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VinError {
    #[error("{found} characters are too few for a VIN: at least {needed} are needed (8 with a model year, 11 without)")]
    TooShort { found: usize, needed: usize },
    #[error("{found} characters are too many for a VIN, which has 17")]
    TooLong { found: usize },
    #[error("{character:?} at position {position} is neither a letter nor a digit")]
    Character { character: char, position: usize },
    /// I, O or Q.
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

/// What is known beside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YearLimits {
    /// The model year, if somebody knows it.
    pub hint: Option<u16>,
    /// The last model year that can be: next year's, by the caller's clock.
    pub latest: u16,
}

/// Makes that an error names at most.
const MAKES_NAMED: usize = 8;

impl Decoder {
    /// From the tables that are linked in.
    pub fn embedded() -> Result<Self, VinError> {
        Self::of("vpic.bin", include_bytes!("../data/vpic.bin"))
    }

    /// From a file of the same form, such as one of a later month.
    pub fn load(file: &Path) -> Result<Self, VinError> {
        let name = file.display().to_string();
        let packed =
            std::fs::read(file).map_err(|error| VinError::Data { file: name.clone(), reason: error.to_string() })?;
        Self::of(&name, &packed)
    }

    fn of(file: &str, packed: &[u8]) -> Result<Self, VinError> {
        Ok(Self { vpic: Vpic::unpack(file, packed)?, elsewhere: makers::read() })
    }

    /// Year and month of vPIC's tables, `2026_10`.
    pub fn month(&self) -> &str {
        self.vpic.month()
    }

    /// Bytes of memory that the tables take.
    pub fn size(&self) -> usize {
        self.vpic.size()
    }

    /// Reads a whole number, or its beginning: 11 characters, or 8 with a model year. `*` stands for a character that is not known.
    pub fn decode(&self, text: &str, years: YearLimits) -> Result<Decoded, VinError> {
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

    /// The one number that this one may have been meant to be. A repair counts that vPIC has a scheme for, without the maker changing
    /// region.
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

    fn read(&self, number: &Number, limits: YearLimits) -> Result<Decoded, VinError> {
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
        Ok(Decoded {
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

    /// What vPIC says in the year that the number means, and the other year where nothing tells them apart.
    fn reading<'a>(
        &'a self,
        number: &Number,
        maker: &'a Maker,
        elsewhere: Option<&Elsewhere>,
        limits: YearLimits,
    ) -> (Reading<'a>, Option<u16>) {
        // vPIC's schemes are those of vehicles made for the United States, all of which have a check digit. A number without one that is
        // right is of another market, where position 7 is no sign of the year, and position 10 of some makers only.
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

    /// Schemes of all years together would be a guess at the model: only the make counts, and a body that the maker's vehicles all have.
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

/// Make and year, of a maker that vPIC does not have.
fn of_elsewhere(number: &Number, maker: &Elsewhere, limits: YearLimits) -> Decoded {
    let none = Years { likely: None, other: None };
    let years = if maker.tells_year { Years::elsewhere(number, limits.latest) } else { none };
    let years = years.hinted(limits.hint.filter(|hint| *hint <= limits.latest));
    Decoded {
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

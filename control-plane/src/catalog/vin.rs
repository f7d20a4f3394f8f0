//! Vehicle identification numbers: the decoder's tables (the crate `cyclorama-vin`), and the
//! catalog's vehicle of a decoded number.

use super::{AskedVehicle, Catalog, Found};
use cyclorama_vin::{Decoder, VinError, VinParts, YearLimits};
use std::sync::OnceLock;

/// The tables of identification numbers, unpacked at the first use.
#[derive(Default)]
pub struct Decoders(OnceLock<Result<Decoder, VinError>>);

impl std::fmt::Debug for Decoders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoders")
    }
}

impl Decoders {
    /// Decodes a vehicle identification number. `latest` is the last possible model year. Fails
    /// with [`VinError`] if the number is not valid.
    pub fn decode(&self, vin: &str, hint: Option<u16>, latest: u16) -> Result<VinParts, VinError> {
        let decoder = self.0.get_or_init(Decoder::embedded).as_ref().map_err(Clone::clone)?;
        decoder.decode(vin, YearLimits { hint, latest })
    }
}

/// Returns the catalog's vehicle of a decoded number, with the body that the number says if the
/// catalog has that body.
pub fn in_catalog(catalog: &Catalog, decoded: &VinParts) -> Option<Found> {
    let (model, year) = decoded.model.as_ref().zip(decoded.year)?;
    let named = AskedVehicle::named(&decoded.make, model, year);
    let body = decoded.body.and_then(|body| body.parse().ok());
    catalog.find_asked(&AskedVehicle { body, ..named.clone() }).or_else(|_| catalog.find_asked(&named)).ok()
}

/// Returns the number that was probably meant, for an error about a wrong one.
pub fn suggestion(error: &VinError) -> Option<&str> {
    match error {
        VinError::CheckDigit { suggestion } | VinError::Letter { suggestion, .. } => {
            suggestion.as_ref().map(|suggestion| suggestion.as_str())
        }
        _ => None,
    }
}

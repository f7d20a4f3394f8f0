//! Vehicle identification numbers: the tables that they are read by (the crate `cyclorama-vin`), and the catalog's vehicle of one.

use super::{AskedVehicle, Catalog, Found};
use cyclorama_vin::{Decoded, Decoder, VinError, YearLimits};
use std::sync::OnceLock;

/// The tables of identification numbers, unpacked when the first one is asked for.
#[derive(Default)]
pub struct Decoders(OnceLock<Result<Decoder, VinError>>);

impl std::fmt::Debug for Decoders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoders")
    }
}

impl Decoders {
    /// `latest`: the last model year that can be.
    pub fn decode(&self, vin: &str, hint: Option<u16>, latest: u16) -> Result<Decoded, VinError> {
        let decoder = self.0.get_or_init(Decoder::embedded).as_ref().map_err(Clone::clone)?;
        decoder.decode(vin, YearLimits { hint, latest })
    }
}

/// The catalog's vehicle of what was decoded: with the body that the number says where the catalog has that.
pub fn in_catalog(catalog: &Catalog, decoded: &Decoded) -> Option<Found> {
    let (model, year) = decoded.model.as_ref().zip(decoded.year)?;
    let named = AskedVehicle::named(&decoded.make, model, year);
    let body = decoded.body.and_then(|body| body.parse().ok());
    catalog.find_asked(&AskedVehicle { body, ..named.clone() }).or_else(|_| catalog.find_asked(&named)).ok()
}

/// The number that was probably meant, for whoever sent the wrong one.
pub fn suggestion(error: &VinError) -> Option<&str> {
    match error {
        VinError::CheckDigit { suggestion } | VinError::Letter { suggestion, .. } => {
            suggestion.as_ref().map(|suggestion| suggestion.as_str())
        }
        _ => None,
    }
}

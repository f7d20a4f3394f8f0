//! Content Credentials: what delivered pictures are signed with. Without it they carry the plain mark of a generated picture alone.

use super::{ConfigError, Source};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Credentials {
    /// Chain in PEM, the signer's own certificate first.
    pub certificate: PathBuf,
    /// Its private key in PEM (PKCS #8).
    pub key: PathBuf,
}

impl Credentials {
    /// `None`: pictures are not signed.
    pub fn read(source: &Source) -> Result<Option<Self>, ConfigError> {
        match (source.text("c2pa_certificate"), source.text("c2pa_key")) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => {
                Ok(Some(Credentials { certificate: PathBuf::from(certificate), key: PathBuf::from(key) }))
            }
            (Some(_), None) => Err(source.rule("c2pa_key", "is needed with CYCLORAMA_C2PA_CERTIFICATE")),
            (None, Some(_)) => Err(source.rule("c2pa_certificate", "is needed with CYCLORAMA_C2PA_KEY")),
        }
    }
}

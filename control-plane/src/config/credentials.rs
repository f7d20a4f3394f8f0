//! Content Credentials: the certificate that signs delivered images. Without it images carry only
//! the plain mark of a generated image.

use super::{ConfigError, SettingsSource};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct CredentialsSettings {
    /// Certificate chain in PEM, the signer's own certificate first.
    pub certificate: PathBuf,
    /// The signer's private key in PEM (PKCS #8).
    pub key: PathBuf,
}

impl CredentialsSettings {
    /// Returns the settings, or `None` if images are not signed.
    pub fn read(source: &SettingsSource) -> Result<Option<Self>, ConfigError> {
        match (source.text("c2pa_certificate"), source.text("c2pa_key")) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => {
                Ok(Some(CredentialsSettings { certificate: PathBuf::from(certificate), key: PathBuf::from(key) }))
            }
            (Some(_), None) => Err(source.rule("c2pa_key", "is needed with CYCLORAMA_C2PA_CERTIFICATE")),
            (None, Some(_)) => Err(source.rule("c2pa_certificate", "is needed with CYCLORAMA_C2PA_KEY")),
        }
    }
}

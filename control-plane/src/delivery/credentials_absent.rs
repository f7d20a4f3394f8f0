//! Replaces `credentials.rs` in a build without the feature `content-credentials`: no image is
//! signed, and a certificate in the settings stops the start with an error that says why.

use cyclorama_core::Format;
use std::convert::Infallible;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    #[error("this build signs no pictures: take one of `make dist`, or leave the certificate out")]
    NotBuilt,
}

/// Signs images; no value of this type exists in this build.
#[derive(Debug, Clone)]
pub struct Credentials(Infallible);

impl Credentials {
    pub fn open(_certificate: &Path, _key: &Path) -> Result<Self, CredentialsError> {
        Err(CredentialsError::NotBuilt)
    }

    pub fn id(&self) -> &str {
        match self.0 {}
    }

    pub fn sign(&self, _picture: &[u8], _format: Format) -> Result<Vec<u8>, CredentialsError> {
        match self.0 {}
    }
}

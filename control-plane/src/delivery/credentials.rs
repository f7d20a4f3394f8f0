//! Content Credentials: a C2PA manifest in each delivered image, signed with the operator's
//! certificate. The manifest says that a model made the image, and with which program (C2PA
//! specification 2.x). Only delivered images are signed; masters and layers stay as nodes made
//! them, and the key stays on the control plane.
//!
//!
//! Why: `docs/decisions/pictures-and-caching.md` (Content Credentials (C2PA): who signs, when and
//! where).

use c2pa::validation_results::ValidationState;
use c2pa::{Builder, BuilderIntent, ClaimGeneratorInfo, Context, DigitalSourceType, Reader, SigningAlg, create_signer};
use cyclorama_core::Format;
use sha2::{Digest, Sha256};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Signature algorithms that a certificate's key may be for, tried in this order: the key itself
/// does not name its algorithm.
const ALGORITHMS: [SigningAlg; 5] =
    [SigningAlg::Es256, SigningAlg::Ed25519, SigningAlg::Es384, SigningAlg::Es512, SigningAlg::Ps256];

/// An image of one pixel, to try a certificate with.
const TRIAL: &[u8] = include_bytes!("one-pixel.png");

/// The errors of reading the certificate and of signing.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the certificate and the key do not sign: {0}")]
    Unusable(String),
    #[error("a picture could not be signed")]
    Sign(#[source] c2pa::Error),
}

/// Signs images. Cheap to clone.
#[derive(Clone)]
pub struct Credentials {
    context: Arc<Context>,
    id: Arc<str>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads the signer. `certificate` is the chain in PEM, the signer's own certificate first;
    /// `key` is its private key in PEM (PKCS #8). They are tried on an image before they are
    /// accepted. Fails with [`CredentialsError`] if a file cannot be read, or if certificate and
    /// key do not sign.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, CredentialsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| CredentialsError::Read { path: path.to_path_buf(), source })
        };
        let (certificate, key) = (read(certificate)?, read(key)?);
        let id: Arc<str> = hex::encode(&Sha256::digest(&certificate)[..8]).into();
        let mut reasons = Vec::new();
        for algorithm in ALGORITHMS {
            let signed = create_signer::from_keys(&certificate, &key, algorithm, None).and_then(|signer| {
                let context = Context::new().with_signer(signer).into_shared();
                let credentials = Credentials { context, id: id.clone() };
                Ok((credentials.embed(TRIAL, Format::Png)?, credentials))
            });
            let problem = match signed {
                Ok((trial, credentials)) => match problem_of(trial) {
                    None => return Ok(credentials),
                    Some(problem) => problem,
                },
                Err(error) => error.to_string(),
            };
            reasons.push(format!("{algorithm}: {problem}"));
        }
        Err(CredentialsError::Unusable(reasons.join("; ")))
    }

    /// Returns the id of the certificate. Another certificate makes other bytes.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the image with a manifest in it. The bytes are never the same twice: a manifest has
    /// a random name and salts.
    pub fn sign(&self, picture: &[u8], format: Format) -> Result<Vec<u8>, CredentialsError> {
        self.embed(picture, format).map_err(CredentialsError::Sign)
    }

    fn embed(&self, picture: &[u8], format: Format) -> c2pa::Result<Vec<u8>> {
        let mut builder = Builder::from_shared_context(&self.context);
        builder.set_intent(BuilderIntent::Create(DigitalSourceType::TrainedAlgorithmicMedia));
        let mut program = ClaimGeneratorInfo::new("Cyclorama");
        program.set_version(env!("CARGO_PKG_VERSION"));
        builder.set_claim_generator_info(program);
        let mut signed = Cursor::new(Vec::with_capacity(picture.len() + 16 * 1024));
        builder.sign(self.context.signer()?, format.media_type(), &mut Cursor::new(picture), &mut signed)?;
        Ok(signed.into_inner())
    }
}

/// Returns the problems that a reader finds with a signed PNG, or `None`. It does not matter here
/// which signers the reader trusts.
fn problem_of(signed: Vec<u8>) -> Option<String> {
    match Reader::from_context(Context::new()).with_stream(Format::Png.media_type(), Cursor::new(signed)) {
        Ok(read) if read.validation_state() == ValidationState::Invalid => {
            let statuses = read.validation_status().unwrap_or_default();
            Some(statuses.iter().map(|status| status.code().to_owned()).collect::<Vec<_>>().join(", "))
        }
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

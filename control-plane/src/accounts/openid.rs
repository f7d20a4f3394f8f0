//! Sign-in with a provider (OpenID Connect, authorisation code with PKCE): the URL to which a
//! browser is sent, and the provider's statement about the person who came back.
//!
//! The browser's session keeps the values that the browser has to bring back (state, nonce,
//! verifier). `identity` decides which account the person gets.

use crate::clock::UnixMs;
use crate::config::openid::ProviderSettings as Settings;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreJwsSigningAlgorithm, CoreProviderMetadata,
    CoreUserInfoClaims,
};
use openidconnect::{
    AccessTokenHash, AsyncHttpClient, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret,
    CsrfToken, HttpRequest, HttpResponse, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, SignatureVerificationError, TokenResponse,
};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

const CONNECT: Duration = Duration::from_secs(4);
const ANSWER: Duration = Duration::from_secs(10);

/// Maximum size of an answer: far more than any document of a provider.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Time for which a provider's endpoints and keys are trusted before they are fetched
/// again, in milliseconds.
const KNOWN_MS: i64 = 600_000;

/// Minimum time between two fetches because of a token signed with an unknown key, in milliseconds.
/// The key may be a new one of the provider.
const KEYS_AGAIN_MS: i64 = 2_000;

/// Maximum time that a person may take at the provider, in milliseconds.
pub const FLOW_LIFETIME_MS: i64 = 600_000;

/// Signature algorithms with which only the provider can sign. Never `none`, and never one by the
/// secret that we share with the provider.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    /// The provider cannot be reached or has a failure; the same call may succeed later.
    #[error("the provider sent an unexpected response: {0}")]
    Down(String),
    /// The provider does not accept the code, or our client.
    #[error("the provider refused the code: {0}")]
    Refused(String),
    /// The provider's token failed verification.
    #[error("the token of the provider could not be verified: {0}")]
    NotBelieved(String),
}

/// An attempt to sign in, as the browser's session keeps it until the browser comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Flow {
    pub provider_id: String,
    pub state: String,
    nonce: String,
    verifier: String,
    pub begun_at_ms: i64,
    /// The page to go to after signing in.
    pub next: String,
    /// The account with which the identity is to be linked. `None` to sign in.
    pub link_account_id: Option<String>,
}

/// A person's identity as a provider states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    /// The provider's own id of the person, which never changes.
    pub subject: String,
    /// An email address that the provider states to be the person's.
    pub verified_email: Option<String>,
}

/// The configured providers. Cheap to clone.
#[derive(Clone, Default)]
pub struct Providers(Arc<[OpenIdProvider]>);

pub struct OpenIdProvider {
    settings: Settings,
    redirect_url: RedirectUrl,
    http: Http,
    known: Mutex<Option<FetchedMetadata>>,
}

#[derive(Clone)]
struct FetchedMetadata {
    metadata: CoreProviderMetadata,
    at: UnixMs,
}

impl Providers {
    pub fn new(settings: &[Settings], base_url: &str) -> anyhow::Result<Self> {
        // Fails only if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Redirects are not followed: requests go only where the provider's own document says.
        let http = || {
            let client = Client::builder().connect_timeout(CONNECT).timeout(ANSWER);
            client.redirect(reqwest::redirect::Policy::none()).build().map(Http)
        };
        let provider = |settings: &Settings| {
            Ok(OpenIdProvider {
                redirect_url: RedirectUrl::new(format!("{base_url}/sign-in/{}/callback", settings.id))?,
                settings: settings.clone(),
                http: http()?,
                known: Mutex::default(),
            })
        };
        Ok(Providers(settings.iter().map(provider).collect::<anyhow::Result<Vec<_>>>()?.into()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &OpenIdProvider> {
        self.0.iter()
    }

    pub fn find(&self, id: &str) -> Option<&OpenIdProvider> {
        self.0.iter().find(|provider| provider.settings.id == id)
    }

    pub fn of_issuer(&self, issuer: &str) -> Option<&OpenIdProvider> {
        self.0.iter().find(|provider| provider.settings.issuer == issuer)
    }
}

impl OpenIdProvider {
    pub fn id(&self) -> &str {
        &self.settings.id
    }

    pub fn name(&self) -> &str {
        &self.settings.name
    }

    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// Returns the URL to which the browser is sent, and the flow that its session keeps.
    pub async fn begin(
        &self,
        next: String,
        link_account_id: Option<String>,
        now: UnixMs,
    ) -> Result<(String, Flow), OpenIdError> {
        let known = self.known(now, KNOWN_MS).await?;
        let client = CoreClient::from_provider_metadata(known.metadata, self.client_id(), Some(self.client_secret()))
            .set_redirect_uri(self.redirect_url.clone());
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (url, state, nonce) = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(challenge)
            .url();
        let flow = Flow {
            provider_id: self.settings.id.clone(),
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
            begun_at_ms: now.0,
            next,
            link_account_id,
        };
        Ok((url.into(), flow))
    }

    /// Returns the identity of the person who came back with `code`.
    pub async fn finish(&self, flow: &Flow, code: &str, now: UnixMs) -> Result<Identity, OpenIdError> {
        let mut known = self.known(now, KNOWN_MS).await?;
        let auth = match known.metadata.token_endpoint_auth_methods_supported() {
            Some(methods) if !methods.contains(&CoreClientAuthMethod::ClientSecretBasic) => AuthType::RequestBody,
            _ => AuthType::BasicAuth,
        };
        let client =
            CoreClient::from_provider_metadata(known.metadata.clone(), self.client_id(), Some(self.client_secret()))
                .set_redirect_uri(self.redirect_url.clone())
                .set_auth_type(auth);
        let tokens = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| OpenIdError::Down(error.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(flow.verifier.clone()))
            .request_async(&self.http)
            .await
            .map_err(|error| match error {
                RequestTokenError::ServerResponse(refused) => OpenIdError::Refused(refused.error().to_string()),
                RequestTokenError::Request(error) => OpenIdError::Down(error.to_string()),
                // The error's text may contain tokens.
                RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
                    OpenIdError::Down("its response has no token".to_owned())
                }
            })?;
        let id_token =
            tokens.id_token().ok_or_else(|| OpenIdError::NotBelieved("the ID token is missing".to_owned()))?;
        let nonce = Nonce::new(flow.nonce.clone());
        let mut believed = id_token.claims(&verifier(&known, self), &nonce);
        if is_of_unknown_key(&believed) {
            known = self.known(now, KEYS_AGAIN_MS).await?;
            believed = id_token.claims(&verifier(&known, self), &nonce);
        }
        let not_believed = |error: &dyn std::fmt::Display| OpenIdError::NotBelieved(error.to_string());
        let claims = believed.map_err(|error| not_believed(&error))?;
        if let Some(expected) = claims.access_token_hash() {
            let verifier = verifier(&known, self);
            let algorithm = id_token.signing_alg().map_err(|error| not_believed(&error))?;
            let key = id_token.signing_key(&verifier).map_err(|error| not_believed(&error))?;
            let hash = AccessTokenHash::from_token(tokens.access_token(), algorithm, key);
            if hash.map_err(|error| not_believed(&error))? != *expected {
                return Err(OpenIdError::NotBelieved("the access token does not match the ID token".to_owned()));
            }
        }
        let mut verified_email = verified(claims.email().map(|email| email.as_str()), claims.email_verified());
        if claims.email().is_none()
            && let Ok(request) = client.user_info(tokens.access_token().clone(), Some(claims.subject().clone()))
        {
            let told: CoreUserInfoClaims = request
                .request_async(&self.http)
                .await
                .map_err(|error| OpenIdError::Down(format!("its user information: {error}")))?;
            verified_email = verified(told.email().map(|email| email.as_str()), told.email_verified());
        }
        Ok(Identity { issuer: self.settings.issuer.clone(), subject: claims.subject().to_string(), verified_email })
    }

    fn client_id(&self) -> ClientId {
        ClientId::new(self.settings.client_id.clone())
    }

    fn client_secret(&self) -> ClientSecret {
        ClientSecret::new(self.settings.client_secret.reveal().to_owned())
    }

    /// Returns the provider's endpoints and keys. They are fetched if those in memory are older
    /// than `age_ms`; if the provider does not answer, those in memory are used.
    async fn known(&self, now: UnixMs, age_ms: i64) -> Result<FetchedMetadata, OpenIdError> {
        // One task fetches, the others wait for it.
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| now.0 - known.at.0 < age_ms) {
            return Ok(known.clone());
        }
        let issuer =
            IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| OpenIdError::Down(error.to_string()))?;
        match CoreProviderMetadata::discover_async(issuer, &self.http).await {
            Ok(metadata) => Ok(known.insert(FetchedMetadata { metadata, at: now }).clone()),
            Err(error) => known.clone().ok_or_else(|| OpenIdError::Down(error.to_string())),
        }
    }
}

fn verifier<'k>(known: &'k FetchedMetadata, provider: &OpenIdProvider) -> openidconnect::core::CoreIdTokenVerifier<'k> {
    let (issuer, keys) = (known.metadata.issuer().clone(), known.metadata.jwks().clone());
    openidconnect::core::CoreIdTokenVerifier::new_public_client(provider.client_id(), issuer, keys)
        .set_allowed_algs(ALGORITHMS)
}

fn is_of_unknown_key<T>(believed: &Result<T, ClaimsVerificationError>) -> bool {
    use SignatureVerificationError::{CryptoError, NoMatchingKey};
    matches!(believed, Err(ClaimsVerificationError::SignatureVerification(NoMatchingKey | CryptoError(_))))
}

fn verified(email: Option<&str>, is_verified: Option<bool>) -> Option<String> {
    email.filter(|_| is_verified == Some(true)).map(str::to_owned)
}

#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("its response is too long")]
    TooLong,
}

/// Our own HTTP client, for a library that would otherwise bring another. Cheap to clone.
#[derive(Clone)]
struct Http(Client);

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = CallError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, CallError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl Http {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, CallError> {
        let mut answer = self.0.execute(request.try_into()?).await?;
        let mut response = HttpResponse::new(Vec::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        while let Some(chunk) = answer.chunk().await? {
            if response.body().len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(CallError::TooLong);
            }
            response.body_mut().extend_from_slice(&chunk);
        }
        Ok(response)
    }
}

//! Extracts the caller of a request that carries an API key in
//! `Authorization: Bearer` or `x-api-key`.

use super::authorization::sent_key;
use super::error::Problem;
use super::key_window::refuse_when_full;
use crate::accounts::api_key;
use crate::accounts::caller::{Caller, KeyWindow, MissingScope, UsualLimits};
use crate::accounts::token::PlainKey;
use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

impl From<MissingScope> for Problem {
    /// Returns 403 with the name of the missing scope.
    fn from(MissingScope(scope): MissingScope) -> Self {
        Problem::forbidden("missing_scope", format!("This key lacks the scope {scope}."))
            .with("required_scope", scope.as_str())
            .advise("", "Ask the user for a key with that scope.")
    }
}

/// Finds the caller whose API key is in `headers`. The rate-limit window of the
/// key is later written into `window`. Returns `Ok(None)` when no key was sent,
/// and 401 when the key is not valid.
pub async fn caller_of_headers(app: &App, headers: &HeaderMap, window: &KeyWindow) -> Result<Option<Caller>, Problem> {
    match sent_key(headers) {
        None => Ok(None),
        Some(key) => caller_of_key(app, &key, window).await.map(Some),
    }
}

/// Finds the caller of a key that came in another way than a header (the legacy query string).
/// Returns 401 when the key is not valid.
pub async fn caller_of_key(app: &App, key: &str, window: &KeyWindow) -> Result<Caller, Problem> {
    let refused = || Problem::unauthorized("The API key is not valid, or has been revoked.");
    let hash = PlainKey::parse(api_key::PREFIX, key).ok_or_else(refused)?.hash();
    let found = app.keys.find(&app.db, &hash).await?.ok_or_else(refused)?;
    let limits = &app.config.limits;
    let usual = UsualLimits {
        key_per_minute: limits.rate_limit_per_minute,
        account_per_minute: limits.account_rate_limit_per_minute,
    };
    Ok(Caller::new(found, usual, window.clone()))
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Ok(window) = KeyWindow::from_request_parts(parts, app).await;
        let mut caller = caller_of_headers(app, &parts.headers, &window).await?.ok_or_else(|| {
            Problem::unauthorized("Send an API key: `Authorization: Bearer <key>` or `x-api-key: <key>`.")
        })?;
        refuse_when_full(app, &mut caller).await?;
        Ok(caller)
    }
}

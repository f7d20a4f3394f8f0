//! Checks the signature of a partner on the URL of an image.

use super::error::Problem;
use crate::app::App;
use crate::delivery::partner::{BadSignature, SignedQuery};
use crate::delivery::tracking::without_tags;
use url::form_urlencoded;

/// True if a partner has signed the URL with this query. Returns an error that names the fault if
/// there is a signature and it is not valid.
pub async fn is_signed(app: &App, query: &str) -> Result<bool, Problem> {
    Ok(check_signature(app, query, &without_tags(query).0).await?.is_some())
}

/// Returns the claims of a signed URL, and the account whose partner signed it; `None` if there is
/// no signature. A signature must be valid if there is one: the request never falls back to another
/// grant. Tags that were added to the URL after signing are not part of the signed text; a tag that
/// the partner signed with the rest is.
pub async fn check_signature(
    app: &App,
    query: &str,
    pairs: &[(String, String)],
) -> Result<Option<(SignedQuery, String)>, Problem> {
    let refused = |code, detail: &str| Err(Problem::forbidden(code, detail));
    let signed = match SignedQuery::read(pairs, app.clock.now().0 / 1000) {
        None => return Ok(None),
        Some(Ok(signed)) => signed,
        Some(Err(BadSignature::Expired)) => {
            return refused("signature_expired", "`exp` is in the past: sign a new URL.");
        }
        Some(Err(BadSignature::TooFarAhead)) => {
            return refused("signature_invalid", "`exp` is more than 30 days ahead.");
        }
        Some(Err(BadSignature::Malformed)) => {
            return refused(
                "signature_invalid",
                "A signed URL must have `exp` in unix seconds and `sig` of 64 lower-case hex digits.",
            );
        }
    };
    let mut account_id = signer(app, &signed).await?;
    if account_id.is_none() {
        let sent: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        if sent.len() > pairs.len()
            && let Some(Ok(as_sent)) = SignedQuery::read(&sent, app.clock.now().0 / 1000)
        {
            account_id = signer(app, &as_sent).await?;
        }
    }
    match account_id {
        Some(account_id) => Ok(Some((signed, account_id))),
        None => refused("signature_invalid", "`sig` does not match this URL."),
    }
}

/// Returns the account whose partner made the signature, or `None`.
async fn signer(app: &App, signed: &SignedQuery) -> Result<Option<String>, Problem> {
    Ok(app.partner_secrets.verify(&app.db, app.clock, &signed.text, &signed.signature).await?)
}

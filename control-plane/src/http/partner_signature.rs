//! The signature of a partner on the address of a picture.

use super::error::Problem;
use crate::app::App;
use crate::delivery::partner::{BadSignature, SignedQuery};
use crate::delivery::tracking::without_tags;
use url::form_urlencoded;

/// Whether a partner has signed the address with this query; an error says what is wrong with a signature that is there.
pub async fn is_signed(app: &App, query: &str) -> Result<bool, Problem> {
    Ok(check_signature(app, query, &without_tags(query).0).await?.is_some())
}

/// The claims of a signed address, and the account whose partner signed it. A signature that is there must be good: it never falls through
/// to another grant. Tags that were added to the address later are no part of what was signed; one that a partner signed with the rest is.
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
            return refused("signature_expired", "`exp` is in the past: sign the address anew.");
        }
        Some(Err(BadSignature::TooFarAhead)) => {
            return refused("signature_invalid", "`exp` is more than 30 days ahead.");
        }
        Some(Err(BadSignature::Malformed)) => {
            return refused(
                "signature_invalid",
                "A signed address has `exp` in unix seconds and `sig` of 64 lower-case hex digits.",
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
        None => refused("signature_invalid", "`sig` does not fit this address."),
    }
}

/// The account whose partner signed this.
async fn signer(app: &App, signed: &SignedQuery) -> Result<Option<String>, Problem> {
    Ok(app.partner_secrets.verify(&app.db, app.clock, &signed.text, &signed.signature).await?)
}

//! `POST /admin/keys`: makes an API key for an account.

use crate::accounts::api_key::{self, NAME_CHARS_MAX, NewKey};
use crate::accounts::token::PlainKey;
use crate::accounts::{Scope, account};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{CREDITS_MAX, Credits};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    account_id: String,
    #[serde(default)]
    name: String,
    /// All scopes if absent.
    scopes: Option<Vec<String>>,
    /// The service's usual limit if absent.
    rate_limit_per_minute: Option<i64>,
    /// Credits that the key may spend in a UTC month; no cap if absent.
    monthly_cap_credits: Option<i64>,
}

#[derive(Serialize)]
pub struct CreatedKey {
    key_id: String,
    /// The secret of the key. It is shown here and never again.
    key: String,
}

pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<CreateKey>,
) -> Result<(StatusCode, Json<CreatedKey>), Problem> {
    let scopes = match &body.scopes {
        None => Scope::ALL.to_vec(),
        Some(names) => parse_scopes(names)?,
    };
    if body.name.chars().count() > NAME_CHARS_MAX {
        return Err(Problem::bad_parameter("name", format!("`name` must have at most {NAME_CHARS_MAX} characters.")));
    }
    if body.rate_limit_per_minute.is_some_and(|limit| limit < 1) {
        return Err(Problem::bad_parameter(
            "rate_limit_per_minute",
            "`rate_limit_per_minute` must be a whole number above 0.",
        ));
    }
    check_cap(body.monthly_cap_credits)?;
    account::find(&app.db, &body.account_id).await?;
    let mut tx = app.db.begin().await?;
    let new = NewKey {
        account_id: &body.account_id,
        name: &body.name,
        scopes: &scopes,
        rate_limit_per_minute: body.rate_limit_per_minute,
        monthly_cap: body.monthly_cap_credits.map(Credits),
    };
    let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
    let key_id = api_key::create(&mut tx, new, &key, app.clock.now()).await?;
    tx.commit().await?;
    tracing::info!(account_id = body.account_id, key_id, "key created by the operator");
    Ok((StatusCode::CREATED, Json(CreatedKey { key_id, key: key.reveal().to_owned() })))
}

pub(super) fn check_cap(cap: Option<i64>) -> Result<(), Problem> {
    match cap {
        Some(cap) if !(1..=CREDITS_MAX).contains(&cap) => {
            let detail = format!("`monthly_cap_credits` must be a whole number from 1 to {CREDITS_MAX}.");
            Err(Problem::bad_parameter("monthly_cap_credits", detail))
        }
        _ => Ok(()),
    }
}

fn parse_scopes(names: &[String]) -> Result<Vec<Scope>, Problem> {
    let allowed = Scope::print_list(&Scope::ALL);
    let scopes = Scope::parse_list(&names.join(","))
        .map_err(|name| Problem::bad_parameter("scopes", format!("`scopes`: `{name}` is not one of {allowed}.")))?;
    if scopes.is_empty() {
        return Err(Problem::bad_parameter("scopes", format!("`scopes` must name at least one of {allowed}.")));
    }
    Ok(scopes)
}

//! `/dashboard/keys`: the account's API keys, to list, make, cap, rotate and revoke.

use crate::accounts::api_key::{self, KeyInfo, NAME_CHARS_MAX, NewKey};
use crate::accounts::token::PlainKey;
use crate::accounts::user::User;
use crate::accounts::{Scope, partner_secret};
use crate::app::App;
use crate::delivery::urls;
use crate::http::error::Problem;
use crate::http::web::form::{Form, NotCredits};
use crate::http::web::format::{moment, thousands};
use crate::http::web::visit::SignedInVisit;
use crate::ledger::{Credits, KeyCap};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    keys: Vec<ShownKey>,
    scopes: Vec<ShownScope>,
    wrong: Option<&'static str>,
}

#[derive(Serialize)]
struct ShownKey {
    id: String,
    name: String,
    scopes: Vec<&'static str>,
    rate_limit: i64,
    created: String,
    used: Option<String>,
    monthly_cap: Option<ShownCap>,
    is_revoked: bool,
    partner_secrets: Vec<ShownSecret>,
}

/// Credits that count against a monthly cap, and the cap.
#[derive(Serialize)]
struct ShownCap {
    spent: String,
    cap: String,
    is_reached: bool,
}

impl From<KeyCap> for ShownCap {
    fn from(KeyCap { cap, spent }: KeyCap) -> Self {
        ShownCap { spent: thousands(spent.0), cap: thousands(cap.0), is_reached: spent >= cap }
    }
}

#[derive(Serialize)]
struct ShownSecret {
    id: String,
    created: String,
}

#[derive(Serialize)]
struct ShownScope {
    name: &'static str,
    meaning: &'static str,
}

pub async fn get(State(app): State<App>, signed_in: SignedInVisit) -> Result<Response, Problem> {
    show(&app, &signed_in, StatusCode::OK, None).await
}

async fn show(
    app: &App,
    SignedInVisit { user, visit }: &SignedInVisit,
    status: StatusCode,
    wrong: Option<&'static str>,
) -> Result<Response, Problem> {
    let secrets = partner_secret::list(&app.db, &user.account_id).await?;
    let keys = api_key::list(&app.db, &user.account_id, app.clock.now()).await?;
    let shown = |key: KeyInfo| ShownKey {
        partner_secrets: secrets
            .iter()
            .filter(|secret| secret.key_id == key.id)
            .map(|secret| ShownSecret { id: secret.id.clone(), created: moment(secret.created_at) })
            .collect(),
        name: if key.name.is_empty() { "unnamed".to_owned() } else { key.name },
        scopes: key.scopes.iter().map(|scope| scope.as_str()).collect(),
        rate_limit: key.rate_limit_per_minute.unwrap_or(app.config.limits.rate_limit_per_minute),
        created: moment(key.created_at),
        used: key.used_at.map(moment),
        monthly_cap: key.monthly_cap.map(ShownCap::from),
        is_revoked: key.is_revoked,
        id: key.id,
    };
    let page = Page {
        keys: keys.into_iter().map(shown).collect(),
        scopes: Scope::ALL.map(|scope| ShownScope { name: scope.as_str(), meaning: scope.meaning() }).into(),
        wrong,
    };
    visit.form(app, "keys.html", status, &page).await
}

/// A secret that is shown once.
#[derive(Serialize)]
struct ShownOnce<'a> {
    name: &'a str,
    secret: &'a str,
    base_url: &'a str,
}

/// `POST /dashboard/keys`: makes a key and shows it once.
pub async fn create(State(app): State<App>, signed_in: SignedInVisit, form: Form) -> Result<Response, Problem> {
    let name = form.text("name").trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return show(&app, &signed_in, StatusCode::BAD_REQUEST, Some("Give the key a name of up to 80 characters."))
            .await;
    }
    let chosen: Vec<&str> = form.all("scope").collect();
    let Ok(scopes) = Scope::parse_list(&chosen.join(",")) else {
        return Err(Problem::bad_parameter("scope", "`scope` is not a known scope."));
    };
    if scopes.is_empty() {
        return show(&app, &signed_in, StatusCode::BAD_REQUEST, Some("Choose at least one scope.")).await;
    }
    let Ok(monthly_cap) = read_cap(&form) else {
        return show(&app, &signed_in, StatusCode::BAD_REQUEST, Some(WRONG_CAP)).await;
    };
    let account_id = &signed_in.user.account_id;
    let new = NewKey { account_id, name, scopes: &scopes, rate_limit_per_minute: None, monthly_cap };
    let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    let Some(key_id) = api_key::create_within_cap(&mut tx, new, &key, app.clock.now()).await? else {
        drop(tx);
        let wrong = "There are a hundred keys in use, or two hundred keys were created within a day. \
                     Revoke a key first, or try again tomorrow.";
        return show(&app, &signed_in, StatusCode::CONFLICT, Some(wrong)).await;
    };
    tx.commit().await?;
    tracing::info!(account_id = signed_in.user.account_id, key_id, "key created by its user");
    shown_once(&app, &signed_in, name, &key).await
}

const WRONG_CAP: &str =
    "The monthly cap must be a whole number of credits, at least 1. Leave the field empty for no cap.";

/// Reads the monthly cap that was typed. An empty field is no cap.
fn read_cap(form: &Form) -> Result<Option<Credits>, NotCredits> {
    Ok(form.credits("monthly_cap")?.map(Credits))
}

async fn shown_once(app: &App, signed_in: &SignedInVisit, name: &str, key: &PlainKey) -> Result<Response, Problem> {
    let page = ShownOnce { name, secret: key.reveal(), base_url: &app.base_url };
    signed_in.visit.form(app, "shown_once.html", StatusCode::CREATED, &page).await
}

/// Returns a key in use of the user's account. A key of another account is not found.
async fn find(app: &App, user: &User, key_id: &str) -> Result<KeyInfo, Problem> {
    let key = api_key::find_own(&app.db, &user.account_id, key_id, app.clock.now()).await?;
    key.ok_or_else(unknown)
}

fn unknown() -> Problem {
    Problem::not_found("unknown_key", "There is no such key, or it was revoked.")
}

#[derive(Serialize)]
struct Question {
    id: String,
    name: String,
    active_urls: i64,
    partner_secrets: usize,
    monthly_cap: Option<ShownCap>,
    /// The monthly cap as its field shows it.
    cap_typed: String,
    wrong: Option<&'static str>,
}

/// `GET /dashboard/keys/{key_id}`: shows what ends together with the key, before the key is
/// revoked.
pub async fn ask(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(key_id): Path<String>,
) -> Result<Response, Problem> {
    let key = find(&app, &signed_in.user, &key_id).await?;
    show_one(&app, &signed_in, key, None).await
}

async fn show_one(
    app: &App,
    signed_in: &SignedInVisit,
    key: KeyInfo,
    wrong: Option<&'static str>,
) -> Result<Response, Problem> {
    let secrets = partner_secret::list(&app.db, &signed_in.user.account_id).await?;
    let question = Question {
        active_urls: urls::count_active(&app.db, &key.id, app.clock.now()).await?,
        partner_secrets: secrets.iter().filter(|secret| secret.key_id == key.id).count(),
        cap_typed: key.monthly_cap.map(|cap| cap.cap.to_string()).unwrap_or_default(),
        monthly_cap: key.monthly_cap.map(ShownCap::from),
        name: key.name,
        id: key.id,
        wrong,
    };
    let status = if wrong.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    signed_in.visit.form(app, "key.html", status, &question).await
}

/// `POST /dashboard/keys/{key_id}/cap`: sets how many credits the key may spend in a month.
pub async fn cap(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(key_id): Path<String>,
    form: Form,
) -> Result<Response, Problem> {
    let key = find(&app, &signed_in.user, &key_id).await?;
    let Ok(cap) = read_cap(&form) else {
        return show_one(&app, &signed_in, key, Some(WRONG_CAP)).await;
    };
    if !app.keys.set_cap(&app.db, &key.id, cap, app.clock.now()).await? {
        return Err(unknown());
    }
    let credits = cap.map(|cap| cap.0);
    tracing::info!(
        account_id = signed_in.user.account_id,
        key_id = key.id,
        credits,
        "monthly cap of a key set by its user"
    );
    Ok(Redirect::to("/dashboard/keys").into_response())
}

/// `POST /dashboard/keys/{key_id}/rotate`: replaces the key by a new one with the same rights.
pub async fn rotate(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(key_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let old = find(&app, &signed_in.user, &key_id).await?;
    let mut connection = app.db.readers.acquire().await?;
    let made = api_key::count_made(&mut connection, &signed_in.user.account_id, app.clock.now()).await?;
    drop(connection);
    if made >= api_key::MADE_PER_DAY_MAX {
        let wrong = "Two hundred keys were created within a day. Try again tomorrow, or revoke this key.";
        return show(&app, &signed_in, StatusCode::CONFLICT, Some(wrong)).await;
    }
    let new = NewKey {
        account_id: &signed_in.user.account_id,
        name: &old.name,
        scopes: &old.scopes,
        rate_limit_per_minute: old.rate_limit_per_minute,
        // The rotation transfers the old key's cap, with the credits that count against it.
        monthly_cap: None,
    };
    let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
    let rotated = app.keys.rotate(&app.db, &old.id, new, &key, app.clock.now()).await?;
    let new_id = rotated.ok_or_else(unknown)?;
    tracing::info!(account_id = signed_in.user.account_id, key_id = old.id, new_id, "key rotated by its user");
    shown_once(&app, &signed_in, &old.name, &key).await
}

/// `POST /dashboard/keys/{key_id}/revoke`: revokes the key.
pub async fn revoke(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(key_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let key = find(&app, &signed_in.user, &key_id).await?;
    app.keys.revoke(&app.db, &key.id, app.clock.now()).await?;
    tracing::info!(account_id = signed_in.user.account_id, key_id = key.id, "key revoked by its user");
    Ok(Redirect::to("/dashboard/keys").into_response())
}

//! `GET` and `POST /device`: a person approves or denies a device login.

use super::form::Form;
use super::visit::{PageSession, SignedInVisit};
use crate::accounts::device_login::{self, Decision};
use crate::accounts::{UserCode, api_key};
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub struct DeviceQuery {
    user_code: Option<String>,
}

/// The step of the login that the page shows.
#[derive(Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Step {
    /// Ask for the code.
    Type {
        user_code: String,
        wrong: Option<&'static str>,
    },
    /// Ask whether this device gets a key with these rights.
    Decide {
        user_code: String,
        client_name: String,
        rights: Vec<Right>,
    },
    Approved {
        client_name: String,
    },
    Denied {
        client_name: String,
    },
}

#[derive(Serialize)]
struct Right {
    scope: &'static str,
    meaning: &'static str,
}

pub async fn get(
    State(app): State<App>,
    ip: ClientIp,
    visit: PageSession,
    Query(asked): Query<DeviceQuery>,
    uri: Uri,
) -> Response {
    let typed = asked.user_code.unwrap_or_default();
    if typed.trim().is_empty() {
        let step = Step::Type { user_code: String::new(), wrong: None };
        return visit.form(&app, "device.html", StatusCode::OK, &step).await.unwrap_or_else(Problem::into_response);
    }
    // Codes are short. They are therefore looked up only for signed-in users, and not often.
    if visit.user.is_none() {
        let back = uri.path_and_query().map_or("/device", |path| path.as_str());
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", back).finish();
        return Redirect::to(&format!("/sign-in?{query}")).into_response();
    }
    let limit = app.config.limits.device_code_per_minute;
    counted_by_address(&app, ip, "device page", limit, show(&app, &visit, &typed)).await
}

async fn show(app: &App, visit: &PageSession, typed: &str) -> Result<Response, Problem> {
    let found = match UserCode::parse(typed) {
        Some(code) => device_login::find_pending(&app.db, &code, app.clock.now()).await?,
        None => None,
    };
    match found {
        Some(pending) => {
            let step = Step::Decide {
                user_code: pending.user_code.to_string(),
                client_name: pending.client_name,
                rights: pending
                    .scopes
                    .iter()
                    .map(|scope| Right { scope: scope.as_str(), meaning: scope.meaning() })
                    .collect(),
            };
            visit.form(app, "device.html", StatusCode::OK, &step).await
        }
        None => unknown(app, visit, typed).await,
    }
}

async fn unknown(app: &App, visit: &PageSession, typed: &str) -> Result<Response, Problem> {
    let wrong = Some(
        "No device is waiting with this code. The code may be mistyped, used already or more than ten minutes old.",
    );
    let step = Step::Type { user_code: typed.chars().take(20).collect(), wrong };
    visit.form(app, "device.html", StatusCode::NOT_FOUND, &step).await
}

pub async fn post(State(app): State<App>, ip: ClientIp, signed_in: SignedInVisit, form: Form) -> Response {
    let limit = app.config.limits.device_code_per_minute;
    counted_by_address(&app, ip, "device page", limit, decide(&app, &signed_in, &form)).await
}

async fn decide(app: &App, SignedInVisit { user, visit }: &SignedInVisit, form: &Form) -> Result<Response, Problem> {
    let decision = match form.text("decision") {
        "approve" => Decision::Approve,
        "deny" => Decision::Deny,
        _ => return Err(Problem::bad_parameter("decision", "`decision` must be `approve` or `deny`.")),
    };
    let typed = form.text("user_code");
    let now = app.clock.now();
    let Some(code) = UserCode::parse(typed) else { return unknown(app, visit, typed).await };
    let Some(pending) = device_login::find_pending(&app.db, &code, now).await? else {
        return unknown(app, visit, typed).await;
    };
    if decision == Decision::Approve {
        let in_use = api_key::count_in_use(&mut *app.db.readers.acquire().await?, &user.account_id).await?;
        if in_use >= api_key::IN_USE_MAX {
            let step = Step::Type {
                user_code: pending.user_code.to_string(),
                wrong: Some("There are a hundred keys in use. Revoke one in the dashboard first."),
            };
            return visit.form(app, "device.html", StatusCode::CONFLICT, &step).await;
        }
    }
    if !device_login::decide(&app.db, &code, &user.account_id, decision, now).await? {
        return unknown(app, visit, typed).await;
    }
    tracing::info!(account_id = user.account_id, ?decision, "device login decided");
    let client_name = pending.client_name;
    let step = match decision {
        Decision::Approve => Step::Approved { client_name },
        Decision::Deny => Step::Denied { client_name },
    };
    visit.form(app, "device.html", StatusCode::OK, &step).await
}

//! Turns the reasons why an image or a signed URL was not delivered into problem documents.

use super::error::Problem;
use super::refused::without_turn;
use crate::app::App;
use crate::catalog::{Missing, NotFound};
use crate::clock::UnixMs;
use crate::delivery::DeliveryError;
use crate::delivery::urls::{LoadRefusal, MintError};
use crate::ledger::{Credits, KeyCap, MeterError, Window};
use crate::logs::causes;
use crate::plural;
use crate::renders::{BudgetScope, RenderError};

/// `Retry-After` for free images that were refused because too many are being made, in seconds.
const FREE_WORK_RETRY_SECONDS: u64 = 10;

/// Returns the problem document of a failed delivery. Failures of a dependency and internal
/// failures are logged and counted here.
pub fn problem(app: &App, error: DeliveryError) -> Problem {
    match error {
        DeliveryError::RateLimited { window, limit, of_account } => rate_limited(window, limit, of_account),
        DeliveryError::Insufficient { balance, required } => {
            Problem::insufficient_credits(balance.0, required.0, &app.base_url)
        }
        DeliveryError::OverCap { balance, required, cap } => over_cap(app, balance, required, cap),
        DeliveryError::TooManyAbandoned { abandoned, reset_at } => too_many_abandoned(app, abandoned, reset_at),
        DeliveryError::TooManyPaints { paints, reset_at } => too_many_paints(app, paints, reset_at),
        error if error.is_failed_render() => {
            Problem::render_failed("The image could not be rendered; the credit was given back.")
        }
        // The image was made but could not be handed in: the object store or the
        // network failed, not the render.
        DeliveryError::Render(RenderError::Failed { .. }) => {
            Problem::unavailable("dependency_down", "The rendered image could not be stored; nothing was charged.")
                .retry_after(15)
        }
        DeliveryError::Render(RenderError::TooLate) => {
            Problem::unavailable("at_capacity", "No render node finished this image in time; nothing was charged.")
                .retry_after(app.renders.retry_after_seconds())
        }
        DeliveryError::Render(RenderError::AtCapacity { retry_after_seconds }) => {
            Problem::unavailable("at_capacity", "Too many renders are waiting; nothing was charged.")
                .retry_after(retry_after_seconds)
        }
        DeliveryError::Render(RenderError::BudgetSpent { reset_at_ms, scope }) => budget_spent(app, reset_at_ms, scope),
        DeliveryError::FreeWorkFull => {
            let detail = "Too many free images in unusual sizes are being made. Images of 256, 512, 768 and 1024 px \
                          do not have to be made.";
            Problem::unavailable("at_capacity", detail).retry_after(FREE_WORK_RETRY_SECONDS)
        }
        DeliveryError::NoPlace(_) => without_turn(),
        DeliveryError::Meter(MeterError::Full) => {
            Problem::unavailable("at_capacity", "Too many requests are waiting; nothing was charged.").retry_after(1)
        }
        DeliveryError::Meter(MeterError::Stopping) => {
            Problem::unavailable("shutting_down", "The service is stopping; nothing was charged.").retry_after(5)
        }
        DeliveryError::Meter(MeterError::Unknown(_)) => {
            tracing::error!(error = causes(&error), "a commit broke off: it is unknown whether a request was charged");
            metrics::counter!("cyclorama_dependency_failures_total", "dependency" => "database").increment(1);
            let detail = "The database failed while this request was being charged. If it was charged, the charge is \
                          given back automatically as soon as the database answers.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
        DeliveryError::AttemptLost => {
            Problem::conflict("idempotency_key_in_use", "Another request with this idempotency key is still running.")
        }
        DeliveryError::NoLedger => {
            tracing::error!("the account of a key has no balance row");
            Problem::internal()
        }
        DeliveryError::Encoding(_) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a stored image could not be encoded");
            Problem::internal()
        }
        DeliveryError::HoldLost
        | DeliveryError::Store(_)
        | DeliveryError::Credentials(_)
        | DeliveryError::Meter(MeterError::Database(_))
        | DeliveryError::Database(_)
        | DeliveryError::Render(RenderError::Database(_)) => {
            tracing::error!(error = causes(&error), "an image could not be delivered");
            let dependency = match error {
                DeliveryError::Store(_) => "store",
                DeliveryError::Credentials(_) => "credentials",
                _ => "database",
            };
            metrics::counter!("cyclorama_dependency_failures_total", "dependency" => dependency).increment(1);
            let detail = "A part of the service does not answer; nothing was charged.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
    }
}

/// Returns the problem document for signed URLs that could not be made.
pub fn mint_problem(app: &App, error: MintError) -> Problem {
    match error {
        MintError::Name(error) => error.into(),
        MintError::Delivery(error) => problem(app, error),
    }
}

/// Returns the problem document of a failed delivery that costs nothing, so that the text of a
/// failed render does not mention a credit.
pub fn problem_for_free(app: &App, error: DeliveryError) -> Problem {
    match error.is_failed_render() {
        true => Problem::render_failed("The image could not be rendered."),
        false => problem(app, error),
    }
}

/// Returns the problem document of a refused load of a signed URL.
pub fn refused_address(app: &App, refused: LoadRefusal) -> Problem {
    match refused {
        LoadRefusal::Invalid => {
            Problem::forbidden("delivery_url_invalid", "This is not a delivery URL of this service.")
        }
        LoadRefusal::Expired => {
            Problem::forbidden("delivery_url_expired", "This delivery URL has expired: make a new one.")
        }
        LoadRefusal::KeyRevoked => {
            Problem::forbidden("delivery_url_revoked", "The key that made this delivery URL was revoked.")
        }
        LoadRefusal::Exhausted => Problem::gone(
            "delivery_url_exhausted",
            "This delivery URL has been loaded as often as allowed: make a new one.",
        ),
        LoadRefusal::Consumed => Problem::gone(
            "delivery_url_consumed",
            "The first load of this delivery URL failed and its credit was given back: make a new one.",
        ),
        LoadRefusal::NoVehicle => {
            Problem::not_found("vehicle_not_found", "The catalog no longer has the vehicle of this delivery URL.")
        }
        LoadRefusal::Delivery(error) => problem(app, error),
    }
}

/// Returns 404 with the nearest names in the catalog, or 400 when only
/// the body of a vehicle id is wrong.
pub fn vehicle_not_found(missing: NotFound) -> Problem {
    if missing.missing == Missing::BodyOfId {
        return Problem::bad_parameter("body", format!("{}.", missing.detail));
    }
    let suggestions = serde_json::to_value(&missing.suggestions).unwrap_or_default();
    let bodies: Vec<&str> = missing.bodies.iter().map(|body| body.as_str()).collect();
    let problem = Problem::not_found("vehicle_not_found", missing.detail).with("suggestions", suggestions);
    let problem = if bodies.is_empty() { problem } else { problem.with("bodies", serde_json::json!(bodies)) };
    problem.advise(
        "",
        "`suggestions` lists similar vehicles. resolve_vehicle reads free text; search_vehicles with `q` finds names, \
         with `make` it lists models, and with `make` and `model` years.",
    )
}

/// Returns 429 and says whose limit it was. If it was the account's, another
/// key of the account does not help.
fn rate_limited(window: Window, limit: i64, of_account: bool) -> Problem {
    let (limited, whose) = match of_account {
        true => ("account", "The keys of this account together"),
        false => ("key", "This key"),
    };
    let detail = format!("{whose} may make {limit} requests in a minute, and this limit is reached.");
    Problem::rate_limited(window.reset_seconds.max(1) as u64)
        .with_code("rate_limited", detail)
        .with("limited", limited)
        .with("limit_per_minute", limit)
}

/// Returns 402, as for a balance that is too low: a person has to decide, and a retry does not help
/// before the month ends.
fn over_cap(app: &App, balance: Credits, required: Credits, cap: KeyCap) -> Problem {
    let resets_at = app.clock.now().next_utc_month().rfc3339();
    let detail = format!(
        "This request needs {}, and this key has spent {} of the {} that it may spend in a month. Its owner can raise \
         the cap in the dashboard.",
        plural::count(required.0, "credit"),
        cap.spent,
        cap.cap
    );
    Problem::insufficient_credits(balance.0, required.0, &app.base_url)
        .with_code("monthly_cap_reached", detail)
        .with("monthly_cap_credits", cap.cap.0)
        .with("monthly_cap_spent", cap.spent.0)
        .with("reset_at", resets_at)
}

/// Returns 429 with a text that tells the client to wait for its
/// renders instead of ending the requests.
fn too_many_abandoned(app: &App, abandoned: i64, reset_at: UnixMs) -> Problem {
    let detail = format!(
        "{} {} started for this account today (UTC) and not paid for, because the request ended before the image was \
         ready. Each credit that is spent allows one more; images that exist are still delivered. Let a request for a \
         new image wait for its answer.",
        plural::count(abandoned, "new image"),
        plural::noun(abandoned, "was", "were"),
    );
    Problem::rate_limited(((reset_at.0 - app.clock.now().0) / 1000).max(1) as u64)
        .with_code("renders_abandoned", detail)
        .with("abandoned_today", abandoned)
        .with("reset_at", reset_at.rfc3339())
}

fn too_many_paints(app: &App, paints: i64, reset_at: UnixMs) -> Problem {
    let detail = format!(
        "{} in paints that are not presets {} made for this account today (UTC). Presets, and images that exist, are \
         still delivered.",
        plural::count(paints, "new image"),
        plural::noun(paints, "was", "were"),
    );
    Problem::rate_limited(((reset_at.0 - app.clock.now().0) / 1000).max(1) as u64)
        .with_code("too_many_new_paints", detail)
        .with("reset_at", reset_at.rfc3339())
}

fn budget_spent(app: &App, reset_at_ms: i64, scope: BudgetScope) -> Problem {
    let spent = match scope {
        BudgetScope::Account => "The part of today's new renders that this account may use is spent",
        BudgetScope::FreeAccounts => {
            "Today's new renders for accounts that have only free credits are spent: accounts that have bought \
             credits get more"
        }
        BudgetScope::Day => "Today's budget for new renders is spent",
    };
    let detail = format!("{spent}; nothing was charged. Images that exist are still delivered.");
    let wait_seconds = (reset_at_ms - app.clock.now().0).max(1000) / 1000;
    Problem::unavailable("daily_budget_spent", detail)
        .retry_after(wait_seconds as u64)
        .with("reset_at", UnixMs(reset_at_ms).rfc3339())
}

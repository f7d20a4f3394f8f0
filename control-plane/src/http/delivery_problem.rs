//! Why there is no picture, as clients are told.

use super::error::Problem;
use super::refused::without_turn;
use crate::app::App;
use crate::catalog::{Missing, NotFound};
use crate::clock::UnixMs;
use crate::delivery::DeliveryError;
use crate::delivery::urls::{MintError, Refused};
use crate::ledger::{Credits, KeyCap, MeterError, Window};
use crate::logs::causes;
use crate::plural;
use crate::renders::{RenderError, Share};

/// After how long free pictures that found no place to be made in are worth another try, in seconds.
const FREE_WORK_RETRY_SECONDS: u64 = 10;

/// A failed delivery as clients see it.
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
            Problem::render_failed("The picture could not be rendered; the credit was given back.")
        }
        // The picture was made and could not be handed in: the store or the way to it, not the render.
        DeliveryError::Render(RenderError::Failed { .. }) => {
            Problem::unavailable("dependency_down", "The rendered picture could not be stored; nothing was charged.")
                .retry_after(15)
        }
        DeliveryError::Render(RenderError::TooLate) => {
            Problem::unavailable("at_capacity", "No render node finished this picture in time; nothing was charged.")
                .retry_after(app.renders.retry_after_seconds())
        }
        DeliveryError::Render(RenderError::AtCapacity { retry_after_seconds }) => {
            Problem::unavailable("at_capacity", "Too many renders are waiting; nothing was charged.")
                .retry_after(retry_after_seconds)
        }
        DeliveryError::Render(RenderError::BudgetSpent { reset_at_ms, share }) => budget_spent(app, reset_at_ms, share),
        DeliveryError::FreeWorkFull => {
            let detail = "Too many free pictures of uncommon sizes are being made. The sizes 256, 512, 768 and 1024 need no making.";
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
            tracing::error!(error = causes(&error), "it is not known whether a request was charged");
            metrics::counter!("cyclorama_dependency_failures_total", "dependency" => "database").increment(1);
            let detail = "The database broke off while this was being charged. If it was, the charge is given back by itself as soon as the database answers.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
        DeliveryError::AttemptLost => {
            Problem::conflict("idempotency_key_in_use", "Another request with this idempotency key is being answered.")
        }
        DeliveryError::NoLedger => {
            tracing::error!("a key's account has no balance");
            Problem::internal()
        }
        DeliveryError::Encoding(_) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a stored picture could not be encoded");
            Problem::internal()
        }
        DeliveryError::HoldLost
        | DeliveryError::Store(_)
        | DeliveryError::Credentials(_)
        | DeliveryError::Meter(MeterError::Database(_))
        | DeliveryError::Database(_)
        | DeliveryError::Render(RenderError::Database(_)) => {
            tracing::error!(error = causes(&error), "a picture could not be delivered");
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

/// Why addresses were not made, as clients see it.
pub fn mint_problem(app: &App, error: MintError) -> Problem {
    match error {
        MintError::Name(error) => error.into(),
        MintError::Delivery(error) => problem(app, error),
    }
}

/// The same of a picture that nobody pays for.
pub fn problem_for_free(app: &App, error: DeliveryError) -> Problem {
    match error.is_failed_render() {
        true => Problem::render_failed("The picture could not be rendered."),
        false => problem(app, error),
    }
}

/// A refused load as clients see it.
pub fn refused_address(app: &App, refused: Refused) -> Problem {
    match refused {
        Refused::Invalid => {
            Problem::forbidden("delivery_url_invalid", "This is not a delivery address of this service.")
        }
        Refused::Expired => {
            Problem::forbidden("delivery_url_expired", "This delivery address has expired: make a new one.")
        }
        Refused::KeyRevoked => {
            Problem::forbidden("delivery_url_revoked", "The key that made this delivery address was revoked.")
        }
        Refused::Exhausted => Problem::gone(
            "delivery_url_exhausted",
            "This delivery address was loaded as often as it may be: make a new one.",
        ),
        Refused::Consumed => Problem::gone(
            "delivery_url_consumed",
            "The first load of this delivery address failed and its credit was given back: make a new one.",
        ),
        Refused::NoVehicle => {
            Problem::not_found("vehicle_not_found", "The catalog no longer has the vehicle of this delivery address.")
        }
        Refused::Delivery(error) => problem(app, error),
    }
}

/// 404 with the nearest names the catalog has.
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
        "`suggestions` has the nearest. resolve_vehicle reads free text; search_vehicles with `q` finds names, with `make` lists models, with \
         `make` and `model` years.",
    )
}

/// 429 that says whose limit it was: another key of the account would not help where it is the account's.
fn rate_limited(window: Window, limit: i64, of_account: bool) -> Problem {
    let (limited, whose) = match of_account {
        true => ("account", "This account's keys together"),
        false => ("key", "This key"),
    };
    let detail = format!("{whose} may make {limit} requests in a minute; there were more in this one.");
    Problem::rate_limited(window.reset_seconds.max(1) as u64)
        .because("rate_limited", detail)
        .with("limited", limited)
        .with("limit_per_minute", limit)
}

/// 402 as for a balance that is too low: a person has to decide, and trying again does not help before the month ends.
fn over_cap(app: &App, balance: Credits, required: Credits, cap: KeyCap) -> Problem {
    let resets_at = app.clock.now().next_utc_month().rfc3339();
    let detail = format!(
        "This request needs {}; this key has taken {} of the {} it may take in a month. Its owner can raise the cap in the dashboard.",
        plural::count(required.0, "credit"),
        cap.spent,
        cap.cap
    );
    Problem::insufficient_credits(balance.0, required.0, &app.base_url)
        .because("monthly_cap_reached", detail)
        .with("monthly_cap_credits", cap.cap.0)
        .with("monthly_cap_spent", cap.spent.0)
        .with("reset_at", resets_at)
}

/// 429: the account is asked to let its requests end.
fn too_many_abandoned(app: &App, abandoned: i64, reset_at: UnixMs) -> Problem {
    let detail = format!(
        "{} {} begun for this account today (UTC) and not paid for, because the request ended before the picture came. Each credit that is \
         spent makes room for one more; pictures that exist are still delivered. Let a request for a new picture wait for its answer.",
        plural::count(abandoned, "new picture"),
        plural::noun(abandoned, "was", "were"),
    );
    Problem::rate_limited(((reset_at.0 - app.clock.now().0) / 1000).max(1) as u64)
        .because("renders_abandoned", detail)
        .with("abandoned_today", abandoned)
        .with("reset_at", reset_at.rfc3339())
}

fn too_many_paints(app: &App, paints: i64, reset_at: UnixMs) -> Problem {
    let detail = format!(
        "{} in paints that no preset names {} made for this account today (UTC). Presets and paints that exist are still delivered.",
        plural::count(paints, "new picture"),
        plural::noun(paints, "was", "were"),
    );
    Problem::rate_limited(((reset_at.0 - app.clock.now().0) / 1000).max(1) as u64)
        .because("too_many_new_paints", detail)
        .with("reset_at", reset_at.rfc3339())
}

fn budget_spent(app: &App, reset_at_ms: i64, share: Share) -> Problem {
    let spent = match share {
        Share::Account => "This account's share of today's new renders is used up",
        Share::FreeAccounts => {
            "Today's new renders for accounts with free credits only are used up: credits that are bought have more"
        }
        Share::Day => "Today's budget for new renders is spent",
    };
    let detail = format!("{spent}; nothing was charged. Pictures that exist are still delivered.");
    let wait_seconds = (reset_at_ms - app.clock.now().0).max(1000) / 1000;
    Problem::unavailable("daily_budget_spent", detail)
        .retry_after(wait_seconds as u64)
        .with("reset_at", UnixMs(reset_at_ms).rfc3339())
}

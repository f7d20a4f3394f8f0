//! Requests of a key: each is counted in the key's window, which its answer tells. Windows themselves are counted by the meter, exactly and
//! for all processes together.

use super::delivery_problem::problem;
use super::error::Problem;
use super::window_fields::{Policy, describe, fields};
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery;
use crate::ledger::Window;
use axum::response::{IntoResponse, Response};

/// Refuses a request of a key whose window is known to be full, before anything is done for it. It is counted like any other.
pub async fn refuse_when_full(app: &App, caller: &mut Caller) -> Result<(), Problem> {
    if !app.meter.is_full(&caller.key_id, app.clock.now()) {
        return Ok(());
    }
    let (window, counted) = delivery::count(app, caller).await;
    if let Err(error) = counted {
        let refusal = problem(app, error);
        let told = window.map(|window| fields(window, Policy::Key)).into_iter().flatten();
        return Err(told.fold(refusal, |refusal, (name, text)| refusal.header(name, &text)));
    }
    caller.is_counted = true;
    Ok(())
}

/// Puts a key's window on an answer, where it is known and the answer is the caller's alone.
pub fn with_window(mut response: Response, window: Option<Window>) -> Response {
    if let Some(window) = window {
        describe(&mut response, window, Policy::Key);
    }
    response
}

/// Counts a request of a key that costs nothing, then answers it. Over the limit nothing else happens.
pub async fn counted(app: &App, caller: &Caller, answer: impl Future<Output = Result<Response, Problem>>) -> Response {
    let (window, counted) = delivery::count(app, caller).await;
    let response = match counted {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(error) => problem(app, error).into_response(),
    };
    with_window(response, window)
}

/// A refusal that needs no account: counted, because every request is.
pub async fn refuse(app: &App, caller: &Caller, refusal: Problem) -> Response {
    counted(app, caller, async { Err(refusal) }).await
}

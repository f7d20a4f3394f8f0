//! Rate-limit windows of API keys: each request of a key is counted in the key's window, and every
//! response that is private to the caller carries the fields of the window. The meter counts the
//! windows, exactly and for all processes together.

use super::delivery_problem::problem;
use super::error::Problem;
use super::window_fields::{Policy, describe};
use crate::accounts::caller::{Caller, KeyWindow};
use crate::app::App;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::convert::Infallible;

impl<S: Send + Sync> FromRequestParts<S> for KeyWindow {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<KeyWindow>().cloned().unwrap_or_default())
    }
}

/// Adds the fields of the key's window to the response, if the request was counted in one.
pub async fn window_headers(mut request: Request, next: Next) -> Response {
    let window = KeyWindow::default();
    request.extensions_mut().insert(window.clone());
    let mut response = next.run(request).await;
    if let Some(window) = window.get() {
        describe(&mut response, window, Policy::Key);
    }
    response
}

/// Refuses a request of a key whose window is known to be full, before any work is done for it. The
/// request is counted like any other.
pub async fn refuse_when_full(app: &App, caller: &mut Caller) -> Result<(), Problem> {
    if !app.meter.is_full(&caller.key_id, app.clock.now()) {
        return Ok(());
    }
    app.deliveries.count(caller).await.map_err(|error| problem(app, error))?;
    caller.is_counted = true;
    Ok(())
}

/// Counts a request that costs nothing in its key's window, then runs `answer`. Over the limit
/// `answer` is not run.
pub async fn counted(app: &App, caller: &Caller, answer: impl Future<Output = Result<Response, Problem>>) -> Response {
    match app.deliveries.count(caller).await {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(error) => problem(app, error).into_response(),
    }
}

/// Returns `refusal`, which needed no account, after counting the request:
/// every request of a key is counted.
pub async fn refuse(app: &App, caller: &Caller, refusal: Problem) -> Response {
    counted(app, caller, async { Err(refusal) }).await
}

//! `GET /llms.txt` and `GET /agents.md`: what a program or a model has to know before it calls, short, costs and scopes first. One text,
//! which the tool `describe_api` tells as well; the tools' lines come from the tools.

use super::pages::fragment;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::mcp::{Listed, listing};
use axum::extract::State;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Guide<'a> {
    /// The whole guide; else its beginning, with addresses of the rest.
    is_whole: bool,
    base_url: &'a str,
    credits_per_dollar: i64,
    free_credits: i64,
    rate_limit_per_minute: i64,
    render_wait_seconds: u64,
    tools: Vec<Listed>,
}

fn text(app: &App, is_whole: bool) -> Result<String, Problem> {
    let guide = Guide {
        is_whole,
        base_url: &app.base_url,
        credits_per_dollar: app.config.prices.credits_per_dollar,
        free_credits: app.config.prices.free_credits,
        rate_limit_per_minute: app.config.limits.rate_limit_per_minute,
        render_wait_seconds: app.config.farm.render_wait().as_secs(),
        tools: listing(),
    };
    fragment("agents.md", &guide)
}

/// The whole guide.
pub fn guide(app: &App) -> Result<String, Problem> {
    text(app, true)
}

pub async fn agents(State(app): State<App>) -> Result<Response, Problem> {
    Ok(answer("text/markdown; charset=utf-8", guide(&app)?))
}

pub async fn llms(State(app): State<App>) -> Result<Response, Problem> {
    Ok(answer("text/plain; charset=utf-8", text(&app, false)?))
}

fn answer(kind: &'static str, text: String) -> Response {
    // Tools that run in browsers read it from other origins.
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "public, max-age=300"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, text).into_response()
}

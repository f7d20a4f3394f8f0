//! `GET /llms.txt` and `GET /agents.md`: what a program or a language model must know before it
//! calls the API, in short, with costs and scopes first.
//!
//! The tool `describe_api` returns the same text. Its lines about tools come from the tools
//! themselves.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::guide::{beginning, guide};
use crate::http::mcp::listing;
use axum::extract::State;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

pub async fn agents(State(app): State<App>) -> Result<Response, Problem> {
    Ok(answer("text/markdown; charset=utf-8", guide(&app, listing())?))
}

pub async fn llms(State(app): State<App>) -> Result<Response, Problem> {
    Ok(answer("text/plain; charset=utf-8", beginning(&app, listing())?))
}

fn answer(kind: &'static str, text: String) -> Response {
    // Tools that run in browsers read these pages from other origins.
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "public, max-age=300"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, text).into_response()
}

//! Authenticates the operator by the operator token.

use super::authorization::bearer;
use super::error::Problem;
use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Proof that a request carries the operator token. Routes on the operator address extract it.
#[derive(Debug, Clone, Copy)]
pub struct Operator;

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match bearer(&parts.headers) {
            Some(token) if app.operator_token.matches(&token) => Ok(Operator),
            _ => Err(Problem::unauthorized("Send the operator token: `Authorization: Bearer <token>`.")),
        }
    }
}

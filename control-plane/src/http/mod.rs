//! HTTP: the routes, what every answer has, and one handler file per verb and resource.

pub mod admin;
pub mod auth;
pub mod console;
pub mod cross_origin;
pub mod error;
pub mod extract;
pub mod figures;
pub mod frame;
pub mod health;
pub mod json;
pub mod legacy;
pub mod mcp;
pub mod node;
pub mod openapi;
pub mod operator_host;
mod public_text;
pub mod rate_limit;
mod refused;
#[cfg(test)]
mod route_tests;
pub mod router;
pub mod sendfile;
pub mod server;
mod slow_body;
#[cfg(test)]
mod tests;
pub mod trace;
mod turn_body;
pub mod v1;
pub mod web;
pub mod webhooks;

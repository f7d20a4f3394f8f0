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
pub mod rate_limit;
#[cfg(test)]
mod route_tests;
pub mod router;
pub mod sendfile;
pub mod server;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod v1;
pub mod web;
pub mod webhooks;

//! HTTP: the routes, what every answer has, and one handler file per verb and resource.

pub mod admin;
pub mod auth;
pub mod authorization;
pub mod body;
pub mod caller;
pub mod client_ip;
pub mod console;
pub mod cross_origin;
pub mod delivery_problem;
pub mod error;
pub mod figures;
pub mod frame;
pub mod guide;
pub mod health;
pub mod image_urls;
pub mod json;
pub mod key_window;
pub mod legacy;
pub mod mcp;
pub mod named_request;
pub mod node;
pub mod node_caller;
pub mod openapi;
pub mod operator;
pub mod operator_host;
pub mod partner_signature;
pub mod picture_headers;
pub mod public_reads;
mod public_text;
pub mod rate_limit;
mod refused;
pub mod request_id;
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
pub mod vehicle_params;
pub mod web;
pub mod webhooks;
pub mod window_fields;

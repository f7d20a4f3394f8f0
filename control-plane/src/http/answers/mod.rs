//! Responses that more than one interface gives: the JSON API (`v1`), the MCP tools (`mcp`), pages
//! and the operator's API. Each is built here once from calls of the domain modules; handlers
//! decide who may call and how the response is sent.

pub mod account;
pub mod decoded_vin;
pub mod feedback;
pub mod image_options;
pub mod image_urls;
pub mod payment_page;
pub mod render_review;
pub mod resolution;
pub mod statement;
pub mod vehicle;
pub mod vehicle_check;
pub mod vehicle_list;
pub mod vehicle_params;
pub mod vehicles_query;

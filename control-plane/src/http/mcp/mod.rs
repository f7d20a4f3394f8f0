//! `POST /api/mcp`: the API as tools of the Model Context Protocol, for agents. A third skin over what the JSON API does.
//!
//! `post` knows keys and limits, `transport` the protocol's HTTP (by the protocol's Rust SDK), `server` which tools there are. The SDK
//! speaks every revision of the protocol itself.

mod arguments;
mod origins;
mod post;
mod server;
mod tools;
pub mod transport;

pub use origins::Page;
pub use post::{BODY_BYTES_MAX, Endpoint, post};
pub use tools::{Listed, listing};

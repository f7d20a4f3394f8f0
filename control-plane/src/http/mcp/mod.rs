//! `POST /api/mcp`: the API as tools of the Model Context Protocol, for agents. The tools make the
//! same domain calls as the JSON API.
//!
//! `post` knows keys and limits, `transport` the HTTP of the protocol (with the protocol's Rust
//! SDK), and `server` the tools. The SDK supports every revision of the protocol itself.

mod arguments;
mod origins;
mod post;
mod server;
mod tools;
pub mod transport;

pub use origins::Page;
pub use post::{BODY_BYTES_MAX, McpEndpoint, post};
pub use tools::{ToolSummary, listing};

//! The guide for programs and models that call the service: short, with costs and scopes first. The
//! pages for programs (`/agents.md`, `/llms.txt`) and the tool `describe_api` show the same text.
//! Its lines about tools come from the tool definitions.

use super::error::Problem;
use super::mcp::ToolSummary;
use super::web::pages::fragment;
use crate::app::App;
use serde::Serialize;

#[derive(Serialize)]
struct Guide<'a> {
    /// True for the whole guide, false for its beginning with links to the rest.
    is_whole: bool,
    base_url: &'a str,
    credits_per_dollar: i64,
    free_credits: i64,
    rate_limit_per_minute: i64,
    render_wait_seconds: u64,
    tools: Vec<ToolSummary>,
}

fn text(app: &App, is_whole: bool, tools: Vec<ToolSummary>) -> Result<String, Problem> {
    let guide = Guide {
        is_whole,
        base_url: &app.base_url,
        credits_per_dollar: app.config.prices.credits_per_dollar,
        free_credits: app.config.prices.free_credits,
        rate_limit_per_minute: app.config.limits.rate_limit_per_minute,
        render_wait_seconds: app.config.farm.render_wait().as_secs(),
        tools,
    };
    fragment("agents.md", &guide)
}

/// Returns the whole guide as Markdown.
pub fn guide(app: &App, tools: Vec<ToolSummary>) -> Result<String, Problem> {
    text(app, true, tools)
}

/// Returns the beginning of the guide as Markdown, with links to the rest.
pub fn beginning(app: &App, tools: Vec<ToolSummary>) -> Result<String, Problem> {
    text(app, false, tools)
}

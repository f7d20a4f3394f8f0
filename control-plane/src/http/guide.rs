//! What a program or a model has to know before it calls, short, costs and scopes first. One text, which the pages for
//! machines and the tool `describe_api` tell; the tools' lines come from the tools.

use super::error::Problem;
use super::mcp::Listed;
use super::web::pages::fragment;
use crate::app::App;
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

fn text(app: &App, is_whole: bool, tools: Vec<Listed>) -> Result<String, Problem> {
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

/// The whole guide.
pub fn guide(app: &App, tools: Vec<Listed>) -> Result<String, Problem> {
    text(app, true, tools)
}

/// Its beginning, with addresses of the rest.
pub fn beginning(app: &App, tools: Vec<Listed>) -> Result<String, Problem> {
    text(app, false, tools)
}

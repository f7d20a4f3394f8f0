//! Renders HTML templates to responses. A page is given values that are ready to show, and looks
//! nothing up.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::request_id::RequestId;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use std::sync::LazyLock;

/// Content security policy: pages load only our own files, and their HTML contains no scripts or
/// styles.
const POLICY: &str = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

macro_rules! templates {
    ($environment:ident: $($name:literal)+) => {
        $($environment.add_template($name, include_str!(concat!("../../../templates/", $name)))?;)+
    };
}

static TEMPLATES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // A variable that a page is not given is an error, not an empty string.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("plural", |number: Value, one: String, many: String| match number.to_string().as_str() {
        "1" => one,
        _ => many,
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    templates!(environment:
        "agents.md" "base.html" "billing.html" "check_mail.html" "confirm.html" "console.html" "console_live.html" "console_sign_in.html" "dashboard_parts.html" "deliveries.html" "device.html" "docs.html" "errors.html" "fields.html" "forgot_password.html" "home.html" "key.html" "keys.html" "leaving.html" "overview.html" "password.html" "pay.html" "playground.html" "playground_list.html" "pricing.html" "problem.html" "quick_start.html" "reference.html" "reset_password.html" "shown_once.html" "sign_in.html" "sign_up.html" "stage.html" "status.html" "urls.html"
    );
    Ok(environment)
});

/// Values that every page shows beside its own content.
#[derive(Debug, Serialize)]
pub struct CommonValues<'a> {
    /// Email address of the signed-in user.
    pub email: Option<&'a str>,
    /// Token that the page's forms send; empty if nobody can send one.
    pub csrf: &'a str,
    /// True if the service has checked who is signed in. A page about a failure goes without that
    /// check.
    pub is_known: bool,
}

#[derive(Serialize)]
struct WholePage<'a, T> {
    shared: &'a CommonValues<'a>,
    #[serde(flatten)]
    page: &'a T,
}

/// Renders a template with its context to a response. The `.html` in the name turns escaping on.
pub fn render<T: Serialize>(name: &str, status: StatusCode, shared: &CommonValues<'_>, context: &T) -> Response {
    let html = match fragment(name, &WholePage { shared, page: context }) {
        Ok(html) => html,
        Err(problem) => return problem.into_response(),
    };
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Renders a template that is not a whole page.
pub fn fragment<T: Serialize>(name: &str, context: &T) -> Result<String, Problem> {
    let templates = TEMPLATES.as_ref().map_err(|error| {
        tracing::error!(error = error as &dyn std::error::Error, "the templates do not parse");
        Problem::internal()
    })?;
    templates.get_template(name).and_then(|template| template.render(Serde(context))).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, page = name, "a page could not be rendered");
        Problem::internal()
    })
}

#[derive(Serialize)]
struct FailureContent<'a> {
    status: u16,
    title: &'a str,
    detail: &'a str,
    request_id: &'a str,
}

/// Returns true if the client accepts HTML, so that a person waits for the response.
pub fn is_browser(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

/// Renders a problem as a page.
pub fn failure(problem: &Problem, id: &RequestId) -> Response {
    let failure = FailureContent {
        status: problem.status().as_u16(),
        title: problem.status().canonical_reason().unwrap_or("Error"),
        detail: problem.detail(),
        request_id: &id.0,
    };
    let mut page =
        render("problem.html", problem.status(), &CommonValues { email: None, csrf: "", is_known: false }, &failure);
    // The page is not stored, because what is missing or failing now may be available in a moment.
    page.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    page
}

/// Middleware that turns problems into pages for browsers. A program gets the problem document.
pub async fn failures_as_pages(State(_): State<App>, id: RequestId, request: Request, next: Next) -> Response {
    let is_browser = is_browser(request.headers());
    let mut response = next.run(request).await;
    if !is_browser {
        return response;
    }
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let mut page = failure(&problem, &id);
    // `Retry-After`, cookies and rate limit headers are kept.
    for (name, value) in response.headers() {
        page.headers_mut().append(name.clone(), value.clone());
    }
    page
}

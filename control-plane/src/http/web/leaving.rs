//! Leads a browser on to a URL: by a redirect if it is one of our pages, otherwise by a page that
//! leads there.
//!
//! The content security policy allows forms to go only to our own pages, and browsers also apply it
//! to redirects that answer a form.

use super::visit::PageSession;
use crate::app::App;
use axum::http::HeaderValue;
use axum::http::header::REFRESH;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Page<'a> {
    url: &'a str,
    host: String,
    why: &'a str,
}

/// Returns the response that leads to `url`. `why` tells the reader of the page what is at that
/// URL.
pub fn to(app: &App, visit: &PageSession, url: &str, why: &str) -> Response {
    if url.strip_prefix(&app.base_url).is_some_and(|path| path.starts_with('/')) {
        return Redirect::to(url).into_response();
    }
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let mut response = visit.page("leaving.html", &Page { url, host, why });
    // The header redirects at once. The link on the page is for browsers that do not follow it.
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={url}")) {
        response.headers_mut().insert(REFRESH, refresh);
    }
    response
}

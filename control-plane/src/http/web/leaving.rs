//! On to a page: by a redirect where it is ours, else by a page that leads there. Our content security policy lets forms go nowhere else,
//! and browsers hold redirects of a form's answer to it.

use super::visit::Visit;
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

/// `why`: what is there, for whoever reads the page.
pub fn to(app: &App, visit: &Visit, url: &str, why: &str) -> Response {
    if url.strip_prefix(&app.base_url).is_some_and(|path| path.starts_with('/')) {
        return Redirect::to(url).into_response();
    }
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let mut response = visit.page("leaving.html", &Page { url, host, why });
    // At once; the link is for browsers that do not.
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={url}")) {
        response.headers_mut().insert(REFRESH, refresh);
    }
    response
}

//! Templates to answers. A page is given values ready to show and asks for nothing.

use crate::http::error::Problem;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::response::{Html, IntoResponse, Response};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use std::sync::LazyLock;

/// Pages load their own files and nothing else; there is no script or style inside the HTML.
const POLICY: &str = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

static TEMPLATES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // A name that a page is not given is a mistake, not an empty place.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("base.html", include_str!("../../../templates/base.html"))?;
    environment.add_template("docs.html", include_str!("../../../templates/docs.html"))?;
    environment.add_template("errors.html", include_str!("../../../templates/errors.html"))?;
    environment.add_template("stage.html", include_str!("../../../templates/stage.html"))?;
    environment.add_template("home.html", include_str!("../../../templates/home.html"))?;
    Ok(environment)
});

/// Renders a template with its context. The name's `.html` turns escaping on.
pub fn page<T: Serialize>(name: &str, context: &T) -> Response {
    let rendered = match &*TEMPLATES {
        Ok(templates) => templates.get_template(name).and_then(|template| template.render(Serde(context))),
        Err(error) => {
            tracing::error!(error = error as &dyn std::error::Error, "the templates do not parse");
            return Problem::internal().into_response();
        }
    };
    match rendered {
        Ok(html) => {
            let mut response = Html(html).into_response();
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, page = name, "a page could not be rendered");
            Problem::internal().into_response()
        }
    }
}

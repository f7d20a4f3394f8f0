//! Forms of our pages. What a form says can be read only through here, where it is checked that our own page sent it.

use super::visit::Visit;
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::error::Problem;
use crate::http::json::shortened;
use crate::ledger::CREDITS_MAX;
use axum::extract::{FromRequest, FromRequestParts, Request};
use url::form_urlencoded;

/// The hidden field that proves it.
pub(super) const TOKEN: &str = "csrf";

/// The fields of a form, by name.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// A field as it was typed; empty when it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// A number of credits that was typed, 1 to [`CREDITS_MAX`]; `Ok(None)` for an empty field.
    pub fn credits(&self, name: &str) -> Result<Option<i64>, NotCredits> {
        let typed = self.text(name).trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let credits = typed.parse().ok().filter(|credits| (1..=CREDITS_MAX).contains(credits));
        credits.map(Some).ok_or(NotCredits)
    }

    /// The values of a field that may be chosen several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// What was typed is no number of credits.
#[derive(Debug)]
pub struct NotCredits;

impl FromRequest<App> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let foreign = || {
            Problem::forbidden(
                "form_out_of_date",
                "This form is out of date, or was not sent by our page. Open the page again and send it once more.",
            )
        };
        // Browsers say where a form comes from; those that do not have the token alone.
        let site = parts.headers.get("sec-fetch-site").map(|site| site.as_bytes());
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return Err(foreign());
        }
        let visit = Visit::from_request_parts(&mut parts, app).await?;
        let body = read_any_body(Request::from_parts(parts, body), app).await?;
        let fields: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
        if let Some((name, _)) = fields.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
            let name = shortened(name).replace('\0', "\u{fffd}");
            let detail = format!("`{name}` holds the character NUL.");
            return Err(Problem::bad_request("invalid_text", detail).with("parameter", name));
        }
        let form = Form(fields);
        match visit.owns_form(app, form.text(TOKEN)).await? {
            true => Ok(form),
            false => Err(foreign()),
        }
    }
}

//! Forms of our pages. A form's fields can be read only through [`Form`], which checks that one of
//! our own pages sent them.

use super::visit::PageSession;
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::error::Problem;
use crate::http::json::shortened;
use crate::ledger::CREDITS_MAX;
use axum::extract::{FromRequest, FromRequestParts, Request};
use url::form_urlencoded;

/// Name of the hidden field with the token, which proves that our own page sent the form.
pub(super) const TOKEN: &str = "csrf";

/// The fields of a form, as names and values.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Returns a field as it was typed, or an empty string if it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Reads a number of credits from 1 to [`CREDITS_MAX`]. Returns `Ok(None)` for an empty field.
    pub fn credits(&self, name: &str) -> Result<Option<i64>, NotCredits> {
        let typed = self.text(name).trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let credits = typed.parse().ok().filter(|credits| (1..=CREDITS_MAX).contains(credits));
        credits.map(Some).ok_or(NotCredits)
    }

    /// Returns the values of a field that may be chosen several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// A field does not hold a valid number of credits.
#[derive(Debug)]
pub struct NotCredits;

impl FromRequest<App> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let foreign = || {
            Problem::forbidden(
                "form_out_of_date",
                "This form has expired, or was not sent from our page. Open the page again and resend the form.",
            )
        };
        // Most browsers name the site that a form comes from. For the others the token alone
        // decides.
        let site = parts.headers.get("sec-fetch-site").map(|site| site.as_bytes());
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return Err(foreign());
        }
        let visit = PageSession::from_request_parts(&mut parts, app).await?;
        let body = read_any_body(Request::from_parts(parts, body), app).await?;
        let fields: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
        if let Some((name, _)) = fields.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
            let name = shortened(name).replace('\0', "\u{fffd}");
            let detail = format!("`{name}` contains the character NUL.");
            return Err(Problem::bad_request("invalid_text", detail).with("parameter", name));
        }
        let form = Form(fields);
        match visit.owns_form(app, form.text(TOKEN)).await? {
            true => Ok(form),
            false => Err(foreign()),
        }
    }
}

//! `GET /docs/errors`: what every status means, at the anchors that problem documents name as their `type`.

use super::pages::page;
use axum::response::Response;

pub async fn get() -> Response {
    page("errors.html", &())
}

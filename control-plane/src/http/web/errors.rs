//! `GET /docs/errors`: what every status means, at the anchors that problem documents name as their `type`.

use super::visit::Visit;
use axum::response::Response;

pub async fn get(visit: Visit) -> Response {
    visit.page("errors.html", &())
}

//! `GET /docs/errors`: the page that explains every status, at the anchors that problem documents
//! name as their `type`.

use super::visit::PageSession;
use axum::response::Response;

pub async fn get(visit: PageSession) -> Response {
    visit.page("errors.html", &())
}

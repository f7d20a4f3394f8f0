//! `GET /assets/{name}`: the static files of the pages, embedded in the program, each with an ETag
//! of its content.

use crate::delivery::{etag_matches, etag_of_bytes};
use crate::http::error::Problem;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cyclorama_core::Colour;
use std::sync::LazyLock;

struct Asset {
    name: &'static str,
    media_type: &'static str,
    body: String,
    etag: String,
}

static ASSETS: LazyLock<[Asset; 6]> = LazyLock::new(|| {
    let asset = |name, media_type, body: String| {
        let etag = etag_of_bytes(body.as_bytes());
        Asset { name, media_type, body, etag }
    };
    [
        asset(
            "site.css",
            "text/css; charset=utf-8",
            include_str!("../../../assets/site.css").to_owned() + &paint_classes(),
        ),
        asset("site.js", "text/javascript; charset=utf-8", include_str!("../../../assets/site.js").to_owned()),
        asset("console.js", "text/javascript; charset=utf-8", include_str!("../../../assets/console.js").to_owned()),
        asset("home.js", "text/javascript; charset=utf-8", include_str!("../../../assets/home.js").to_owned()),
        asset(
            "playground.js",
            "text/javascript; charset=utf-8",
            include_str!("../../../assets/playground.js").to_owned(),
        ),
        asset("icon.svg", "image/svg+xml", include_str!("../../../assets/icon.svg").to_owned()),
    ]
});

/// Returns one CSS class for each preset paint (`c-red`), so that the pages show the colours that
/// the API lists.
fn paint_classes() -> String {
    Colour::ALL.iter().map(|colour| format!(".c-{colour}{{background:{}}}", colour.hex())).collect()
}

pub async fn get(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return Problem::not_found("unknown_route", "There is nothing at this URL.").into_response();
    };
    // Browsers revalidate assets with every page and get 304 for unchanged ones. After an upgrade
    // no page has old styles.
    let known = [(ETAG, asset.etag.as_str()), (CACHE_CONTROL, "no-cache")];
    let asked = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if asked.is_some_and(|asked| etag_matches(asked, &asset.etag)) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    (known, [(CONTENT_TYPE, asset.media_type)], asset.body.as_str()).into_response()
}

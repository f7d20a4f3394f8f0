use crate::http::router;
use crate::http::tests::{TestService, service};
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

async fn get(service: &TestService, path: &str, if_none_match: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::get(path).header("host", "images.test");
    if let Some(etag) = if_none_match {
        request = request.header(IF_NONE_MATCH, etag);
    }
    let request = request.body(Body::empty()).expect("request");
    let (parts, body) = router::public(service.app.clone()).oneshot(request).await.expect("infallible").into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("body");
    (parts.status, parts.headers, String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn the_home_page_before_any_picture_is_there() {
    let service = service().await;
    let (status, headers, html) = get(&service, "/", None).await;
    // Slashes are escaped in values as well.
    let html = html.replace("&#x2f;", "/");
    assert_eq!(status, StatusCode::OK, "{html}");
    assert!(headers[CONTENT_TYPE].to_str().expect("text").starts_with("text/html"));
    assert!(headers[CONTENT_SECURITY_POLICY].to_str().expect("text").contains("script-src 'self'"));
    assert_eq!(html.matches("data-example=").count(), 6);
    for expected in [
        "14,841",
        "0 of 6",
        "/images/car.png?make=porsche&amp;model=911&amp;year=2024",
        "http://images.test/api/v1/images/car?make=porsche",
        "$100",
        "http-equiv=\"refresh\"",
    ] {
        assert!(html.contains(expected), "`{expected}` is not in {html}");
    }
    // The HTML contains nothing that the policy would block, and loads nothing from other hosts.
    for unwanted in ["<style", "style=\"", "onclick", "src=\"http", "{{", "{%"] {
        assert!(!html.contains(unwanted), "`{unwanted}` is in {html}");
    }
    let (status, _, progress) = get(&service, "/api/examples", None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(progress.contains("\"ready\":0") && progress.contains("\"total\":6"), "{progress}");
}

#[tokio::test]
async fn every_status_has_an_anchor_on_the_errors_page() {
    let service = service().await;
    let (status, _, html) = get(&service, "/docs/errors", None).await;
    assert_eq!(status, StatusCode::OK, "{html}");
    for status in [400, 401, 402, 403, 404, 405, 409, 410, 413, 414, 422, 429, 500, 502, 503] {
        assert!(html.contains(&format!("id=\"{status}\"")), "{status}");
    }
}

#[tokio::test]
async fn the_reference_shows_every_operation_and_shape() {
    let service = service().await;
    let (status, _, html) = get(&service, "/docs", None).await;
    assert_eq!(status, StatusCode::OK, "{html}");
    for anchor in
        ["getCarImage", "createImageUrls", "loadDelivery", "embedCarImage", "rateImage", "getAccount", "reportEvents"]
    {
        assert!(html.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
    for shape in ["Problem", "ImageRequest", "BatchImageUrlRequest", "ImageUrlsResponse", "Account", "StatementLine"] {
        assert!(html.contains(&format!("id=\"schema-{shape}\"")), "{shape}");
    }
}

#[tokio::test]
async fn assets_have_validators() {
    let service = service().await;
    for (path, media_type) in [
        ("/assets/site.css", "text/css"),
        ("/assets/home.js", "text/javascript"),
        ("/assets/icon.svg", "image/svg+xml"),
    ] {
        let (status, headers, body) = get(&service, path, None).await;
        assert_eq!((status, body.is_empty()), (StatusCode::OK, false), "{path}");
        assert!(headers[CONTENT_TYPE].to_str().expect("text").starts_with(media_type), "{path}");
        let etag = headers[ETAG].to_str().expect("text");
        let (status, again, body) = get(&service, path, Some(&format!("W/{etag}"))).await;
        assert_eq!((status, body.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        assert_eq!(again[ETAG], headers[ETAG]);
        assert!(again.contains_key(CACHE_CONTROL));
    }
    assert_eq!(get(&service, "/assets/other.css", None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn only_the_home_page_s_own_pictures_are_free() {
    let service = service().await;
    for (query, expected, named) in [
        ("make=porsche&model=911&year=2024&view=front-3-4&color=blue", StatusCode::UNAUTHORIZED, "API key"),
        ("make=porsche&model=911&year=2023&view=front-3-4&color=red", StatusCode::UNAUTHORIZED, "API key"),
        ("make=porsche&model=911&year=2024&view=top", StatusCode::BAD_REQUEST, "view"),
        ("make=porsche&model=911&year=2027", StatusCode::NOT_FOUND, "2027"),
        ("make=porche&model=911&year=2024", StatusCode::NOT_FOUND, "\"porsche\""),
    ] {
        let (status, _, body) = get(&service, &format!("/images/car.png?{query}"), None).await;
        assert_eq!(status, expected, "{query}: {body}");
        assert!(body.contains(named), "{query}: {body}");
    }
}

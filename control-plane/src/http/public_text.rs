//! Compresses public texts (pages without a secret, documents, lists) for clients that accept gzip,
//! and adds a validator, so that nobody loads an unchanged text twice.
//!
//! Nothing private is compressed: the length of a compressed page that holds a secret beside text
//! that a stranger chose reveals the secret (BREACH). A response counts as public if caches may
//! keep it and it sets no cookie. Pages with forms, and pages of a signed-in user, have
//! `private, no-store`.

use super::error::Problem;
use super::picture_headers::if_none_match;
use super::refused::is_bare;
use super::route_rules::RouteRules;
use crate::delivery::{etag_matches, etag_of_bytes};
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, SET_COOKIE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Smallest text that is compressed, in bytes. A smaller one fits into one or two packets as it is.
const COMPRESSED_BYTES_MIN: u64 = 1024;

/// Largest text that is buffered, compressed and tagged, in bytes. Our largest text has about 150
/// KiB; a larger one is sent as it comes.
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Compression level: a third of the time of the default level, for an eighth more bytes.
const LEVEL: u32 = 4;

pub async fn sent_well(mut request: Request, next: Next) -> Response {
    let is_head = request.method() == Method::HEAD;
    let has_text = request.extensions().get::<RouteRules>().is_none_or(|rules| !rules.sends_pictures);
    if !has_text || !(is_head || request.method() == Method::GET) {
        return next.run(request).await;
    }
    // HEAD has the headers of GET (RFC 9110, section 9.3.2), and some of
    // them are computed from the text.
    if is_head {
        *request.method_mut() = Method::GET;
    }
    let headers = request.headers().clone();
    let response = next.run(request).await;
    let response = match is_public_text(&response) {
        true => answer(response, &headers).await,
        false => response,
    };
    if is_head { without_body(response) } else { response }
}

/// Turns a response to GET into the response to HEAD. A refusal stays as it is, also one of the
/// framework: the middleware writes its text, and the server leaves that out.
fn without_body(mut response: Response) -> Response {
    if response.extensions().get::<Problem>().is_some() || is_bare(&response) {
        return response;
    }
    let has_length = response.headers().contains_key(CONTENT_LENGTH) || response.status() == StatusCode::NOT_MODIFIED;
    if let (false, Some(bytes)) = (has_length, response.body().size_hint().exact()) {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    *response.body_mut() = Body::empty();
    response
}

async fn answer(response: Response, asked: &HeaderMap) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(text) = to_bytes(body, TEXT_BYTES_MAX as usize).await else {
        // Cannot happen: the body stated its length, which is within the limit.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let tag = match parts.headers.get(ETAG).and_then(|tag| tag.to_str().ok()) {
        Some(tag) => tag.trim_start_matches("W/").to_owned(),
        None => etag_of_bytes(&text),
    };
    let weak = HeaderValue::try_from(format!("W/{tag}")).ok();
    if let (Some(weak), false) = (&weak, parts.headers.contains_key(ETAG)) {
        parts.headers.insert(ETAG, weak.clone());
    }
    parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if if_none_match(asked).is_some_and(|known| etag_matches(&known, &tag)) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    if text.len() as u64 >= COMPRESSED_BYTES_MIN
        && takes_gzip(asked)
        && let Ok(small) = gzip(&text)
    {
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        // The bytes differ from those that a strong validator of the handler names, so the
        // validator becomes weak.
        if let Some(weak) = weak {
            parts.headers.insert(ETAG, weak);
        }
        return Response::from_parts(parts, Body::from(small));
    }
    Response::from_parts(parts, Body::from(text))
}

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(LEVEL));
    encoder.write_all(text)?;
    encoder.finish()
}

fn is_public_text(response: &Response) -> bool {
    let headers = response.headers();
    let text_of = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (kind, caching) = (text_of(CONTENT_TYPE), text_of(CACHE_CONTROL));
    let is_text = kind != "text/event-stream"
        && (kind.starts_with("text/") || kind.starts_with("application/json") || kind.starts_with("image/svg+xml"));
    let is_public = !caching.is_empty() && !["private", "no-store"].iter().any(|word| caching.contains(word));
    response.status() == StatusCode::OK
        && is_text
        && is_public
        && !headers.contains_key(SET_COOKIE)
        && !headers.contains_key(CONTENT_ENCODING)
        && response.body().size_hint().exact().is_some_and(|bytes| (1..=TEXT_BYTES_MAX).contains(&bytes))
}

/// True if the client accepts gzip: it is named with a weight above zero, or everything is accepted
/// (RFC 9110, section 12.5.3).
fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let codings: Vec<(String, bool)> = lines
        .flat_map(|line| line.split(','))
        .map(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).and_then(|weight| weight.parse::<f32>().ok());
            (name, weight.unwrap_or(1.0) > 0.0)
        })
        .collect();
    let named =
        |wanted: &[&str]| codings.iter().find(|(name, _)| wanted.contains(&name.as_str())).map(|(_, takes)| *takes);
    named(&["gzip", "x-gzip"]).or_else(|| named(&["*"])).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (line, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("x-gzip", true),
            ("*", true),
            ("*;q=0, gzip", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000, *", false),
            ("br, deflate", false),
            ("identity", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(line))]);
            assert_eq!(takes_gzip(&headers), expected, "{line}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn only_public_texts_are_touched() {
        for (kind, caching, cookie, expected) in [
            ("text/html; charset=utf-8", "no-cache", None, true),
            ("application/json", "public, max-age=300", None, true),
            ("text/css; charset=utf-8", "no-cache", None, true),
            ("text/html; charset=utf-8", "private, no-store", None, false),
            ("text/html; charset=utf-8", "no-cache", Some("visitor=x"), false),
            ("application/json", "", None, false),
            ("text/event-stream", "no-cache", None, false),
            ("image/png", "public, max-age=300", None, false),
            ("application/problem+json", "no-cache", None, false),
        ] {
            let mut response = Response::new(Body::from("a text"));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            if !caching.is_empty() {
                response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(caching));
            }
            if let Some(cookie) = cookie {
                response.headers_mut().insert(SET_COOKIE, HeaderValue::from_static(cookie));
            }
            assert_eq!(is_public_text(&response), expected, "{kind} {caching} {cookie:?}");
        }
    }
}

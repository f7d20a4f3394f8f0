//! Refusals in which no handler takes part: requests that are refused before their handler runs,
//! and refusals of the web framework itself.

use super::error::Problem;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Version};
use axum::response::Response;

/// Maximum length of path and query together, in bytes. The longest good one, a signed embed with
/// every parameter, is under a kilobyte.
const ADDRESS_BYTES_MAX: usize = 8 * 1024;

/// Maximum number of characters of a sentence of the framework that becomes a detail. The sentence
/// may repeat what the client sent.
const SENTENCE_CHARS_MAX: usize = 300;

/// Extension of a request that got no permit: the request is to be refused.
#[derive(Debug, Clone, Copy)]
pub struct WithoutTurn;

/// Returns the refusal of a request that no handler may see, if it is one: the process is stopping,
/// there is no permit, or the host or the URL is not acceptable.
pub fn unseen(is_turned_away: bool, request: &Request) -> Option<Problem> {
    if is_turned_away {
        let stopping = Problem::unavailable("shutting_down", "This process is stopping; nothing was charged.");
        return Some(stopping.retry_after(1).header(CONNECTION, "close"));
    }
    if request.extensions().get::<WithoutTurn>().is_some() {
        return Some(without_turn());
    }
    if let Some(detail) = wrong_host(request.version(), request.headers()) {
        return Some(Problem::bad_request("invalid_host", detail));
    }
    // No name in the system contains NUL, and PostgreSQL does not accept it in text. A delivery
    // token that contains it is a malformed token, which its own route reports.
    let path = request.uri().path();
    if path.contains("%00") && !path.starts_with("/api/v1/delivery/") {
        return Some(Problem::not_found("not_found", "There is nothing at this URL."));
    }
    let address_bytes = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    (address_bytes > ADDRESS_BYTES_MAX).then(|| {
        let detail = format!("The path and query are longer than {ADDRESS_BYTES_MAX} bytes.");
        Problem::new(StatusCode::URI_TOO_LONG, "address_too_long", detail)
    })
}

/// Returns the 503 for a request that found no free permit among those of the process.
pub fn without_turn() -> Problem {
    let full = "This process is answering as many requests as it can; nothing was charged.";
    Problem::unavailable("at_capacity", full).retry_after(1).header(CONNECTION, "close")
}

/// Returns the fault of the `Host` header, if there is one. RFC 9112, section 3.2:
/// HTTP/1.1 names its host, once, in the form of a URL. With two hosts, different
/// readers would choose different ones.
fn wrong_host(version: Version, headers: &HeaderMap) -> Option<&'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (_, Some(_)) => Some("The request has more than one `Host` header."),
        (None, None) if version == Version::HTTP_11 => Some("The request has no `Host` header, which HTTP/1.1 needs."),
        (Some(host), None) => {
            let is_host = host.is_empty() || host.to_str().is_ok_and(is_host_and_port);
            (!is_host).then_some("The `Host` header must be a host with an optional port.")
        }
        (None, None) => None,
    }
}

fn is_host_and_port(text: &str) -> bool {
    // Colons in brackets are those of an IPv6 address.
    let behind_brackets = text.rsplit(']').next().unwrap_or(text);
    let port = behind_brackets.split_once(':').map_or("", |(_, port)| port);
    !text.contains('@') && port.bytes().all(|b| b.is_ascii_digit()) && text.parse::<Authority>().is_ok()
}

/// Turns a refusal of the framework (from an extractor that could not read a path or a
/// query, for instance) into a problem document: its sentence, which names the fault,
/// becomes the detail. An error response in plain text or without a body is the framework's,
/// because no error of ours looks like that.
pub async fn named(response: Response) -> Response {
    if !is_bare(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let sentence = to_bytes(body, 4 * SENTENCE_CHARS_MAX).await.unwrap_or_default();
    let sentence: String = String::from_utf8_lossy(&sentence).chars().take(SENTENCE_CHARS_MAX).collect();
    let problem = describe(parts.status, sentence.trim());
    parts.extensions.insert(problem);
    Response::from_parts(parts, axum::body::Body::empty())
}

/// True if a refusal is not a problem document: it has no body, or a sentence of a library.
pub fn is_bare(response: &Response) -> bool {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || response.extensions().get::<Problem>().is_some() {
        return false;
    }
    match response.headers().get(CONTENT_TYPE) {
        None => true,
        Some(kind) => kind.as_bytes().starts_with(b"text/plain"),
    }
}

fn describe(status: StatusCode, sentence: &str) -> Problem {
    let usual = status.canonical_reason().unwrap_or("The request was refused");
    // Internal failures are not shown to clients.
    if sentence.is_empty() || status.is_server_error() {
        return Problem::new(status, "refused", format!("{usual}."));
    }
    if status != StatusCode::BAD_REQUEST {
        return Problem::new(status, "refused", format!("{}.", sentence.trim_end_matches('.')));
    }
    // Examples: "Failed to deserialize query string: limit: invalid digit found in string",
    // "Invalid UTF-8 in `link`", "Failed to deserialize query string: missing field `state`".
    let reason = sentence.rsplit_once("query string: ").or_else(|| sentence.split_once("Invalid URL: "));
    let reason = reason.map_or(sentence, |(_, reason)| reason).trim_end_matches('.');
    let is_name =
        |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let quoted = reason.split('`').nth(1).filter(is_name);
    match (quoted, reason.split_once(": ").filter(|(name, _)| is_name(name))) {
        (Some(name), _) => Problem::bad_parameter(name, format!("{reason}.")),
        (None, Some((name, reason))) => Problem::bad_parameter(name, format!("`{name}`: {reason}.")),
        (None, None) => Problem::bad_request("invalid_request", format!("{reason}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_host_is_named_once_and_as_one() {
        let hosts = |lines: &[&'static [u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(HOST, HeaderValue::from_bytes(line).expect("a header"));
            }
            headers
        };
        for (version, lines, is_right) in [
            (Version::HTTP_11, &[&b"images.example.com"[..]][..], true),
            (Version::HTTP_11, &[b"127.0.0.1:8080"], true),
            (Version::HTTP_11, &[b"[::1]:8080"], true),
            (Version::HTTP_11, &[b""], true),
            (Version::HTTP_11, &[], false),
            (Version::HTTP_11, &[b"a", b"b"], false),
            (Version::HTTP_11, &[b"a", b"a"], false),
            (Version::HTTP_11, &[b"a b"], false),
            (Version::HTTP_11, &[b"a/b"], false),
            (Version::HTTP_11, &[b"user@a"], false),
            (Version::HTTP_11, &[b"a:port"], false),
            (Version::HTTP_11, &[b"\xff"], false),
            (Version::HTTP_10, &[], true),
            (Version::HTTP_10, &[b"a"], true),
            (Version::HTTP_10, &[b"a", b"b"], false),
        ] {
            assert_eq!(wrong_host(version, &hosts(lines)).is_none(), is_right, "{version:?} {lines:?}");
        }
    }

    #[test]
    fn sentences_of_the_framework_name_the_parameter() {
        for (sentence, parameter, detail) in [
            (
                "Failed to deserialize query string: limit: invalid digit found in string",
                Some("limit"),
                "`limit`: invalid digit found in string.",
            ),
            ("Failed to deserialize query string: missing field `state`", Some("state"), "missing field `state`."),
            ("Invalid URL: Invalid UTF-8 in `link`", Some("link"), "Invalid UTF-8 in `link`."),
            (
                "Invalid URL: Cannot parse `revision` with value `x` to a `i64`",
                Some("revision"),
                "Cannot parse `revision` with value `x` to a `i64`.",
            ),
            ("Something else: entirely other.", None, "Something else: entirely other."),
        ] {
            let document = describe(StatusCode::BAD_REQUEST, sentence).document("", "");
            assert_eq!(document["parameter"].as_str(), parameter, "{document}");
            assert_eq!(document["detail"], detail);
        }
        let inside = describe(StatusCode::INTERNAL_SERVER_ERROR, "Missing request extension: X").document("", "");
        assert_eq!(inside["detail"], "Internal Server Error.");
    }
}

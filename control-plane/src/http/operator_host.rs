//! Restricts the host names to which the operator address answers. `/metrics` needs no token, and a
//! browser on the operator's machine can reach what listens there: a page whose own name is made to
//! point at this address (DNS rebinding) could read it. Browsers send the name in `Host`, so a
//! request with an unknown name is refused. A numeric address cannot be made to point elsewhere.
//!
//! Why: `docs/decisions/operations.md` (Host names of the operator address).

use super::error::Problem;
use crate::app::App;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Refuses requests that name another host, with 421.
pub async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let header = || request.headers().get(HOST).map(|host| host.as_bytes());
    // A request to a proxy, and HTTP/2, name the host in the URL. Programs that speak HTTP/1.0 do
    // not name it at all; browsers always do.
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes()).or_else(header);
    let is_ours = named.is_none_or(|named| is_known(named, &app.config.listen.admin_hosts));
    if is_ours {
        return next.run(request).await;
    }
    let detail = "The name in `Host` is not a name of the operator address. Use its IP address, localhost, or a name \
                  in the setting CYCLORAMA_ADMIN_HOSTS.";
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", detail).into_response()
}

fn is_known(named: &[u8], names: &[String]) -> bool {
    let Ok(authority) = Authority::try_from(named) else { return false };
    // Only an attacker puts a user name there.
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let number = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    number.parse::<std::net::IpAddr>().is_ok() || host == "localhost" || names.contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_this_machine_and_names_that_are_set_are_known() {
        let names = ["farm-1.internal".to_owned(), "control-plane".to_owned()];
        for (named, expected) in [
            ("127.0.0.1:9090", true),
            ("10.1.2.3", true),
            ("[::1]:9090", true),
            ("[fd00::5]", true),
            ("localhost:9090", true),
            ("LOCALHOST", true),
            ("localhost.", true),
            ("control-plane:9090", true),
            ("Farm-1.Internal.", true),
            ("evil.example", false),
            ("evil.example:9090", false),
            ("farm-1.internal.evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("127.0.0.1@evil.example", false),
            ("localhost@evil.example", false),
            ("evil.example@localhost", false),
            ("2130706433", false),
            ("", false),
            ("local host", false),
        ] {
            assert_eq!(is_known(named.as_bytes(), &names), expected, "{named}");
        }
        assert!(!is_known(b"control-plane", &[]));
    }
}

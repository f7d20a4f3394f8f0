//! What handlers read from a request: its id, who calls (API key or node token), the client's address, a JSON body.

use super::error::Problem;
use super::json;
use super::rate_limit::refuse_when_full;
use crate::accounts::token::PlainKey;
use crate::accounts::{Scope, api_key, node_token};
use crate::app::App;
use crate::config::listen::Network;
use crate::plain_text;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The id of a request, answered as `X-Request-Id` and stored with deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

impl RequestId {
    pub const HEADER: &'static str = "x-request-id";

    pub fn fresh() -> Self {
        RequestId(uuid::Uuid::now_v7().to_string())
    }

    /// The client's own id where it may give one and it is valid.
    pub fn from_client(headers: &HeaderMap) -> Option<Self> {
        let id = headers.get(Self::HEADER)?.to_str().ok()?;
        let valid =
            (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
        valid.then(|| RequestId(id.to_owned()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh))
    }
}

/// The holder of a valid API key, from `Authorization: Bearer` or `x-api-key`.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account_id: String,
    pub key_id: String,
    pub scopes: Vec<Scope>,
    pub rate_limit_per_minute: i64,
    /// Of all keys of the account together that have no limit of their own, as this one has none.
    pub account_limit_per_minute: Option<i64>,
    /// Whether the key has a monthly cap.
    pub is_capped: bool,
    /// Whether this request is in the key's window already: what it does then is not counted again.
    pub is_counted: bool,
}

impl Caller {
    /// 403 naming the scope when the key lacks it.
    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        Err(Problem::forbidden("missing_scope", format!("This key lacks the scope {scope}."))
            .with("required_scope", scope.as_str())
            .advise("", "Ask the user for a key that has it."))
    }

    /// Looks the key of these headers up: `Ok(None)` when none was sent, 401 when it is not a valid one.
    pub async fn from_headers(app: &App, headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        match sent_key(headers) {
            None => Ok(None),
            Some(key) => Self::from_key(app, &key).await.map(Some),
        }
    }

    /// Looks a key up that came by another way (the legacy query string).
    pub async fn from_key(app: &App, key: &str) -> Result<Self, Problem> {
        let refused = || Problem::unauthorized("The API key is not valid, or has been revoked.");
        let hash = PlainKey::parse(api_key::PREFIX, key).ok_or_else(refused)?.hash();
        let found = app.keys.find(&app.db, &hash).await?.ok_or_else(refused)?;
        Ok(Caller {
            account_id: found.account_id,
            key_id: found.key_id,
            is_capped: found.is_capped,
            is_counted: false,
            scopes: found.scopes,
            account_limit_per_minute: match found.rate_limit_per_minute {
                None => Some(app.config.limits.account_rate_limit_per_minute),
                Some(_) => None,
            },
            rate_limit_per_minute: found.rate_limit_per_minute.unwrap_or(app.config.limits.rate_limit_per_minute),
        })
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let mut caller = Caller::from_headers(app, &parts.headers).await?.ok_or_else(|| {
            Problem::unauthorized("Send an API key: `Authorization: Bearer <key>` or `x-api-key: <key>`.")
        })?;
        refuse_when_full(app, &mut caller).await?;
        Ok(caller)
    }
}

/// The key text of a request. `Authorization: Bearer` wins over `x-api-key`.
fn sent_key(headers: &HeaderMap) -> Option<String> {
    if let Some(token) = bearer(headers) {
        return Some(token);
    }
    // A value that is no text is a key nobody has, not an absent one.
    headers.get("x-api-key").map(|value| value.to_str().unwrap_or_default().trim().to_owned())
}

/// The token of `Authorization: Bearer`, the scheme in any case.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

/// A render node with a valid node token.
#[derive(Debug, Clone)]
pub struct NodeCaller {
    pub token_id: String,
}

impl FromRequestParts<App> for NodeCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let refused = || Problem::unauthorized("Send a valid node token: `Authorization: Bearer cycn_...`.");
        let token = bearer(&parts.headers).ok_or_else(refused)?;
        let hash = PlainKey::parse(node_token::PREFIX, &token).ok_or_else(refused)?.hash();
        let token_id = node_token::find(&app.db, &hash).await?.ok_or_else(refused)?;
        app.known_nodes.insert(hash, ());
        Ok(NodeCaller { token_id })
    }
}

/// Whether these headers hold the token of a node that was let in lately.
pub fn is_known_node(app: &App, headers: &HeaderMap) -> bool {
    bearer(headers)
        .and_then(|token| PlainKey::parse(node_token::PREFIX, &token))
        .is_some_and(|token| app.known_nodes.contains_key(&token.hash()))
}

/// The address that a request's connection comes from.
pub fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
}

/// Whether the connection comes from a proxy whose word is taken.
pub fn is_trusted_peer(app: &App, extensions: &Extensions) -> bool {
    peer(extensions).is_some_and(|peer| app.config.listen.trusted_proxies.iter().any(|proxy| proxy.contains(peer)))
}

/// The operator, on the operator address only.
#[derive(Debug, Clone, Copy)]
pub struct Operator;

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match bearer(&parts.headers) {
            Some(token) if app.operator_token.matches(&token) => Ok(Operator),
            _ => Err(Problem::unauthorized("Send the operator token: `Authorization: Bearer <token>`.")),
        }
    }
}

/// The client's address: that of the connection, or the last one a trusted proxy vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIp(pub IpAddr);

impl FromRequestParts<App> for ClientIp {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Some(ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<SocketAddr>>() else {
            tracing::error!("a request came without the address of its connection");
            return Err(Problem::internal());
        };
        Ok(client_ip(peer.ip(), &parts.headers, &app.config.listen.trusted_proxies))
    }
}

/// Walks X-Forwarded-For from the right for as long as a trusted proxy wrote the entry. An entry that names no address (`unknown`, a host)
/// ends the walk at the proxy that wrote it.
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> ClientIp {
    let is_trusted = |ip: IpAddr| trusted.iter().any(|network| network.contains(ip));
    let mut client = peer.to_canonical();
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    // An empty element of a list counts for nothing (RFC 9110, section 5.6.1).
    for hop in hops.filter(|hop| !hop.is_empty()) {
        if !is_trusted(client) {
            break;
        }
        match node_address(hop) {
            Some(ip) => client = ip.to_canonical(),
            None => break,
        }
    }
    ClientIp(client)
}

/// The address of a node in the notation of RFC 7239, section 6, which proxies write into X-Forwarded-For as well: with or without a port, IPv6
/// in brackets if there is one, and all of it quoted or not.
fn node_address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?;
    let hop = match hop.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?.trim(),
        None => hop,
    };
    if let Some(bracketed) = hop.strip_prefix('[') {
        let (address, rest) = bracketed.split_once(']')?;
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_node_port);
        return address.parse::<Ipv6Addr>().ok().filter(|_| is_whole).map(IpAddr::V6);
    }
    match hop.split_once(':') {
        // IPv6 without brackets has more colons than one, and no port.
        Some((address, port)) if !port.contains(':') => {
            address.parse::<Ipv4Addr>().ok().filter(|_| is_node_port(port)).map(IpAddr::V4)
        }
        _ => hop.parse().ok(),
    }
}

/// A port, or the name that a proxy gives it in place of one.
fn is_node_port(port: &str) -> bool {
    match port.strip_prefix('_') {
        Some(name) => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
        None => (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// A JSON object as the body, within the route's limit; read by the rules of [`json`], which name what is wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_body(request, app).await?;
        Ok(JsonBody(json::read(&bytes, &[])?))
    }
}

/// The body of a node's call: members that may be absent may be null as well. A NUL in a text is replaced where others are refused: what became
/// of a job is to be known however its node puts it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for NodeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_any_body(request, app).await?;
        Ok(NodeBody(json::read_with_nulls(&plain_text::without_escaped_nul(&bytes))?))
    }
}

/// The body's bytes; 413 over the limit that `body_limit` set on the route, 400 for a text that holds NUL: no name of anything does, and
/// PostgreSQL takes it for no text.
pub async fn read_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let bytes = read_any_body(request, app).await?;
    match plain_text::escapes_nul(&bytes) {
        true => Err(json::nul_in(&bytes)),
        false => Ok(bytes),
    }
}

/// The same for routes that keep no text as it is sent, or leave NUL out of it: what is only looked up may hold anything.
pub async fn read_any_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let limit =
        request.extensions().get::<super::frame::BodyLimit>().map_or(super::frame::BODY_BYTES_DEFAULT, |limit| limit.0);
    Bytes::from_request(request, app).await.map_err(|rejection| {
        if rejection.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
            Problem::too_large(limit)
        } else {
            Problem::bad_request("body_unreadable", "The body could not be read to its end.")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn client_request_ids_are_checked() {
        for (given, valid) in [("abc-1.2_3:4", true), ("", false), ("a b", false), ("ü", false), ("a/b", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(RequestId::HEADER, HeaderValue::from_bytes(given.as_bytes()).expect("header"));
            assert_eq!(RequestId::from_client(&headers).is_some(), valid, "{given}");
        }
        for (length, valid) in [(128, true), (129, false)] {
            let mut headers = HeaderMap::new();
            headers.insert(RequestId::HEADER, HeaderValue::from_str(&"x".repeat(length)).expect("header"));
            assert_eq!(RequestId::from_client(&headers).is_some(), valid, "{length}");
        }
    }

    #[test]
    fn forwarded_addresses_count_only_behind_trusted_proxies() {
        let source = crate::config::Source::gather(None, [("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/8")]);
        let config = crate::config::Config::from_source(&source.expect("source")).expect("config");
        for (peer, forwarded, expected) in [
            ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
            ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "198.51.100.1, 10.2.3.4", "198.51.100.1"),
            ("10.0.0.1", "nonsense", "10.0.0.1"),
            ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
            // Nodes of RFC 7239: ports, brackets, quotes.
            ("10.0.0.1", "198.51.100.1:51234", "198.51.100.1"),
            ("10.0.0.1", "198.51.100.1:_gate-7", "198.51.100.1"),
            ("10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
            ("10.0.0.1", "[2001:db8::1]", "2001:db8::1"),
            ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
            ("10.0.0.1", "\"198.51.100.1\"", "198.51.100.1"),
            ("10.0.0.1", "\"[2001:db8::1]:443\"", "2001:db8::1"),
            ("10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "[::ffff:198.51.100.1]:80", "198.51.100.1"),
            ("10.0.0.1", "198.51.100.1:1, 10.2.3.4:2, [::ffff:10.9.9.9]:3", "198.51.100.1"),
            ("10.0.0.1", "1.1.1.1:1, 198.51.100.1:2, 10.2.3.4:3", "198.51.100.1"),
            ("10.0.0.1", "198.51.100.1 , , ", "198.51.100.1"),
            // What names no address ends the walk at the proxy that wrote it.
            ("10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1, unknown, 10.2.3.4:80", "10.2.3.4"),
            ("10.0.0.1", "198.51.100.1, proxy.example.com:80", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1, _hidden", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1:", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1:http", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1:123456", "10.0.0.1"),
            ("10.0.0.1", "[2001:db8::1", "10.0.0.1"),
            ("10.0.0.1", "[2001:db8::1]443", "10.0.0.1"),
            ("10.0.0.1", "[198.51.100.1]:1", "10.0.0.1"),
            ("10.0.0.1", "\"198.51.100.1", "10.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", HeaderValue::from_str(forwarded).expect("header"));
            let found = client_ip(peer.parse().expect(peer), &headers, &config.listen.trusted_proxies);
            assert_eq!(found.0.to_string(), expected, "{peer} {forwarded}");
        }
        // Lines of one header are one list, also where a client put bytes that are no text into its own.
        let mut headers = HeaderMap::new();
        for line in [&b"1.1.1.1"[..], b"\xff\xfe, 198.51.100.1:9", b"10.2.3.4"] {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(line).expect("header"));
        }
        let found = client_ip(IpAddr::from([10, 0, 0, 1]), &headers, &config.listen.trusted_proxies);
        assert_eq!(found.0.to_string(), "198.51.100.1");
    }
}

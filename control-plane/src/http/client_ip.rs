//! The address of a client: that of its connection, or the one that a trusted proxy reports in
//! `X-Forwarded-For`.

use super::error::Problem;
use crate::app::App;
use crate::config::listen::Network;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Returns the address that a request's connection comes from.
pub fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
}

/// True if the connection comes from a trusted proxy, whose forwarding headers are believed.
pub fn is_trusted_peer(app: &App, extensions: &Extensions) -> bool {
    peer(extensions).is_some_and(|peer| app.config.listen.trusted_proxies.iter().any(|proxy| proxy.contains(peer)))
}

/// The client's address: that of the connection, or the last one that a trusted proxy reports.
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

/// Walks `X-Forwarded-For` from the right for as long as a trusted proxy wrote the entry. An entry
/// that names no address (`unknown`, a host name) ends the walk at the proxy that wrote it.
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> ClientIp {
    let is_trusted = |ip: IpAddr| trusted.iter().any(|network| network.contains(ip));
    let mut client = peer.to_canonical();
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    // RFC 9110, section 5.6.1: empty elements of a list are ignored.
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

/// Parses the address of a node in the notation of RFC 7239, section 6, which proxies also write
/// into `X-Forwarded-For`: with or without a port, IPv6 in brackets if there is a port, and the
/// whole quoted or not.
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
        // IPv6 without brackets has more than one colon, and no port.
        Some((address, port)) if !port.contains(':') => {
            address.parse::<Ipv4Addr>().ok().filter(|_| is_node_port(port)).map(IpAddr::V4)
        }
        _ => hop.parse().ok(),
    }
}

/// True if `port` is a port number, or an obfuscated name (`_name`)
/// that a proxy writes instead of one.
fn is_node_port(port: &str) -> bool {
    match port.strip_prefix('_') {
        Some(name) => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
        None => (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn forwarded_addresses_count_only_behind_trusted_proxies() {
        let source = crate::config::SettingsSource::gather(None, [("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/8")]);
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
            // An entry that names no address ends the walk at the proxy that wrote it.
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
        // The lines of one header are one list, even if a client put bytes that
        // are not text into its own line.
        let mut headers = HeaderMap::new();
        for line in [&b"1.1.1.1"[..], b"\xff\xfe, 198.51.100.1:9", b"10.2.3.4"] {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(line).expect("header"));
        }
        let found = client_ip(IpAddr::from([10, 0, 0, 1]), &headers, &config.listen.trusted_proxies);
        assert_eq!(found.0.to_string(), "198.51.100.1");
    }
}

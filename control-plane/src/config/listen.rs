//! Addresses: where the service listens, the URL that clients use,
//! and the proxies that are trusted.

use super::{ConfigError, SettingsSource};
use std::net::{IpAddr, SocketAddr};
use url::Url;

#[derive(Debug, Clone)]
pub struct Listen {
    pub public: SocketAddr,
    pub admin: SocketAddr,
    /// Scheme, host and port only. `None` until the public address is bound, unless it was set.
    pub base_url: Option<String>,
    pub trusted_proxies: Vec<Network>,
    /// Names of the operator address, in lower case, beside `localhost` and numeric addresses.
    pub admin_hosts: Vec<String>,
    /// Time for which browsers that have used HTTPS use nothing else, in seconds.
    /// With 0 no such header is sent.
    pub hsts_seconds: u64,
}

/// A network: an address with the number of leading bits that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address.parse::<IpAddr>().ok()?, Some(bits.parse::<u32>().ok()?)),
            None => (text.parse::<IpAddr>().ok()?, None),
        };
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(whole);
        (bits <= whole).then_some(Network { address, bits })
    }

    pub fn contains(&self, other: IpAddr) -> bool {
        // An IPv4 client on an IPv6 socket arrives as ::ffff:a.b.c.d.
        match (self.address, other.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                self.bits == 0 || (own.to_bits() ^ other.to_bits()) >> (32 - self.bits) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                self.bits == 0 || (own.to_bits() ^ other.to_bits()) >> (128 - self.bits) == 0
            }
            _ => false,
        }
    }
}

impl Listen {
    /// True if clients call the service from this same machine: it has a loopback address and no
    /// HTTPS, which a proxy in front would have.
    pub fn is_for_this_machine(&self) -> bool {
        let Some(base_url) = &self.base_url else { return self.public.ip().is_loopback() };
        Url::parse(base_url).is_ok_and(|url| {
            url.scheme() == "http"
                && match url.host() {
                    Some(url::Host::Domain(name)) => name == "localhost",
                    Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
                    Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
                    None => false,
                }
        })
    }

    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let address = |name: &str| {
            let text = source.text(name).unwrap_or_default();
            text.parse::<SocketAddr>()
                .map_err(|_| source.refuse(name, "host:port with an IP address, such as 127.0.0.1:8080"))
        };
        let trusted_proxies = source
            .text("trusted_proxies")
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(Network::parse)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| {
                source
                    .refuse("trusted_proxies", "IP addresses or networks, separated by commas, such as 10.0.0.0/8, ::1")
            })?;
        let admin_hosts: Vec<String> = source
            .text("admin_hosts")
            .unwrap_or_default()
            .split(',')
            .map(|name| name.trim().trim_end_matches('.').to_ascii_lowercase())
            .filter(|name| !name.is_empty())
            .collect();
        if !admin_hosts.iter().all(|name| is_host_name(name)) {
            return Err(source.refuse(
                "admin_hosts",
                "host names without ports, separated by commas, such as control-plane, farm-1.example.com",
            ));
        }
        Ok(Listen {
            public: address("listen")?,
            admin: address("admin_listen")?,
            base_url: base_url(source)?,
            trusted_proxies,
            admin_hosts,
            hsts_seconds: source.number("hsts_seconds", 0..=63_072_000)?,
        })
    }
}

/// True for a host name as DNS and container platforms use them.
fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Returns the origin that clients see, in its one spelling. Refuses everything that cannot become
/// a part of each URL that the service makes.
fn base_url(source: &SettingsSource) -> Result<Option<String>, ConfigError> {
    let Some(text) = source.text("base_url") else { return Ok(None) };
    // The error does not show the value: it may hold a password.
    let wrong = |reason: String| source.rule("base_url", reason);
    if text.contains('@') {
        return Err(wrong(
            "must not contain a user or a password, because it is part of every URL that the service gives out"
                .to_owned(),
        ));
    }
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        return Err(
            source.refuse("base_url", "a URL that begins with http:// or https://, such as https://images.example.com")
        );
    };
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must not have a query or a fragment, because paths are added to it".to_owned()));
    }
    let path = url.path().trim_matches('/');
    if !path.is_empty() {
        return Err(wrong(format!(
            "has the path `/{path}`, but the service works only at the root of a host (its pages, cookies and \
             redirects begin at `/`): give it a host name of its own, such as https://images.example.com"
        )));
    }
    Ok(Some(url.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_what_they_should() {
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.200.3.4", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "9.9.9.9", true),
            ("2001:db8::/32", "2001:db8:1::2", true),
            ("2001:db8::/32", "2001:db9::2", false),
            ("10.0.0.0/8", "2001:db8::2", false),
        ] {
            let network = Network::parse(network).expect(network);
            assert_eq!(network.contains(address.parse().expect(address)), expected, "{network:?} {address}");
        }
    }
}

//! Addresses of others that our secrets are sent to.

use url::Url;

/// Secrets travel with every request: nothing but this machine is spoken to without TLS.
pub fn is_safe(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    is_anonymous && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}

//! Checks of the URLs to which our secrets are sent.

use url::Url;

/// True if secrets may be sent to this URL. They go with every request, so every server except one
/// on this machine needs TLS.
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

//! Which addresses are one client's, one site's, and one customer's of a provider.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One client: an IPv4 address, or the /64 network that an IPv6 client can choose its addresses from.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

/// One client with all the networks that are its own: an IPv4 address, or the /48 that an IPv6 site is given.
pub fn site_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(_) => neighbours_of(ip),
    }
}

/// The networks that one customer of a provider may have many of: a /24, or the /48 that an IPv6 site is given.
pub fn neighbours_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        IpAddr::V6(ip) => {
            let [a, b, c, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        for (given, counted, site, around) in [
            ("203.0.113.9", "203.0.113.9", "203.0.113.9", "203.0.113.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1::", "2001:db8:1::"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::", "2001:db8:1::", "2001:db8:1::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::", "2001:db8:1::", "2001:db8:1::"),
        ] {
            assert_eq!(network_of(ip(given)), ip(counted));
            assert_eq!(site_of(ip(given)), ip(site));
            assert_eq!(neighbours_of(ip(given)), ip(around));
        }
    }
}

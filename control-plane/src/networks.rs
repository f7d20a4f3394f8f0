//! Networks of addresses that belong to one client, to one site, or to one customer of a provider.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the network of one client: an IPv4 address, or the /64 network from which an IPv6 client
/// can choose its addresses.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

/// Returns the network of one client with all networks that are its own: an IPv4 address, or the
/// /48 that an IPv6 site is given.
pub fn site_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(_) => neighbours_of(ip),
    }
}

/// Returns the network in which one customer of a provider may have many addresses: a /24, or the
/// /48 that an IPv6 site is given.
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

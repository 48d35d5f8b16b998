//! Which addresses belong to the public network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What of IPv4 is not for everybody.
///
/// Source: IANA, IPv4 Special-Purpose Address Registry (RFC 6890). The few addresses in 192.0.0.0/24 that are reachable
/// belong to no server.
const PRIVATE_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),       // this network
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // behind a carrier's translation
    ([127, 0, 0, 0], 8),     // loopback
    ([169, 254, 0, 0], 16),  // link-local, and where clouds tell machines their secrets
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 31, 196, 0], 24), // AS112
    ([192, 88, 99, 0], 24),  // relays of 6to4, which is no more
    ([192, 168, 0, 0], 16),  // private
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
    ([224, 0, 0, 0], 4),     // multicast
    ([240, 0, 0, 0], 4),     // reserved, and broadcast
];

/// What of the global unicast space of IPv6 is not for everybody, or leads to an IPv4 address that it holds.
///
/// Source: IANA, IPv6 Special-Purpose Address Registry.
const PRIVATE_V6: [([u16; 2], u32); 4] = [
    ([0x2001, 0x0000], 23), // protocol assignments: Teredo, benchmarks, identifiers
    ([0x2001, 0x0db8], 32), // documentation
    ([0x2002, 0x0000], 16), // 6to4
    ([0x3fff, 0x0000], 20), // documentation
];

/// The prefix under which a translator (NAT64) reaches the whole of IPv4. Where the network has IPv6 only, its resolver
/// gives such addresses for every server that has none of its own.
///
/// Source: RFC 6052, section 2.1.
const TRANSLATED: [u16; 6] = [0x0064, 0xff9b, 0, 0, 0, 0];

/// Whether an address belongs to the public network, and is none of the forms that hide another address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !PRIVATE_V4.iter().any(|(net, len)| begins_v4(address, Ipv4Addr::from(*net), *len))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, high, low] = address.segments();
    if [a, b, c, d, e, f] == TRANSLATED {
        return is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    // All that is given to anybody lies in 2000::/3: loopback, mapped IPv4, local and multicast addresses do not.
    a >> 13 == 1
        && !PRIVATE_V6.iter().any(|(net, len)| {
            let [high, low] = *net;
            begins_v6(address, Ipv6Addr::new(high, low, 0, 0, 0, 0, 0, 0), *len)
        })
}

/// Whether the first `len` bits are the same.
pub(crate) fn begins_v4(address: Ipv4Addr, net: Ipv4Addr, len: u32) -> bool {
    (address.to_bits() ^ net.to_bits()).checked_shr(32 - len.min(32)).unwrap_or_default() == 0
}

/// Whether the first `len` bits are the same.
pub(crate) fn begins_v6(address: Ipv6Addr, net: Ipv6Addr, len: u32) -> bool {
    (address.to_bits() ^ net.to_bits()).checked_shr(128 - len.min(128)).unwrap_or_default() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_246_what_is_not_public_is_told_by_its_first_and_last_address() {
        // H-246
        let ranges = [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.31.196.0", "192.31.196.255"),
            ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "255.255.255.255"),
            ("::", "64:ff9b::"),
            ("64:ff9b::10.0.0.0", "64:ff9b::10.255.255.255"),
            ("64:ff9b::127.0.0.1", "64:ff9b::127.0.0.1"),
            ("64:ff9b::169.254.169.254", "64:ff9b::169.254.169.254"),
            ("64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ];
        for (first, last) in ranges {
            assert!(!is_public(first.parse().unwrap()), "{first}");
            assert!(!is_public(last.parse().unwrap()), "{last}");
        }
    }

    #[test]
    fn h_246_the_neighbours_of_these_ranges_are_public() {
        // H-246
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "64:ff9b::1.1.1.1",
            "2000::",
            "2001:200::",
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::",
            "2003::",
            "2606:4700:4700::1111",
            "3fff:1000::",
            "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn h_246_forms_that_hide_another_address_are_not_public() {
        // H-246
        for address in [
            "::ffff:10.0.0.1",
            "::ffff:1.1.1.1",
            "::ffff:0:1.1.1.1",
            "::1.1.1.1",
            "::1",
            "64:ff9b:1::1.1.1.1",
            "2002:0a00:0001::",
            "2002:0101:0101::",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}

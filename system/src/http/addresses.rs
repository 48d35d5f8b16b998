//! The addresses of a host, and the order in which they are called.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use crate::http::{DialFault, is_loopback, is_public};

/// How long an address is called alone before the next one is called as well.
///
/// Source: RFC 8305, section 5.
pub const HEAD_START: Duration = Duration::from_millis(250);
/// So many addresses of a host are called at most.
const MAX_ADDRESSES: usize = 16;

/// All addresses of a host that need no looking up. The names of this computer itself are not looked up: nobody else's word
/// counts for them (RFC 6761, section 6.3).
#[must_use]
pub fn known_addresses(host: &str, port: u16) -> Option<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(vec![(address, port).into()]);
    }
    let [v6, v4] = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
    is_loopback(host).then(|| vec![(v6, port).into(), (v4, port).into()])
}

/// All addresses of any other host. Blocks for as long as the system likes.
///
/// # Errors
/// The system's reason; there is none.
pub fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<_> = (host, port).to_socket_addrs()?.collect();
    if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
}

/// Those to be called, both families in turn, each in the system's order, that of its first address first. No more than 16.
///
/// # Errors
/// [`DialFault::NotPublic`]: one of them is not of the public network, and with `public_only` all have to be. The very
/// addresses that are called were looked at, not a name that could mean others a moment later.
pub fn to_call(found: &[SocketAddr], public_only: bool) -> Result<Vec<SocketAddr>, DialFault> {
    let mut addresses = found.iter().copied();
    if let Some(private) = addresses.find(|address| public_only && !is_public(address.ip())) {
        return Err(DialFault::NotPublic { address: private.ip() });
    }
    Ok(in_turn(found))
}

fn in_turn(found: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        found.iter().copied().partition(|address| address.is_ipv6() == first_is_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut all = Vec::with_capacity(found.len().min(MAX_ADDRESSES));
    while all.len() < MAX_ADDRESSES && first.len() + second.len() > 0 {
        all.extend(first.next());
        all.extend(second.next());
    }
    all.truncate(MAX_ADDRESSES);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_in_the_order_of_the_system() {
        let turn = |found: &[&str]| {
            let found: Vec<SocketAddr> = found.iter().map(|address| address.parse().unwrap()).collect();
            in_turn(&found).iter().map(SocketAddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            turn(&["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "1.1.1.1:1", "1.1.1.2:1"]),
            ["[2001:db8::1]:1", "1.1.1.1:1", "[2001:db8::2]:1", "1.1.1.2:1", "[2001:db8::3]:1"]
        );
        assert_eq!(turn(&["1.1.1.1:1", "[2001:db8::1]:1"]), ["1.1.1.1:1", "[2001:db8::1]:1"]);
        assert_eq!(turn(&[]), [""; 0]);
        let many: Vec<_> = (0..40).map(|n| format!("1.1.1.{n}:1")).collect();
        assert_eq!(turn(&many.iter().map(String::as_str).collect::<Vec<_>>()).len(), MAX_ADDRESSES);
    }

    #[test]
    fn what_is_this_computer_is_not_looked_up() {
        let known = |host| known_addresses(host, 1).unwrap_or_default();
        assert_eq!(known("::1"), ["[::1]:1".parse().unwrap()]);
        assert_eq!(known("localhost"), ["[::1]:1".parse().unwrap(), "127.0.0.1:1".parse().unwrap()]);
        assert_eq!(known("a.localhost."), known("localhost"));
        assert_eq!(known("host.example"), []);
    }
}

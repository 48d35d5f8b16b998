//! The list of hosts that are reached without a proxy.

use std::net::IpAddr;

use crate::http::guard::{begins_v4, begins_v6};

/// Hosts that are reached without a proxy: what `NO_PROXY` names.
///
/// Entries stand between commas or blanks: a name means itself and all names below it, with a dot or `*.` in front or
/// without; an address means itself, one with a length (`10.0.0.0/8`) its network; `:port` behind a name or an address
/// (`[::1]:80`) bounds it to that port; `*` means every host. What cannot be read is passed over, as everywhere: the list
/// is shared by programs that know different forms. Names are not looked up, so a network means addresses only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bypass {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    hosts: Hosts,
    /// `None`: any.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// This name and those below it.
    Name(String),
    /// The addresses that begin with so many bits of this one.
    Net(IpAddr, u32),
}

impl Bypass {
    /// Reads a list.
    pub(crate) fn parse(list: &str) -> Self {
        let entries = list.split(|c: char| c == ',' || c.is_ascii_whitespace());
        Self { rules: entries.filter_map(|entry| Rule::parse(&entry.to_ascii_lowercase())).collect() }
    }

    /// Whether this host is reached without a proxy. A name is in lower case, an IPv6 address without its brackets.
    pub(crate) fn holds(&self, host: &str, port: u16) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let address = host.parse().ok().map(|address: IpAddr| address.to_canonical());
        self.rules.iter().any(|rule| {
            rule.port.is_none_or(|only| only == port)
                && match (&rule.hosts, address) {
                    (Hosts::All, _) => true,
                    (Hosts::Name(name), None) => is_below(host, name),
                    (Hosts::Net(IpAddr::V4(net), len), Some(IpAddr::V4(address))) => {
                        begins_v4(address, *net, *len)
                    }
                    (Hosts::Net(IpAddr::V6(net), len), Some(IpAddr::V6(address))) => {
                        begins_v6(address, *net, *len)
                    }
                    _ => false,
                }
        })
    }
}

impl Rule {
    fn parse(entry: &str) -> Option<Self> {
        if let Some(hosts) = Hosts::parse(entry) {
            return Some(Self { hosts, port: None });
        }
        let (hosts, port) = entry.rsplit_once(':')?;
        let hosts = hosts.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hosts);
        Some(Self { hosts: Hosts::parse(hosts)?, port: Some(port.parse().ok()?) })
    }
}

impl Hosts {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            let address = address.to_canonical();
            return Some(Self::Net(address, if address.is_ipv4() { 32 } else { 128 }));
        }
        if let Some((net, len)) = bare.split_once('/') {
            let (net, len) = (net.parse::<IpAddr>().ok()?, len.parse().ok()?);
            return (len <= if net.is_ipv4() { 32 } else { 128 }).then_some(Self::Net(net, len));
        }
        let name = text.strip_prefix('*').unwrap_or(text);
        let name = name.strip_prefix('.').unwrap_or(name);
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_name = !name.is_empty() && !name.contains([':', '/', '[', ']', '*', '@']);
        is_name.then(|| Self::Name(name.into()))
    }
}

/// Whether a name is `above` or ends with it, behind a dot.
pub(crate) fn is_below(name: &str, above: &str) -> bool {
    name.strip_suffix(above).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::Bypass;

    type Hosts<'a> = &'a [(&'a str, u16)];

    #[test]
    fn a_list_and_what_it_holds() {
        let table: [(&str, Hosts<'_>, Hosts<'_>); 18] = [
            ("", &[], &[("example.com", 80)]),
            (" , ,", &[], &[("example.com", 80)]),
            ("*", &[("example.com", 80), ("1.2.3.4", 1), ("2001:db8::1", 1)], &[]),
            (
                "example.com",
                &[("example.com", 80), ("a.example.com", 80), ("a.b.example.com", 1), ("example.com.", 80)],
                &[("anexample.com", 80), ("example.com.org", 80), ("com", 80)],
            ),
            (".example.com", &[("a.example.com", 80), ("example.com", 80)], &[("anexample.com", 80)]),
            ("*.example.com", &[("a.example.com", 80), ("example.com", 80)], &[("anexample.com", 80)]),
            ("example.com.", &[("example.com", 80)], &[]),
            ("EXAMPLE.Com", &[("example.com", 80)], &[]),
            ("a.org,example.com", &[("example.com", 80), ("a.org", 80)], &[("b.org", 80)]),
            ("a.org example.com\tb.org", &[("example.com", 80), ("b.org", 80)], &[("c.org", 80)]),
            ("example.com:8080", &[("example.com", 8080), ("a.example.com", 8080)], &[("example.com", 80)]),
            ("10.1.2.3", &[("10.1.2.3", 80), ("::ffff:10.1.2.3", 80)], &[("10.1.2.4", 80)]),
            ("10.1.2.3:80", &[("10.1.2.3", 80)], &[("10.1.2.3", 81)]),
            (
                "10.0.0.0/8,192.168.4.7/22",
                &[("10.255.0.1", 80), ("192.168.7.255", 80)],
                &[("11.0.0.1", 80), ("192.168.8.0", 80), ("ten.example", 80)],
            ),
            ("0.0.0.0/0", &[("8.8.8.8", 1)], &[("::1", 1), ("a.org", 1)]),
            ("2001:db8::/32", &[("2001:db8:ffff::1", 1)], &[("2001:db9::1", 1), ("32.1.13.184", 1)]),
            ("[2001:db8::1]:80", &[("2001:db8::1", 80)], &[("2001:db8::1", 81), ("2001:db8::2", 80)]),
            (
                "10.0.0.0/33,1.2.3.4/,a/b,:80,http://a.org,*.*.org,[,.,a.org:x,b.org",
                &[("b.org", 80)],
                &[("10.0.0.1", 80), ("1.2.3.4", 80), ("a.org", 80), ("a", 80), ("c.org", 80)],
            ),
        ];
        for (list, held, not_held) in table {
            let bypass = Bypass::parse(list);
            for (host, port) in held {
                assert!(bypass.holds(host, *port), "{list:?} {host}:{port}");
            }
            for (host, port) in not_held {
                assert!(!bypass.holds(host, *port), "{list:?} {host}:{port}");
            }
        }
    }
}

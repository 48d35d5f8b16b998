//! The target of a request, and the host that it is for.

use super::Fault;
use crate::octets::{is_in_host, is_in_target};

/// The path and query that a request is for, once the target and the host are known to be fine and to agree.
///
/// Source: RFC 9112, section 3.2.
pub(super) fn check<'a>(
    verb: &str,
    target: &'a str,
    host: Option<&[u8]>,
    old: bool,
) -> Result<&'a str, Fault> {
    if !is_target(target) {
        return Err(Fault::Head("the target holds what must be escaped"));
    }
    match host {
        Some(host) if is_host(host) => {}
        Some(_) => return Err(Fault::Head("the host is malformed")),
        None if old => {}
        None => return Err(Fault::Head("there is no host")),
    }
    if target.starts_with('/') || verb == "CONNECT" || (target == "*" && verb == "OPTIONS") {
        return Ok(target);
    }
    let (rest, port) = match (strip(target, "http://"), strip(target, "https://")) {
        (Some(rest), _) => (rest, ":80"),
        (_, Some(rest)) => (rest, ":443"),
        (None, None) => return Err(Fault::Head("the target is no path")),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (named, path) = rest.split_at(end);
    if named.is_empty() || !is_host(named.as_bytes()) {
        return Err(Fault::Head("the target's host is malformed"));
    }
    let bare = |host: &'a [u8]| host.strip_suffix(port.as_bytes()).unwrap_or(host);
    let agree = host.is_none_or(|host| {
        let host = host.strip_suffix(port.as_bytes()).unwrap_or(host);
        host.eq_ignore_ascii_case(bare(named.as_bytes()))
    });
    if !agree {
        return Err(Fault::Head("the target and the host disagree"));
    }
    match path.as_bytes().first() {
        None => Ok("/"),
        Some(b'/') => Ok(path),
        Some(_) => Err(Fault::Head("the target has a query and no path")),
    }
}

/// Whether a text may stand as the target in a request line: visible ASCII, without a fragment.
pub(super) fn is_target(target: &str) -> bool {
    !target.is_empty() && target.bytes().all(is_in_target)
}

/// Whether a text may be a host, with or without a port.
pub(super) fn is_host(host: &[u8]) -> bool {
    !host.is_empty() && host.iter().all(|byte| is_in_host(*byte))
}

fn strip<'a>(target: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = target.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

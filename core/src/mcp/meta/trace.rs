//! The three trace values that `_meta` may carry, checked against the formats of the W3C.
//!
//! A value that fails its check is left out when sending and not passed on when received; the message around it is
//! none the worse.
//!
//! Spec: MCP 2026-07-28 basic, "`_meta`"; W3C Trace Context; W3C Baggage.

use super::{BAGGAGE, TRACEPARENT, TRACESTATE};

/// The most members a `tracestate` may have.
pub const MAX_TRACESTATE_MEMBERS: usize = 32;

/// Whether `value` is well-formed for `key`; `None` if `key` is none of the three.
#[must_use]
pub fn check(key: &str, value: &str) -> Option<bool> {
    match key {
        TRACEPARENT => Some(is_traceparent(value)),
        TRACESTATE => Some(is_tracestate(value)),
        BAGGAGE => Some(is_baggage(value)),
        _ => None,
    }
}

/// Whether `value` is `version "-" trace-id "-" parent-id "-" flags`, in lower-case hexadecimal of 2, 32, 16 and 2
/// digits, with neither id all zero. Version `ff` is invalid; versions above `00` may have more after another `-`.
///
/// Spec: W3C Trace Context, `traceparent`.
#[must_use]
pub fn is_traceparent(value: &str) -> bool {
    let mut fields = value.splitn(5, '-');
    let mut field = |len| fields.next().filter(|text| text.len() == len && text.bytes().all(is_lower_hex));
    let (Some(version), Some(trace), Some(parent), Some(_flags)) = (field(2), field(32), field(16), field(2))
    else {
        return false;
    };
    let more = fields.next();
    version != "ff"
        && (version != "00" || more.is_none())
        && trace.bytes().any(|byte| byte != b'0')
        && parent.bytes().any(|byte| byte != b'0')
}

/// Whether `value` is a list of at most 32 `key=value` with distinct keys; empty members are allowed.
///
/// Spec: W3C Trace Context, `tracestate`.
#[must_use]
pub fn is_tracestate(value: &str) -> bool {
    let members = || value.split(',').map(trim).filter(|member| !member.is_empty());
    members().count() <= MAX_TRACESTATE_MEMBERS
        && members().enumerate().all(|(n, member)| {
            let Some((key, value)) = member.split_once('=') else { return false };
            let known = members().take(n).filter_map(|member| member.split_once('='));
            is_state_key(key) && is_state_value(value) && !known.into_iter().any(|(other, _)| other == key)
        })
}

/// Whether `value` is a list of one or more `key=value` with optional `;` properties.
///
/// Spec: W3C Baggage, `baggage-string`.
#[must_use]
pub fn is_baggage(value: &str) -> bool {
    value.split(',').all(|member| {
        let mut parts = member.split(';');
        parts.next().is_some_and(|pair| is_pair(pair, true)) && parts.all(|property| is_pair(property, false))
    })
}

/// `key = value`, where the value may be missing if it need not be there.
fn is_pair(text: &str, needs_value: bool) -> bool {
    match text.split_once('=') {
        Some((key, value)) => is_token(trim(key)) && trim(value).bytes().all(is_baggage_octet),
        None => !needs_value && is_token(trim(text)),
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

const fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_state_key(key: &str) -> bool {
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    key.len() <= 256
        && key.bytes().next().is_some_and(lower)
        && key.bytes().all(|byte| lower(byte) || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@'))
}

fn is_state_value(value: &str) -> bool {
    (1..=256).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

const fn is_baggage_octet(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e)
}

//! Local references: `#`, `#/json/pointer`, `#anchor`.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::jsonrpc::{JsonRef, Kind};

/// Where a local reference leads.
pub(super) enum Target<'a> {
    /// To this part.
    Part(JsonRef<'a>),
    /// To an anchor, which is not looked for.
    Anchor,
    /// Nowhere.
    Nowhere,
}

/// Follows the fragment of a reference within `root`: RFC 6901 pointers, percent-encoded. O(bytes of `root`).
pub(super) fn resolve<'a>(root: JsonRef<'a>, fragment: &str) -> Target<'a> {
    if fragment.is_empty() {
        return Target::Part(root);
    }
    let Some(fragment) = percent_decode(fragment) else { return Target::Nowhere };
    let Some(pointer) = fragment.strip_prefix('/') else { return Target::Anchor };
    let mut at = root;
    for token in pointer.split('/') {
        let token = unescape(token);
        let next = match at.kind() {
            Kind::Object => at.get(&token),
            Kind::Array => index(&token).and_then(|index| at.elements().nth(index)),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
        };
        match next {
            Some(next) => at = next,
            None => return Target::Nowhere,
        }
    }
    Target::Part(at)
}

fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| token.parse().ok()).flatten()
}

/// `~1` is a slash, `~0` a tilde.
fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}

/// `None` if what is encoded is no text.
fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                out.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
                rest = tail;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

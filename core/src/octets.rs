//! What a byte may be in a head, looked up.

/// It may stand in a token, such as a field's name.
const TOKEN: u8 = 1;
/// It may stand in a host, with or without a port.
const HOST: u8 = 2;
/// It may stand in a target: visible ASCII, without what begins a fragment.
const TARGET: u8 = 4;

/// What each byte may be.
#[expect(clippy::indexing_slicing, reason = "of a constant, so it happens when this is compiled")]
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at: u8 = 0;
    while at < 0x7f {
        classes[at as usize] = class(at);
        at += 1;
    }
    classes
};

const fn class(byte: u8) -> u8 {
    let token = byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~');
    let host = byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'$'..=b'+' | b'-' | b'.' | b':' | b';' | b'=' | b'[' | b']' | b'_' | b'~');
    let target = byte.is_ascii_graphic() && byte != b'#';
    (if token { TOKEN } else { 0 }) | (if host { HOST } else { 0 }) | (if target { TARGET } else { 0 })
}

fn is(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

/// Whether a byte may stand in a token.
///
/// Source: RFC 9110, section 5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    is(byte, TOKEN)
}

/// How many bytes at the start may stand in a token.
#[inline(never)]
pub(crate) fn token_len(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_token(*byte)).unwrap_or(text.len())
}

/// Whether a byte may stand in a host or its port.
///
/// Source: RFC 3986, section 3.2.2.
pub(crate) fn is_in_host(byte: u8) -> bool {
    is(byte, HOST)
}

/// Whether a byte may stand in a target.
///
/// Source: RFC 9112, section 3.2; RFC 3986, section 2.
pub(crate) fn is_in_target(byte: u8) -> bool {
    is(byte, TARGET)
}

/// Whether a byte may not stand in a value.
///
/// Source: RFC 9110, section 5.5.
pub(crate) const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_what_the_grammars_say() {
        for byte in 0..=u8::MAX {
            let word = byte.is_ascii_alphanumeric();
            assert_eq!(is_token(byte), word || b"!#$%&'*+-.^_`|~".contains(&byte), "{byte}");
            assert_eq!(is_in_host(byte), word || b"-._~%!$&'()*+;=:[]".contains(&byte), "{byte}");
            assert_eq!(is_in_target(byte), byte.is_ascii_graphic() && byte != b'#', "{byte}");
            assert_eq!(is_control(byte), byte < 0x20 && byte != 9 || byte == 0x7f, "{byte}");
        }
    }
}

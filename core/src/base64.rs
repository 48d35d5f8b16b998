//! Bytes as text: standard Base64.
//!
//! Source: RFC 4648, section 4.

use alloc::string::String;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as Base64, filled up with `=`. One allocation, four bytes for three.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |n: usize| chunk.get(n).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * n) & 63) as usize).copied().unwrap_or_default();
            out.push(if n as usize <= chunk.len() { digit.into() } else { '=' });
        }
    }
    out
}

/// What Base64 stands for, filled up or not: a text whose length is no multiple of 4 is one that was not filled up.
/// `None` if it is none, also where its last bits stand for nothing and are not zero. So no two texts of one length
/// stand for the same bytes.
#[must_use]
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = match text {
        [digits @ .., b'=', b'='] | [digits @ .., b'='] if text.len().is_multiple_of(4) => digits,
        all => all,
    };
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for chunk in digits.chunks(4) {
        let mut bits = 0;
        for digit in chunk {
            bits = bits << 6
                | u32::from(match digit {
                    b'A'..=b'Z' => digit - b'A',
                    b'a'..=b'z' => digit - b'a' + 26,
                    b'0'..=b'9' => digit - b'0' + 52,
                    b'+' => 62,
                    b'/' => 63,
                    _ => return None,
                });
        }
        match chunk.len() {
            4 => out.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]),
            3 if bits & 3 == 0 => out.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
            2 if bits & 15 == 0 => out.push((bits >> 4) as u8),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_vectors_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
            let bare = text.trim_end_matches('=');
            assert_eq!(decode(bare.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{bare}");
        }
        assert_eq!(encode(&[0xff, 0xfe, 0xfb]), "//77");
        assert_eq!(decode(b"+/+/").as_deref(), Some(&[0xfb, 0xff, 0xbf][..]));
        for wrong in
            ["A", "Zg=", "Zh==", "Zm9=", "Z===", "====", "=", "Zm9v=", "Zg==Zg==", "Zm 9", "Zm9-", "Zm9\n"]
        {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(decode(encode(&bytes).as_bytes()), Some(bytes.clone()));
        }

        #[test]
        fn what_is_read_is_written_so(text in "[A-Za-z0-9+/]{0,9}={0,3}") {
            if let Some(bytes) = decode(text.as_bytes()) {
                let bare = |text: &str| text.trim_end_matches('=').to_owned();
                prop_assert_eq!(bare(&encode(&bytes)), bare(&text));
            }
        }
    }
}

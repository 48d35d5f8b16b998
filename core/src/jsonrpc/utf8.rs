//! The check that a line is UTF-8, made for the text that people write.
//!
//! The standard library's check takes about eleven instructions for a byte of Chinese or Japanese, since it goes
//! from one character to the next by tables. Here two characters of three bytes are checked at once, and two of
//! two bytes, by masks: about two instructions a byte. What is neither is left to the standard library.
//!
//! Source: RFC 3629 §3, §4.

/// Two characters of three bytes each, as the lowest six bytes of a little-endian word.
mod three {
    /// The bits that say so: `1110xxxx 10xxxxxx 10xxxxxx`, twice.
    pub(super) const MARK: u64 = 0x00_00_c0_c0_f0_c0_c0_f0;
    pub(super) const VALUE: u64 = 0x00_00_80_80_e0_80_80_e0;
    /// The bits that tell an overlong form (E0 8x, E0 9x) and a surrogate (ED Ax, ED Bx) of the first and of the
    /// second.
    pub(super) const FIRST: u64 = 0x20_0f;
    pub(super) const SECOND: u64 = FIRST << 24;
    pub(super) const SURROGATE: u64 = 0x20_0d;
}

/// Four characters of two bytes each.
mod two {
    pub(super) const MARK: u64 = 0xc0_e0_c0_e0_c0_e0_c0_e0;
    pub(super) const VALUE: u64 = 0x80_c0_80_c0_80_c0_80_c0;
    /// A lead of C0 or C1 has none of these: an overlong form.
    pub(super) const LEAD: u64 = 0x00_1e;
}

/// Whether `bytes` is UTF-8; the error is where it stops being so.
pub(super) fn check(bytes: &[u8]) -> Result<(), usize> {
    let mut at = 0;
    loop {
        at = skip(bytes, at);
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
        // The odd character, the end, and whatever is wrong: up to the next likely place to go on fast.
        let len = step(rest);
        match core::str::from_utf8(rest.get(..len).unwrap_or(rest)) {
            Ok(_) => at += len,
            Err(_) => return Err(at),
        }
    }
}

/// How many bytes the first character of `rest` takes, by its lead; at least one.
#[inline]
fn step(rest: &[u8]) -> usize {
    let len = match rest.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xff) => 4,
        _ => 1,
    };
    len.min(rest.len())
}

/// Passes over what the masks can tell, eight bytes at a look.
#[inline]
fn skip(bytes: &[u8], mut at: usize) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        if word & HIGH == 0 {
            at += 8;
        } else if word & three::MARK == three::VALUE {
            let (first, second) = (word & three::FIRST, (word & three::SECOND) >> 24);
            if first == 0 || second == 0 || first == three::SURROGATE || second == three::SURROGATE {
                return at;
            }
            at += 6;
        } else if word & two::MARK == two::VALUE {
            let overlong = |shift: u32| (word >> shift) & two::LEAD == 0;
            if overlong(0) || overlong(16) || overlong(32) || overlong(48) {
                return at;
            }
            at += 8;
        } else if word & 0x80 == 0 {
            // Plain up to the first byte that is not.
            at += (word & HIGH).trailing_zeros() as usize / 8;
        } else if word & 0x00_c0_c0_f0 == 0x00_80_80_e0 {
            let first = word & three::FIRST;
            if first == 0 || first == three::SURROGATE {
                return at;
            }
            at += 3;
        } else if word & 0xc0_e0 == 0x80_c0 && word & two::LEAD != 0 {
            at += 2;
        } else {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{check, skip};
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn agrees(bytes: &[u8]) {
        let expected = core::str::from_utf8(bytes).map(|_| ()).map_err(|fault| fault.valid_up_to());
        assert_eq!(check(bytes), expected, "{bytes:02x?}");
    }

    #[test]
    fn each_pair_of_a_lead_and_a_second_byte_is_judged_as_the_standard_library_does() {
        // P-002. At each place of a word, alone and twice, with text behind.
        for lead in 0x80..=0xff_u8 {
            for second in 0..=0xff_u8 {
                for tail in [&[][..], &[0x80], &[0x80, 0x80]] {
                    let mut one = Vec::from([lead, second]);
                    one.extend_from_slice(tail);
                    for front in ["", "a", "ab", "abcdefg", "語", "é"] {
                        let mut text = Vec::from(front.as_bytes());
                        text.extend_from_slice(&one);
                        agrees(&text);
                        text.extend_from_slice(&one);
                        text.extend_from_slice("日本語テキスト plain".as_bytes());
                        agrees(&text);
                    }
                }
            }
        }
    }

    #[test]
    fn one_that_is_longer_than_it_must_be_is_found_among_others() {
        for (around, wrong) in [("é", &b"\xc1\xbf"[..]), ("語", b"\xe0\x9f\xbf"), ("語", b"\xed\xa0\x80")]
        {
            for before in 0..8 {
                let front = around.repeat(before);
                agrees(&[front.as_bytes(), wrong, around.repeat(8).as_bytes()].concat());
            }
        }
    }

    #[test]
    fn what_people_write_is_passed_over_by_the_masks() {
        for piece in ["plain", "日本語", "éèàü", "naïve ", "日本 語、plain", "à la carte", "x é語"]
        {
            let text = piece.repeat(20);
            let left = text.len() - skip(text.as_bytes(), 0);
            assert!(left < 8, "{left} bytes of {piece:?} are left");
        }
        // What they cannot tell is where they stop.
        for odd in ["\u{1f600}", "\u{10ffff}"] {
            let text = ["語é plain", odd, "plain text behind"].concat();
            assert_eq!(skip(text.as_bytes(), 0), "語é plain".len());
        }
    }

    proptest! {
        #[test]
        fn text_passes_and_a_changed_byte_is_found_where_the_standard_library_finds_it(
            text in prop::collection::vec(
                prop_oneof![
                    any::<char>(),
                    prop::char::range('\u{4e00}', '\u{9fff}'),
                    prop::char::range('\u{80}', '\u{7ff}'),
                    prop::char::range(' ', '~'),
                ],
                0..80,
            ),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes = text.into_iter().collect::<String>().into_bytes();
            prop_assert_eq!(check(&bytes), Ok(()));
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
                agrees(&bytes);
                agrees(&bytes[..at]);
            }
        }
    }
}

//! Searching in text by words of eight bytes and blocks of thirty-two, without tables and without `unsafe`.

const LOW: u64 = u64::MAX / 255;
const LOW7: u64 = LOW * 0x7f;
const HIGH: u64 = LOW * 0x80;
const QUOTES: u64 = LOW * b'"' as u64;
const SLASHES: u64 = LOW * b'\\' as u64;

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?))
}

/// The high bit of each byte that is not `pattern`'s. Exact for any bytes.
#[inline(always)]
fn differs(word: u64, pattern: u64) -> u64 {
    let x = word ^ pattern;
    ((x & LOW7) + LOW7) | x
}

/// The high bit of each byte that is a quote or a backslash.
///
/// With `ASCII` no byte may be 0x80 or above: then no sum carries into its neighbour, and two steps are saved.
#[inline(always)]
fn specials<const ASCII: bool>(word: u64) -> u64 {
    let plain = if ASCII {
        (word ^ QUOTES).wrapping_add(LOW7) & (word ^ SLASHES).wrapping_add(LOW7)
    } else {
        differs(word, QUOTES) & differs(word, SLASHES)
    };
    !plain & HIGH
}

/// The high bit of each byte that a string literal must not hold as it is: quote, backslash, below 0x20.
#[inline(always)]
fn unfit(word: u64) -> u64 {
    // A byte of 0x20 or above reaches 0x80 when 0x60 is added; one of 0x80 or above has the bit already.
    let not_control = ((word & LOW7) + LOW * 0x60) | word;
    !(differs(word, QUOTES) & differs(word, SLASHES) & not_control) & HIGH
}

#[inline(always)]
fn first(hits: u64) -> usize {
    (hits.trailing_zeros() >> 3) as usize
}

/// Where the next quote or backslash at or after `at` stands, or the length of `bytes`.
#[inline(always)]
pub(super) fn find_special<const ASCII: bool>(bytes: &[u8], mut at: usize) -> usize {
    // Most strings end within three words; a long one is worth a call.
    for _ in 0..3 {
        let Some(word) = load(bytes, at) else { return find_special_near(bytes, at) };
        let hits = specials::<ASCII>(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    find_special_far(bytes, at)
}

#[inline(never)]
fn find_special_near(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&b| b == b'"' || b == b'\\').unwrap_or(rest.len())
}

#[inline(never)]
fn find_special_far(bytes: &[u8], mut at: usize) -> usize {
    let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<32>();
    for block in blocks {
        if block.iter().fold(false, |hit, &b| hit | (b == b'"') | (b == b'\\')) {
            break;
        }
        at += 32;
    }
    while let Some(word) = load(bytes, at) {
        let hits = specials::<false>(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    find_special_near(bytes, at)
}

/// Where the next byte that a string literal cannot hold stands at or after `at`, or the length of `bytes`.
#[inline(always)]
pub(super) fn find_unfit(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..3 {
        let Some(word) = load(bytes, at) else { return find_unfit_near(bytes, at) };
        let hits = unfit(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    find_unfit_far(bytes, at)
}

#[inline(never)]
fn find_unfit_near(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(rest.len())
}

#[inline(never)]
fn find_unfit_far(bytes: &[u8], mut at: usize) -> usize {
    let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<32>();
    for block in blocks {
        if block.iter().fold(false, |hit, &b| hit | (b == b'"') | (b == b'\\') | (b < 0x20)) {
            break;
        }
        at += 32;
    }
    while let Some(word) = load(bytes, at) {
        let hits = unfit(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    find_unfit_near(bytes, at)
}

/// Whether any byte is a control or not ASCII: one signed comparison finds both.
#[inline]
pub(super) fn any_unusual(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<128>();
    for block in blocks {
        if block.iter().fold(false, |hit, &b| hit | (b.cast_signed() < 0x20)) {
            return true;
        }
    }
    let (words, rest) = rest.as_chunks::<16>();
    let mut hit = false;
    for word in words {
        hit |= word.iter().fold(false, |hit, &b| hit | (b.cast_signed() < 0x20));
    }
    rest.iter().fold(hit, |hit, &b| hit | (b.cast_signed() < 0x20))
}

/// Whether any byte is below 0x20.
pub(super) fn any_control(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().any(|block| block.iter().fold(false, |hit, &b| hit | (b < 0x20)))
        || rest.iter().any(|&b| b < 0x20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn mixed() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            8 => any::<u8>(),
            1 => Just(b'"'),
            1 => Just(b'\\'),
            1 => Just(0x1f),
            20 => 0x20u8..0x7f,
        ];
        proptest::collection::vec(byte, 0..300)
    }

    proptest! {
        #[test]
        fn searching_by_words_finds_what_searching_by_bytes_finds(bytes in mixed(), at in 0usize..40) {
            let at = at.min(bytes.len());
            let special = |b: &u8| *b == b'"' || *b == b'\\';
            let expect = |f: &dyn Fn(&u8) -> bool| at + bytes[at..].iter().position(f).unwrap_or(bytes.len() - at);
            prop_assert_eq!(find_special::<false>(&bytes, at), expect(&special));
            prop_assert_eq!(find_unfit(&bytes, at), expect(&|b| special(b) || *b < 0x20));
            if bytes.is_ascii() {
                prop_assert_eq!(find_special::<true>(&bytes, at), expect(&special));
            }
            prop_assert_eq!(any_control(&bytes), bytes.iter().any(|&b| b < 0x20));
            prop_assert_eq!(any_unusual(&bytes), bytes.iter().any(|&b| !(0x20..0x80).contains(&b)));
        }

        #[test]
        fn ascii_words_find_the_first_of_several(mut bytes in proptest::collection::vec(0x00u8..0x80, 1..200),
            hits in proptest::collection::vec((0usize..200, any::<bool>()), 0..5)) {
            for (at, quote) in hits {
                let len = bytes.len();
                bytes[at % len] = if quote { b'"' } else { b'\\' };
            }
            let expected = bytes.iter().position(|&b| b == b'"' || b == b'\\').unwrap_or(bytes.len());
            prop_assert_eq!(find_special::<true>(&bytes, 0), expected);
        }
    }
}

//! Searching in text by words of eight bytes and blocks of thirty-two, without tables and without `unsafe`.

const LOW: u64 = u64::MAX / 255;
const LOW7: u64 = LOW * 0x7f;
const QUOTES: u64 = LOW * b'"' as u64;
const SLASHES: u64 = LOW * b'\\' as u64;

/// The high bit of each byte that is not `pattern`'s. Exact for any bytes.
#[inline(always)]
fn differs(word: u64, pattern: u64) -> u64 {
    let x = word ^ pattern;
    ((x & LOW7) + LOW7) | x
}

/// The high bit of each byte that is a quote or a backslash.
///
/// With `ascii` no byte may be 0x80 or above: then no sum carries into its neighbour, and two steps are saved.
#[inline(always)]
fn specials(word: u64, ascii: bool) -> u64 {
    let plain = if ascii {
        (word ^ QUOTES).wrapping_add(LOW7) & (word ^ SLASHES).wrapping_add(LOW7)
    } else {
        differs(word, QUOTES) & differs(word, SLASHES)
    };
    !(plain | LOW7)
}

/// The high bit of each byte that a string literal must not hold as it is: quote, backslash, below 0x20.
#[inline(always)]
fn unfit(word: u64) -> u64 {
    // A byte of 0x20 or above reaches 0x80 when 0x60 is added; one of 0x80 or above has the bit already.
    let not_control = ((word & LOW7) + LOW * 0x60) | word;
    !(differs(word, QUOTES) & differs(word, SLASHES) & not_control | LOW7)
}

/// Whether a block holds such a byte.
///
/// One comparison a fold, and a block of fixed length: that the compiler makes vector code of. With two
/// comparisons in one fold it gives up.
#[inline(always)]
fn holds<const N: usize>(block: &[u8; N], is: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |hit, &b| hit | is(b))
}

#[inline(always)]
fn first(hits: u64) -> usize {
    (hits.trailing_zeros() >> 3) as usize
}

/// Where in a block the first hit stands; the block's length if there is none.
#[inline(always)]
fn locate<const N: usize>(block: &[u8; N], in_word: impl Fn(u64) -> u64) -> usize {
    let mut at = 0;
    for word in block.as_chunks::<8>().0 {
        let hits = in_word(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    at
}

/// Searches by blocks for one that `in_block` reports, in what is left by words, and at last by bytes. Gives the
/// length of `bytes` if there is nothing.
#[inline(always)]
fn find<const N: usize>(
    bytes: &[u8],
    at: usize,
    in_block: impl Fn(&[u8; N]) -> bool,
    in_word: impl Fn(u64) -> u64,
    is: impl Fn(u8) -> bool,
) -> usize {
    let (blocks, mut rest) = bytes.get(at..).unwrap_or_default().as_chunks::<N>();
    for (i, block) in blocks.iter().enumerate() {
        if in_block(block) {
            return at + i * N + locate(block, in_word);
        }
    }
    while let Some((word, next)) = rest.split_first_chunk::<8>() {
        let hits = in_word(u64::from_le_bytes(*word));
        if hits != 0 {
            return bytes.len() - rest.len() + first(hits);
        }
        rest = next;
    }
    let near = rest.iter().position(|&b| is(b)).unwrap_or(rest.len());
    bytes.len() - rest.len() + near
}

/// Where the next quote or backslash at or after `at` stands, or the length of `bytes`.
#[inline(always)]
pub(super) fn find_special(bytes: &[u8], at: usize, ascii: bool) -> usize {
    find::<32>(
        bytes,
        at,
        |block| holds(block, |b| b == b'"') | holds(block, |b| b == b'\\'),
        |word| specials(word, ascii),
        |b| b == b'"' || b == b'\\',
    )
}

/// The last bytes of a text, fewer than eight, as a word with zeros behind them.
#[inline(always)]
fn last_word(bytes: &[u8], rest: &[u8]) -> u64 {
    match bytes.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The closing quote of a string whose content starts at `start`, if it stands within that many words and no escape
/// comes before it; else from where to go on. (Most strings are like that; this part is worth being inlined.)
#[inline(always)]
pub(super) fn near_quote<const WORDS: usize>(
    bytes: &[u8],
    start: usize,
    ascii: bool,
) -> Result<usize, usize> {
    let mut rest = bytes.get(start..).unwrap_or_default();
    let mut at = start;
    for _ in 0..WORDS {
        let Some((word, next)) = rest.split_first_chunk::<8>() else {
            let hits = specials(last_word(bytes, rest), ascii);
            at += if hits == 0 { rest.len() } else { first(hits) };
            return if bytes.get(at) == Some(&b'"') { Ok(at) } else { Err(at) };
        };
        let hits = specials(u64::from_le_bytes(*word), ascii);
        if hits != 0 {
            at += first(hits);
            return if bytes.get(at) == Some(&b'"') { Ok(at) } else { Err(at) };
        }
        at += 8;
        rest = next;
    }
    Err(at)
}

/// Where the next quote at or after `at` stands, or the length of `bytes`.
#[inline(always)]
pub(super) fn find_quote(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    // The first word by itself, for names; then two at a time.
    if let Some((next, later)) = rest.split_first_chunk::<8>() {
        let hits = quotes(u64::from_le_bytes(*next));
        if hits != 0 {
            return at + first(hits);
        }
        rest = later;
        for _ in 0..3 {
            let Some((next, later)) = rest.split_first_chunk::<16>() else { break };
            if holds(next, |b| b == b'"') {
                return bytes.len() - rest.len() + locate(next, quotes);
            }
            rest = later;
        }
    }
    find_far_quote(bytes, bytes.len() - rest.len())
}

#[inline(never)]
fn find_far_quote(bytes: &[u8], mut at: usize) -> usize {
    let is_quote = |b| b == b'"';
    let mut rest = bytes.get(at..).unwrap_or_default();
    if rest.len() < 16 {
        if let Some((next, later)) = rest.split_first_chunk::<8>() {
            let hits = quotes(u64::from_le_bytes(*next));
            if hits != 0 {
                return at + first(hits);
            }
            (rest, at) = (later, at + 8);
        }
        let hits = quotes(last_word(bytes, rest));
        return if hits == 0 { bytes.len() } else { at + first(hits) };
    }
    // Long texts in long strides, when the first one shows that it is one.
    for block in rest.as_chunks::<128>().0 {
        if holds(block, is_quote) {
            break;
        }
        at += block.len();
    }
    find::<32>(bytes, at, |block| holds(block, is_quote), quotes, is_quote)
}

#[inline(always)]
fn quotes(word: u64) -> u64 {
    !(differs(word, QUOTES) | LOW7)
}

/// Whether there is a backslash. Most texts are short, and a call costs more than they do.
#[inline]
pub(super) fn has_backslash(text: &[u8]) -> bool {
    if text.len() > 64 {
        return memchr::memchr(b'\\', text).is_some();
    }
    let is = |word: &[u8; 8]| !(differs(u64::from_le_bytes(*word), SLASHES) | LOW7) != 0;
    let (words, rest) = text.as_chunks::<8>();
    match text.last_chunk::<8>() {
        // The last word may be one that was looked at in part.
        Some(last) => is(last) || words.iter().any(is),
        None => rest.contains(&b'\\'),
    }
}

/// Where the first backslash stands, or the length of `text`.
#[inline(always)]
pub(super) fn find_backslash(text: &[u8]) -> usize {
    find::<32>(
        text,
        0,
        |block| holds(block, |b| b == b'\\'),
        |word| !(differs(word, SLASHES) | LOW7),
        |b| b == b'\\',
    )
}

/// Where in a block the first byte stands that a string literal cannot hold as it is.
#[inline(always)]
pub(super) fn unfit_in_block(block: &[u8; 32]) -> Option<usize> {
    // Zero where one of the three holds, so that one comparison is enough.
    let is = |b: u8| (b ^ b'"').min(b ^ b'\\').min(b & 0xe0) == 0;
    // The marks of all bytes at once are vector code as well, which a search word by word is not.
    holds(block, is).then(|| {
        let marks = block.map(|b| u8::from(is(b)));
        locate(&marks, |word| word)
    })
}

/// As [`unfit_in_block`], in a word.
#[inline(always)]
pub(super) fn unfit_in_word(word: [u8; 8]) -> Option<usize> {
    let hits = unfit(u64::from_le_bytes(word));
    (hits != 0).then(|| first(hits))
}

/// Whether a string literal cannot hold this byte as it is.
#[inline(always)]
pub(super) const fn is_unfit(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Whether any byte is a control or not ASCII: one signed comparison finds both.
#[inline]
pub(super) fn any_unusual(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<128>();
    for block in blocks {
        if holds(block, |b| b.cast_signed() < 0x20) {
            return true;
        }
    }
    let mut hit = false;
    for word in rest.as_chunks::<16>().0 {
        hit |= holds(word, |b| b.cast_signed() < 0x20);
    }
    match bytes.last_chunk::<16>() {
        // Some of these were looked at already.
        Some(last) => hit | holds(last, |b| b.cast_signed() < 0x20),
        None => bytes.iter().any(|b| b.cast_signed() < 0x20),
    }
}

/// Whether any byte is below 0x20.
pub(super) fn any_control(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().any(|block| holds(block, |b| b < 0x20)) || rest.iter().any(|&b| b < 0x20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn mixed() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => any::<u8>(),
            1 => Just(b'"'),
            1 => Just(b'\\'),
            1 => Just(0x1f),
            60 => 0x20u8..0x7f,
        ];
        proptest::collection::vec(byte, 0..300)
    }

    #[test]
    fn one_byte_is_found_wherever_it_stands_and_near_is_three_words() {
        for before in 0..150 {
            for behind in [0, 1, 7, 8, 9, 30, 150] {
                for found in [b'"', b'\\', 0x1f, 0x20, 0x7f] {
                    let mut text = Vec::from([b'"', b'\\', 0, b'"']);
                    let start = text.len();
                    text.resize(start + before, b'x');
                    text.push(found);
                    text.resize(text.len() + behind, b'y');
                    let (at, end) = (start + before, text.len());
                    let where_is = |is: bool| if is { at } else { end };
                    let special = matches!(found, b'"' | b'\\');
                    for ascii in [false, true] {
                        assert_eq!(find_special(&text, start, ascii), where_is(special));
                        let near = near_quote::<3>(&text, start, ascii);
                        let expected = match found {
                            b'"' if before < 24 => Ok(at),
                            b'\\' if before < 24 => Err(at),
                            _ => Err(end.min(start + 24)),
                        };
                        assert_eq!(near, expected, "{found} behind {before}, before {behind}");
                    }
                    assert_eq!(find_quote(&text, start), where_is(found == b'"'));
                    let rest = &text[start..];
                    assert_eq!(find_backslash(rest), where_is(found == b'\\') - start);
                    assert_eq!(has_backslash(rest), found == b'\\');
                    assert_eq!((any_control(rest), any_unusual(rest)), (found == 0x1f, found == 0x1f));
                    assert_eq!(rest.iter().any(|byte| is_unfit(*byte)), special || found == 0x1f);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn searching_by_words_finds_what_searching_by_bytes_finds(bytes in mixed(), at in 0usize..40) {
            let at = at.min(bytes.len());
            let rest = &bytes[at..];
            let expect = |is: &dyn Fn(&u8) -> bool| at + rest.iter().position(is).unwrap_or(rest.len());
            let special = |b: &u8| *b == b'"' || *b == b'\\';
            prop_assert_eq!(find_special(&bytes, at, false), expect(&special));
            if bytes.is_ascii() {
                prop_assert_eq!(find_special(&bytes, at, true), expect(&special));
            }
            prop_assert_eq!(find_quote(&bytes, at), expect(&|b| *b == b'"'));
            if let Ok(found) = near_quote::<3>(&bytes, at, false) {
                prop_assert_eq!(found, expect(&special));
                prop_assert_eq!(bytes[found], b'"');
            }
            prop_assert_eq!(any_control(&bytes), bytes.iter().any(|&b| b < 0x20));
            prop_assert_eq!(any_unusual(&bytes), bytes.iter().any(|&b| !(0x20..0x80).contains(&b)));
        }

        #[test]
        fn searching_for_what_must_be_escaped_misses_nothing(text in mixed()) {
            for short in [&text[..], text.get(..9).unwrap_or_default(), text.get(..5).unwrap_or_default()] {
                prop_assert_eq!(has_backslash(short), short.contains(&b'\\'));
            }
            prop_assert_eq!(find_backslash(&text), text.iter().position(|&b| b == b'\\').unwrap_or(text.len()));
            for block in text.as_chunks::<32>().0 {
                prop_assert_eq!(unfit_in_block(block), block.iter().position(|b| is_unfit(*b)));
            }
            for word in text.as_chunks::<8>().0 {
                prop_assert_eq!(unfit_in_word(*word), word.iter().position(|b| is_unfit(*b)));
            }
        }
    }
}

//! What a stream of events comes to, however it is cut.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;
use proptest::prelude::*;

use super::{SseDecoder, SseItem, write_event};
use crate::frame::Frame;

fn decode(stream: &[u8], cuts: &[usize], max: usize) -> Vec<SseItem> {
    let mut decoder = SseDecoder::new(max);
    let mut items = Vec::new();
    let mut at = 0;
    for cut in cuts.iter().copied().chain([stream.len()]) {
        let cut = cut.clamp(at, stream.len());
        decoder.feed(&Bytes::copy_from_slice(&stream[at..cut]));
        items.extend(core::iter::from_fn(|| decoder.poll()));
        at = cut;
    }
    items
}

fn event(name: Option<&str>, data: &str) -> SseItem {
    SseItem::Event {
        name: name.map(Into::into),
        data: Frame::Message(Bytes::copy_from_slice(data.as_bytes())),
    }
}

fn id(id: &str) -> SseItem {
    SseItem::LastId(id.into())
}

/// Whole, byte by byte, and cut in two everywhere.
fn each_cut(name: &str, stream: &[u8], expected: &[SseItem]) {
    assert_eq!(decode(stream, &[], 1000), expected, "{name}");
    let all: Vec<usize> = (0..stream.len()).collect();
    assert_eq!(decode(stream, &all, 1000), expected, "{name}, byte by byte");
    for cut in all {
        assert_eq!(decode(stream, &[cut], 1000), expected, "{name}, cut at {cut}");
    }
}

#[test]
fn streams_come_to_these_events() {
    let cases: &[(&str, &str, Vec<SseItem>)] = &[
        ("one line", "data: a\n\n", vec![event(None, "a")]),
        ("no blank", "data:a\n\n", vec![event(None, "a")]),
        ("one blank goes", "data:  a\n\n", vec![event(None, " a")]),
        ("CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", vec![event(None, "a"), event(None, "b")]),
        ("CR", "data: a\r\rdata: b\r\r", vec![event(None, "a"), event(None, "b")]),
        ("mixed ends", "data: a\r\ndata: b\rdata: c\n\r\n", vec![event(None, "a\nb\nc")]),
        ("byte order mark", "\u{feff}data: a\n\n", vec![event(None, "a")]),
        ("a mark later is none", "data: a\n\n\u{feff}data: b\n\n", vec![event(None, "a")]),
        ("several lines", "data: {\ndata:\ndata: }\n\n", vec![event(None, "{\n\n}")]),
        ("a name alone", "data\ndata: a\n\n", vec![event(None, "\na")]),
        ("unknown fields", "x: 1\ndatum: 2\ndat: 3\nevents: 4\ndata: a\nDATA: b\n\n", vec![event(None, "a")]),
        ("comments", ":\n: c\n\n:data: x\ndata: a\n\n", vec![event(None, "a")]),
        ("kinds", "event: ping\ndata: a\n\ndata: b\n\n", vec![event(Some("ping"), "a"), event(None, "b")]),
        ("the last kind counts", "event: x\nevent: y\ndata: a\n\n", vec![event(Some("y"), "a")]),
        ("a kind without data", "event: x\n\ndata: a\n\n", vec![event(None, "a")]),
        ("empty data", "id: 7\ndata:\n\n", vec![id("7")]),
        ("blank data", "data:  \ndata:\t\n\n", vec![]),
        ("an id stands first", "data: a\nid: 7\n\n", vec![id("7"), event(None, "a")]),
        ("an empty id resets", "id\ndata: a\n\n", vec![id(""), event(None, "a")]),
        ("an id with NUL", "id: a\0b\ndata: a\n\n", vec![event(None, "a")]),
        ("retry", "retry: 500\n\n", vec![SseItem::Retry(500)]),
        ("retry without digits", "retry: 5s\nretry: -1\nretry:\n\n", vec![]),
        (
            "a long retry",
            "retry: 0000000000000000000000000000000000000007\nretry: 0000000000000000000000000000000000000000x\n\n",
            vec![SseItem::Retry(7)],
        ),
        ("a huge retry", "retry: 99999999999999999999\n\n", vec![SseItem::Retry(u64::MAX)]),
        ("an end without a blank line", "id: 1\ndata: a\n", vec![]),
        ("a colon in data", "data: a: b\n\n", vec![event(None, "a: b")]),
        ("nothing", "", vec![]),
        ("blank lines", "\n\n\r\r\n", vec![]),
    ];
    for (name, stream, expected) in cases {
        each_cut(name, stream.as_bytes(), expected);
    }
}

#[test]
fn what_is_too_long_is_skipped_and_whose_it_was_is_known() {
    let mut decoder = SseDecoder::new(100);
    let long = alloc::format!(
        "data: {{\"jsonrpc\":\"2.0\",\ndata: \"result\":\"{}\",\ndata: \"id\":7}}\n\ndata: b\n\n",
        "x".repeat(100_000)
    );
    let mut most = 0;
    let mut items = Vec::new();
    for piece in long.as_bytes().chunks(777) {
        decoder.feed(&Bytes::copy_from_slice(piece));
        items.extend(core::iter::from_fn(|| decoder.poll()));
        most = most.max(decoder.retained_bytes());
    }
    assert!(most < 4096, "{most} bytes held");
    let [SseItem::Event { name: None, data: Frame::TooLong { id: Some(id), has_method: false, len } }, after] =
        &items[..]
    else {
        panic!("{items:?}")
    };
    assert_eq!((id.to_string(), after), ("7".to_string(), &event(None, "b")));
    assert_eq!(*len, 100_000 + 38);
    // Exactly as long as it may be.
    let fits = alloc::format!("data: {}\ndata: {}\n\n", "x".repeat(50), "y".repeat(49));
    assert!(matches!(
        &decode(fits.as_bytes(), &[], 100)[..],
        [SseItem::Event { data: Frame::Message(_), .. }]
    ));
    assert!(matches!(
        &decode(fits.as_bytes(), &[], 99)[..],
        [SseItem::Event { data: Frame::TooLong { len: 100, .. }, .. }]
    ));
}

#[test]
fn a_big_event_in_one_piece_is_not_copied_and_a_small_one_keeps_no_piece() {
    let big = Bytes::from(alloc::format!("data: {}\n\ndata: small\n\n", "x".repeat(50_000)));
    let mut decoder = SseDecoder::new(1 << 20);
    decoder.feed(&big);
    let Some(SseItem::Event { data: Frame::Message(data), .. }) = decoder.poll() else { panic!() };
    assert_eq!(data.as_ptr(), big.slice(6..).as_ptr());
    let Some(SseItem::Event { data: Frame::Message(data), .. }) = decoder.poll() else { panic!() };
    assert_eq!(data, "small");
    assert!(!big.as_ptr_range().contains(&data.as_ptr()));
}

#[test]
fn a_line_is_copied_where_it_is_small_or_less_than_half_of_its_piece() {
    let is_copy = |line: usize, rest: usize| {
        let piece = Bytes::from(alloc::format!("data: {}\n\n{}", "x".repeat(line), "\n".repeat(rest)));
        let mut decoder = SseDecoder::new(1 << 20);
        decoder.feed(&piece);
        let Some(SseItem::Event { data: Frame::Message(data), .. }) = decoder.poll() else { panic!() };
        !piece.as_ptr_range().contains(&data.as_ptr())
    };
    assert!(is_copy(20, 0) && is_copy(16 << 10, 0));
    assert!(!is_copy((16 << 10) + 1, 0));
    assert!(is_copy(20_000, 19_994) && !is_copy(20_000, 19_992));
}

#[test]
fn joined_lines_keep_no_room_that_is_more_than_their_length() {
    // The second line begins in room for 2,064 bytes.
    let room = |second: usize| {
        let stream = alloc::format!("data: {}\ndata: {}\n\n", "x".repeat(1000), "y".repeat(second));
        let [SseItem::Event { data: Frame::Message(data), .. }] =
            &mut decode(stream.as_bytes(), &[], 1 << 20)[..]
        else {
            panic!()
        };
        mem::take(data).try_into_mut().unwrap().capacity()
    };
    assert_eq!(room(30), 1031, "the rest is let go");
    assert_eq!([room(31), room(50)], [2064; 2], "a copy would cost more");
}

#[test]
fn a_part_of_a_mark_is_a_name_that_nobody_knows() {
    for part in [&b"\xef"[..], b"\xef\xbb"] {
        let stream = [part, b"data: a\ndata: b\n\n"].concat();
        assert_eq!(decode(&stream, &[], 1000), [event(None, "b")]);
    }
}

#[test]
fn no_more_items_wait_than_are_asked_for() {
    let stream = Bytes::from_static(b"retry: 1\nretry: 2\nretry: 3\n");
    let mut decoder = SseDecoder::new(100);
    let mut at = 0;
    for expected in 1..=3 {
        at = decoder.feed_some(&stream, at, 1);
        assert_eq!((at, decoder.poll()), (expected * 9, Some(SseItem::Retry(expected as u64))));
    }
}

#[test]
fn what_waits_is_counted_and_what_was_taken_is_not() {
    let mut decoder = SseDecoder::new(100);
    assert_eq!(decoder.retained_bytes(), 0);
    decoder.feed(&Bytes::from_static(b"event: abc\ndata: hello\n\n"));
    let waiting = decoder.retained_bytes();
    assert!(decoder.poll().is_some());
    assert_eq!(waiting - decoder.retained_bytes(), "abchello".len());
    let before = decoder.retained_bytes();
    decoder.feed(&Bytes::from("retry: 1\n".repeat(1000)));
    assert!(decoder.retained_bytes() > 1000 * size_of::<SseItem>());
    while decoder.poll().is_some() {}
    assert!(decoder.retained_bytes() <= before, "the room of many is let go");
    // What is not whole yet: a kind, and the beginning of an id.
    decoder.feed(&Bytes::from_static(b"event: 0123456789012345\nid: 0123456789012345"));
    assert!((32..=64).contains(&decoder.retained_bytes()), "{}", decoder.retained_bytes());
    // An id that is whole, and no more than that.
    let mut ended = SseDecoder::new(100);
    ended.feed(&Bytes::from_static(b"id: 0123456789\n"));
    assert!((10..=64).contains(&ended.retained_bytes()), "{}", ended.retained_bytes());
    let mut begun = SseDecoder::new(100);
    begun.feed(&Bytes::from_static(b"retr"));
    assert!((4..=64).contains(&begun.retained_bytes()), "{}", begun.retained_bytes());
    begun.feed(&Bytes::from(alloc::format!("y: 1\n{}", "retry: 1\n".repeat(63))));
    while begun.poll().is_some() {}
    assert!(begun.retained_bytes() >= 64 * size_of::<SseItem>(), "the room of a few stays");
}

#[test]
fn names_and_ids_are_bounded() {
    let mut decoder = SseDecoder::new(100);
    let stream = alloc::format!("event: {0}\nid: {0}\n{0}: {0}\n: {0}\ndata: a\n\n", "x".repeat(1 << 20));
    decoder.feed(&Bytes::from(stream));
    assert!(decoder.retained_bytes() < 64 * 1024, "{}", decoder.retained_bytes());
    let Some(SseItem::Event { name: Some(name), .. }) = decoder.poll() else { panic!() };
    assert_eq!(name.len(), 64);
}

#[test]
fn what_is_written_is_read_back() {
    let mut out = Vec::new();
    write_event(&mut out, Some("message"), Some("7\n8"), b"{\"a\":1}\n");
    assert_eq!(String::from_utf8_lossy(&out), "id: 78\ndata: {\"a\":1}\n\n");
    write_event(&mut out, Some("end\r\npoint"), None, b"a\r\nb\rc\nd");
    let end = alloc::vec![b'x'; 10_000];
    let mut long = Vec::new();
    write_event(&mut long, None, None, &end);
    assert!(long.capacity() < 2 * end.len(), "{} bytes", long.capacity());
    each_cut("written", &out, &[id("78"), event(None, "{\"a\":1}"), event(Some("endpoint"), "a\nb\nc\nd")]);
}

/// The same by the letter of the standard, for a stream that is there whole.
fn reference(stream: &str) -> Vec<SseItem> {
    let stream = stream.strip_prefix('\u{feff}').unwrap_or(stream).replace("\r\n", "\n").replace('\r', "\n");
    let mut items = Vec::new();
    let (mut name, mut data, mut last) = (String::new(), String::new(), None);
    let mut lines: Vec<&str> = stream.split('\n').collect();
    lines.pop();
    for line in lines {
        if line.is_empty() {
            items.extend(last.take().map(|last: String| SseItem::LastId(last.into())));
            let text = data.strip_suffix('\n').unwrap_or(&data);
            if !text.trim_ascii().is_empty() {
                items.push(event(Some(&*name).filter(|name| !name.is_empty()), text));
            }
            (name, data) = (String::new(), String::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data = data + value + "\n",
            "event" => name = value.into(),
            "id" if !value.contains('\0') => last = Some(value.into()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                items.push(SseItem::Retry(value.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    items
}

fn streams() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("data"),
        Just("event"),
        Just("id"),
        Just("retry"),
        Just(":"),
        Just(": "),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\n\n"),
        Just("\u{feff}"),
        Just("x"),
        Just("12"),
        Just(" "),
        Just("\0"),
        Just("é"),
        Just("data: a\n"),
        Just("message")
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_stream_comes_to_what_the_standard_says_however_it_is_cut(
        stream in streams(),
        mut cuts in proptest::collection::vec(0_usize..120, 0..6),
    ) {
        cuts.sort_unstable();
        prop_assert_eq!(decode(stream.as_bytes(), &cuts, 1000), reference(&stream));
    }

    #[test]
    fn any_bytes_are_borne_and_come_to_the_same_however_they_are_cut(
        stream in proptest::collection::vec(any::<u8>(), 0..300),
        mut cuts in proptest::collection::vec(0_usize..300, 0..6),
    ) {
        cuts.sort_unstable();
        prop_assert_eq!(decode(&stream, &cuts, 20), decode(&stream, &[], 20));
    }
}

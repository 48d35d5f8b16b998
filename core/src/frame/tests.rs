//! Vectors; that frames do not depend on the cuts is a property in the tests crate, where a fuzz target uses it too.

use super::scan::Scanner;
use super::*;
use crate::jsonrpc::MAX_ID_BYTES;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use bytes::Bytes;

/// What a driver sees that reads `piece` bytes at a time.
fn frames(stream: &[u8], max: usize, piece: usize) -> Vec<Frame> {
    let mut decoder = LineDecoder::new(max);
    let mut frames = feed(&mut decoder, stream, piece);
    decoder.handle_eof();
    frames.extend(core::iter::from_fn(|| decoder.poll_frame()));
    frames
}

fn feed(decoder: &mut LineDecoder, mut stream: &[u8], piece: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !stream.is_empty() {
        let buffer = decoder.read_buffer();
        let room = buffer.capacity() - buffer.len();
        let (now, later) = stream.split_at(piece.min(room).min(stream.len()));
        buffer.extend_from_slice(now);
        stream = later;
        decoder.handle_read();
        frames.extend(core::iter::from_fn(|| decoder.poll_frame()));
    }
    frames
}

fn message(text: impl Into<String>) -> Frame {
    Frame::Message(Bytes::from(text.into()))
}

#[test]
fn only_a_line_feed_ends_a_frame() {
    // P-115
    let stream = "{\"a\":\"\u{2028}\u{85}\"}\n\r\n \t\n\t\n{\"b\":1}\r\nlast\u{b}\u{c}line";
    let expected =
        [message("{\"a\":\"\u{2028}\u{85}\"}"), message("{\"b\":1}"), message("last\u{b}\u{c}line")];
    for piece in [1, 2, 3, 7, 1000] {
        assert_eq!(frames(stream.as_bytes(), 1000, piece), expected, "{piece} at a time");
    }
}

#[test]
fn b_07_characters_cut_by_a_read_come_together_again() {
    let text = "caf\u{e9} \u{8a9e}\u{8a9e} \u{1f600}\u{1f600}";
    for piece in 1..=text.len() {
        assert_eq!(frames(format!("{text}\n").as_bytes(), 1000, piece), [message(text)]);
    }
}

#[test]
fn b_09_long_lines_arrive_whole_up_to_the_limit() {
    let limit = 8 << 20;
    for len in [70_000, 1 << 20, limit] {
        let long = "x".repeat(len);
        let stream = format!("{long}\nnext\n");
        assert_eq!(frames(stream.as_bytes(), limit, 65_536), [message(long), message("next")]);
    }
    let too_long = format!("{}\nnext\n", "x".repeat(limit + 1));
    let lost = Frame::TooLong { id: None, has_method: false, len: (limit + 1) as u64 };
    assert_eq!(frames(too_long.as_bytes(), limit, 65_536), [lost, message("next")]);
}

#[test]
fn the_limit_counts_the_line_without_its_line_feed_however_it_is_cut() {
    for piece in [1, 5, 100] {
        assert_eq!(frames(b"12345\n", 5, piece), [message("12345")]);
        assert_eq!(frames(b"12345", 5, piece), [message("12345")]);
        let lost = Frame::TooLong { id: None, has_method: false, len: 6 };
        assert_eq!(frames(b"123456\nok\n", 5, piece), [lost.clone(), message("ok")]);
        assert_eq!(frames(b"12345\r\nok\n", 5, piece), [lost.clone(), message("ok")]);
        assert_eq!(frames(b"123456", 5, piece), [lost]);
    }
}

#[test]
fn a_line_that_is_too_long_still_tells_whose_it_was() {
    let filler = "y".repeat(300);
    let table = [
        (format!(r#"{{"id":7,"result":"{filler}"}}"#), Some(7i64.into()), false),
        (format!(r#"{{"result":"{filler}","id":"a\u0062"}}"#), Some("ab".into()), false),
        (format!(r#"{{"x":"{filler}","id":-0,"method":"m","y":"{filler}"}}"#), crate_id("-0"), true),
        (
            format!(r#"{{"params":{{"id":1,"b":"}}\"{{"}},"m\u0065thod":"{filler}","\u0069d" : 12 }}"#),
            Some(12i64.into()),
            true,
        ),
        (
            format!(r#"{{"result":[[{{"id":3}}],"{filler}\\"],"id":99999999999999999999}}"#),
            crate_id("99999999999999999999"),
            false,
        ),
        // Quotes and backslashes in names and ids, space behind a literal, and a mark in front of it all.
        (format!(r#"{{"x\"y":"{filler}","\\":[],"id":7}}"#), Some(7i64.into()), false),
        (format!(r#"{{"id":"a\"b","result":"{filler}"}}"#), Some("a\"b".into()), false),
        (format!(r#"{{"id":"a\\","result":"{filler}"}}"#), Some("a\\".into()), false),
        (format!(r#"{{"x":true ,"id":9 ,"result":"{filler}"}}"#), Some(9i64.into()), false),
        (format!("\u{feff} {{\"id\":7,\"result\":\"{filler}\"}}"), Some(7i64.into()), false),
        (format!(r#"{{"method":"{filler}"}}"#), None, true),
        (format!(r#"{{"id":null,"method":"{filler}"}}"#), None, true),
        (format!(r#"{{"id":1.5,"method":"{filler}"}}"#), None, true),
        (format!(r#"{{"id":[1],"method":"{filler}"}}"#), None, true),
        (format!(r#"{{"id":1,"id":1,"result":"{filler}"}}"#), None, false),
        (format!(r#"{{"id":"{}","method":"m"}}"#, "z".repeat(600)), None, true),
        // Not an object, or broken at its top level: nothing is believed.
        (format!(r#"[{{"id":1,"method":"{filler}"}}]"#), None, false),
        (format!(r#"{{"id":1,"method":"{filler}" oops}}"#), None, false),
        (format!(r#"{{"id":1,"method":"{filler}"}} trailing"#), None, false),
        (format!(r#"{{"id":1,"method":"{filler}"#), None, false),
        (filler.clone(), None, false),
    ];
    for (line, id, has_method) in table {
        let expected = Frame::TooLong { id, has_method, len: line.len() as u64 };
        for piece in [1, 2, 3, 64, 10_000] {
            let stream = format!("{line}\n{{}}\n");
            assert_eq!(
                frames(stream.as_bytes(), 100, piece),
                [expected.clone(), message("{}")],
                "{line} by {piece}"
            );
        }
    }
}

fn crate_id(text: &str) -> Option<crate::jsonrpc::RequestId> {
    let raw = crate::jsonrpc::RawJson::parse_str(text).unwrap();
    crate::jsonrpc::RequestId::parse(raw.view()).ok()
}

#[test]
fn small_frames_leave_four_kibibytes_behind_and_a_big_one_is_not_copied() {
    let mut decoder = LineDecoder::new(1 << 24);
    for _ in 0..1000 {
        assert_eq!(feed(&mut decoder, b"{\"small\":1}\n{\"small\":2}\n", 17).len(), 2);
        assert!(decoder.retained_bytes() <= 4096);
    }
    let line = vec![b'x'; 1_000_000];
    feed(&mut decoder, &line, 65_536);
    let held = decoder.read_buffer().as_ptr().addr();
    let big = feed(&mut decoder, b"\nrest", 65_536);
    let [Frame::Message(bytes)] = &big[..] else { panic!("{} frames", big.len()) };
    assert_eq!((bytes.as_ptr().addr(), bytes.len()), (held, line.len()));
    assert!(decoder.retained_bytes() <= 8192, "the rest moved to a small buffer");
    assert_eq!(feed(&mut decoder, b" of it\n", 100), [message("rest of it")]);
}

#[test]
fn a_big_block_comes_back_when_its_last_view_is_gone() {
    let mut decoder = LineDecoder::new(1 << 24);
    let line = [vec![b'x'; 500_000], vec![b'\n']].concat();
    let take = |decoder: &mut LineDecoder| match feed(decoder, &line, 65_536).pop() {
        Some(Frame::Message(bytes)) => bytes,
        other => panic!("{other:?}"),
    };
    let frame = take(&mut decoder);
    let view = frame.clone();
    decoder.recycle(frame);
    assert_eq!(decoder.retained_bytes(), 0, "somebody still holds it");
    let block = view.as_ptr().addr();
    decoder.recycle(view);
    assert!(decoder.retained_bytes() >= 500_000);
    assert_eq!(take(&mut decoder).as_ptr().addr(), block);

    let huge = [vec![b'x'; 3_000_000], vec![b'\n']].concat();
    let frame = feed(&mut decoder, &huge, 65_536).pop();
    let Some(Frame::Message(frame)) = frame else { panic!("a frame") };
    decoder.recycle(frame);
    assert!(decoder.retained_bytes() <= 2 << 20, "what is bigger is let go");
}

#[test]
fn a_line_that_is_skipped_takes_no_more_than_a_read() {
    let mut decoder = LineDecoder::new(1 << 20);
    for _ in 0..200 {
        feed(&mut decoder, &[b'x'; 65_536], 65_536);
        assert!(decoder.retained_bytes() <= (1 << 20) + READ_BYTES);
    }
    assert!(decoder.retained_bytes() <= READ_BYTES + 2048);
    let expected = Frame::TooLong { id: None, has_method: false, len: 200 * 65_536 };
    assert_eq!(feed(&mut decoder, b"\n", 1), [expected]);
}

#[test]
fn a_quiet_stream_lets_go_of_what_it_keeps() {
    let mut decoder = LineDecoder::new(1 << 20);
    let line = [vec![b'x'; 500_000], vec![b'\n']].concat();
    let Some(Frame::Message(frame)) = feed(&mut decoder, &line, 65_536).pop() else { panic!("a line") };
    decoder.recycle(frame);
    assert!(decoder.retained_bytes() >= 500_000);
    decoder.release();
    assert_eq!(decoder.retained_bytes(), 0);
    // What is unfinished stays.
    assert_eq!(feed(&mut decoder, b"{\"a\":", 65_536), []);
    decoder.release();
    let rest = feed(&mut decoder, b"1}\n", 65_536);
    assert_eq!(rest, [Frame::Message(Bytes::from_static(b"{\"a\":1}"))]);
    // So does room that is no more than everybody has, and a long line that is unfinished.
    decoder.release();
    assert_eq!(decoder.retained_bytes(), 4096);
    assert_eq!(feed(&mut decoder, &[b'x'; 5000], 65_536), []);
    decoder.release();
    assert_eq!(feed(&mut decoder, b"y\n", 65_536), [message("x".repeat(5000) + "y")]);
}

#[test]
fn there_is_room_for_a_read_whatever_waits_and_whatever_is_kept() {
    let has_room = |decoder: &mut LineDecoder| {
        let buffer = decoder.read_buffer();
        assert!(buffer.len() < buffer.capacity(), "{} bytes are full", buffer.len());
    };
    // Frames that nobody takes may need more than the bound.
    let mut untaken = LineDecoder::new(5);
    while untaken.retained_bytes() <= READ_BYTES + 10 {
        has_room(&mut untaken);
        untaken.read_buffer().extend_from_slice(b"\n");
        untaken.handle_read();
    }
    // A block that is kept is no bigger than what is full.
    let mut full = LineDecoder::new(1 << 20);
    let line = [vec![b'x'; 20_000], b"\nr".to_vec()].concat();
    let Some(Frame::Message(block)) = feed(&mut full, &line, 65_536).pop() else { panic!("a line") };
    assert_eq!(feed(&mut full, &[b'y'; (32 << 10) - 1], 65_536), []);
    full.recycle(block);
    assert_eq!(full.retained_bytes(), 64 << 10);
    has_room(&mut full);
}

#[test]
fn a_buffer_begins_small_and_doubles() {
    let mut decoder = LineDecoder::new(1 << 20);
    for (held, next) in [(1, 4 << 10), (4 << 10, 8 << 10), (8 << 10, 16 << 10), (16 << 10, 32 << 10)] {
        let unfinished = decoder.read_buffer().len();
        assert_eq!(feed(&mut decoder, &vec![b'x'; held - unfinished], 65_536), []);
        decoder.read_buffer();
        assert_eq!(decoder.retained_bytes(), next, "with {held} bytes");
    }
}

#[test]
fn a_frame_takes_its_buffer_along_where_it_is_big_and_half_of_it() {
    let line = |len: usize| [vec![b'x'; len], vec![b'\n']].concat();
    let left = |decoder: &mut LineDecoder, len: usize| {
        assert_eq!(feed(decoder, &line(len), 65_536).len(), 1);
        decoder.retained_bytes()
    };
    assert_eq!(left(&mut LineDecoder::new(1 << 20), (16 << 10) - 1), 16 << 10, "a small one is copied");
    assert_eq!(left(&mut LineDecoder::new(1 << 20), 16 << 10), 0, "half of 32 KiB");
    // After a big frame the next buffer is as big at once.
    let mut decoder = LineDecoder::new(1 << 24);
    assert_eq!(left(&mut decoder, 100_000), 0);
    assert_eq!(left(&mut decoder, 20_000), 128 << 10, "less than half is copied");
    decoder.release();
    assert_eq!(decoder.retained_bytes(), 0, "and let go when it is quiet");
    // But no bigger than 2 MiB, and what is bigger does not stay.
    assert_eq!(left(&mut decoder, 3_000_000), 0);
    assert_eq!(left(&mut decoder, 5000), 2 << 20);
    let mut many = LineDecoder::new(1 << 24);
    while many.retained_bytes() <= 2 << 20 {
        many.read_buffer().extend_from_slice(&line(1000));
        many.handle_read();
    }
    while many.poll_frame().is_some() {}
    assert_eq!(many.retained_bytes(), 0);
}

#[test]
fn only_what_was_big_is_kept_for_the_next() {
    let mut decoder = LineDecoder::new(1 << 20);
    decoder.recycle(vec![b'x'; (16 << 10) - 1].into());
    assert_eq!(decoder.retained_bytes(), 0);
    decoder.recycle(vec![b'x'; 16 << 10].into());
    assert_eq!(decoder.retained_bytes(), 16 << 10);
}

#[test]
fn a_line_is_skipped_as_it_is_read_and_not_as_it_is_asked_for() {
    let mut decoder = LineDecoder::new(100);
    assert_eq!(feed(&mut decoder, &[b'x'; 1000], 1000), []);
    for _ in 0..3 {
        decoder.read_buffer().extend_from_slice(&[b'x'; 1000]);
        decoder.handle_read();
        assert!(decoder.read_buffer().is_empty());
        assert!(decoder.retained_bytes() <= READ_BYTES + 2048);
    }
    assert!(matches!(feed(&mut decoder, b"\n", 1)[..], [Frame::TooLong { id: None, .. }]));
}

#[test]
fn a_scanner_holds_one_id_and_says_so() {
    let mut scanner = Scanner::new();
    assert_eq!(scanner.retained_bytes(), 0);
    scanner.feed(br#"{"id":"abcde","#);
    assert_eq!(scanner.retained_bytes(), MAX_ID_BYTES + 1 + "abcde".len());
    // And so does the decoder, beside what it reads into.
    let mut decoder = LineDecoder::new(5);
    assert_eq!(feed(&mut decoder, br#"{"id":"abcde","#, 100), []);
    assert_eq!(decoder.retained_bytes(), decoder.read_buffer().capacity() + scanner.retained_bytes());
    scanner.feed(format!(r#""id":"{}","x":0}}"#, "z".repeat(10 * MAX_ID_BYTES)).as_bytes());
    assert_eq!(scanner.retained_bytes(), MAX_ID_BYTES + 1, "what is too long is no id");
}

//! The decoder of event streams against the letter of the standard, with the whole stream at hand.

use bytes::Bytes;
use sanswire::frame::{Frame, Scanner, SseDecoder, SseItem, write_event};

const LIMITS: [usize; 5] = [0, 7, 64, 5_000, 150_000];
/// In an input, stands for many copies of the byte before it.
const REPEAT: u8 = 0xfe;
const COPIES: usize = 3_000;

/// Takes a limit, a way to cut, and a stream from `data`; the items must be those of the model however it is cut, what
/// is held must stay within bounds, and what is written of them must be read back.
///
/// # Panics
/// If a rule is broken.
pub fn check_frame_sse(data: &[u8]) {
    let [limit, cuts, packed @ ..] = data else { return };
    let limit = LIMITS[usize::from(*limit) % LIMITS.len()];
    let mut stream = Vec::new();
    let mut room = 200_000_usize;
    for byte in packed {
        match (*byte, stream.last()) {
            (REPEAT, Some(last)) if room > COPIES => {
                stream.extend(vec![*last; COPIES]);
                room -= COPIES;
            }
            _ => stream.push(*byte),
        }
    }
    let expected = model(&stream, limit);
    assert_eq!(decode(&stream, limit, || usize::MAX), expected, "whole");
    let mut state = u64::from(*cuts) + 1;
    let random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 << ((state >> 33) % 14)
    };
    assert_eq!(decode(&stream, limit, random), expected, "cut at random");
    if stream.len() < 20_000 {
        assert_eq!(decode(&stream, limit, || 1), expected, "byte by byte");
    }
    let mut again = Vec::new();
    let mut events = Vec::new();
    for item in expected {
        if let SseItem::Event { name, data: Frame::Message(data) } = item
            && !name
                .as_deref()
                .is_some_and(|name| name == "message" || name.len() > 64 || name.contains('\0'))
        {
            write_event(&mut again, name.as_deref(), None, &data);
            let data = data.strip_suffix(b"\n").unwrap_or(&data);
            if !data.iter().all(u8::is_ascii_whitespace) {
                events.push(SseItem::Event { name, data: Frame::Message(Bytes::copy_from_slice(data)) });
            }
        }
    }
    assert_eq!(decode(&again, usize::MAX, || 1000), events, "written and read back");
}

fn decode(stream: &[u8], limit: usize, mut piece: impl FnMut() -> usize) -> Vec<SseItem> {
    let mut decoder = SseDecoder::new(limit);
    let mut items = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let (part, more) = rest.split_at(piece().min(rest.len()));
        decoder.feed(&Bytes::copy_from_slice(part));
        rest = more;
        items.extend(std::iter::from_fn(|| decoder.poll()));
        let most = limit.saturating_mul(2).saturating_add(part.len()).saturating_add(64 * 1024);
        assert!(decoder.retained_bytes() <= most, "{} bytes held of {most}", decoder.retained_bytes());
    }
    items
}

fn model(stream: &[u8], limit: usize) -> Vec<SseItem> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut items = Vec::new();
    let (mut name, mut lines, mut last): (&[u8], Vec<&[u8]>, Option<&[u8]>) = (b"", Vec::new(), None);
    let mut rest = stream;
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let line = &rest[..end];
        let more = &rest[end..];
        rest = more.strip_prefix(b"\r\n").unwrap_or(&more[1..]);
        if line.is_empty() {
            items.extend(last.take().map(|last| SseItem::LastId(text(last))));
            items.extend(event(name, &lines.join(&b'\n'), !lines.is_empty(), limit));
            (name, lines) = (b"", Vec::new());
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => lines.push(value),
            b"event" => name = value,
            b"id" if !value.contains(&0) && value.len() <= 4096 => last = Some(value),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                items.push(SseItem::Retry(text(value).parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    items
}

fn event(name: &[u8], data: &[u8], any: bool, limit: usize) -> Option<SseItem> {
    let name = (!name.is_empty()).then(|| text(&name[..name.len().min(64)]));
    if any && data.len() > limit {
        let mut scanner = Scanner::new();
        scanner.feed(data);
        let (id, has_method) = scanner.finish();
        return Some(SseItem::Event {
            name,
            data: Frame::TooLong { id, has_method, len: data.len() as u64 },
        });
    }
    let blank = data.iter().all(u8::is_ascii_whitespace);
    (!blank).then(|| SseItem::Event { name, data: Frame::Message(Bytes::copy_from_slice(data)) })
}

fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

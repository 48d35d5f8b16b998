//! The line decoder against a model that holds the whole stream.

use bytes::Bytes;
use sanswire::frame::{Frame, LineDecoder, READ_BYTES, Scanner};
use sanswire::jsonrpc::{self, MAX_DEPTH};

const LIMITS: [usize; 6] = [0, 7, 64, 5_000, 20_000, 150_000];
/// In an input, stands for many copies of the byte before it: how a short input gets long lines.
const REPEAT: u8 = 0xfe;
const COPIES: usize = 3_000;

/// Takes a limit, a way to cut, and a stream from `data`; the frames must be those of the model, for this way to
/// cut and for others.
///
/// # Panics
/// If a rule is broken.
pub fn check_frame_line(data: &[u8]) {
    let [limit, cuts, stream @ ..] = data else { return };
    let limit = LIMITS[usize::from(*limit) % LIMITS.len()];
    let stream = expand(stream);
    let expected = model(&stream, limit);
    let whole = decode(&stream, limit, |_| usize::MAX);
    assert_eq!(whole, expected, "in big pieces");
    let mut state = u64::from(*cuts) + 1;
    let random = move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 << ((state >> 33) % 14)
    };
    assert_eq!(decode(&stream, limit, random), expected, "cut at random");
    if stream.len() < 20_000 {
        assert_eq!(decode(&stream, limit, |_| 1), expected, "byte by byte");
    }
    lines_and_scanner_agree_with_the_envelope(&stream, usize::from(*cuts));
}

fn expand(packed: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut room = 400_000usize;
    for byte in packed {
        match (*byte, stream.last()) {
            (REPEAT, Some(last)) if room > COPIES => {
                stream.extend(vec![*last; COPIES]);
                room -= COPIES;
            }
            _ => stream.push(*byte),
        }
    }
    stream
}

/// The frames of a stream, by the rules and with all of it at hand.
fn model(stream: &[u8], limit: usize) -> Vec<Frame> {
    let mut lines: Vec<&[u8]> = stream.split(|b| *b == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines.into_iter().filter_map(|line| frame_of(line, limit)).collect()
}

fn frame_of(line: &[u8], limit: usize) -> Option<Frame> {
    if line.len() > limit {
        let mut scanner = Scanner::new();
        scanner.feed(line);
        let (id, has_method) = scanner.finish();
        return Some(Frame::TooLong { id, has_method, len: line.len() as u64 });
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let blank = line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'));
    (!blank).then(|| Frame::Message(Bytes::copy_from_slice(line)))
}

/// Plays a driver that reads `piece` bytes at a time, as far as there is room.
fn decode(stream: &[u8], limit: usize, mut piece: impl FnMut(usize) -> usize) -> Vec<Frame> {
    let mut decoder = LineDecoder::new(limit);
    let mut frames = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let buffer = decoder.read_buffer();
        let capacity = buffer.capacity();
        let room = capacity - buffer.len();
        assert!(room > 0, "no room to read into");
        let (read, later) = rest.split_at(piece(rest.len()).min(room).min(rest.len()).min(READ_BYTES));
        buffer.extend_from_slice(read);
        assert_eq!(buffer.capacity(), capacity);
        rest = later;
        decoder.handle_read();
        drain(&mut decoder, &mut frames);
        // What came back for reuse is counted apart; the drain gives back every third big frame.
        let bound = (limit + READ_BYTES).max(4096) + 2 * 1024 * 1024;
        assert!(decoder.retained_bytes() <= bound, "{} bytes held", decoder.retained_bytes());
    }
    decoder.handle_eof();
    drain(&mut decoder, &mut frames);
    assert_eq!(decoder.poll_frame(), None);
    frames
}

fn drain(decoder: &mut LineDecoder, frames: &mut Vec<Frame>) {
    while let Some(frame) = decoder.poll_frame() {
        frames.push(frame.clone());
        if let Frame::Message(bytes) = frame
            && frames.len().is_multiple_of(3)
        {
            // A copy stays, so that the block itself may come back.
            frames.pop();
            frames.push(Frame::Message(Bytes::copy_from_slice(&bytes)));
            decoder.recycle(bytes);
        }
    }
}

/// What the scanner says of a line in pieces, and of one that is a message.
fn lines_and_scanner_agree_with_the_envelope(stream: &[u8], cut: usize) {
    for line in stream.split(|b| *b == b'\n').filter(|line| line.len() < 50_000) {
        let mut whole = Scanner::new();
        whole.feed(line);
        let whole = whole.finish();
        let mut pieces = Scanner::new();
        for piece in line.chunks(cut % 17 + 1) {
            pieces.feed(piece);
            assert!(pieces.retained_bytes() <= 2 * jsonrpc::MAX_ID_BYTES + 2);
        }
        assert_eq!(pieces.finish(), whole, "the scanner depends on the cuts");
        match jsonrpc::parse(Bytes::copy_from_slice(line), MAX_DEPTH) {
            Ok(message) => assert_eq!(whole, (message.id().cloned(), message.method().is_some())),
            Err(fault) if fault.id.is_some() && whole.0.is_some() => assert_eq!(whole.0, fault.id),
            Err(_) => {}
        }
    }
}

//! Event streams: what a server sends event by event.
//!
//! Source: HTML Living Standard, section 9.2 "Server-sent events".

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

use super::{Frame, Scanner};

/// A longer kind of event is none that anybody waits for.
const MAX_NAME_BYTES: usize = 64;
/// A longer id cannot be sent back in a field.
const MAX_ID_BYTES: usize = 4096;
/// Up to this length a copy is cheaper than to keep what a read brought.
const SMALL_BYTES: usize = 16 * 1024;
/// Lets go of a queue that was long once.
const KEPT_ITEMS: usize = 64;

/// What a stream brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// An event whose data is not blank.
    Event {
        /// Its kind; `None`: none was named, which is `message`. One that is too long is cut, and so is unknown.
        name: Option<Box<str>>,
        /// Its data, lines joined by LF; or that it was too long, with what the scanner found in it.
        data: Frame,
    },
    /// The id to go on behind, if the stream is to be resumed; empty: there is none any more. Comes before the event
    /// it stands in, and also without one.
    LastId(Box<str>),
    /// How many milliseconds to wait before the stream is opened again.
    Retry(u64),
}

/// Cuts a byte stream into events, with a bound. The items do not depend on how the stream was cut.
///
/// An event that the stream ends in is none. Data that lies in one piece and is most of it is a view of that piece, any
/// other a copy: nothing keeps more than twice its length alive. Comments and unknown fields cost no memory.
#[derive(Debug)]
pub struct SseDecoder {
    max_data_bytes: usize,
    /// How many bytes of a byte order mark were seen; above 3: the stream has begun.
    mark: u8,
    /// The last line ended in CR, so that an LF now is a part of that end.
    after_cr: bool,
    place: Place,
    name: Vec<u8>,
    data: Data,
    id: Option<Vec<u8>>,
    /// The time to wait, being read: `None`: something else than digits.
    retry: Option<Option<u64>>,
    /// The name of a field, or an id, being read.
    value: Vec<u8>,
    items: VecDeque<SseItem>,
}

/// Where in a line the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a field's name, so many bytes of it seen.
    Name {
        len: u8,
    },
    /// Behind the colon, where one blank is passed over.
    Colon(Field),
    Value(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Event,
    Data,
    Id,
    Retry,
    /// A comment or an unknown one.
    Other,
}

/// The data of an event so far. Behind each line but the last there is an LF.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line, which lay in one piece of so many bytes.
    View(Bytes, usize),
    Owned(Vec<u8>),
    /// Too long.
    Skipped(Box<Scanner>, u64),
}

const FIELDS: [(&[u8], Field); 4] =
    [(b"data", Field::Data), (b"event", Field::Event), (b"id", Field::Id), (b"retry", Field::Retry)];
/// The longest name of a field that means something.
const LONGEST: usize = 5;

impl SseDecoder {
    /// A decoder in front of a stream. `max_data_bytes` bounds the data of one event; what is longer is skipped in
    /// constant memory.
    #[must_use]
    pub const fn new(max_data_bytes: usize) -> Self {
        Self {
            max_data_bytes,
            mark: 0,
            after_cr: false,
            place: Place::Name { len: 0 },
            name: Vec::new(),
            data: Data::None,
            id: None,
            retry: None,
            value: Vec::new(),
            items: VecDeque::new(),
        }
    }

    /// Takes the next piece of the stream.
    pub fn feed(&mut self, piece: &Bytes) {
        self.feed_some(piece, 0, usize::MAX);
    }

    /// Takes the piece from `at` on until so many items wait, and gives where it stopped: few bytes may bring an item, and
    /// items are many times as long.
    pub(crate) fn feed_some(&mut self, piece: &Bytes, mut at: usize, max_items: usize) -> usize {
        while self.items.len() < max_items
            && let Some(&byte) = piece.get(at)
        {
            if self.mark < 3 {
                const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
                if MARK.get(usize::from(self.mark)) == Some(&byte) {
                    self.mark += 1;
                    at += 1;
                    continue;
                }
                // What looked like one was the beginning of a name that nobody knows.
                if mem::replace(&mut self.mark, 3) > 0 {
                    self.place = Place::Value(Field::Other);
                }
            }
            if mem::take(&mut self.after_cr) && byte == b'\n' {
                at += 1;
                continue;
            }
            let end = piece.get(at..).and_then(|rest| memchr::memchr2(b'\r', b'\n', rest));
            let stop = end.map_or(piece.len(), |end| at + end);
            self.part_of_line(piece, at, stop);
            at = stop;
            if end.is_some() {
                self.after_cr = piece.get(at) == Some(&b'\r');
                self.end_of_line();
                at += 1;
            }
        }
        at
    }

    /// Bytes of one line, without its end.
    fn part_of_line(&mut self, piece: &Bytes, mut at: usize, stop: usize) {
        while at < stop {
            match self.place {
                Place::Name { len } => {
                    let rest = piece.get(at..stop).unwrap_or_default();
                    match memchr::memchr(b':', rest) {
                        Some(colon) => {
                            self.keep_name(rest.get(..colon).unwrap_or_default());
                            let field = self.field();
                            self.begin(field);
                            self.place = Place::Colon(field);
                            at += colon + 1;
                        }
                        None => {
                            self.keep_name(rest);
                            let seen = usize::from(len).saturating_add(rest.len()).min(usize::from(u8::MAX));
                            self.place = Place::Name { len: u8::try_from(seen).unwrap_or(u8::MAX) };
                            return;
                        }
                    }
                }
                Place::Colon(field) => {
                    if piece.get(at) == Some(&b' ') {
                        at += 1;
                    }
                    self.place = Place::Value(field);
                }
                Place::Value(field) => {
                    self.part_of_value(field, piece, at, stop);
                    return;
                }
            }
        }
    }

    /// A name is kept as far as it could still be one that is known.
    fn keep_name(&mut self, part: &[u8]) {
        let room = (LONGEST + 1).saturating_sub(self.value.len());
        self.value.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
    }

    /// Which field the name is that was kept.
    fn field(&mut self) -> Field {
        let found =
            FIELDS.iter().find(|(name, _)| *name == self.value).map_or(Field::Other, |(_, field)| *field);
        self.value.clear();
        found
    }

    /// The value of a field begins.
    fn begin(&mut self, field: Field) {
        match field {
            Field::Data => self.next_line(),
            Field::Event => self.name.clear(),
            Field::Retry => self.retry = Some(None),
            Field::Id | Field::Other => {}
        }
    }

    /// A line of data begins: an LF joins it to the one before.
    fn next_line(&mut self) {
        match mem::take(&mut self.data) {
            Data::None => self.data = Data::View(Bytes::new(), 0),
            Data::View(line, _) => {
                let mut lines = Vec::with_capacity(2 * line.len() + 64);
                lines.extend_from_slice(&line);
                self.data = Data::Owned(lines);
                self.append(b"\n");
            }
            owned @ (Data::Owned(_) | Data::Skipped(..)) => {
                self.data = owned;
                self.append(b"\n");
            }
        }
    }

    fn part_of_value(&mut self, field: Field, piece: &Bytes, at: usize, stop: usize) {
        let part = piece.get(at..stop).unwrap_or_default();
        let bounded = |to: &mut Vec<u8>, most: usize| {
            let room = most.saturating_sub(to.len());
            to.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
        };
        match field {
            Field::Data => match &mut self.data {
                // The line may end in this piece: then it is not copied.
                Data::View(line, of) if line.is_empty() && part.len() <= self.max_data_bytes => {
                    *line = piece.slice(at..stop);
                    *of = piece.len();
                }
                Data::None | Data::View(..) | Data::Owned(_) | Data::Skipped(..) => self.append(part),
            },
            Field::Event => bounded(&mut self.name, MAX_NAME_BYTES),
            Field::Id => bounded(&mut self.value, MAX_ID_BYTES + 1),
            Field::Retry => {
                part.iter().for_each(|byte| self.retry = self.retry.and_then(|sum| next(sum, *byte)))
            }
            Field::Other => {}
        }
    }

    /// Adds to the data, unless it gets too long by that.
    fn append(&mut self, part: &[u8]) {
        match &mut self.data {
            Data::None => {}
            Data::View(line, _) => {
                let mut owned = Vec::with_capacity((line.len() + part.len()).max(64));
                owned.extend_from_slice(line);
                self.data = Data::Owned(owned);
                self.append(part);
            }
            Data::Owned(lines) if lines.len().saturating_add(part.len()) <= self.max_data_bytes => {
                lines.extend_from_slice(part);
            }
            Data::Owned(lines) => {
                let mut scanner = Box::new(Scanner::new());
                scanner.feed(lines);
                scanner.feed(part);
                let len = (lines.len() as u64).saturating_add(part.len() as u64);
                self.data = Data::Skipped(scanner, len);
            }
            Data::Skipped(scanner, len) => {
                scanner.feed(part);
                *len = len.saturating_add(part.len() as u64);
            }
        }
    }

    fn end_of_line(&mut self) {
        match mem::replace(&mut self.place, Place::Name { len: 0 }) {
            Place::Name { len: 0 } => self.dispatch(),
            // A name alone is a field with an empty value.
            Place::Name { .. } => {
                let field = self.field();
                self.begin(field);
                self.end_of_value(field);
            }
            Place::Colon(field) | Place::Value(field) => self.end_of_value(field),
        }
    }

    fn end_of_value(&mut self, field: Field) {
        match field {
            Field::Id => {
                let id = mem::take(&mut self.value);
                // One that holds a NUL is ignored; so is one that could not be sent back.
                if id.len() <= MAX_ID_BYTES && !id.contains(&0) {
                    self.id = Some(id);
                }
            }
            Field::Retry => {
                if let Some(Some(millis)) = self.retry {
                    self.items.push_back(SseItem::Retry(millis));
                }
            }
            Field::Data => self.settle_line(),
            Field::Event | Field::Other => {}
        }
    }

    /// A line of data is over. A view that is a small part of its piece must not keep the piece.
    fn settle_line(&mut self) {
        if let Data::View(line, of) = &mut self.data
            && (line.len() <= SMALL_BYTES || line.len() < *of / 2)
        {
            *line = Bytes::copy_from_slice(line);
            *of = 0;
        }
    }

    /// A blank line: the event is whole.
    fn dispatch(&mut self) {
        if let Some(id) = self.id.take() {
            self.items.push_back(SseItem::LastId(text(&id)));
        }
        let name = mem::take(&mut self.name);
        let data = match mem::take(&mut self.data) {
            Data::None => return,
            Data::View(line, _) => Frame::Message(line),
            Data::Owned(mut lines) => {
                if lines.capacity() / 2 > lines.len() {
                    lines.shrink_to_fit();
                }
                Frame::Message(lines.into())
            }
            Data::Skipped(scanner, len) => {
                let (id, has_method) = scanner.finish();
                Frame::TooLong { id, has_method, len }
            }
        };
        if let Frame::Message(data) = &data
            && data.iter().all(u8::is_ascii_whitespace)
        {
            return;
        }
        let name = (!name.is_empty()).then(|| text(&name));
        self.items.push_back(SseItem::Event { name, data });
    }

    /// The next item, oldest first.
    pub fn poll(&mut self) -> Option<SseItem> {
        let item = self.items.pop_front();
        if self.items.is_empty() && self.items.capacity() > KEPT_ITEMS {
            self.items = VecDeque::new();
        }
        item
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let data = match &self.data {
            Data::None => 0,
            Data::View(line, of) => line.len().max(*of),
            Data::Owned(lines) => lines.capacity(),
            Data::Skipped(scanner, _) => size_of::<Scanner>() + scanner.retained_bytes(),
        };
        let waiting = self.items.iter().map(|item| match item {
            SseItem::Event { name, data } => {
                name.as_ref().map_or(0, |name| name.len())
                    + match data {
                        Frame::Message(data) => data.len(),
                        Frame::TooLong { .. } => 0,
                    }
            }
            SseItem::LastId(id) => id.len(),
            SseItem::Retry(_) => 0,
        });
        data + self.name.capacity()
            + self.value.capacity()
            + self.id.as_ref().map_or(0, Vec::capacity)
            + self.items.capacity() * size_of::<SseItem>()
            + waiting.sum::<usize>()
    }
}

/// A number with one more digit. `None`: that is none.
fn next(number: Option<u64>, byte: u8) -> Option<Option<u64>> {
    let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
    Some(Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit)))
}

fn text(bytes: &[u8]) -> Box<str> {
    alloc::string::String::from_utf8_lossy(bytes).into()
}

/// Writes one event: `name` is left out where it is `message`. `data` may end in LF, which goes; each of its lines gets
/// a line of its own. Line ends in `name` and `id` go: they would begin another field.
pub fn write_event(out: &mut Vec<u8>, name: Option<&str>, id: Option<&str>, data: &[u8]) {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    out.reserve(data.len() + 64);
    let mut field = |field: &[u8], value: &str| {
        out.extend_from_slice(field);
        out.extend(value.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
        out.push(b'\n');
    };
    if let Some(name) = name.filter(|name| *name != "message") {
        field(b"event: ", name);
    }
    if let Some(id) = id {
        field(b"id: ", id);
    }
    let mut rest = data;
    loop {
        let end = memchr::memchr2(b'\r', b'\n', rest);
        let (line, more) = rest.split_at(end.unwrap_or(rest.len()));
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
        if end.is_none() {
            break;
        }
        rest = more.strip_prefix(b"\r\n").or_else(|| more.get(1..)).unwrap_or_default();
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests;

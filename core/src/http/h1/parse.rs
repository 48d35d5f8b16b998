//! Heads, as they are read: the end found first, strict checks, then `httparse`.

use core::mem::MaybeUninit;

use super::body::Incoming;
use super::chunks::Chunks;
use super::{Fault, Limits};
use crate::http::fields::{Fields, is_control, is_token, trimmed};
use crate::http::h1::target;
use crate::http::head::{RequestHead, ResponseHead, Verb};

/// The most fields that are ever read of one head.
pub(super) const MAX_FIELDS: usize = 256;

/// What a head is refused for, and the status that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) fault: Fault,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let status = match fault {
            Fault::HeadTooLong | Fault::TooManyFields => 431,
            Fault::Version => 505,
            Fault::Slow => 408,
            Fault::Head(_) | Fault::Framing(_) | Fault::Truncated | Fault::Unasked => 400,
        };
        Self { status, fault }
    }
}

/// The search for the end of a head: no byte is looked at twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadScan {
    /// Up to where no line ends that is not known.
    searched: usize,
    /// Where the line begins that is not complete yet.
    line: usize,
}

impl HeadScan {
    /// The length of the head at the start of `unread`, its empty line included, once all of it is there.
    pub(super) fn find(&mut self, unread: &[u8], limits: &Limits) -> Result<Option<usize>, Fault> {
        let window = unread.get(..limits.max_head_bytes).unwrap_or(unread);
        if self.searched == 0 && window.first().is_some_and(|first| !is_token(*first)) {
            return Err(Fault::Head("it is no HTTP"));
        }
        while let Some(found) = memchr::memchr2(b'\r', b'\n', window.get(self.searched..).unwrap_or_default())
        {
            let at = self.searched + found;
            if window.get(at) == Some(&b'\n') {
                return Err(Fault::Head("a line ends with LF alone"));
            }
            match window.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => return Err(Fault::Head("a CR stands alone")),
                None => {
                    self.searched = at;
                    return Self::more(unread, limits);
                }
            }
            if at == self.line {
                return Ok(Some(at + 2));
            }
            if matches!(window.get(self.line), Some(b' ' | b'\t')) {
                return Err(Fault::Head("a line is folded"));
            }
            self.line = at + 2;
            self.searched = at + 2;
        }
        self.searched = window.len();
        Self::more(unread, limits)
    }

    const fn more(unread: &[u8], limits: &Limits) -> Result<Option<usize>, Fault> {
        if unread.len() >= limits.max_head_bytes { Err(Fault::HeadTooLong) } else { Ok(None) }
    }
}

/// A request, as its head describes it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) head: RequestHead,
    pub(super) body: Incoming,
    /// It speaks HTTP/1.0.
    pub(super) old: bool,
    /// The client means to go on with the connection.
    pub(super) keep: bool,
    /// The client waits for 100 (Continue) before it sends the body.
    pub(super) expects: bool,
}

/// An answer, as its head describes it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: ResponseHead,
    pub(super) body: Incoming,
    /// The server means to go on with the connection.
    pub(super) keep: bool,
}

/// What was asked for, as far as the framing of the answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Head,
    Connect,
    Other,
}

impl Asked {
    pub(super) fn by(verb: &Verb) -> Self {
        match verb.as_str() {
            "HEAD" => Self::Head,
            "CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

/// Reads the head of a request: all of it, and nothing behind it.
pub(super) fn request(head: &[u8], limits: &Limits) -> Result<Request, Refusal> {
    check_bytes(head)?;
    let mut room = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let room = room.get_mut(..limits.max_fields.min(MAX_FIELDS)).unwrap_or_default();
    let mut read = httparse::Request::new(&mut []);
    read.parse_with_uninit_headers(head, room).map_err(|error| fault(error, head))?;
    let (Some(verb), Some(path), Some(minor)) = (read.method, read.path, read.version) else {
        return Err(Fault::Head("the first line is cut").into());
    };
    let found = Found::read(read.headers, head)?;
    let old = minor == 0;
    let mut hosts = found.fields.all("host");
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(Fault::Head("there are two hosts").into());
    }
    drop(hosts);
    let target = target::check(verb, path, host, old)?;
    let verb = Verb::named(verb);
    if Asked::by(&verb) == Asked::Connect {
        return Err(Refusal { status: 501, fault: Fault::Head("it asks for a tunnel") });
    }
    let body = match (found.chunked, found.length) {
        (true, _) if old => return Err(Fault::Framing("chunks in HTTP/1.0").into()),
        (true, _) => Incoming::Chunks(Chunks::new(limits)),
        (false, length) => Incoming::Length(length.unwrap_or(0)),
    };
    Ok(Request {
        body,
        old,
        keep: !found.close && (!old || found.keep_alive),
        expects: found.expects && !old,
        head: RequestHead { verb, target: target.into(), fields: found.fields },
    })
}

/// Reads the head of an answer: all of it, and nothing behind it.
pub(super) fn answer(head: &[u8], asked: Asked, limits: &Limits) -> Result<Answer, Fault> {
    check_bytes(head)?;
    let mut room = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let room = room.get_mut(..limits.max_fields.min(MAX_FIELDS)).unwrap_or_default();
    let mut read = httparse::Response::new(&mut []);
    httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut read, head, room)
        .map_err(|error| fault(error, head))?;
    let (Some(status), Some(minor)) = (read.code, read.version) else {
        return Err(Fault::Head("the first line is cut"));
    };
    if status < 100 {
        return Err(Fault::Head("the status is below 100"));
    }
    let found = Found::read(read.headers, head).map_err(|refusal| refusal.fault)?;
    let old = minor == 0;
    let bodiless = asked == Asked::Head || matches!(status, 100..=199 | 204 | 304);
    let body = match (found.chunked, found.length) {
        _ if bodiless => Incoming::Length(0),
        (true, _) if old => return Err(Fault::Framing("chunks in HTTP/1.0")),
        (true, _) => Incoming::Chunks(Chunks::new(limits)),
        (false, Some(length)) => Incoming::Length(length),
        (false, None) => Incoming::ToEnd,
    };
    Ok(Answer {
        keep: !found.close && (!old || found.keep_alive) && !matches!(body, Incoming::ToEnd),
        body,
        head: ResponseHead { status, fields: found.fields },
    })
}

/// What the fields say about the message.
struct Found {
    fields: Fields,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects: bool,
}

impl Found {
    fn read(raw: &[httparse::Header<'_>], head: &[u8]) -> Result<Self, Refusal> {
        let mut found = Self {
            fields: Fields::of(head, raw.len()),
            length: None,
            chunked: false,
            close: false,
            keep_alive: false,
            expects: false,
        };
        for field in raw {
            let value = trimmed(field.value);
            found.note(field.name, value)?;
            found.fields.push_part(head, field.name.as_bytes(), value);
        }
        if found.chunked && found.length.is_some() {
            return Err(Fault::Framing("it has a length and comes in chunks").into());
        }
        Ok(found)
    }

    fn note(&mut self, name: &str, value: &[u8]) -> Result<(), Refusal> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match name.len() {
            14 if is("content-length") => {
                let length = length(value).ok_or(Fault::Framing("the length is no number"))?;
                if self.length.is_some_and(|before| before != length) {
                    return Err(Fault::Framing("there are two lengths").into());
                }
                self.length = Some(length);
            }
            17 if is("transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    let fault = Fault::Framing("its transfer coding is other than chunked");
                    return Err(Refusal { status: 501, fault });
                }
                self.chunked = true;
            }
            10 if is("connection") => {
                for option in value.split(|byte| *byte == b',').map(trimmed) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            6 if is("expect") => self.expects |= value.eq_ignore_ascii_case(b"100-continue"),
            _ => {}
        }
        Ok(())
    }
}

/// A length is digits, and few enough of them.
fn length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(value).ok()?.parse().ok()
}

/// No control character anywhere but tabs and the ends of lines, which were checked before.
fn check_bytes(head: &[u8]) -> Result<(), Fault> {
    let control = |byte: u8| is_control(byte) && byte != b'\r' && byte != b'\n';
    // Without a way out in the middle the compiler looks at many bytes at once.
    if head.iter().fold(false, |found, byte| found | control(*byte)) {
        return Err(Fault::Head("it holds a control character"));
    }
    Ok(())
}

fn fault(error: httparse::Error, head: &[u8]) -> Fault {
    match error {
        httparse::Error::TooManyHeaders => Fault::TooManyFields,
        httparse::Error::HeaderName => Fault::Head("a field's name is no token"),
        httparse::Error::HeaderValue => Fault::Head("a field's value holds a control character"),
        httparse::Error::Status => Fault::Head("the status is malformed"),
        httparse::Error::Version if names_a_version(head) => Fault::Version,
        httparse::Error::NewLine | httparse::Error::Token | httparse::Error::Version => {
            Fault::Head("the first line is malformed")
        }
    }
}

/// Whether the first line names a version of HTTP, at the place for it.
fn names_a_version(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let is_version = |word: &[u8]| {
        matches!(word, [b'H', b'T', b'T', b'P', b'/', major, rest @ ..]
        if major.is_ascii_digit() && matches!(rest, [] | [b'.', b'0'..=b'9']))
    };
    let mut words = line.split(|byte| *byte == b' ');
    is_version(words.next().unwrap_or_default())
        || (words.nth(1).is_some_and(is_version) && words.next().is_none())
}

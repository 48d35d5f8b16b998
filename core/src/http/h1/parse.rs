//! Requests and answers, as their heads describe them.

use super::body::Incoming;
use super::chunks::Chunks;
use super::scan::HeadScan;
use super::target;
use super::{Fault, Limits};
use crate::http::head::{RequestHead, ResponseHead, Verb};
use crate::octets::is_token;

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

/// Goes on with the head of a request at the start of `unread`. The request and the length of its head, once all of that
/// is there.
pub(super) fn request(
    scan: &mut HeadScan,
    unread: &[u8],
    limits: &Limits,
) -> Result<Option<(Request, usize)>, Refusal> {
    let Some(head) = scan.read(unread, limits)? else { return Ok(None) };
    let (line, fields) = scan.take(head);
    let (verb, target, minor) = request_line(line)?;
    let old = minor == 0;
    let mut hosts = fields.all("host");
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(Fault::Head("there are two hosts").into());
    }
    drop(hosts);
    let target = target::check(verb, target, host, old)?.into();
    let verb = Verb::named(verb);
    if Asked::by(&verb) == Asked::Connect {
        return Err(Refusal { status: 501, fault: Fault::Head("it asks for a tunnel") });
    }
    let body = match (scan.chunked, scan.length) {
        (true, _) if old => return Err(Fault::Framing("chunks in HTTP/1.0").into()),
        (true, _) => Incoming::Chunks(Chunks::new(limits)),
        (false, length) => Incoming::Length(length.unwrap_or(0)),
    };
    let request = Request {
        body,
        old,
        keep: !scan.close && (!old || scan.keep_alive),
        expects: scan.expects && !old,
        head: RequestHead { verb, target, fields },
    };
    Ok(Some((request, head.len())))
}

/// Goes on with the head of an answer, as [`request`].
pub(super) fn answer(
    scan: &mut HeadScan,
    unread: &[u8],
    asked: Asked,
    limits: &Limits,
) -> Result<Option<(Answer, usize)>, Fault> {
    let read = scan.read(unread, limits).map_err(|refusal| refusal.fault)?;
    let Some(head) = read else { return Ok(None) };
    let (line, fields) = scan.take(head);
    let (status, minor) = status_line(line)?;
    let old = minor == 0;
    let bodiless = asked == Asked::Head || matches!(status, 100..=199 | 204 | 304);
    let body = match (scan.chunked, scan.length) {
        _ if bodiless => Incoming::Length(0),
        (true, _) if old => return Err(Fault::Framing("chunks in HTTP/1.0")),
        (true, _) => Incoming::Chunks(Chunks::new(limits)),
        (false, Some(length)) => Incoming::Length(length),
        (false, None) => Incoming::ToEnd,
    };
    let answer = Answer {
        keep: !scan.close && (!old || scan.keep_alive) && !matches!(body, Incoming::ToEnd),
        body,
        head: ResponseHead { status, fields },
    };
    Ok(Some((answer, head.len())))
}

const FIRST_LINE: Fault = Fault::Head("the first line is malformed");

/// The method, the target and the minor version: three words, one blank between two.
///
/// Source: RFC 9112, section 3.
fn request_line(line: &[u8]) -> Result<(&str, &str, u8), Fault> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut word = || words.next().unwrap_or_default();
    let (verb, target, version) = (word(), word(), word());
    if verb.is_empty() || !verb.iter().all(|byte| is_token(*byte)) || target.is_empty() {
        return Err(FIRST_LINE);
    }
    let minor = minor_version(version)?;
    let text = |word| core::str::from_utf8(word).map_err(|_| FIRST_LINE);
    Ok((text(verb)?, text(target)?, minor))
}

/// The status and the minor version. The words behind the status mean nothing.
///
/// Source: RFC 9112, section 4.
fn status_line(line: &[u8]) -> Result<(u16, u8), Fault> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut word = || words.next().unwrap_or_default();
    let (version, status) = (word(), word());
    let minor = minor_version(version)?;
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let status = match *status {
        [a, b, c] => digit(a).zip(digit(b)).zip(digit(c)).map(|((a, b), c)| a * 100 + b * 10 + c),
        _ => None,
    };
    match status {
        None => Err(Fault::Head("the status is malformed")),
        Some(..100) => Err(Fault::Head("the status is below 100")),
        Some(status) => Ok((status, minor)),
    }
}

/// The minor version of HTTP/1, 0 or 1.
fn minor_version(word: &[u8]) -> Result<u8, Fault> {
    match word {
        b"HTTP/1.1" => Ok(1),
        b"HTTP/1.0" => Ok(0),
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9']
        | [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => Err(Fault::Version),
        _ => Err(FIRST_LINE),
    }
}

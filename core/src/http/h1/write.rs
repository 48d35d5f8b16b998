//! Heads and chunks, as they are sent.

use alloc::format;
use alloc::vec::Vec;

use bytes::Bytes;

use super::parse::Refusal;
use crate::http::fields::{Fields, same_name};
use crate::http::head::RequestHead;
use crate::outbox::{WHOLE, Waiting};

/// What a message says of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Nothing: there is none, or it goes on to the end of the connection.
    Nothing,
    /// Its length.
    Length(usize),
    /// It comes in chunks.
    Chunked,
}

/// What a message says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connection {
    /// Nothing: it goes on.
    Silent,
    /// It goes on, which must be said.
    KeepAlive,
    /// It ends.
    Close,
}

pub(super) fn request(block: &mut Vec<u8>, head: &RequestHead, framing: Framing) {
    put(block, &[head.verb.as_str().as_bytes(), b" ", head.target.as_bytes(), b" HTTP/1.1\r\n"]);
    fields(block, &head.fields, framing, Connection::Silent);
}

pub(super) fn answer(
    block: &mut Vec<u8>,
    status: u16,
    head: &Fields,
    framing: Framing,
    connection: Connection,
) {
    put(block, &[b"HTTP/1.1 "]);
    number(block, u64::from(status), 10);
    put(block, &[b" ", reason(status).as_bytes(), b"\r\n"]);
    fields(block, head, framing, connection);
}

/// Queues the answer to what could not be understood, and says that the connection ends.
pub(super) fn refusal(block: &mut Vec<u8>, refusal: Refusal) {
    // The texts are ours: nothing of the request is repeated.
    let text = format!("The request was not understood: {}.\n", refusal.fault);
    let mut head = Fields::new();
    head.add("content-type", "text/plain; charset=utf-8");
    answer(block, refusal.status, &head, Framing::Length(text.len()), Connection::Close);
    put(block, &[text.as_bytes()]);
}

/// Queues 100 (Continue).
pub(super) fn go_on(block: &mut Vec<u8>) {
    put(block, &[b"HTTP/1.1 100 Continue\r\n\r\n"]);
}

/// What frames a message and its connection is written here; it is left out where it stands among `head`.
fn fields(block: &mut Vec<u8>, head: &Fields, framing: Framing, connection: Connection) {
    for (name, value) in head.raw() {
        if !is_framing(name) {
            put(block, &[name, b": ", value, b"\r\n"]);
        }
    }
    match framing {
        Framing::Nothing => {}
        Framing::Length(len) => {
            put(block, &[b"Content-Length: "]);
            number(block, len as u64, 10);
            put(block, &[b"\r\n"]);
        }
        Framing::Chunked => put(block, &[b"Transfer-Encoding: chunked\r\n"]),
    }
    match connection {
        Connection::Silent => {}
        Connection::KeepAlive => put(block, &[b"Connection: keep-alive\r\n"]),
        Connection::Close => put(block, &[b"Connection: close\r\n"]),
    }
    put(block, &[b"\r\n"]);
}

fn is_framing(name: &[u8]) -> bool {
    let is = |other: &[u8]| same_name(name, other);
    match name.len() {
        6 => is(b"expect"),
        10 => is(b"connection") || is(b"keep-alive"),
        14 => is(b"content-length"),
        17 => is(b"transfer-encoding"),
        _ => false,
    }
}

/// Queues `piece`, not empty, as one chunk.
pub(super) fn chunk(out: &mut Waiting, piece: Bytes) {
    let size = |block: &mut Vec<u8>| {
        number(block, piece.len() as u64, 16);
        block.extend_from_slice(b"\r\n");
    };
    if piece.len() < WHOLE {
        out.append(|block| {
            size(block);
            put(block, &[&piece, b"\r\n"]);
        });
    } else {
        out.append(size);
        out.push(piece);
        out.append(|block| block.extend_from_slice(b"\r\n"));
    }
}

/// Queues the end of a body in chunks.
pub(super) fn last_chunk(out: &mut Waiting) {
    out.append(|block| block.extend_from_slice(b"0\r\n\r\n"));
}

fn put(block: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        block.extend_from_slice(part);
    }
}

fn number(block: &mut Vec<u8>, mut value: u64, base: u64) {
    // 2^64 has twenty decimal digits.
    let mut digits = [0; 20];
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        *digit = u8::try_from(value % base)
            .map_or(b'0', |rest| if rest < 10 { b'0' + rest } else { b'a' + rest - 10 });
        used += 1;
        value /= base;
        if value == 0 {
            break;
        }
    }
    block.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

/// The words behind a status. Nobody reads them but people.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

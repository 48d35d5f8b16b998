//! Messages out, straight into a `Vec<u8>`.
//!
//! What is written is one line: no raw LF or CR leaves here, whatever goes in. Each function appends to what is
//! there already and ends without the LF, which [`finish_line`] adds.

use super::writer::{ObjectWriter, ParamsWriter};
use super::{JsonRef, RequestId, words};
use alloc::vec::Vec;

/// Appends a request: `{"jsonrpc":"2.0","id":…,"method":…,"params":…}`.
///
/// `params` writes the parameters, or nothing if there are none.
///
/// Source: JSON-RPC 2.0 §4.
#[inline]
pub fn write_request(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: impl FnOnce(&mut ParamsWriter<'_>),
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write_json(out);
    out.extend_from_slice(br#","method":"#);
    write_string(out, method);
    params(&mut ParamsWriter::new(out));
    out.push(b'}');
}

/// Appends a notification: as [`write_request`], without an id.
///
/// Source: JSON-RPC 2.0 §4.1.
#[inline]
pub fn write_notification(out: &mut Vec<u8>, method: &str, params: impl FnOnce(&mut ParamsWriter<'_>)) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    write_string(out, method);
    params(&mut ParamsWriter::new(out));
    out.push(b'}');
}

/// Appends a result whose members `result` writes.
///
/// Source: JSON-RPC 2.0 §5.
#[inline]
pub fn write_result(out: &mut Vec<u8>, id: &RequestId, result: impl FnOnce(&mut ObjectWriter<'_>)) {
    result_head(out, id);
    ObjectWriter::object_into(out, result);
    out.push(b'}');
}

/// Appends a result that is ready.
pub fn write_raw_result(out: &mut Vec<u8>, id: &RequestId, result: JsonRef<'_>) {
    result_head(out, id);
    write_raw(out, result);
    out.push(b'}');
}

#[inline]
fn result_head(out: &mut Vec<u8>, id: &RequestId) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write_json(out);
    out.extend_from_slice(br#","result":"#);
}

/// Appends an error. Without an `id` the member is left out, which is for requests whose id could not be read.
///
/// Source: JSON-RPC 2.0 §5.1; MCP basic, "Responses".
pub fn write_error(
    out: &mut Vec<u8>,
    id: Option<&RequestId>,
    code: i64,
    message: &str,
    data: Option<JsonRef<'_>>,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        id.write_json(out);
    }
    out.extend_from_slice(br#","error":"#);
    ObjectWriter::object_into(out, |error| {
        error.i64("code", code).string("message", message);
        if let Some(data) = data {
            error.raw("data", data);
        }
    });
    out.push(b'}');
}

/// Ends a line.
#[inline]
pub fn finish_line(out: &mut Vec<u8>) {
    out.push(b'\n');
}

/// Appends `{"_meta":{…},…}`: the object that `write_meta` fills, then the members of `params`.
///
/// The caller has made sure that `params` is an object without a `_meta` of its own; anything that is no object
/// counts as empty. `params` is copied as text, not walked.
pub fn splice_meta(
    out: &mut Vec<u8>,
    params: Option<JsonRef<'_>>,
    write_meta: impl FnOnce(&mut ObjectWriter<'_>),
) {
    out.extend_from_slice(br#"{"_meta":"#);
    ObjectWriter::object_into(out, write_meta);
    if let Some([b'{', members @ .., b'}']) = params.map(JsonRef::as_bytes) {
        let members = members.trim_ascii();
        if !members.is_empty() {
            out.push(b',');
            copy_without_breaks(out, members);
        }
    }
    out.push(b'}');
}

/// Appends a value as it is. Raw line breaks, which JSON has as white space only, are left out.
#[inline]
pub fn write_raw(out: &mut Vec<u8>, value: JsonRef<'_>) {
    copy_without_breaks(out, value.as_bytes());
}

pub(crate) fn copy_without_breaks(out: &mut Vec<u8>, mut text: &[u8]) {
    out.reserve(text.len());
    while let Some(at) = memchr::memchr2(b'\n', b'\r', text) {
        let (front, back) = text.split_at(at);
        out.extend_from_slice(front);
        text = back.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(text);
}

/// Appends a string with its quotes, escaping what must be: quote, backslash and controls.
///
/// About 0.7 instructions a byte between escapes.
///
/// Source: RFC 8259 §7.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    // Each piece is copied before it is looked at: pieces of a fixed length are copied without a call, and what stands
    // behind an escape is taken back.
    while let Some((piece, later)) = rest.split_first_chunk::<32>() {
        out.extend_from_slice(piece);
        rest = match words::unfit_in_block(piece) {
            Some(at) => escape_back(out, rest, piece.len(), at),
            None => later,
        };
    }
    while let Some((piece, later)) = rest.split_first_chunk::<8>() {
        out.extend_from_slice(piece);
        rest = match words::unfit_in_word(*piece) {
            Some(at) => escape_back(out, rest, piece.len(), at),
            None => later,
        };
    }
    for byte in rest {
        if words::is_unfit(*byte) {
            write_escape(out, *byte);
        } else {
            out.push(*byte);
        }
    }
    out.push(b'"');
}

/// Of the last piece of `len` bytes, with which `rest` begins, the byte at `at` has to be escaped: takes what follows
/// it back, and gives what is still to be written.
#[inline]
fn escape_back<'a>(out: &mut Vec<u8>, rest: &'a [u8], len: usize, at: usize) -> &'a [u8] {
    out.truncate(out.len() - (len - at));
    match rest.get(at..).and_then(<[u8]>::split_first) {
        Some((byte, later)) => {
            write_escape(out, *byte);
            later
        }
        None => &[],
    }
}

#[inline]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        _ => write_rare_escape(out, byte),
    }
}

#[inline(never)]
fn write_rare_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let hex = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' - 10 + digit };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends an integer.
pub(super) fn write_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    write_u64(out, value.unsigned_abs());
}

/// Appends an integer.
#[inline]
pub(crate) fn write_u64(out: &mut Vec<u8>, value: u64) {
    // Most are small, and need no loop.
    let digit = |value: u64| b'0' + (value % 10) as u8;
    match value {
        0..10 => out.push(digit(value)),
        10..100 => out.extend_from_slice(&[digit(value / 10), digit(value)]),
        100..1000 => out.extend_from_slice(&[digit(value / 100), digit(value / 10), digit(value)]),
        1000.. => write_long_u64(out, value),
    }
}

#[inline(never)]
fn write_long_u64(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

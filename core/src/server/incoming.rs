//! From a frame to what a session looks at, in one pass.

use bytes::Bytes;

use crate::jsonrpc::{
    Fault, Message, MethodText, PlainRequest, RawJson, RequestId, parse_noting, plain_request,
};
use crate::mcp::Method;
use crate::server::dispatch::cut;
use crate::server::params::Places;

/// A frame that was read.
#[derive(Debug)]
pub(crate) enum Read {
    /// A request.
    Request {
        id: RequestId,
        method: Method,
        /// An object; empty if there was none.
        params: RawJson,
    },
    /// Anything else that is a message.
    Message(Message),
    /// No message.
    Fault(Fault),
}

/// Reads a frame that is no batch; where things stand in its parameters is noted on the way.
#[inline]
pub(crate) fn read(frame: Bytes, max_depth: u16, places: &mut Places) -> Read {
    if let Some(PlainRequest { id, method, params }) = plain_request(&frame, max_depth, places)
        && let Some(method) = Method::known(method)
    {
        return Read::Request { id: id.into(), method, params: params.raw(frame) };
    }
    *places = Places::default();
    match parse_noting(frame, max_depth, places) {
        Ok(Message::Request { id, method, params }) => {
            Read::Request { id, method: named(&method), params: params.unwrap_or_else(RawJson::empty_object) }
        }
        Ok(message) => Read::Message(message),
        Err(fault) => Read::Fault(fault),
    }
}

/// The first byte behind a byte order mark and white space.
pub(crate) fn first_byte(frame: &Bytes) -> Option<u8> {
    let text = frame.strip_prefix(b"\xef\xbb\xbf").unwrap_or(frame);
    text.iter().find(|byte| !byte.is_ascii_whitespace()).copied()
}

/// The method of that name; no name that is known is as long as what is cut.
pub(super) fn named(method: &MethodText) -> Method {
    Method::known(method.as_bytes()).unwrap_or_else(|| Method::Other(cut(method.as_str()).into()))
}

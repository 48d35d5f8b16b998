//! The messages a client sends, encoded without intermediate values.

use alloc::vec::Vec;
use core::ops::Range;

use bytes::Bytes;

use crate::client::config::{Config, LogLevel, RequestOptions};
use crate::jsonrpc::{
    ErrorObject, ObjectWriter, RawJson, RequestId, copy_without_breaks, finish_line, write_raw, write_string,
    write_u64,
};
use crate::mcp::meta;
use crate::mcp::{Era, Method, Revision};

/// The parameters of a request, without `_meta`.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// None.
    Empty,
    /// The members of this object.
    Object(&'a RawJson),
    /// Those of `tools/call`: the name and, if there are any, the arguments.
    CallTool(&'a str, Option<&'a RawJson>),
}

impl Body<'_> {
    fn len(self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Object(params) => params.len(),
            Self::CallTool(name, arguments) => name.len() + 24 + arguments.map_or(0, RawJson::len),
        }
    }
}

/// The members of `_meta` that every modern request of a session repeats, with a comma after each: written
/// once, then copied.
pub(crate) fn modern_prefix(revision: Revision, config: &Config, options: &RequestOptions) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    modern_meta(&mut object, revision, config, options);
    object.end();
    out.remove(0);
    out.pop();
    out.push(b',');
    out
}

/// How a request begins, up to its id.
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// A request of `method`, ending in LF, and where its parameters stand.
///
/// Written by hand, since it is on the way of every call: all names but those of the application are known to
/// need no escape.
pub(crate) fn request(
    id: u64,
    method: &Method,
    body: Body<'_>,
    meta_prefix: &[u8],
    extra: Option<&RawJson>,
) -> (Bytes, Range<usize>) {
    let extra =
        extra.map(RawJson::as_bytes).and_then(|extra| extra.get(1..extra.len() - 1)).unwrap_or_default();
    let mut out = Vec::with_capacity(160 + meta_prefix.len() + extra.len() + body.len());
    out.extend_from_slice(HEAD);
    write_u64(&mut out, id);
    out.extend_from_slice(br#","method":"#);
    if let Method::Other(name) = method {
        write_string(&mut out, name);
    } else {
        out.push(b'"');
        out.extend_from_slice(method.as_str().as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    out.extend_from_slice(br#"{"_meta":{"#);
    out.extend_from_slice(meta_prefix);
    out.extend_from_slice(br#""progressToken":"#);
    write_u64(&mut out, id);
    members(&mut out, extra);
    out.push(b'}');
    match body {
        Body::Empty => {}
        Body::Object(params) => {
            let params = params.as_bytes();
            members(&mut out, params.get(1..params.len() - 1).unwrap_or_default());
        }
        Body::CallTool(name, arguments) => {
            out.extend_from_slice(br#","name":"#);
            write_string(&mut out, name);
            if let Some(arguments) = arguments {
                out.extend_from_slice(br#","arguments":"#);
                write_raw(&mut out, arguments.view());
            }
        }
    }
    out.push(b'}');
    let end = out.len();
    out.extend_from_slice(b"}\n");
    (Bytes::from(out), start..end)
}

/// A request of ours with another id, and where its parameters stand: the id stands at its beginning and as the
/// progress token. `None`: that is not how the message looks.
pub(crate) fn renumbered(message: &Bytes, params_at: Range<usize>, id: u64) -> Option<(Bytes, Range<usize>)> {
    let digits = |at: usize| -> Option<Range<usize>> {
        let len = message.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (len > 0).then_some(at..at + len)
    };
    let first = digits(HEAD.len()).filter(|_| message.starts_with(HEAD))?;
    let params = RawJson::trusted(message.clone(), params_at.start, params_at.end);
    let meta = params.view().get("_meta")?;
    let token = meta.get(meta::PROGRESS_TOKEN)?.as_bytes();
    // Both lie in the message.
    let at = token.as_ptr() as usize - message.as_ptr() as usize;
    let second = digits(at)?;
    let mut out = Vec::with_capacity(message.len() + 40);
    out.extend_from_slice(HEAD);
    write_u64(&mut out, id);
    let grown = out.len() - first.end;
    out.extend_from_slice(message.get(first.end..second.start)?);
    write_u64(&mut out, id);
    out.extend_from_slice(message.get(second.end..)?);
    let grown_twice = out.len() - message.len();
    Some((Bytes::from(out), params_at.start + grown..params_at.end + grown_twice))
}

/// Appends the members of an object, given as the text between its braces, behind others.
fn members(out: &mut Vec<u8>, text: &[u8]) {
    let text = text.trim_ascii();
    if !text.is_empty() {
        out.push(b',');
        copy_without_breaks(out, text);
    }
}

fn modern_meta(w: &mut ObjectWriter<'_>, revision: Revision, config: &Config, options: &RequestOptions) {
    w.string(meta::PROTOCOL_VERSION, revision.as_str());
    w.object(meta::CLIENT_INFO, |w| {
        options.client.as_ref().unwrap_or(&config.client).write(w);
    });
    w.object(meta::CLIENT_CAPABILITIES, |w| {
        options.capabilities.as_ref().unwrap_or(&config.capabilities).write(w, Era::Modern);
    });
    if let Some(level) = options.log_level.or(config.log_level) {
        w.string(meta::LOG_LEVEL, LogLevel::as_str(level));
    }
}

/// The era probe.
pub(crate) fn discover(id: u64, revision: Revision, config: &Config) -> Bytes {
    message(0, |w| {
        w.u64("id", id);
        w.string("method", Method::ServerDiscover.as_str());
        w.object("params", |w| {
            w.object("_meta", |w| modern_meta(w, revision, config, &RequestOptions::default()));
        });
    })
}

/// The handshake of the older revisions.
pub(crate) fn initialize(id: u64, revision: Revision, config: &Config) -> Bytes {
    message(0, |w| {
        w.u64("id", id);
        w.string("method", Method::Initialize.as_str());
        w.object("params", |w| {
            w.string("protocolVersion", revision.as_str());
            w.object("capabilities", |w| config.capabilities.write(w, Era::Legacy));
            w.object("clientInfo", |w| config.client.write(w));
        });
    })
}

/// A notification.
pub(crate) fn notification(method: &Method, params: Option<&RawJson>) -> Bytes {
    message(params.map_or(0, RawJson::len), |w| {
        w.string("method", method.as_str());
        if let Some(params) = params {
            w.raw("params", params.view());
        }
    })
}

/// `notifications/cancelled` for the request of wire id `id`.
pub(crate) fn cancelled(id: u64, reason: Option<&str>) -> Bytes {
    message(0, |w| {
        w.string("method", Method::Cancelled.as_str());
        w.object("params", |w| {
            w.u64("requestId", id);
            if let Some(reason) = reason {
                w.string("reason", reason);
            }
        });
    })
}

/// Our answer to a request of the server's.
pub(crate) fn answer(id: &RequestId, answer: Result<&RawJson, &ErrorObject>) -> Bytes {
    message(answer.map_or(0, RawJson::len), |w| {
        w.id("id", id);
        match answer {
            Ok(result) => {
                w.raw("result", result.view());
            }
            Err(error) => {
                w.object("error", |w| {
                    w.i64("code", error.code);
                    w.string("message", &error.message);
                    if let Some(data) = &error.data {
                        w.raw("data", data.view());
                    }
                });
            }
        }
    })
}

fn message(body: usize, members: impl FnOnce(&mut ObjectWriter<'_>)) -> Bytes {
    let mut out = Vec::with_capacity(body + 192);
    let mut object = ObjectWriter::begin(&mut out);
    object.string("jsonrpc", "2.0");
    members(&mut object);
    object.end();
    finish_line(&mut out);
    Bytes::from(out)
}

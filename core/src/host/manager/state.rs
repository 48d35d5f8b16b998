//! What is kept and told of a server, within bounds.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use crate::client::{self, Outcome, Peer};
use crate::error::CloseReason;
use crate::host::Mask;
use crate::host::catalog::ServerTools;
use crate::host::link::Status;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::Revision;
use crate::mcp::types::flaw::cut;
use crate::mcp::types::lifecycle::ServerCapabilities;

/// The most bytes of an error that are kept.
pub(in crate::host) const MAX_ERROR_BYTES: usize = 2048;

/// The most bytes of a server's introduction that are kept as they came, and of its instructions in one that is longer.
pub(in crate::host) const MAX_INTRODUCTION_BYTES: usize = 64 * 1024;

/// The most bytes of a name or a version in an introduction that is too long.
const MAX_NAME_BYTES: usize = 256;

/// One server, as it stands. A copy: nothing is done to make it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerState {
    /// Its name.
    pub name: Arc<str>,
    /// How it is reached: `stdio`, `tcp`, `http`.
    pub transport: &'static str,
    /// Its status.
    pub status: Status,
    /// Its tools with what became of each; as they were listed last, also if it is not connected any more. What is
    /// staged is not in it.
    pub tools: Option<Arc<ServerTools>>,
    /// Its last error, masked, on one line of at most 2 KiB: why it is not connected, or why its listing could not be
    /// read.
    pub error: Option<String>,
    /// It is connected, but its tools could not be listed, or not all: what was offered of them stays.
    pub listing_failed: bool,
    /// The revision that is spoken with it, or was last.
    pub revision: Option<Revision>,
    /// Its introduction, if it is or was connected. Of one of more than 64 KiB the raw text is left out, and what is
    /// longer than that in it is cut.
    pub peer: Option<Arc<Peer>>,
    /// What is known of its era, to be given as [`client::Start::Remembered`] the next time it is configured.
    pub verdict: Option<client::Verdict>,
}

/// An error as it is kept: masked, on one line, cut.
pub(super) fn shown(mask: &Mask, text: &str) -> String {
    mask.text_within(&mask.line_within(text, MAX_ERROR_BYTES), MAX_ERROR_BYTES)
}

/// Why a connection ended, with what its server said of it.
pub(super) fn why_closed(reason: &CloseReason) -> String {
    if let CloseReason::NoTransport { streamable, sse } = reason {
        let (streamable, sse) = (why_closed(streamable), why_closed(sse));
        return format!("over streamable HTTP: {streamable}; over HTTP with SSE, the older way: {sse}");
    }
    if let CloseReason::Refused { error, .. } = reason
        && !error.message.is_empty()
    {
        return format!("{reason}: {}", error.message);
    }
    reason.to_string()
}

/// How a request ended that did not end well.
pub(super) fn why_not(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Complete(_) => "its answer is unusable".into(),
        Outcome::InputRequired(_) => "it asked for input first, which a listing has none of".into(),
        Outcome::Error(ErrorObject { code, message, .. }) => format!("error {code}: {message}"),
        Outcome::TimedOut { limit, .. } => format!("no answer within {} ms", limit.as_millis()),
        Outcome::Cancelled => "it was given up".into(),
        Outcome::Lost { .. } => "the connection was lost".into(),
        Outcome::SessionGone { .. } => "the server has forgotten the session".into(),
        Outcome::TooLarge { len, limit } => {
            format!("its answer has {len} bytes, the limit is {limit} (max_message_bytes)")
        }
        Outcome::Invalid(violation) => violation.to_string(),
        Outcome::Refused(refusal) => refusal.to_string(),
        Outcome::Challenged(challenge) => {
            format!("HTTP status {}: it wants other credentials", challenge.status)
        }
    }
}

/// Bytes that a kept introduction holds.
pub(super) fn introduction_bytes(peer: &Peer) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
    let raw = peer.capabilities.raw().map_or(0, RawJson::retained_len) + peer.raw.retained_len();
    let server = &peer.server;
    let names = server.name.capacity() + text(&server.title) + server.version.capacity();
    size_of::<Peer>() + raw + names + text(&peer.instructions)
}

/// An introduction as it is kept: it holds on to no message, and to so many bytes.
pub(super) fn kept(peer: Box<Peer>) -> Arc<Peer> {
    let mut peer = *peer;
    let fits = |raw: &RawJson| raw.len() <= MAX_INTRODUCTION_BYTES;
    let capabilities = peer.capabilities.raw().filter(|raw| fits(raw)).map(RawJson::to_compact);
    peer.capabilities = ServerCapabilities::new(capabilities);
    if fits(&peer.raw) {
        peer.raw = peer.raw.to_compact();
        return Arc::new(peer);
    }
    peer.raw = RawJson::empty_object();
    let short = |text: &str, max| cut(text, max).to_owned();
    peer.instructions = peer.instructions.map(|text| short(&text, MAX_INTRODUCTION_BYTES));
    peer.server.title = peer.server.title.map(|text| short(&text, MAX_NAME_BYTES));
    peer.server.name = short(&peer.server.name, MAX_NAME_BYTES);
    peer.server.version = short(&peer.server.version, MAX_NAME_BYTES);
    Arc::new(peer)
}

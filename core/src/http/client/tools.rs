//! What listings say of arguments that go into the head (2026-07-28): kept for the calls to come, and tools that
//! cannot be called so are left out.
//!
//! Spec: MCP 2026-07-28 basic/transports, "Custom Headers from Tool Parameters".

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::Violation;
use crate::exchange::{Exchange, ExchangeHandle, Partition};
use crate::frame::Frame;
use crate::http::client::Client;
use crate::http::client::answer::cut;
use crate::http::client::call::Standing;
use crate::http::client::calls::Place;
use crate::http::client::wire::Role;
use crate::http::head::HttpHandle;
use crate::http::mirror::{self, ANNOTATION, Mirrored, Why};
use crate::jsonrpc::{self, JsonRef, Kind, Message, RawJson};
use crate::mcp::{Era, Method, codes};
use crate::time::Instant;

/// What is kept of all listings together.
const MAX_KEPT_BYTES: usize = 1024 * 1024;
/// So many tools of a listing are told of that were left out; the others are left out without a word.
const MAX_TOLD: usize = 64;
/// Pages that are read to find one tool.
const MAX_PAGES: u32 = 100;
/// A longer refusal is an answer like any other: until the tools are there, each call keeps its own.
const MAX_REFUSAL_BYTES: usize = 4096;
/// How much of a tool's name is told.
const NAME_BYTES: usize = 128;

/// The designated arguments of the tools that were listed.
#[derive(Debug, Default)]
pub(super) struct Tools {
    by_name: BTreeMap<(Partition, Box<str>), Vec<Mirrored>>,
    bytes: usize,
}

/// The tools are being listed anew for a call that was refused for its head.
#[derive(Debug)]
pub(super) struct Refetch {
    /// The refusal, if nothing comes of it.
    refusal: Bytes,
    list: Exchange,
    wire: Option<HttpHandle>,
    pages: u32,
}

/// A tool that was left out.
type LeftOut = (Box<str>, Why);

impl Tools {
    pub(super) fn designated(&self, partition: Partition, tool: &str) -> &[Mirrored] {
        if self.by_name.is_empty() {
            return &[];
        }
        self.by_name.get(&(partition, tool.into())).map_or(&[], Vec::as_slice)
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads a page of `tools/list`. Gives those tools that cannot be offered, as many as are told of.
    fn read(&mut self, partition: Partition, tools: JsonRef<'_>) -> Vec<LeftOut> {
        let mut left_out: Vec<LeftOut> = Vec::new();
        for tool in tools.elements() {
            let name = tool.get("name").and_then(JsonRef::str).map(|name| name.decode()).unwrap_or_default();
            match designated(tool) {
                Ok(designated) => self.keep(partition, &name, designated),
                Err(why) => {
                    self.keep(partition, &name, Vec::new());
                    if left_out.len() < MAX_TOLD {
                        left_out.push((cut(&name, NAME_BYTES).into(), why));
                    }
                }
            }
        }
        left_out
    }

    fn keep(&mut self, partition: Partition, name: &str, designated: Vec<Mirrored>) {
        let key = (partition, Box::from(name));
        if let Some(old) = self.by_name.remove(&key) {
            self.bytes -= held(name, &old);
        }
        let bytes = held(name, &designated);
        if !designated.is_empty() && self.bytes + bytes <= MAX_KEPT_BYTES {
            self.bytes += bytes;
            self.by_name.insert(key, designated);
        }
    }
}

fn designated(tool: JsonRef<'_>) -> Result<Vec<Mirrored>, Why> {
    tool.get("inputSchema").map_or(Ok(Vec::new()), mirror::mirrored)
}

/// The list of those tools that can be offered, each byte for byte. They are read again for it, which is rare, since a list
/// of where they stand may be many times as long as the page.
fn offered(tools: JsonRef<'_>) -> Vec<u8> {
    let mut list = Vec::with_capacity(tools.as_bytes().len());
    list.push(b'[');
    for tool in tools.elements().filter(|tool| designated(*tool).is_ok()) {
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(tool.as_bytes());
    }
    list.push(b']');
    list
}

/// Where tools are listed in a result.
fn tools_of(result: &RawJson) -> Option<JsonRef<'_>> {
    result.view().get("tools").filter(|tools| tools.kind() == Kind::Array)
}

fn held(name: &str, designated: &[Mirrored]) -> usize {
    let one = |one: &Mirrored| {
        let path = one.path.iter().map(|name| size_of::<Box<str>>() + name.len());
        size_of::<Mirrored>() + one.name.len() + path.sum::<usize>()
    };
    64 + name.len() + designated.iter().map(one).sum::<usize>()
}

impl Client {
    pub(super) fn refetch_of(&self, handle: ExchangeHandle) -> Option<&Exchange> {
        match &self.calls.get(handle)?.place {
            Place::Refetches(refetch) => Some(&refetch.list),
            Place::Held | Place::On(_) | Place::Waits | Place::FallsBack(_) => None,
        }
    }

    pub(super) fn refetching_on(&self, handle: ExchangeHandle) -> Option<HttpHandle> {
        match &self.calls.get(handle)?.place {
            Place::Refetches(refetch) => refetch.wire,
            Place::Held | Place::On(_) | Place::Waits | Place::FallsBack(_) => None,
        }
    }

    fn is_modern(&self) -> bool {
        self.session.revision().is_some_and(|revision| revision.era() == Era::Modern)
    }

    /// A listing that passes through: what it says is kept, and tools that cannot be called go.
    pub(super) fn sift(&mut self, handle: ExchangeHandle, frame: Bytes) -> Bytes {
        let Some(call) = self.calls.get(handle) else { return frame };
        if call.exchange.facts.method != Some(Method::ToolsList) || !self.is_modern() {
            return frame;
        }
        let partition = call.exchange.partition;
        self.read_page(partition, &frame).unwrap_or(frame)
    }

    /// The page without what cannot be called, if anything went.
    fn read_page(&mut self, partition: Partition, frame: &Bytes) -> Option<Bytes> {
        // The word may be spelled with escapes.
        let speaks = memchr::memmem::find(frame, ANNOTATION.as_bytes()).is_some()
            || memchr::memmem::find(frame, b"\\u").is_some();
        if !speaks && self.tools.by_name.is_empty() {
            return None;
        }
        let depth = self.session.config().limits.max_json_depth;
        let Ok(Message::Result { result, .. }) = jsonrpc::parse(frame.clone(), depth) else { return None };
        let tools = tools_of(&result)?;
        let left_out = self.tools.read(partition, tools);
        if left_out.is_empty() {
            return None;
        }
        for (tool, why) in left_out {
            self.session.tell(Violation::ToolLeftOut { tool, why });
        }
        let list = offered(tools);
        // The result is a view of the frame.
        let tools = tools.as_bytes();
        let start = (tools.as_ptr() as usize).checked_sub(frame.as_ptr() as usize)?;
        let before = frame.get(..start)?;
        let behind = frame.get(start + tools.len()..)?;
        Some(Bytes::from([before, &list, behind].concat()))
    }

    /// A call was refused for what its head says: the tools are listed anew, and it is sent once more. Says whether
    /// that is so.
    pub(super) fn refetches(&mut self, handle: ExchangeHandle, frame: &Bytes, standing: Standing) -> bool {
        let Some(call) = self.calls.get(handle) else { return false };
        let exchange = &call.exchange;
        if call.again
            || exchange.facts.method != Some(Method::ToolsCall)
            || exchange.message.is_empty()
            || frame.len() > MAX_REFUSAL_BYTES
            || !self.is_modern()
            || memchr::memmem::find(frame, b"-32020").is_none()
            || !self.session.awaits(handle)
        {
            return false;
        }
        let depth = self.session.config().limits.max_json_depth;
        let Ok(Message::Error { id, error }) = jsonrpc::parse(frame.clone(), depth) else { return false };
        if error.code != codes::HEADER_MISMATCH || !standing.answers(handle, id.as_ref()) {
            return false;
        }
        let partition = exchange.partition;
        if let Place::On(wire) = call.place {
            self.pass_by(wire);
        }
        let list = self.session.own_request(Method::ToolsList, None, partition);
        // A copy: what is kept must not keep more alive.
        let refusal = Bytes::copy_from_slice(frame);
        let refetch = Refetch { refusal, list, wire: None, pages: 1 };
        self.refetch(handle, refetch);
        true
    }

    fn refetch(&mut self, handle: ExchangeHandle, refetch: Refetch) {
        if let Some(call) = self.calls.get_mut(handle) {
            call.place = Place::Refetches(Box::new(refetch));
        }
        let wire = self.open(Role::Tools(handle), self.target.url.clone(), 0);
        if let Some(call) = self.calls.get_mut(handle)
            && let Place::Refetches(refetch) = &mut call.place
        {
            refetch.wire = Some(wire);
        }
    }

    pub(super) fn refetching_moved(&mut self, handle: ExchangeHandle, to: Option<HttpHandle>) {
        if let Some(call) = self.calls.get_mut(handle)
            && let Place::Refetches(refetch) = &mut call.place
        {
            refetch.wire = to;
        }
    }

    /// A page of that listing is there.
    pub(super) fn refetched(&mut self, handle: ExchangeHandle, frame: Frame, now: Instant) {
        let Some(call) = self.calls.get_mut(handle) else { return };
        let Place::Refetches(refetch) = &mut call.place else { return };
        let partition = call.exchange.partition;
        let pages = refetch.pages;
        let name = call.exchange.params().and_then(|params| {
            params.view().get("name").and_then(JsonRef::str).map(|name| name.decode().into_owned())
        });
        let refusal = refetch.refusal.clone();
        let depth = self.session.config().limits.max_json_depth;
        let page = match frame {
            Frame::Message(frame) => jsonrpc::parse(frame, depth),
            Frame::TooLong { .. } => return self.refetch_failed(handle, now),
        };
        let Ok(Message::Result { result, .. }) = page else { return self.refetch_failed(handle, now) };
        // What is left out is told when the application lists the tools itself.
        if let Some(tools) = tools_of(&result) {
            drop(self.tools.read(partition, tools));
        }
        let names = |tool: JsonRef<'_>| {
            let is = tool.get("name").and_then(JsonRef::str);
            name.as_deref().is_some_and(|name| is.is_some_and(|is| is.eq_str(name)))
        };
        let found = result.view().get("tools").is_some_and(|tools| tools.elements().any(names));
        let cursor = result.view().get("nextCursor").filter(|cursor| cursor.kind() == Kind::String);
        if let Some(cursor) = cursor.filter(|_| !found && pages < MAX_PAGES) {
            let params = RawJson::object(|w| {
                w.raw("cursor", cursor);
            });
            let list = self.session.own_request(Method::ToolsList, Some(&params), partition);
            return self.refetch(handle, Refetch { refusal, list, wire: None, pages: pages + 1 });
        }
        let Some(call) = self.calls.remove(handle) else { return };
        if let Some(exchange) = self.session.send_again(&call.exchange) {
            self.start(exchange, true);
        }
    }

    /// Nothing came of it: the refusal is the answer.
    pub(super) fn refetch_failed(&mut self, handle: ExchangeHandle, now: Instant) {
        let Some(call) = self.calls.remove(handle) else { return };
        if let Place::Refetches(refetch) = call.place {
            self.answer_by_error(handle, refetch.refusal, now);
        }
    }
}

//! HTTP exchanges: what each is for, and what its request says.

use alloc::boxed::Box;
use core::time::Duration;

use bytes::Bytes;

use crate::exchange::{Challenge, Exchange, ExchangeHandle, Partition, ReplyForm};
use crate::frame::SseDecoder;
use crate::http::client::body::Content;
use crate::http::client::{Client, Effect};
use crate::http::fields::Fields;
use crate::http::head::{HttpHandle, RequestHead, Verb};
use crate::http::mirror::{self, PARAM_PREFIX};
use crate::http::url::Url;
use crate::jsonrpc::RawJson;
use crate::mcp::{Era, Method};
use crate::time::Instant;

/// How long the rest of an answer that nobody wants may take before its connection is closed.
const DRAIN: Duration = Duration::from_secs(2);
/// How much of it is read.
const DRAIN_BYTES: usize = 64 * 1024;

/// An HTTP exchange.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) role: Role,
    pub(super) url: Url,
    hops: u8,
    pub(super) sent: bool,
    /// It carries the id of the session, the so-and-so-manieth.
    pub(super) session: Option<u32>,
    pub(super) reading: Reading,
}

/// What an HTTP exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Carries this exchange of the session.
    Call(ExchangeHandle),
    /// Fetches the rest of its answer.
    Resume(ExchangeHandle),
    /// Lists the tools anew before it is sent again.
    Tools(ExchangeHandle),
    /// Is the stream that an older server pushes on.
    Push,
    /// Is the one stream of the oldest transport.
    Old,
    /// Ends the session.
    Delete,
    /// Nothing any more: the rest of its answer passes by.
    Done,
}

/// What is being read of an answer.
#[derive(Debug)]
pub(super) enum Reading {
    Head,
    /// One message, or the reason of a refusal.
    Whole {
        status: u16,
        content: Content,
    },
    Events(Box<SseDecoder>),
    /// What a challenge says in words.
    Challenge {
        challenge: Challenge,
        content: Content,
    },
    /// Nothing; so many bytes may still come, until then.
    Drain(usize, Instant),
}

impl Reading {
    pub(super) const fn whole(status: u16) -> Self {
        Self::Whole { status, content: Content::None }
    }

    pub(super) fn retained_bytes(&self) -> usize {
        match self {
            Self::Head | Self::Drain(..) => 0,
            Self::Whole { content, .. } | Self::Challenge { content, .. } => content.retained_bytes(),
            Self::Events(decoder) => size_of::<SseDecoder>() + decoder.retained_bytes(),
        }
    }
}

impl Client {
    /// Opens an HTTP exchange at `url`, after so many redirects.
    pub(super) fn open(&mut self, role: Role, url: Url, hops: u8) -> HttpHandle {
        self.last += 1;
        let handle = HttpHandle::numbered(self.last);
        let (verb, body, partition, fields) = self.render(role, &url);
        let carries = fields.get("mcp-session-id").is_some();
        let head = RequestHead { verb, target: url.target().into(), fields };
        let to = url.authority().clone();
        let session = carries.then_some(self.legacy.generation);
        let urgent = match role {
            Role::Call(call) => {
                self.calls.get(call).is_some_and(|call| call.exchange.reply == ReplyForm::None)
            }
            Role::Delete => true,
            Role::Resume(_) | Role::Tools(_) | Role::Push | Role::Old | Role::Done => false,
        };
        let wire = Wire { role, url, hops, sent: false, session, reading: Reading::Head };
        self.wires.insert(handle, wire);
        self.effects.push_back(Effect::Open { exchange: handle, to, head, body, partition, urgent });
        handle
    }

    /// What the server answered has to be asked elsewhere.
    pub(super) fn open_again(&mut self, from: HttpHandle, url: Url) -> Option<HttpHandle> {
        let wire = self.wires.get(&from)?;
        let (role, hops) = (wire.role, wire.hops + 1);
        self.pass_by(from);
        Some(self.open(role, url, hops))
    }

    /// How often the request of this exchange was sent on.
    pub(super) fn hops(&self, wire: HttpHandle) -> u8 {
        self.wires.get(&wire).map_or(0, |wire| wire.hops)
    }

    /// Nothing more is wanted of this exchange, and its end is near: its connection may serve for others then.
    pub(super) fn pass_by(&mut self, handle: HttpHandle) {
        let until = self.clock.latest().saturating_add(DRAIN);
        if let Some(wire) = self.wires.get_mut(&handle).filter(|wire| wire.role != Role::Done) {
            wire.role = Role::Done;
            self.reading = self.reading.saturating_sub(wire.reading.retained_bytes());
            wire.reading = Reading::Drain(DRAIN_BYTES, until);
            // What it named has no more use, and may be as long as an address.
            wire.url = self.target.url.clone();
            self.drains.insert((until, handle));
        }
        // An answer that never ends must not be one of ever so many.
        if self.drains.len() > self.max_calls()
            && let Some((_, oldest)) = self.drains.pop_first()
        {
            self.close_wire(oldest);
        }
    }

    /// A piece of what passes by. Too much of it closes the connection.
    pub(super) fn passed_by(&mut self, handle: HttpHandle, len: usize) {
        if let Some(Wire { reading: Reading::Drain(left, _), .. }) = self.wires.get_mut(&handle) {
            *left = left.saturating_sub(len);
            if *left == 0 {
                self.close_wire(handle);
            }
        }
    }

    /// The exchange is over.
    pub(super) fn take_wire(&mut self, handle: HttpHandle) -> Option<Wire> {
        let wire = self.wires.remove(&handle)?;
        self.calls.has_left(handle);
        self.reading = self.reading.saturating_sub(wire.reading.retained_bytes());
        if let Reading::Drain(_, until) = wire.reading {
            self.drains.remove(&(until, handle));
        }
        Some(wire)
    }

    /// Nothing more is wanted of this exchange, and it may last.
    pub(super) fn close_wire(&mut self, handle: HttpHandle) {
        if self.take_wire(handle).is_none() {
            return;
        }
        let waits = |effect: &Effect| matches!(effect, Effect::Open { exchange, .. } if *exchange == handle);
        match self.effects.iter().position(waits) {
            Some(at) => drop(self.effects.remove(at)),
            None => self.effects.push_back(Effect::Close { exchange: handle }),
        }
    }

    /// Whether the server can have heard of what this exchange is for.
    pub(super) fn may_be_known(&self, handle: HttpHandle) -> bool {
        // What fetches the rest of an answer follows a request that was read.
        self.wires.get(&handle).is_none_or(|wire| wire.sent || !matches!(wire.role, Role::Call(_)))
    }

    pub(super) fn close_drained(&mut self, now: Instant) {
        while let Some((_, handle)) = self.drains.first().copied().filter(|(at, _)| *at <= now) {
            self.drains.pop_first();
            self.close_wire(handle);
        }
    }

    fn render(&self, role: Role, url: &Url) -> (Verb, Bytes, Partition, Fields) {
        // What it takes without tokens and the like, for which it grows.
        let mut fields = Fields::with_room(8 + self.target.fields().len(), 320);
        fields.add("Host", &url.authority().host_field());
        for (name, value) in self.target.fields().iter() {
            fields.copy(name, value);
        }
        let message = match role {
            Role::Call(handle) => self.calls.get(handle).map(|call| &call.exchange),
            Role::Tools(handle) => self.refetch_of(handle),
            Role::Resume(_) | Role::Push | Role::Old | Role::Delete | Role::Done => None,
        };
        if let Some(exchange) = message {
            fields.add("Accept", "application/json, text/event-stream");
            fields.add("Accept-Encoding", "identity");
            fields.add("Content-Type", "application/json");
            self.describe(exchange, &mut fields);
            // A message ends in LF, which is none of its content.
            let body = exchange.message.slice(..exchange.message.len().saturating_sub(1));
            return (Verb::Post, body, exchange.partition, fields);
        }
        let mut partition = Partition::default();
        if role != Role::Delete {
            fields.add("Accept", "text/event-stream");
            fields.add("Accept-Encoding", "identity");
        }
        if role != Role::Old {
            self.describe_session(&mut fields);
        }
        let last_id = match role {
            Role::Resume(handle) => self.calls.get(handle).and_then(|call| {
                partition = call.exchange.partition;
                call.cursor.last_id()
            }),
            Role::Push => self.legacy.push.cursor.last_id(),
            Role::Call(_) | Role::Tools(_) | Role::Old | Role::Delete | Role::Done => None,
        };
        if let Some(id) = last_id {
            fields.add("Last-Event-ID", id);
        }
        let verb = if role == Role::Delete { Verb::Delete } else { Verb::Get };
        (verb, Bytes::new(), partition, fields)
    }

    /// Says in the head what the message says.
    fn describe(&self, exchange: &Exchange, fields: &mut Fields) {
        let facts = &exchange.facts;
        let Some(revision) = facts.revision else { return };
        if revision.era() == Era::Legacy {
            if facts.method != Some(Method::Initialize) {
                self.describe_session(fields);
            }
            return;
        }
        fields.add("MCP-Protocol-Version", revision.as_str());
        let Some(method) = &facts.method else { return };
        fields.add("Mcp-Method", &mirror::encode_text(method.as_str()));
        let Some(params) = exchange.params() else { return };
        let params = params.view();
        let name = match method.as_str() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            // Of the extension for tasks.
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => return,
        };
        let Some(name) = params.get(name).and_then(|name| name.str()) else { return };
        let name = name.decode();
        fields.add("Mcp-Name", &mirror::encode_text(&name));
        if *method != Method::ToolsCall {
            return;
        }
        let Some(arguments) = params.get("arguments") else { return };
        for designated in self.tools.designated(exchange.partition, &name) {
            let value = mirror::value_at(arguments, &designated.path);
            if let Some(value) = value.and_then(|value| mirror::encode_value(designated.kind, value)) {
                fields.copy(&alloc::format!("{PARAM_PREFIX}{}", designated.name), value.as_bytes());
            }
        }
    }

    /// What goes with every request of an older revision once there is a session.
    fn describe_session(&self, fields: &mut Fields) {
        if let Some(revision) = self.legacy.revision {
            fields.add("MCP-Protocol-Version", revision.as_str());
        }
        if let Some(id) = &self.legacy.session_id {
            fields.add("Mcp-Session-Id", id);
        }
    }

    /// Whether a tool's arguments can be repeated in the head as its schema asks.
    pub(super) fn arguments_fit(
        &self,
        partition: Partition,
        tool: &str,
        arguments: Option<&RawJson>,
    ) -> bool {
        let Some(arguments) = arguments else { return true };
        self.tools.designated(partition, tool).iter().all(|designated| {
            mirror::value_at(arguments.view(), &designated.path)
                .is_none_or(|value| mirror::encode_value(designated.kind, value).is_some())
        })
    }
}

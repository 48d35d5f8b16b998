//! What is seen on the way to a server on the web, whether or not anything comes of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sanswire::http::client::Kind;
use sanswire::http::{ResponseHead, Verb};
use sanswire::jsonrpc::ObjectWriter;
use sanswire_std::{Direction, Reached, Tap};

use super::{EXCERPT, ms};
use crate::config::shown;
use crate::mask::Mask;
use crate::output::escape;

/// So many answers are shown: the first ones, which decide how it goes on.
const ANSWERS: usize = 4;

/// Fields of an answer that say something about whoever gave it. Whatever else there is may be secret.
const FIELDS: [&str; 10] = [
    "content-type",
    "server",
    "via",
    "allow",
    "location",
    "retry-after",
    "www-authenticate",
    "access-control-allow-origin",
    "mcp-protocol-version",
    "x-accel-buffering",
];

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    reached: Option<Reached>,
    connections: u32,
    answers: Vec<Answer>,
    /// How long the id of its session is, if it keeps one.
    session: Option<usize>,
    sent_at: Duration,
}

#[derive(Clone, Debug)]
struct Answer {
    request: String,
    status: u16,
    after: Duration,
    fields: Vec<(&'static str, String)>,
}

/// Sees it, and hands everything on to the trace.
pub(super) struct Watch {
    seen: Mutex<Seen>,
    mask: Mask,
    trace: Option<Arc<dyn Tap>>,
}

impl Watch {
    pub(super) fn new(mask: Mask, trace: Option<Arc<dyn Tap>>) -> Arc<Self> {
        Arc::new(Self { seen: Mutex::default(), mask, trace })
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.with(|seen| seen.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn field(&self, name: &'static str, head: &ResponseHead) -> Option<(&'static str, String)> {
        let value = String::from_utf8_lossy(head.fields.get(name)?);
        let value = if name == "location" { shown(&value).into() } else { value };
        Some((name, escape::excerpt(&self.mask.apply(&value), EXCERPT)))
    }
}

impl Tap for Watch {
    fn message(&self, direction: Direction, at: Duration, line: &[u8]) {
        if direction == Direction::Sent {
            self.with(|seen| seen.sent_at = at);
        }
        if let Some(trace) = &self.trace {
            trace.message(direction, at, line);
        }
    }

    fn lost(&self, count: u64) {
        if let Some(trace) = &self.trace {
            trace.lost(count);
        }
    }

    fn reached(&self, at: Duration, how: &Reached) {
        self.with(|seen| {
            seen.connections += 1;
            seen.reached.get_or_insert_with(|| how.clone());
        });
        if let Some(trace) = &self.trace {
            trace.reached(at, how);
        }
    }

    fn answered(&self, at: Duration, request: &Verb, head: &ResponseHead) {
        self.with(|seen| {
            let id = head.fields.get("mcp-session-id").map(<[u8]>::len);
            seen.session = seen.session.or(id);
            if seen.answers.len() < ANSWERS {
                seen.answers.push(Answer {
                    request: request.as_str().into(),
                    status: head.status,
                    after: at.saturating_sub(seen.sent_at),
                    fields: FIELDS.iter().filter_map(|name| self.field(name, head)).collect(),
                });
            }
        });
        if let Some(trace) = &self.trace {
            trace.answered(at, request, head);
        }
    }
}

/// For people: a title and what stands behind it, line by line.
pub(super) fn show(seen: &Seen, mut row: impl FnMut(&str, &str)) {
    if let Some(how) = &seen.reached {
        let (named, connected) = (ms(how.named), ms(how.connected));
        let address = how.address;
        row("address", &format!("{address}, known after {named} ms, answered after {connected} ms more"));
        if let Some(proxy) = &how.proxy {
            row("proxy", &format!("{}, opened the way in {} ms", proxy.authority, ms(proxy.opened)));
        }
        match &how.tls {
            Some(tls) => {
                let certificate = if tls.shown {
                    "its certificate is accepted, ours was at hand"
                } else {
                    "its certificate is accepted"
                };
                row(
                    "tls",
                    &format!("{}, {}, {certificate}, {} ms", tls.version, tls.suite, ms(tls.negotiated)),
                );
            }
            None => row("tls", "none: what is said can be read on the way"),
        }
    }
    for answer in &seen.answers {
        let fields: Vec<String> =
            answer.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let fields = if fields.is_empty() { String::new() } else { format!("; {}", fields.join("; ")) };
        row(&answer.request, &format!("HTTP {} after {} ms{fields}", answer.status, ms(answer.after)));
    }
}

/// For people: what is known of the conversation as a whole.
pub(super) fn show_whole(seen: &Seen, kind: Option<Kind>, mut row: impl FnMut(&str, &str)) {
    row(
        "transport",
        match kind {
            Some(Kind::Sse) => "HTTP with a stream of events (2024-11-05)",
            Some(_) => "Streamable HTTP",
            None => "HTTP",
        },
    );
    match seen.session {
        Some(len) => {
            row("session", &format!("kept by the server, under an id of {len} bytes that is not shown"))
        }
        None => row("session", "none: it gave no id"),
    }
    row("origin", "none is sent: what it allows to pages in browsers does not matter here");
    row("connections", &seen.connections.to_string());
}

/// For programs.
pub(super) fn write(w: &mut ObjectWriter<'_>, seen: &Seen, kind: Option<Kind>) {
    if let Some(how) = &seen.reached {
        w.string("address", &how.address.to_string());
        w.u64("named_ms", ms(how.named)).u64("connected_ms", ms(how.connected));
        if let Some(proxy) = &how.proxy {
            w.string("proxy", &proxy.authority.to_string()).u64("proxy_ms", ms(proxy.opened));
        }
        if let Some(tls) = &how.tls {
            w.object("tls", |w| {
                w.string("version", tls.version).string("suite", &tls.suite);
                w.bool("certificate_shown", tls.shown).u64("negotiated_ms", ms(tls.negotiated));
            });
        }
    }
    w.array("answers", |w| {
        for answer in &seen.answers {
            w.object(|w| {
                w.string("request", &answer.request).u64("status", answer.status.into());
                w.u64("after_ms", ms(answer.after));
                w.object("fields", |w| {
                    for (name, value) in &answer.fields {
                        w.string(name, value);
                    }
                });
            });
        }
    });
    if let Some(kind) = kind {
        w.string("transport", if kind == Kind::Sse { "sse" } else { "http" });
    }
    w.bool("session", seen.session.is_some()).u64("connections", seen.connections.into());
}

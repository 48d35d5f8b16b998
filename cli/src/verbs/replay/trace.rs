//! A trace: what was said, without what the machine was given beside it. What servers said is read again by fresh machines,
//! which say what it is; there is nothing to compare that with.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::path::Path;
use std::time::Duration;

use sanswire::client::{
    Config, Event, LineConnection, Link as _, Outcome, RequestHandle, RequestOptions, Start, Verdict,
};
use sanswire::jsonrpc::{JsonRef, Kind, MAX_DEPTH, ObjectWriter, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::lifecycle::ClientCapabilities;
use sanswire::{Instant, Machine as _};

use crate::context::Context;
use crate::failure::Failure;
use crate::json::{object, text};
use crate::output::{document, escape, json_document};

/// The longest line that is read: a message of 1 MiB, written out.
const MAX_LINE: u64 = 8 * 1024 * 1024;
/// So many servers are told apart.
const MAX_SERVERS: usize = 256;
/// So many violations of one server are told.
const MAX_TOLD: usize = 20;
/// Longer than any trace: what ran out of time then does not do so now.
const NEVER: Duration = Duration::from_secs(86_400);

/// Reads a trace and tells what is in it.
pub(super) fn run(context: &Context, path: &Path, mut input: impl BufRead) -> Result<u8, Failure> {
    let wrong = |line: u64, why: &str| Failure::usage(format!("{}: line {line} {why}", path.display()));
    let mut servers: BTreeMap<String, Heard> = BTreeMap::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut bytes);
        match read.map_err(|error| wrong(line, &format!("cannot be read: {error}")))? {
            0 => break,
            len if len as u64 > MAX_LINE => {
                return Err(wrong(line, &format!("is longer than {MAX_LINE} bytes")));
            }
            _ => {}
        }
        let value =
            RawJson::from_slice(&bytes, MAX_DEPTH).map_err(|_| wrong(line, "is no line of a trace"))?;
        let server = text(value.view(), "server").ok_or_else(|| wrong(line, "names no server"))?;
        if !servers.contains_key(&server) && servers.len() == MAX_SERVERS {
            return Err(wrong(line, "is of one server too many"));
        }
        servers.entry(server).or_default().hear(line, &value);
    }
    if context.common.json {
        json_document(&object(|w| write(w, &servers)))?;
    } else {
        document(&told(&servers))?;
    }
    Ok(0)
}

/// What was heard of one server.
#[derive(Default)]
struct Heard {
    machine: Option<LineConnection>,
    at: u64,
    sent: u64,
    received: u64,
    /// Lines that the tap could not keep up with.
    lost: u64,
    revision: Option<&'static str>,
    /// Open requests, by their ids.
    open: BTreeMap<Vec<u8>, RequestHandle>,
    /// Requests that this machine would not make, or under another id.
    unfollowed: u64,
    counts: BTreeMap<&'static str, u64>,
    violations: Vec<(u64, String)>,
    more_violations: u64,
}

impl Heard {
    fn hear(&mut self, line: u64, value: &RawJson) {
        let view = value.view();
        self.lost += view.get("lost").and_then(JsonRef::as_u64).unwrap_or(0);
        let at = view.get("at").and_then(JsonRef::as_f64).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no trace is that long")]
        let at = (at * 1e6) as u64;
        let said = match (view.get("message"), view.get("text").and_then(JsonRef::str)) {
            (Some(message), _) => message.as_bytes().to_vec(),
            (None, Some(text)) => text.decode().into_owned().into_bytes(),
            (None, None) => return,
        };
        let is_ours = view.get("direction").and_then(JsonRef::str).is_some_and(|way| way.eq_str("sent"));
        if at < self.at {
            // Another connection: its clock begins anew.
            self.machine = None;
            self.open.clear();
        }
        self.at = at;
        if is_ours {
            self.sent += 1;
            self.say(&said);
        } else {
            self.received += 1;
            // Within a message a blank is as good as the end of a line.
            let mut said: Vec<u8> =
                said.into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte }).collect();
            said.push(b'\n');
            let now = Instant::from_micros(at);
            if let Some(machine) = &mut self.machine {
                // One that is closed takes nothing more.
                let _ = machine.handle_input(&said, now);
            }
        }
        self.settle(line);
    }

    /// The client said this: the machine is made to say it, too.
    fn say(&mut self, said: &[u8]) {
        let Ok(message) = RawJson::from_slice(said, MAX_DEPTH) else { return };
        let view = message.view();
        let Some(method) = text(view, "method").map(|name| Method::from_name(&name)) else { return };
        let now = Instant::from_micros(self.at);
        let params = view.get("params").filter(|params| params.kind() == Kind::Object);
        let opens = [Method::Initialize, Method::ServerDiscover].contains(&method);
        if opens || self.machine.is_none() {
            if self.machine.is_none() {
                self.machine = LineConnection::new(config(&method, params), [0; 32], now).ok();
            }
            return;
        }
        let Some(machine) = &mut self.machine else { return };
        let Some(id) = view.get("id") else {
            let cancelled = params.and_then(|params| params.get("requestId"));
            let cancelled = cancelled.filter(|_| method == Method::Cancelled);
            if let Some(request) = cancelled.and_then(|id| self.open.remove(id.as_bytes())) {
                let _ = machine.cancel(request, None, now);
            }
            return;
        };
        let params = params.map(|params| {
            object(|w| {
                for (name, value) in params.members().filter(|(name, _)| !name.eq_str("_meta")) {
                    w.raw(&name.decode(), value);
                }
            })
        });
        let asked = machine.request(method, params, &RequestOptions::default(), now);
        let written = RawJson::from_slice(machine.transmit().trim_ascii(), MAX_DEPTH).ok();
        let same = written.is_some_and(|written| {
            written.view().get("id").is_some_and(|own| own.as_bytes() == id.as_bytes())
        });
        match asked {
            Ok(request) if same => drop(self.open.insert(id.as_bytes().to_vec(), request)),
            _ => self.unfollowed += 1,
        }
    }

    /// What the machine writes goes nowhere; what it tells is counted.
    fn settle(&mut self, line: u64) {
        let Some(machine) = &mut self.machine else { return };
        let now = Instant::from_micros(self.at);
        while !machine.transmit().is_empty() {
            machine.handle_written(machine.transmit().len(), now);
        }
        while let Some(event) = machine.poll_event() {
            let kind = match event {
                Event::Ready(peer) | Event::Renewed(peer) => {
                    self.revision = Some(peer.revision.as_str());
                    continue;
                }
                Event::Finished { request, outcome } => {
                    self.open.retain(|_, open| *open != request);
                    match outcome {
                        Outcome::Complete(_) => "answered",
                        Outcome::InputRequired(_) => "answered_with_questions",
                        Outcome::Error(_) => "answered_with_an_error",
                        Outcome::Cancelled => "given_up",
                        _ => "answered_with_what_is_no_answer",
                    }
                }
                Event::Progress { .. } => "progress",
                Event::Notification { .. } => "notifications",
                Event::PeerRequest { .. } => "questions",
                Event::Violation(violation) => {
                    if self.violations.len() < MAX_TOLD {
                        self.violations.push((line, violation.to_string()));
                    } else {
                        self.more_violations += 1;
                    }
                    continue;
                }
                Event::Closed(_) => "ended",
                _ => continue,
            };
            *self.counts.entry(kind).or_default() += 1;
        }
    }
}

/// A client as the one that said this first.
fn config(method: &Method, params: Option<JsonRef<'_>>) -> Config {
    let mut config = Config::new("replay", env!("CARGO_PKG_VERSION"));
    let meta = params.and_then(|params| params.get("_meta"));
    let declared = params.and_then(|params| params.get("capabilities"));
    let declared =
        declared.or_else(|| meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities")));
    config.capabilities = declared.map(ClientCapabilities::read).unwrap_or_default();
    if *method == Method::Initialize {
        config.start = Start::Remembered(Verdict::Legacy);
    }
    let limits = &mut config.limits;
    for limit in [
        &mut limits.connect,
        &mut limits.request_idle,
        &mut limits.request_absolute,
        &mut limits.peer_request,
    ] {
        *limit = NEVER;
    }
    config
}

const NOTHING: &str =
    "nothing to compare: a trace holds messages, and not what the machines were given; --record writes that";

fn told(servers: &BTreeMap<String, Heard>) -> String {
    let mut text = format!("{NOTHING}\n");
    for (server, heard) in servers {
        let mut said = vec![format!("{} messages to it, {} from it", heard.sent, heard.received)];
        said.extend(heard.revision.map(str::to_owned));
        said.extend(heard.counts.iter().map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))));
        if heard.unfollowed > 0 {
            said.push(format!("{} requests that could not be followed", heard.unfollowed));
        }
        if heard.lost > 0 {
            said.push(format!("{} messages are not in the trace", heard.lost));
        }
        if heard.violations.is_empty() {
            said.push("no violation".into());
        }
        text.push_str(&format!("{}: {}\n", escape::line(server), said.join("; ")));
        for (line, violation) in &heard.violations {
            text.push_str(&format!("  line {line}: {}\n", escape::line(violation)));
        }
        if heard.more_violations > 0 {
            text.push_str(&format!("  and {} more\n", heard.more_violations));
        }
    }
    text
}

fn write(w: &mut ObjectWriter<'_>, servers: &BTreeMap<String, Heard>) {
    w.null("same").array("servers", |w| {
        for (server, heard) in servers {
            w.object(|w| {
                w.string("server", server).u64("sent", heard.sent).u64("received", heard.received);
                if let Some(revision) = heard.revision {
                    w.string("revision", revision);
                }
                for (kind, count) in &heard.counts {
                    w.u64(kind, *count);
                }
                w.u64("unfollowed", heard.unfollowed).u64("lost", heard.lost);
                w.array("violations", |w| {
                    for (line, violation) in &heard.violations {
                        w.object(|w| {
                            w.u64("line", *line).string("what", violation);
                        });
                    }
                });
                w.u64("more_violations", heard.more_violations);
            });
        }
    });
}

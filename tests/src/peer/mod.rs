//! A server to test clients against, written without the code under test: its own line splitter, and
//! `serde_json::Value` for whatever it reads and says.

mod http;
mod legacy;
mod lines;
mod machine;
mod modern;
mod out;
mod record;
mod replay;
mod script;

use std::collections::BTreeMap;
use std::fmt;

use sanswire::Instant;
use serde_json::Value;

pub use http::{HttpPeer, Written};
pub use legacy::{echo_tool, initialize_result};
pub use machine::{LinePeer, PeerEvent};
pub use modern::discover_result;
pub use out::{Act, Agenda, End, Out, Stream};
pub use record::entry;
pub use replay::replay;
pub use script::Script;

/// What the server does with a message.
pub type Handler = Box<dyn FnMut(&Value, &mut Out<'_>)>;

/// One message that came from the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// When.
    pub at: Instant,
    /// The message.
    pub message: Value,
    /// Its exact text.
    pub text: String,
    /// The stream it opened, where each has its own.
    pub stream: Stream,
}

/// A server by its answers: one handler a method, `*` for every other request, `response` for responses.
#[derive(Default)]
pub struct Server {
    handlers: BTreeMap<String, Handler>,
    script: Option<Script>,
    /// What came, in order.
    pub received: Vec<Received>,
    /// Lines that were no JSON at all.
    pub junk: Vec<Vec<u8>>,
    /// Streams that the client closed before they had ended.
    pub closed_streams: Vec<u64>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("received", &self.received).finish_non_exhaustive()
    }
}

impl Server {
    /// A server that answers nothing.
    #[must_use]
    pub fn mute() -> Self {
        Self::default()
    }

    /// A server that follows a script and does nothing else.
    #[must_use]
    pub fn scripted(script: Script) -> Self {
        Self { script: Some(script), ..Self::default() }
    }

    /// Answers `method` this way from now on.
    #[must_use]
    pub fn with(mut self, method: &str, handler: impl FnMut(&Value, &mut Out<'_>) + 'static) -> Self {
        self.on(method, handler);
        self
    }

    /// As [`with`](Self::with), on a server that runs.
    pub fn on(&mut self, method: &str, handler: impl FnMut(&Value, &mut Out<'_>) + 'static) {
        self.handlers.insert(method.to_owned(), Box::new(handler));
    }

    /// Never answers `method`.
    #[must_use]
    pub fn silent_on(self, method: &str) -> Self {
        self.with(method, |_, _| {})
    }

    /// Answers `method` with this error.
    #[must_use]
    pub fn refusing(self, method: &str, code: i64) -> Self {
        self.with(method, move |request, out| out.error(request, code, "no"))
    }

    /// A line came.
    pub(crate) fn line(&mut self, line: &[u8], mut out: Out<'_>) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            self.junk.push(line.to_vec());
            return;
        };
        let text = String::from_utf8(line.to_vec()).unwrap();
        self.received.push(Received { at: out.at, message: message.clone(), text, stream: out.stream });
        if let Some(script) = &mut self.script {
            script.message(&message, &mut out);
            return;
        }
        let method = message["method"].as_str();
        let handler = match method {
            None => self.handlers.get_mut("response"),
            Some(method) if self.handlers.contains_key(method) => self.handlers.get_mut(method),
            Some(_) if message.get("id").is_none() => None,
            Some(_) => self.handlers.get_mut("*"),
        };
        if let Some(handler) = handler {
            handler(&message, &mut out);
        }
    }

    /// What the script does before anything comes.
    pub(crate) fn start(&mut self, mut out: Out<'_>) {
        if let Some(script) = &mut self.script {
            script.advance(&mut out);
        }
    }

    /// What was received with this method, in order.
    #[must_use]
    pub fn with_method(&self, method: &str) -> Vec<&Received> {
        self.received.iter().filter(|received| received.message["method"] == method).collect()
    }

    /// The responses that came.
    #[must_use]
    pub fn responses(&self) -> Vec<&Value> {
        let all = self.received.iter().map(|received| &received.message);
        all.filter(|message| message.get("method").is_none()).collect()
    }

    /// Methods in the order they came; a response counts as `response`.
    #[must_use]
    pub fn methods(&self) -> Vec<&str> {
        let all = self.received.iter().map(|received| &received.message);
        all.map(|message| message["method"].as_str().unwrap_or("response")).collect()
    }
}

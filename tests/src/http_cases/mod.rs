//! Cases from public reports on HTTP and event streams, as bytes: what a peer sends, and what has to come of it.
//!
//! The tables know neither machines nor sockets, so that the same rows are replayed on both: [`answers`] has what
//! servers answered, for a [`Site`] that plays the rest of such a server, and [`requests`] what clients sent.

mod heads;
mod refusals;
mod requests;
mod site;
mod streams;

use std::fmt::Debug;

use sanswire::client::Outcome;
use sanswire::error::{CloseReason, Violation};
use sanswire::jsonrpc::RawJson;

pub use requests::requests;
pub use site::{Reply, Request, Site};

/// What every request of ours carries, and nothing that we tell may hold.
pub const SECRET: &str = "s3cret";

/// The bytes of a file beside the tables.
macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../cases/", $name))
    };
}
pub(crate) use file;

/// What a server answers to a request of ours, and what has to come of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The case.
    pub case: &'static str,
    /// What is special about it.
    pub what: &'static str,
    /// Which request is answered so.
    pub to: To,
    /// How often. From then on the server is a good one.
    pub times: usize,
    /// The answer, to the byte.
    pub bytes: Vec<u8>,
    /// What becomes of the connection behind it.
    pub then: Then,
    /// What has to come of it.
    pub comes: Comes,
}

/// A request of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The first one, to a server of which nothing is known.
    Probe,
    /// The notification that ends the handshake of 2025-11-25.
    Initialized,
    /// The GET behind it.
    Get,
    /// A request of this method and id under 2025-11-25.
    Legacy(&'static str, u64),
    /// A request of this method and id under 2026-07-28.
    Modern(&'static str, u64),
}

impl To {
    /// What the application asks for: the request that is answered so, or one that comes after it.
    #[must_use]
    pub const fn asked(self) -> (&'static str, u64) {
        match self {
            Self::Legacy(method, id) | Self::Modern(method, id) => (method, id),
            Self::Probe | Self::Initialized | Self::Get => ("tools/list", 0),
        }
    }

    /// Whether the server is known to be of the older kind.
    #[must_use]
    pub const fn is_legacy(self) -> bool {
        matches!(self, Self::Legacy(..) | Self::Initialized | Self::Get)
    }
}

/// What becomes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It takes further requests.
    Stays,
    /// The server ends it.
    Ends,
    /// It breaks.
    Breaks,
}

/// What came of it, or has to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comes {
    /// How the request of the application ended.
    pub outcome: Option<Outcome>,
    /// Why all of it is over, if it is. If not, the next request is answered.
    pub closed: Option<CloseReason>,
    /// What is told of the server.
    pub violations: Vec<Violation>,
    /// Methods of the notifications that were delivered.
    pub notices: Vec<String>,
    /// Reports on the request's progress.
    pub progress: usize,
    /// What the server was sent behind the first request that it answered so: verb, target, method and id.
    pub requests: Vec<String>,
}

impl Answer {
    fn new(case: &'static str, what: &'static str, to: To, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let ends = bytes.windows(19).any(|part| part == b"\r\nConnection: close");
        let comes = Comes { outcome: Some(complete(r#"{"tools":[]}"#)), ..Comes::default() };
        Self { case, what, to, times: 1, bytes, then: if ends { Then::Ends } else { Then::Stays }, comes }
    }

    const fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }

    const fn always(mut self) -> Self {
        self.times = usize::MAX;
        self
    }

    fn gives(mut self, outcome: Outcome) -> Self {
        self.comes.outcome = Some(outcome);
        self
    }

    fn closes(mut self, outcome: Option<Outcome>, reason: CloseReason) -> Self {
        self.comes.outcome = outcome;
        self.comes.closed = Some(reason);
        self
    }

    fn tells(mut self, violation: Violation) -> Self {
        self.comes.violations.push(violation);
        self
    }

    fn delivers(mut self, notices: &[&str], progress: usize) -> Self {
        self.comes.notices = notices.iter().map(|method| (*method).to_owned()).collect();
        self.comes.progress = progress;
        self
    }

    fn asks(mut self, requests: &[&str]) -> Self {
        self.comes.requests = requests.iter().map(|request| (*request).to_owned()).collect();
        self
    }
}

/// What servers answered.
#[must_use]
pub fn answers() -> Vec<Answer> {
    [streams::rows(), refusals::rows(), heads::rows()].concat()
}

/// A complete result, as it stands in the message.
fn complete(result: &str) -> Outcome {
    Outcome::Complete(RawJson::parse_str(result).unwrap())
}

/// A request that a client sends to a server of ours, and what has to come of it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The case.
    pub case: &'static str,
    /// What is special about it.
    pub what: String,
    /// The request, to the byte.
    pub bytes: Vec<u8>,
    /// Names besides those of loopback under which the server is reached.
    pub hosts: &'static [&'static str],
    /// The status of the answer.
    pub status: u16,
    /// The type of its content, if there is any.
    pub kind: Option<&'static str>,
    /// What stands in it.
    pub holds: &'static str,
}

impl Asked {
    /// Whether the connection takes the next request. What is no HTTP is not gone on from.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.status != 400
    }
}

/// Whoever prints what came of a case prints nothing secret.
///
/// # Panics
/// If something secret is in it.
pub fn keeps_secrets(told: &impl Debug) {
    let told = format!("{told:?}");
    assert!(!told.contains(SECRET), "a secret is told: {told}");
}

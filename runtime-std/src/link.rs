//! What a client's calls go to: the machine over one stream of lines, or the one over HTTP with its connections.

use sanswire::client::{self, Event, Session};
use sanswire::http::client::Kind;
use sanswire::jsonrpc::RawJson;
use sanswire::{Instant, Machine as _};
use sanswire_system::recording::RecordedLine;

use crate::http::Net;
use crate::shared::Shared;

/// One of the two.
#[expect(clippy::large_enum_variant, reason = "it never moves: there is one a client, within what is shared")]
pub(crate) enum Link {
    Line(RecordedLine),
    Http(Box<Net>),
}

impl Link {
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Line(line) => line.session(),
            Self::Http(net) => net.session(),
        }
    }

    /// Whom the application asks.
    pub(crate) fn asked(&mut self) -> &mut dyn client::Link {
        match self {
            Self::Line(line) => line,
            Self::Http(net) => net.client(),
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Line(line) => line.poll_event(),
            Self::Http(net) => net.client().poll_event(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Line(line) => line.poll_timeout(),
            Self::Http(net) => net.poll_timeout(),
        }
    }

    /// The time is `now`. `shared`: what the link belongs to.
    pub(crate) fn handle_timeout(&mut self, shared: &Shared, now: Instant) {
        match self {
            Self::Line(line) => line.handle_timeout(now),
            Self::Http(net) => net.handle_timeout(shared, now),
        }
    }

    /// Which way is spoken over HTTP.
    pub(crate) fn http_kind(&mut self) -> Option<Kind> {
        match self {
            Self::Line(_) => None,
            Self::Http(net) => net.client().client().kind(),
        }
    }

    /// Hands a big result back that is no longer needed. Over HTTP nothing is made of it.
    pub(crate) fn recycle(&mut self, result: RawJson) {
        if let Self::Line(line) = self {
            line.recycle(result);
        }
    }

    /// Whether something waits to be written, or to be begun.
    pub(crate) fn has_output(&mut self) -> bool {
        match self {
            Self::Line(line) => !line.transmit().is_empty(),
            Self::Http(net) => net.has_output(),
        }
    }
}

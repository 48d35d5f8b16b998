//! What a client's calls go to: the machine over one stream of lines, or the one over HTTP with its connections.

use std::sync::Arc;

use sanswire::client::{self, Event, Session};
use sanswire::http::client::Kind;
use sanswire::jsonrpc::RawJson;
use sanswire::{Instant, Machine as _};

use crate::http::Net;
use crate::line::Line;
use crate::signals::Signals;

/// A machine and what its bytes go over.
#[expect(clippy::large_enum_variant, reason = "it never moves: there is one a client, within what is shared")]
pub(crate) enum Link {
    Line(Line),
    Http(Box<Net>),
}

impl Link {
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Line(line) => line.machine.session(),
            Self::Http(net) => net.session(),
        }
    }

    /// Whom the application asks.
    pub(crate) fn asked(&mut self) -> &mut dyn client::Link {
        match self {
            Self::Line(line) => &mut line.machine,
            Self::Http(net) => net.client(),
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Line(line) => line.machine.poll_event(),
            Self::Http(net) => net.client().poll_event(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Line(line) => line.machine.poll_timeout(),
            Self::Http(net) => net.poll_timeout(),
        }
    }

    /// The time is `now`. `signals`: whom the connections that are made then tell.
    pub(crate) fn handle_timeout(&mut self, signals: &Arc<Signals>, now: Instant) {
        match self {
            Self::Line(line) => line.machine.handle_timeout(now),
            Self::Http(net) => net.handle_timeout(signals, now),
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
            line.machine.recycle(result);
        }
    }

    /// Whether something waits to be written, or to be begun.
    pub(crate) fn has_output(&self) -> bool {
        match self {
            Self::Line(line) => !line.machine.transmit().is_empty(),
            Self::Http(net) => net.has_output(),
        }
    }
}

//! The transport of 2024-11-05: one stream that stays open, and an address to post to that its first event names.
//!
//! Spec: MCP 2024-11-05 basic/transports, "HTTP with SSE"; MCP 2026-07-28 basic/transports, "Backward Compatibility".

use crate::error::CloseReason;
use crate::exchange::{Challenge, ExchangeEnd, ExchangeHandle, HttpRefusal, Origin, RefusedFor};
use crate::frame::Frame;
use crate::http::client::Client;
use crate::http::client::answer::{self, Media};
use crate::http::client::calls::Place;
use crate::http::client::legacy::Gate;
use crate::http::client::target::Kind;
use crate::http::client::wire::Role;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::http::url::Url;
use crate::jsonrpc::ErrorObject;
use crate::mcp::{Method, codes};
use crate::time::Instant;

/// The one stream.
#[derive(Debug, Default)]
pub(super) struct Old {
    wire: Option<HttpHandle>,
    /// Where to post, once that was named.
    post: Option<Url>,
    /// The handshake that was refused by the newer transport, if this one is only looked for.
    looks_for: Option<ExchangeHandle>,
}

/// How the newer transport refused the handshake.
#[derive(Debug)]
pub(super) struct Fallback {
    status: u16,
    error: Option<ErrorObject>,
}

impl Client {
    /// Opens the stream. Nothing is posted before it has named where to.
    pub(super) fn open_old(&mut self, looks_for: Option<ExchangeHandle>) {
        self.legacy.gate = Gate::Endpoint;
        let wire = self.open(Role::Old, self.target.url.clone(), 0);
        self.old = Some(Old { wire: Some(wire), post: None, looks_for });
    }

    /// Where messages go.
    pub(super) fn post_url(&self) -> Url {
        let post = self.old.as_ref().and_then(|old| old.post.as_ref());
        post.unwrap_or(&self.target.url).clone()
    }

    /// Whether answers come on the one stream.
    pub(super) fn is_old(&self) -> bool {
        self.old.as_ref().is_some_and(|old| old.post.is_some())
    }

    /// A handshake was refused as a server does that knows the older transport only. Says whether that one is looked
    /// for now.
    pub(super) fn falls_back(
        &mut self,
        handle: ExchangeHandle,
        status: u16,
        error: Option<&ErrorObject>,
    ) -> bool {
        let modern = error.is_some_and(|error| codes::is_modern(error.code));
        let method = self.calls.get(handle).and_then(|call| call.exchange.facts.method.as_ref());
        let handshake = method == Some(&Method::Initialize) && self.session.is_opening();
        if self.target.kind != Kind::Auto
            || self.old.is_some()
            || modern
            || !handshake
            || !matches!(status, 400 | 404 | 405)
        {
            return false;
        }
        self.session.tries_older(match error {
            Some(error) => {
                CloseReason::Refused { method: Method::Initialize, error: error.clone().bounded() }
            }
            None => CloseReason::HttpRefused(HttpRefusal::new(status).into()),
        });
        if let Some(call) = self.calls.get_mut(handle) {
            let fallback = Fallback { status, error: error.cloned() };
            call.place = Place::FallsBack(fallback.into());
        }
        self.open_old(Some(handle));
        true
    }

    pub(super) fn old_redirected(&mut self, to: Option<HttpHandle>) {
        if let Some(old) = &mut self.old {
            old.wire = to;
        }
    }

    pub(super) fn old_head(&mut self, wire: HttpHandle, head: &ResponseHead, now: Instant) {
        let refused = |why| HttpRefusal { status: head.status, why };
        let refusal = match (head.status, answer::media(&head.fields), answer::coding(&head.fields)) {
            (200..=299, _, Some(name)) => refused(RefusedFor::ContentCoding(name)),
            (200..=299, Media::Events, None) => {
                let reading = self.events();
                return self.read_on(wire, reading);
            }
            (200..=299, Media::Json, None) => refused(RefusedFor::ContentType("application/json".into())),
            (200..=299, Media::Other(name), None) => refused(RefusedFor::ContentType(name)),
            _ => HttpRefusal::new(head.status),
        };
        let challenge = matches!(head.status, 401 | 403).then(|| answer::challenge(head));
        self.pass_by(wire);
        self.old_failed(refusal, challenge, now);
    }

    pub(super) fn old_failed(&mut self, refusal: HttpRefusal, challenge: Option<Challenge>, now: Instant) {
        let reason = match challenge {
            Some(challenge) => CloseReason::Challenged(challenge.into()),
            None => CloseReason::HttpRefused(refusal.into()),
        };
        self.old_over(reason, now);
    }

    /// The stream is over: so is everything, unless it was only looked for.
    pub(super) fn old_over(&mut self, reason: CloseReason, now: Instant) {
        let Some(old) = self.old.take() else { return };
        if let Some(wire) = old.wire {
            self.close_wire(wire);
        }
        let Some(handle) = old.looks_for.filter(|_| old.post.is_none()) else {
            self.old = Some(old);
            return self.session.handle_closed(reason, now);
        };
        self.legacy.gate = Gate::Open;
        let Some(call) = self.calls.remove(handle) else { return };
        let Place::FallsBack(fallback) = call.place else { return };
        self.session.older_failed(reason);
        match fallback.error {
            Some(error) => self.session.handle_error_of(handle, error, now),
            None => {
                let end = ExchangeEnd::Refused(HttpRefusal::new(fallback.status));
                self.session.handle_end(handle, end, now);
            }
        }
        self.open_gate();
    }

    /// An event of the stream.
    pub(super) fn old_event(&mut self, name: Option<&str>, data: Frame, now: Instant) {
        match name {
            Some("endpoint") => self.old_endpoint(&data, now),
            None | Some("message") if self.is_old() => {
                self.session.handle_message(Origin::Stream, data, now);
            }
            _ => {}
        }
    }

    /// The first event of its kind counts.
    fn old_endpoint(&mut self, data: &Frame, now: Instant) {
        let Some(old) = self.old.as_mut().filter(|old| old.post.is_none()) else { return };
        let refused = |why| HttpRefusal { status: 200, why };
        let named = match data {
            Frame::Message(text) => core::str::from_utf8(text).ok(),
            Frame::TooLong { .. } => None,
        };
        let base = old.wire.and_then(|wire| self.wires.get(&wire)).map_or(&self.target.url, |wire| &wire.url);
        let url = named.and_then(|text| base.join(text.trim()).ok());
        let url = url.ok_or_else(|| refused(RefusedFor::Redirect)).and_then(|url| {
            if url.authority() == base.authority() {
                return Ok(url);
            }
            Err(refused(RefusedFor::OtherOrigin(alloc::format!("{}", url.authority()).into())))
        });
        match url {
            Err(refusal) => self.old_failed(refusal, None, now),
            Ok(url) => {
                old.post = Some(url);
                let looked_for = old.looks_for.take();
                if let Some(handle) = looked_for {
                    self.go(handle);
                }
                self.open_gate();
            }
        }
    }
}

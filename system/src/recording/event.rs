//! What a client told, as it stands in a recording.

use sanswire::client::{Event, Outcome, Peer, RequestHandle};
use sanswire::error::CloseReason;
use sanswire::jsonrpc::{ObjectWriter, RawJson};

use super::config::{verdict_name, write_implementation};
use super::names::Names;
use super::pen::Pen;

/// An event as an object. Handles that it ends are forgotten.
pub(super) fn written(event: &Event, names: &mut Names, pen: Pen<'_>) -> RawJson {
    RawJson::object(|w| write(w, event, names, pen))
}

fn write(w: &mut ObjectWriter<'_>, event: &Event, names: &mut Names, pen: Pen<'_>) {
    let kind = |w: &mut ObjectWriter<'_>, kind: &str| {
        w.string("kind", kind);
    };
    let request = |w: &mut ObjectWriter<'_>, names: &Names, request: Option<RequestHandle>| {
        if let Some(number) = request.and_then(|request| names.requests.number(request)) {
            w.u64("request", number);
        }
    };
    match event {
        Event::Ready(peer) => {
            kind(w, "ready");
            write_peer(w, pen, peer);
        }
        Event::Renewed(peer) => {
            kind(w, "renewed");
            write_peer(w, pen, peer);
        }
        Event::Verdict(verdict) => {
            kind(w, "verdict");
            w.string("verdict", verdict_name(verdict));
        }
        Event::Finished { request: handle, outcome } => {
            kind(w, "finished");
            request(w, names, Some(*handle));
            if let (Outcome::InputRequired(input), Some(number)) = (outcome, names.requests.number(*handle)) {
                names.waits(number, input);
            }
            names.requests.end(*handle);
            write_outcome(w, pen, outcome);
        }
        Event::Progress { request: handle, progress } => {
            kind(w, "progress");
            request(w, names, Some(*handle));
            w.f64("progress", progress.progress);
            if let Some(total) = progress.total {
                w.f64("total", total);
            }
            if let Some(message) = &progress.message {
                pen.text(w, "message", message);
            }
        }
        Event::Notification { subscription, method, params } => {
            kind(w, "notification");
            request(w, names, *subscription);
            pen.text(w, "method", method.as_str());
            pen.raw_or_null(w, "params", params.as_ref());
        }
        Event::PeerRequest { handle, request: asked, during } => {
            kind(w, "asked");
            w.u64("peer", names.peers.give(*handle));
            request(w, names, *during);
            w.string("asks", &format!("{:?}", asked.kind));
            pen.raw_or_null(w, "params", asked.params.as_ref());
        }
        Event::PeerRequestEnded { handle } => {
            kind(w, "asked_no_more");
            if let Some(number) = names.peers.number(*handle) {
                w.u64("peer", number);
            }
            names.peers.end(*handle);
        }
        Event::Violation(violation) => {
            kind(w, "violation");
            pen.text(w, "what", &format!("{violation:?}"));
        }
        Event::Closed(reason) => {
            kind(w, "closed");
            write_reason(w, pen, reason);
        }
        other => {
            kind(w, "another");
            pen.text(w, "what", &format!("{other:?}"));
        }
    }
}

fn write_peer(w: &mut ObjectWriter<'_>, pen: Pen<'_>, peer: &Peer) {
    w.string("era", &format!("{:?}", peer.era));
    w.string("revision", peer.revision.as_str());
    w.object("server", |w| write_implementation(w, pen, &peer.server));
    pen.raw_or_null(w, "capabilities", peer.capabilities.raw());
    if let Some(instructions) = &peer.instructions {
        pen.text(w, "instructions", instructions);
    }
    w.u64("ttl_ms", peer.cache.ttl_ms).bool("public", peer.cache.public);
    pen.raw(w, "raw", peer.raw.view());
}

fn write_outcome(w: &mut ObjectWriter<'_>, pen: Pen<'_>, outcome: &Outcome) {
    match outcome {
        Outcome::Complete(result) => {
            w.string("outcome", "complete");
            pen.raw(w, "result", result.view());
        }
        Outcome::InputRequired(input) => {
            w.string("outcome", "input_required");
            w.u64("round", input.round().into()).bool("has_state", input.has_state());
            w.array("requests", |w| {
                for asked in input.requests() {
                    w.object(|w| {
                        pen.text(w, "name", &asked.key);
                        w.string("asks", &format!("{:?}", asked.request.kind));
                        pen.raw_or_null(w, "params", asked.request.params.as_ref());
                    });
                }
            });
        }
        Outcome::Error(error) => {
            w.string("outcome", "error");
            pen.error(w, "error", error);
        }
        ours => {
            w.string("outcome", "ours");
            pen.text(w, "what", &format!("{ours:?}"));
        }
    }
}

fn write_reason(w: &mut ObjectWriter<'_>, pen: Pen<'_>, reason: &CloseReason) {
    match reason {
        CloseReason::Refused { method, error } => {
            w.string("reason", "refused");
            pen.text(w, "method", method.as_str());
            pen.error(w, "error", error);
        }
        other => pen.text(w, "reason", &format!("{other:?}")),
    }
}

/// Whether nothing comes after it.
pub(super) const fn is_last(event: &Event) -> bool {
    matches!(event, Event::Closed(_))
}

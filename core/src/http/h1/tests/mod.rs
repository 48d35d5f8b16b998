//! What the tests of this module share: a client and a server with nothing but bytes between them.

mod chunks;
mod client;
mod exchange;
mod heads;
mod oracle;
mod server;
mod splits;
mod timers;

use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::*;
use crate::Instant;
use crate::error::ApiError;
use crate::http::Fields;
use crate::http::head::{RequestHead, ResponseHead, Verb};
use crate::machine::Machine;

pub(super) const NOW: Instant = Instant::from_millis(1000);

pub(super) fn fields(list: &[(&str, &str)]) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in list {
        fields.push(name, value.as_bytes()).unwrap();
    }
    fields
}

pub(super) fn ask(verb: &str) -> RequestHead {
    RequestHead { verb: Verb::named(verb), target: "/mcp".into(), fields: fields(&[("host", "h:1")]) }
}

pub(super) fn status(status: u16) -> ResponseHead {
    ResponseHead { status, fields: fields(&[("content-type", "text/plain")]) }
}

pub(super) fn whole(text: &'static str) -> Body {
    Body::Whole(Bytes::from_static(text.as_bytes()))
}

/// Bytes come, and all of them are taken.
pub(super) fn give(machine: &mut impl Machine, bytes: &[u8], now: Instant) {
    assert_eq!(machine.handle_input(bytes, now), bytes.len(), "all of it is taken");
}

/// Takes all that waits to be written.
pub(super) fn sent(machine: &mut impl Machine) -> Vec<u8> {
    let mut all = Vec::new();
    while !machine.transmit().is_empty() {
        let piece = machine.transmit().to_vec();
        machine.handle_written(piece.len(), NOW);
        all.extend_from_slice(&piece);
    }
    all
}

pub(super) fn text(machine: &mut impl Machine) -> String {
    String::from_utf8(sent(machine)).unwrap()
}

/// All events that wait; pieces of a body that stand side by side are joined.
pub(super) fn client_events(client: &mut Client) -> Vec<ClientEvent> {
    let mut events: Vec<ClientEvent> = Vec::new();
    while let Some(event) = client.poll_event() {
        match (events.last_mut(), event) {
            (Some(ClientEvent::Body(before)), ClientEvent::Body(more)) => {
                *before = [&**before, &*more].concat().into();
            }
            (_, event) => events.push(event),
        }
    }
    events
}

/// As [`client_events`].
pub(super) fn server_events(server: &mut Server) -> Vec<ServerEvent> {
    let mut events: Vec<ServerEvent> = Vec::new();
    while let Some(event) = server.poll_event() {
        match (events.last_mut(), event) {
            (Some(ServerEvent::Body(before)), ServerEvent::Body(more)) => {
                *before = [&**before, &*more].concat().into();
            }
            (_, event) => events.push(event),
        }
    }
    events
}

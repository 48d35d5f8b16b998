//! Whole conversations whose every step a fuzzer chooses, with the models and rules of [`simulation`](crate::simulation).

use crate::simulation::{Coverage, Script, World, keeps_the_rules};

/// Both sides are ours: over lines, over HTTP, and a host with its servers.
pub const PAIR: &[World] = &[World::Pair, World::Http, World::Host];
/// Our client over lines and over HTTP, and a server that misbehaves.
pub const CLIENT_OPS: &[World] = &[World::BadServer, World::BadHttpServer];
/// Our server over lines and over HTTP, and a client that misbehaves.
pub const SERVER_OPS: &[World] = &[World::BadClient, World::BadHttpClient];

/// Runs the conversation that stands in `data` between two roles of ours.
///
/// # Panics
/// If a rule is broken, or something ends otherwise than the model beside it says.
pub fn check_pair(data: &[u8]) {
    check(PAIR, data);
}

/// As [`check_pair`], of a client and a server that does whatever it likes.
///
/// # Panics
/// As [`check_pair`].
pub fn check_client_ops(data: &[u8]) {
    check(CLIENT_OPS, data);
}

/// As [`check_pair`], of a server and a client that does whatever it likes.
///
/// # Panics
/// As [`check_pair`].
pub fn check_server_ops(data: &[u8]) {
    check(SERVER_OPS, data);
}

fn check(worlds: &[World], data: &[u8]) {
    keeps_the_rules(&Script::from_bytes(worlds, data), &mut Coverage::default());
}

//! Whatever a server may answer while its era is looked for.

use serde_json::{Value, json};

pub(super) const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";
const OLDEST: &str = "2024-11-05";
/// A version that is not known.
const OTHER: &str = "2031-01-01";

/// What a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A `DiscoverResult` with these versions.
    Speaks(&'static [&'static str]),
    /// An error, -32022, with these versions.
    Supports(&'static [&'static str]),
    /// The result of a handshake in this version.
    Shakes(&'static str),
    /// An error of this code.
    Error(i64),
    /// An error of this code that names no request.
    Nameless(i64),
    /// A result that says nothing.
    Empty,
    /// More than a message may have.
    TooLong,
    /// What was asked for.
    Tools,
}

pub(super) const TO_DISCOVER: &[Answer] = &[
    Answer::Speaks(&[NEW]),
    Answer::Speaks(&[OLD, NEW]),
    Answer::Speaks(&[OLD]),
    Answer::Speaks(&[OTHER]),
    Answer::Supports(&[NEW]),
    Answer::Supports(&[OLDEST]),
    Answer::Supports(&[OTHER]),
    Answer::Error(-32601),
    Answer::Error(-32602),
    Answer::Error(-32020),
    Answer::Nameless(-32600),
    Answer::Empty,
    Answer::TooLong,
];

pub(super) const TO_INITIALIZE: &[Answer] = &[
    Answer::Shakes(OLD),
    Answer::Shakes(OLDEST),
    Answer::Shakes(NEW),
    Answer::Shakes(OTHER),
    Answer::Error(-32601),
    Answer::Supports(&[NEW]),
    Answer::Empty,
    Answer::TooLong,
];

pub(super) const TO_CALL: &[Answer] = &[Answer::Tools, Answer::Error(-32601)];

pub(super) fn written(answer: Answer, id: u64) -> String {
    let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let error = |code: i64, data: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}});
    let message = match answer {
        Answer::Speaks(versions) => result(crate::peer::discover_result(versions)),
        Answer::Supports(versions) => error(-32022, json!({"supported": versions})),
        Answer::Shakes(version) => result(crate::peer::initialize_result(version)),
        Answer::Error(code) => error(code, json!({})),
        Answer::Nameless(code) => {
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": "no"}})
        }
        Answer::Empty => result(json!({})),
        Answer::TooLong => result(json!({"x": "y".repeat(5000)})),
        Answer::Tools => {
            result(json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}))
        }
    };
    format!("{message}\n")
}

//! Lines: what a client writes, and what it takes.

use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};

use super::work::{at_work, goes_on};
use super::{ALONE, SHARED};
use crate::check::{Check, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::stage::{Piece, Stage};

const STDIO: Source = Source::Spec("basic/transports#stdio");
const WRITES: Source = Source::Eras("basic/transports#stdio", "basic/transports/stdio#sending-messages");

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-framing-messages",
        title: "every line that the client writes is a message",
        source: WRITES,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "The server's standard input carries messages and nothing else: each an object on a line of its own, without line feeds inside.",
        script: Script::Client(messages),
        ..SHARED
    },
    Check {
        id: "client-framing-utf8",
        title: "what the client writes is UTF-8, without a byte order mark",
        source: WRITES,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "Messages are encoded in UTF-8. A byte order mark in front of one makes it something else than JSON.",
        script: Script::Client(utf8),
        ..SHARED
    },
    Check {
        id: "client-framing-last-line",
        title: "a line feed ends the last line too",
        source: WRITES,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "Messages are delimited by line feeds. A server waits for the one that is missing, and drops the message when its input ends.",
        script: Script::Client(last_line),
        ..SHARED
    },
    Check {
        id: "client-framing-envelope",
        title: "every message says jsonrpc 2.0, and its params are an object",
        source: Source::JsonRpc("request_object"),
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "Each message holds \"jsonrpc\":\"2.0\". MCP has no parameters by position: params is an object or absent.",
        script: Script::Client(envelope),
        ..SHARED
    },
    Check {
        id: "client-framing-no-batch",
        title: "messages are not put into arrays, but in 2025-03-26",
        source: WRITES,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "Batches were in the protocol in 2025-03-26 alone. Write each message on a line of its own.",
        script: Script::Client(no_batch),
        ..SHARED
    },
    Check {
        id: "client-framing-split-line",
        title: "a line that arrives in pieces is one message",
        source: STDIO,
        strength: Strength::Must,
        explain: "A pipe may hand over any part of a line at a time. Collect bytes until a line feed, then decode.",
        script: Script::Client(|stage| written(stage, in_pieces)),
        ..ALONE
    },
    Check {
        id: "client-framing-joined-lines",
        title: "lines that arrive at once are a message each",
        source: STDIO,
        strength: Strength::Must,
        explain: "One read may bring several lines: a log message and the answer behind it. Take each of them.",
        script: Script::Client(|stage| written(stage, behind_a_log)),
        ..ALONE
    },
    Check {
        id: "client-framing-carriage-return",
        title: "a carriage return in front of the line feed does no harm",
        explain: "Servers on Windows write CR LF. A carriage return is white space to JSON, so a decoder takes it.",
        script: Script::Client(|stage| written(stage, |line| at_once(&[line.as_bytes(), b"\r\n"]))),
        ..ALONE
    },
    Check {
        id: "client-framing-blank-lines",
        title: "blank lines do no harm",
        explain: "Servers print an empty line here and there. It is no message: skip it.",
        script: Script::Client(|stage| {
            written(stage, |line| at_once(&[b"\n", line.as_bytes(), b"\n\r\n\n"]))
        }),
        ..ALONE
    },
    Check {
        id: "client-framing-junk-line",
        title: "a line that is no message does no harm",
        explain: "Many servers print a banner or a log line to standard output, though they must not. Report it, and go on: the messages behind it are whole.",
        script: Script::Client(|stage| {
            written(stage, |line| at_once(&[b"Server is running {\n", line.as_bytes(), b"\n"]))
        }),
        ..ALONE
    },
    Check {
        id: "client-framing-invalid-utf8",
        title: "a line that is not UTF-8 does no harm",
        explain: "It is no message, whatever it is. Decode line by line, so that it spoils no other.",
        script: Script::Client(|stage| {
            written(stage, |line| at_once(&[b"caf\xe9 \xff\xfe\n", line.as_bytes(), b"\n"]))
        }),
        ..ALONE
    },
    Check {
        id: "client-framing-white-space",
        title: "white space around a message and within does no harm",
        source: Source::Rfc(8259, "2"),
        strength: Strength::Should,
        explain: "JSON allows spaces and tabs around every token, and around the whole text.",
        script: Script::Client(|stage| {
            written(stage, |line| {
                at_once(&[b" \t ", line.replacen("\"id\":", "\"id\" :\t ", 1).as_bytes(), b" \t\n"])
            })
        }),
        ..ALONE
    },
    Check {
        id: "client-framing-escapes",
        title: "letters that are written as escapes are the letters",
        source: Source::Rfc(8259, "7"),
        strength: Strength::Must,
        explain: "Any character of a JSON string may be written as \\u and four digits, in names of members as well. Decode with a JSON parser, and search no text for names.",
        script: Script::Client(|stage| {
            written(stage, |line| {
                let escaped = line.replacen("\"result\":", "\"\\u0072esult\":", 1);
                at_once(&[escaped.as_bytes(), b"\n"])
            })
        }),
        ..ALONE
    },
    Check {
        id: "client-framing-member-order",
        title: "the members of an answer may stand in any order",
        source: Source::Rfc(8259, "4"),
        strength: Strength::Must,
        explain: "JSON objects are not ordered: jsonrpc and id may be the last members.",
        script: Script::Client(member_order),
        ..ALONE
    },
    Check {
        id: "client-framing-unicode-line-separators",
        title: "only a line feed ends a line, not U+2028 or U+0085",
        source: STDIO,
        strength: Strength::Must,
        explain: "JSON strings may hold U+2028, U+2029 and U+0085 as they are. Split at the byte 0x0A alone, not with a function that knows other line ends.",
        script: Script::Client(|stage| with_meta(stage, "a\u{2028}b\u{2029}c\u{85}d\u{1f600}")),
        ..ALONE
    },
    Check {
        id: "client-framing-long-line",
        title: "a line of a mebibyte is taken",
        source: STDIO,
        strength: Strength::Should,
        explain: "Nothing bounds a message: images and listings are long. Take what comes up to a bound of your own, and let that be generous.",
        script: Script::Client(|stage| with_meta(stage, &"x".repeat(1 << 20))),
        ..ALONE
    },
];

fn messages(stage: &mut Stage) -> Result<(), Finding> {
    for line in &stage.lines {
        let message = RawJson::from_slice(&line.bytes, 512).ok();
        if !message.is_some_and(|it| matches!(it.view().kind(), Kind::Object | Kind::Array)) {
            return Err(Finding::new("a message on each line", shown(&line.bytes)));
        }
    }
    Ok(())
}

fn utf8(stage: &mut Stage) -> Result<(), Finding> {
    for line in &stage.lines {
        if std::str::from_utf8(&line.bytes).is_err() || line.bytes.starts_with("\u{feff}".as_bytes()) {
            return Err(Finding::new("UTF-8 without a byte order mark", shown(&line.bytes)));
        }
    }
    Ok(())
}

fn last_line(stage: &mut Stage) -> Result<(), Finding> {
    match stage.lines.iter().find(|line| !line.ended) {
        Some(line) => Err(Finding::new("a line feed behind each message", shown(&line.bytes))),
        None => Ok(()),
    }
}

fn envelope(stage: &mut Stage) -> Result<(), Finding> {
    for message in &stage.messages {
        let versioned = message.get("jsonrpc").and_then(JsonRef::str).is_some_and(|it| it.eq_str("2.0"));
        let shaped = message.get("params").is_none_or(|params| params.kind() == Kind::Object);
        if !versioned || !shaped {
            return Err(Finding::new("jsonrpc 2.0, and params that are an object", message.text()));
        }
    }
    Ok(())
}

fn no_batch(stage: &mut Stage) -> Result<(), Finding> {
    if stage.revision().has_batches() {
        return Ok(());
    }
    let array = |line: &&crate::stage::Line| line.bytes.trim_ascii_start().starts_with(b"[");
    match stage.lines.iter().find(array) {
        Some(line) => Err(Finding::new("messages, no arrays of them", shown(&line.bytes))),
        None => Ok(()),
    }
}

fn at_once(parts: &[&[u8]]) -> Vec<Piece> {
    vec![(parts.concat(), Duration::ZERO)]
}

fn in_pieces(line: &str) -> Vec<Piece> {
    let bytes = [line.as_bytes(), b"\n"].concat();
    let cuts = [0, 1, bytes.len() / 2, bytes.len() - 1, bytes.len()];
    let piece = |at: &[usize]| (bytes[at[0]..at[1]].to_vec(), Duration::from_millis(30));
    cuts.windows(2).map(piece).collect()
}

fn behind_a_log(line: &str) -> Vec<Piece> {
    let log = concat!(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":"#,
        r#"{"level":"info","logger":"check","data":"a line of the log"}}"#
    );
    at_once(&[log.as_bytes(), b"\n", line.as_bytes(), b"\n"])
}

/// All lines of the server are written so, and the client goes on as usual.
fn written(stage: &mut Stage, write: fn(&str) -> Vec<Piece>) -> Result<(), Finding> {
    stage.write_as(write);
    goes_on(stage)
}

fn member_order(stage: &mut Stage) -> Result<(), Finding> {
    stage.write_as(|line| {
        // `{"jsonrpc":"2.0","id":ID,"result":RESULT}`, and errors alike.
        let turned = RawJson::parse_str(line).ok().map(|raw| {
            let members: Vec<_> = raw
                .view()
                .members()
                .map(|(name, value)| {
                    format!("\"{}\":{}", name.decode(), String::from_utf8_lossy(value.as_bytes()))
                })
                .collect();
            format!("{{{}}}", members.into_iter().rev().collect::<Vec<_>>().join(","))
        });
        at_once(&[turned.as_deref().unwrap_or(line).as_bytes(), b"\n"])
    });
    goes_on(stage)
}

/// The first answer behind the opening holds this text as well.
fn with_meta(stage: &mut Stage, text: &str) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let Ok(members) = stage.ordinary(request) else { return Ok(false) };
        let comma = if members.is_empty() { "" } else { "," };
        stage.result(request, &format!(r#"{members}{comma}"_meta":{{"example.com/text":"{text}"}}"#));
        Ok(true)
    })
}

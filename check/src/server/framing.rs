//! Lines: how messages are told apart on standard input and output.

use std::thread::sleep;
use std::time::Duration;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const SOURCE: Source = Source::Eras("basic/transports#stdio", "basic/transports/stdio");

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "framing-stdout-pure",
        title: "standard output carries messages and nothing else",
        source: SOURCE,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Alone,
        explain: "Every line of standard output is one JSON-RPC message. Write logs, banners and progress bars to standard error.",
        script: Script::Server(stdout_pure),
    },
    Check {
        id: "framing-split-line",
        title: "a line that arrives in pieces is one message",
        source: SOURCE,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain: "A pipe may hand over any part of a line at a time. Collect bytes until a line feed, then decode.",
        script: Script::Server(split_line),
    },
    Check {
        id: "framing-joined-lines",
        title: "lines that arrive at once are a message each",
        source: SOURCE,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain: "One read may bring several lines. Answer each of them.",
        script: Script::Server(joined_lines),
    },
    Check {
        id: "framing-no-newline-inside",
        title: "a message holds no line feed",
        source: SOURCE,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &["tools"],
        company: Company::Shared,
        explain: "Messages are delimited by line feeds, so one is written on one line: no indented JSON.",
        script: Script::Server(no_newline_inside),
    },
    Check {
        id: "framing-unicode-line-separators",
        title: "only a line feed ends a line, not U+2028 or U+0085",
        source: SOURCE,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain: "JSON strings may hold U+2028, U+2029 and U+0085 as they are. Split at the byte 0x0A alone, not with a function that knows other line ends.",
        script: Script::Server(unicode_line_separators),
    },
    Check {
        id: "framing-carriage-return",
        title: "a carriage return in front of the line feed does no harm",
        source: Source::Practice,
        strength: Strength::Advice,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain: "Clients on Windows write CR LF. A carriage return is white space to JSON, so a decoder takes it.",
        script: Script::Server(carriage_return),
    },
];

fn stdout_pure(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    talk.request(talk.harmless(), "")?;
    if talk.facts().declares("tools") {
        talk.request("tools/list", "")?;
    }
    talk.leave(Duration::from_secs(2));
    talk.junk().first().map_or(Ok(()), |line| Err(Finding::new("messages alone", shown(line))))
}

fn split_line(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let line = talk.line(&id, talk.harmless(), "") + "\n";
    let pieces = [1, line.len() / 2, line.len() - 2, line.len() - 1, line.len()];
    let mut from = 0;
    for to in pieces {
        talk.say(&line.as_bytes()[from..to]);
        sleep(Duration::from_millis(30));
        from = to;
    }
    answered(talk, &id)
}

fn joined_lines(talk: &mut Talk) -> Result<(), Finding> {
    let ids: Vec<_> = (0..5).map(|_| talk.id().to_string()).collect();
    let lines: Vec<_> = ids.iter().map(|id| talk.line(id, talk.harmless(), "") + "\n").collect();
    talk.say(lines.concat().as_bytes());
    ids.iter().try_for_each(|id| answered(talk, id))
}

fn no_newline_inside(talk: &mut Talk) -> Result<(), Finding> {
    talk.request("tools/list", "")?;
    talk.junk().first().map_or(Ok(()), |line| Err(Finding::new("a message on each line", shown(line))))
}

fn unicode_line_separators(talk: &mut Talk) -> Result<(), Finding> {
    let id = format!("\"a\u{2028}b\u{2029}c\u{85}d-{}\"", talk.id());
    let line = talk.line(&id, talk.harmless(), "");
    talk.say_line(&line);
    let Err(finding) = talk.request(talk.harmless(), "") else {
        // The id may come back escaped: another spelling of the same text.
        let strays = talk.strays();
        let same = |answer: &sanswire::jsonrpc::RawJson| {
            let id = answer.view().get("id").and_then(sanswire::jsonrpc::JsonRef::str);
            id.is_some_and(|id| id.decode().starts_with("a\u{2028}b\u{2029}c\u{85}d-"))
        };
        if strays.iter().any(same) {
            return Ok(());
        }
        let got = strays.first().map_or("none".to_owned(), |it| shown(it.as_bytes()));
        return Err(Finding::new("an answer with the id that holds the separators", got));
    };
    Err(finding)
}

fn carriage_return(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let line = talk.line(&id, talk.harmless(), "");
    talk.say(format!("{line}\r\n").as_bytes());
    answered(talk, &id)
}

/// The request is answered, before one that is sent now or soon after.
pub(super) fn answered(talk: &mut Talk, id: &str) -> Result<(), Finding> {
    let expected = format!("an answer with the id {id}");
    match talk.answer_before_next(id)? {
        Some(_) => Ok(()),
        None => Err(Finding::new(expected, "none, though a later request was answered")),
    }
}

//! Log messages: those that were asked for.

use sanswire::jsonrpc::{JsonRef, RawJson};

use super::base::check;
use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const PAGE: &str = "server/utilities/logging#error-handling";
/// From the least to the most severe.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

pub(super) const CHECKS: &[Check] = &[
    Check {
        speaks: Speaks::Legacy,
        needs: &["logging"],
        ..check(
            "logging-levels",
            "each of the eight levels can be set",
            Source::Spec("server/utilities/logging#setting-log-level"),
            "Who declares logging serves logging/setLevel with every level of the specification, and answers {}.",
            levels,
        )
    },
    Check {
        speaks: Speaks::Legacy,
        strength: Strength::Should,
        needs: &["logging"],
        ..check(
            "logging-unknown-level",
            "a level that there is not is refused with -32602",
            Source::Spec(PAGE),
            "A client that misspells a level has to learn of it, instead of waiting for messages that do not come.",
            |talk| {
                let answer = talk.request("logging/setLevel", r#""level":"sanswire-loud""#)?;
                refused(&answer)
            },
        )
    },
    Check {
        speaks: Speaks::Legacy,
        strength: Strength::Should,
        needs: &["logging"],
        ..check(
            "logging-threshold",
            "no message comes that is below the level",
            Source::Spec("server/utilities/logging#message-flow"),
            "The level that was set is the least severe that is sent, from then on.",
            threshold,
        )
    },
    Check {
        speaks: Speaks::Modern,
        strength: Strength::Should,
        needs: &["logging"],
        ..check(
            "logging-unknown-level-asked",
            "a request with a level that there is not is refused with -32602",
            Source::Spec(PAGE),
            "io.modelcontextprotocol/logLevel is one of eight words. Refuse another, so that the client learns of it.",
            |talk| {
                let method = method(talk);
                let meta = leveled(talk, "sanswire-loud");
                let answer = talk.request_with(method, &meta, "")?;
                refused(&answer)
            },
        )
    },
    Check {
        speaks: Speaks::Modern,
        needs: &["logging"],
        ..check(
            "logging-asked-threshold",
            "a request with a level gets no message below it",
            Source::Spec("server/utilities/logging#per-request-log-level"),
            "The level is that of the request which carries it: send what is at or above it, before the answer.",
            asked_threshold,
        )
    },
    Check {
        speaks: Speaks::Modern,
        ..check(
            "logging-unasked",
            "a request without a level gets no messages",
            Source::Spec("server/utilities/logging#per-request-log-level"),
            "Send notifications/message only for a request whose metadata hold io.modelcontextprotocol/logLevel. Write all else to standard error.",
            |talk| {
                work(talk)?;
                talk.settle()?;
                none_below(talk, LEVELS.len(), "no log messages")
            },
        )
    },
    check(
        "logging-declared",
        "who sends log messages declares logging",
        Source::Spec("server/utilities/logging#capabilities"),
        "Clients do not show messages of servers that do not declare logging. Declare it, or write to standard error.",
        |talk| {
            if talk.facts().declares("logging") {
                return Ok(());
            }
            work(talk)?;
            talk.settle()?;
            none_below(talk, LEVELS.len(), "no log messages of a server that does not declare logging")
        },
    ),
];

fn refused(answer: &crate::talk::Answer) -> Result<(), Finding> {
    if answer.code() == Some(-32602) {
        return Ok(());
    }
    Err(Finding::new("the error -32602", answer.text()))
}

fn levels(talk: &mut Talk) -> Result<(), Finding> {
    for level in LEVELS {
        let answer = talk.request("logging/setLevel", &format!(r#""level":"{level}""#))?;
        if answer.result().is_none() {
            return Err(Finding::new(format!("a result of the level {level}"), answer.text()));
        }
    }
    Ok(())
}

/// Something that servers may log.
fn work(talk: &mut Talk) -> Result<(), Finding> {
    for (method, members) in talk.work()? {
        talk.request(method, &members)?;
    }
    Ok(())
}

fn method(talk: &Talk) -> &'static str {
    talk.facts().lists().first().copied().unwrap_or_else(|| talk.harmless())
}

fn leveled(talk: &Talk, level: &str) -> crate::talk::Meta {
    let mut meta = talk.meta();
    meta.more = format!(r#""io.modelcontextprotocol/logLevel":"{level}""#);
    meta
}

/// None of the messages that came is below this place among the levels.
fn none_below(talk: &mut Talk, least: usize, expected: &str) -> Result<(), Finding> {
    let is_below = |notice: &RawJson| {
        let view = notice.view();
        let method = view.get("method").and_then(JsonRef::str);
        let level = view.get("params").and_then(|params| params.get("level")?.str());
        let place = level.and_then(|level| LEVELS.iter().position(|known| level.eq_str(known)));
        method.is_some_and(|method| method.eq_str("notifications/message"))
            && place.is_none_or(|place| place < least)
    };
    match talk.notices().iter().find(|notice| is_below(notice)) {
        None => Ok(()),
        Some(message) => Err(Finding::new(expected, shown(message.as_bytes()))),
    }
}

fn threshold(talk: &mut Talk) -> Result<(), Finding> {
    for (least, level) in LEVELS.into_iter().enumerate().skip(3).step_by(2) {
        talk.request("logging/setLevel", &format!(r#""level":"{level}""#))?;
        talk.notices();
        work(talk)?;
        talk.settle()?;
        none_below(talk, least, &format!("no message below {level}"))?;
    }
    Ok(())
}

fn asked_threshold(talk: &mut Talk) -> Result<(), Finding> {
    let mut work = talk.work()?;
    if work.is_empty() {
        work.push((talk.harmless(), String::new()));
    }
    for (method, members) in &work {
        for (least, level) in LEVELS.into_iter().enumerate().skip(2).step_by(2) {
            let meta = leveled(talk, level);
            talk.notices();
            talk.request_with(method, &meta, members)?;
            none_below(talk, least, &format!("no message below {level}"))?;
        }
    }
    Ok(())
}

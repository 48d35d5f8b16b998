//! Progress: told where it was asked for, and while the work goes on.

use sanswire::jsonrpc::{JsonRef, RawJson};

use super::base::check;
use crate::check::{Check, Source};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const FLOW: Source =
    Source::Eras("basic/utilities/progress#progress-flow", "basic/patterns/progress#progress-flow");
const BEHAVIOR: Source = Source::Eras(
    "basic/utilities/progress#behavior-requirements",
    "basic/patterns/progress#behavior-requirements",
);
const NOTES: Source = Source::Eras(
    "basic/utilities/progress#implementation-notes",
    "basic/patterns/progress#implementation-notes",
);
const NONE_CAME: &str = "no progress was told of what is listed, or of a call that is allowed";

pub(super) const CHECKS: &[Check] = &[
    check(
        "progress-token-taken",
        "a request may have a progress token, a string or an integer",
        FLOW,
        "Many clients put a progressToken into _meta of every request. Tell progress or do not, but serve the request.",
        token_taken,
    ),
    check(
        "progress-without-token",
        "no progress is told that nobody asked for",
        BEHAVIOR,
        "Without a progressToken in the request there is nothing that progress could name: keep it to yourself.",
        without_token,
    ),
    check(
        "progress-after-answer",
        "no progress is told of what is answered",
        NOTES,
        "The answer is the last word. Clients forget the token with it, and take what comes later for a fault.",
        after_answer,
    ),
    check(
        "progress-names-token",
        "progress names the token of its request, as it was given",
        BEHAVIOR,
        "The token goes back as it came: 7 stays a number and \"7\" a string.",
        |talk| {
            each_progress(talk, |told, token| {
                let named =
                    told.iter().all(|it| param(it, "progressToken").is_some_and(|it| it.as_bytes() == token));
                (named, "progress with the token of the request")
            })
        },
    ),
    check(
        "progress-grows",
        "progress grows with each notification",
        FLOW,
        "Each notification of a request has a greater progress than the one before, whether or not a total is known.",
        |talk| {
            each_progress(talk, |told, token| {
                let is_own =
                    |it: &&RawJson| param(it, "progressToken").is_some_and(|it| it.as_bytes() == token);
                let own = told.iter().filter(is_own);
                let values: Vec<_> = own.map(|it| param(it, "progress").and_then(JsonRef::as_f64)).collect();
                let grows =
                    values.iter().all(Option::is_some) && values.windows(2).all(|two| two[0] < two[1]);
                (grows, "progress that is a number and grows")
            })
        },
    ),
];

/// Asks with a token, as this era has it.
fn ask(talk: &mut Talk, (method, members): &(&str, String), token: &str) -> String {
    let token = format!(r#""progressToken":{token}"#);
    if talk.is_modern() {
        let mut meta = talk.meta();
        meta.more = token;
        return talk.ask_with(method, &meta, members);
    }
    let comma = if members.is_empty() { "" } else { "," };
    talk.ask(method, &format!(r#""_meta":{{{token}}}{comma}{members}"#))
}

/// What is asked with a token: what is listed and called, or what every server answers.
fn work(talk: &mut Talk) -> Result<Vec<(&'static str, String)>, Finding> {
    let work = talk.work()?;
    Ok(if work.is_empty() { vec![(talk.harmless(), String::new())] } else { work })
}

fn param<'a>(notice: &'a RawJson, name: &str) -> Option<JsonRef<'a>> {
    notice.view().get("params")?.get(name)
}

fn is_progress(notice: &RawJson) -> bool {
    let method = notice.view().get("method").and_then(JsonRef::str);
    method.is_some_and(|method| method.eq_str("notifications/progress"))
}

fn told(talk: &mut Talk) -> Vec<RawJson> {
    talk.notices().into_iter().filter(is_progress).collect()
}

fn token_taken(talk: &mut Talk) -> Result<(), Finding> {
    let method = talk.facts().lists().first().copied().unwrap_or_else(|| talk.harmless());
    for token in ["\"sanswire-check\"", "4711", "0", "\"\""] {
        let id = ask(talk, &(method, String::new()), token);
        let answer = talk.answer_to(&id)?;
        if answer.result().is_none() {
            let expected = format!("a result of {method} with the progress token {token}");
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

fn without_token(talk: &mut Talk) -> Result<(), Finding> {
    for (method, members) in work(talk)? {
        talk.request(method, &members)?;
    }
    talk.settle()?;
    match told(talk).first() {
        None => Ok(()),
        Some(progress) => Err(Finding::new("no progress", shown(progress.as_bytes()))),
    }
}

fn after_answer(talk: &mut Talk) -> Result<(), Finding> {
    for asked in work(talk)? {
        let id = ask(talk, &asked, "\"sanswire-after\"");
        talk.answer_to(&id)?;
        talk.notices();
        talk.settle()?;
        if let Some(progress) = told(talk).first() {
            return Err(Finding::new("no progress after the answer", shown(progress.as_bytes())));
        }
    }
    Ok(())
}

/// Asks with both kinds of tokens, and looks at what was told of each request.
fn each_progress(
    talk: &mut Talk,
    holds: fn(&[RawJson], &[u8]) -> (bool, &'static str),
) -> Result<(), Finding> {
    let mut any = false;
    for asked in work(talk)? {
        for token in ["4712", "\"4713\""] {
            talk.notices();
            let id = ask(talk, &asked, token);
            talk.answer_to(&id)?;
            let told = told(talk);
            let (kept, expected) = holds(&told, token.as_bytes());
            if let (false, Some(last)) = (kept, told.last()) {
                return Err(Finding::new(expected, shown(last.as_bytes())));
            }
            any |= !told.is_empty();
        }
    }
    if any { Ok(()) } else { talk.not_tried(NONE_CAME) }
}

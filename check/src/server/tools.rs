//! Tools: their names and descriptions, and what is said of one that there is not.

use sanswire::mcp::Revision;
use serde_json::Value;

use super::pagination::unique;
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{Lists, Talk};

const NAMES: Source = Source::Spec("server/tools#tool-names");
/// Where names are spoken of.
const NAMED: Speaks = Speaks::Between(Revision::V2025_11_25, Revision::V2026_07_28);
/// A page of text: longer ones are read with each question to a model, for each tool.
const LONG: usize = 4096;

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "tools-name-length",
        "a tool's name has 1 to 128 characters",
        NAMES,
        Should,
        NAMED,
        ["tools"],
        |talk| each_name(talk, "1 to 128 characters", |name| (1..=128).contains(&name.chars().count())),
        "Clients have room for names of that length, and may drop a tool with a longer one."
    ),
    shared!(
        "tools-name-characters",
        "a tool's name is of letters, digits, underscore, hyphen and dot",
        NAMES,
        Should,
        NAMED,
        ["tools"],
        |talk| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            each_name(talk, "letters of ASCII, digits, _, - and .", |name| name.chars().all(allowed))
        },
        "Spaces, commas and letters beyond ASCII are refused by what tools are handed on to. Use title for what people read."
    ),
    shared!(
        "tools-names-unique",
        "no two tools have one name",
        NAMES,
        Should,
        NAMED,
        ["tools"],
        |talk| match listed(talk)? {
            Some(list) => unique(&list),
            None => no_tools(talk),
        },
        "A call names its tool, so of two with one name only one can be called."
    ),
    shared!(
        "tools-name-hosts",
        "a tool's name fits the interfaces of models",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        |talk| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            each_name(talk, "64 letters, digits, _ and - at most", |name| {
                name.len() <= 64 && name.chars().all(allowed)
            })
        },
        "The interfaces of several models take function names of 64 characters at most, without dots. Hosts rename or drop other tools."
    ),
    shared!(
        "tools-description",
        "each tool is described",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        description,
        "A model chooses a tool by its description. Say what the tool does, when to use it and what it gives back."
    ),
    shared!(
        "tools-description-size",
        "no tool's description is longer than a page",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        description_size,
        "All descriptions stand in front of each question to a model. What is longer than 4 KiB belongs into a resource, a prompt or the answer."
    ),
    shared!(
        "tools-unknown",
        "a call of a tool that there is not is told to fail",
        Source::Spec("server/tools#error-handling"),
        Should,
        Speaks::EachEra,
        ["tools"],
        unknown,
        "A model may invent a name. Answer with the error -32602; a result without isError looks as if something had been done."
    ),
    shared!(
        "tools-unknown-code",
        "a call of a tool that there is not is answered with the error -32602",
        Source::Spec("server/tools#error-handling"),
        Advice,
        Speaks::EachEra,
        ["tools"],
        unknown_code,
        "An unknown tool is a fault of the request, as the specification has it in its example. Results with isError are for what a tool itself could not do."
    ),
    shared!(
        "tools-call-without-name",
        "a call that names no tool is answered with an error",
        Source::Spec("server/tools#error-handling"),
        Should,
        Speaks::EachEra,
        ["tools"],
        without_name,
        "Look at the parameters before you use them: a call without a name is answered with -32602, and the server goes on."
    ),
];

/// The tools, if any is listed.
pub(super) fn listed(talk: &mut Talk) -> Result<Option<std::sync::Arc<crate::talk::List>>, Finding> {
    let list = talk.list(Lists::Tools)?;
    let any = list.entries().next().is_some();
    Ok(any.then_some(list))
}

pub(super) fn no_tools(talk: &mut Talk) -> Result<(), Finding> {
    talk.not_tried("no tool is listed")
}

/// The name of an entry, as it can be shown.
pub(super) fn called(entry: &Value) -> String {
    shown(entry["name"].as_str().unwrap_or("without a name").as_bytes())
}

fn each_name(talk: &mut Talk, wanted: &str, fits: impl Fn(&str) -> bool) -> Result<(), Finding> {
    let Some(list) = listed(talk)? else { return no_tools(talk) };
    match list.keys().find(|name| !fits(name)) {
        None => Ok(()),
        Some(name) => Err(Finding::new(format!("a name of {wanted}"), shown(name.as_bytes()))),
    }
}

fn description(talk: &mut Talk) -> Result<(), Finding> {
    let Some(list) = listed(talk)? else { return no_tools(talk) };
    let says = |tool: &&Value| tool["description"].as_str().is_some_and(|text| !text.trim().is_empty());
    match list.entries().find(|tool| !says(tool)) {
        None => Ok(()),
        Some(tool) => Err(Finding::new("a description of each tool", format!("none of {}", called(tool)))),
    }
}

fn description_size(talk: &mut Talk) -> Result<(), Finding> {
    let Some(list) = listed(talk)? else { return no_tools(talk) };
    let len = |tool: &Value| tool["description"].as_str().map_or(0, str::len);
    match list.entries().max_by_key(|tool| len(tool)).filter(|tool| len(tool) > LONG) {
        None => Ok(()),
        Some(tool) => {
            let got = format!("{} bytes of {}", len(tool), called(tool));
            Err(Finding::new(format!("descriptions of {LONG} bytes at most"), got))
        }
    }
}

const NOBODY: &str = r#""name":"sanswire_check_no_such_tool","arguments":{}"#;

fn unknown(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("tools/call", NOBODY)?;
    let failed = answer.result().and_then(|it| it.get("isError")).and_then(|it| it.as_bool());
    if answer.result().is_none() || failed == Some(true) {
        return Ok(());
    }
    Err(Finding::new("an error, or a result with isError", answer.text()))
}

fn unknown_code(talk: &mut Talk) -> Result<(), Finding> {
    super::is_refused(&talk.request("tools/call", NOBODY)?, &[-32602])
}

fn without_name(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("tools/call", r#""arguments":{}"#)?;
    if answer.result().is_none() {
        return Ok(());
    }
    Err(Finding::new("an error", answer.text()))
}

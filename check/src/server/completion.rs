//! Completion: what is proposed while somebody types.

use serde_json::{Value, json};

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::{Lists, Talk};

const RESULTS: Source = Source::Spec("server/utilities/completion#completion-results");

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "completion-bound",
        "no more than 100 values are proposed at once",
        RESULTS,
        Must,
        Speaks::EachEra,
        ["completions"],
        bound,
        "Give the best 100, and say with total and hasMore that there are others."
    ),
    shared!(
        "completion-total",
        "total and hasMore agree with what is proposed",
        RESULTS,
        Advice,
        Speaks::EachEra,
        ["completions"],
        total,
        "total is how many there are, the proposed ones among them; hasMore is true where that is more than was proposed."
    ),
    shared!(
        "completion-unknown-prompt",
        "completing an argument of a prompt that there is not is answered with -32602",
        Source::Spec("server/utilities/completion#error-handling"),
        Should,
        Speaks::EachEra,
        ["completions"],
        |talk| {
            let asked =
                asked(&json!({"type": "ref/prompt", "name": "sanswire_check_no_such_prompt"}), &json!("a"));
            let answer = talk.request("completion/complete", &asked)?;
            super::is_refused(&answer, &[-32602])
        },
        "No values says that nothing begins like that; the error says that the prompt is gone."
    ),
];

/// The parameters of a completion that the server can give: of a prompt with an argument, or of a template.
pub(super) fn something_to_complete(talk: &mut Talk) -> Result<Option<String>, Finding> {
    if talk.facts().declares("prompts") {
        let list = talk.list(Lists::Prompts)?;
        for prompt in list.entries() {
            let first = prompt["arguments"].as_array().and_then(|all| all.first());
            if let Some(argument) = first.and_then(|it| it.get("name")) {
                return Ok(Some(asked(&json!({"type": "ref/prompt", "name": prompt["name"]}), argument)));
            }
        }
    }
    if talk.facts().declares("resources") {
        let list = talk.list(Lists::Templates)?;
        for template in list.entries().filter_map(|it| it["uriTemplate"].as_str()) {
            let inside = template.split_once('{').and_then(|(_, behind)| behind.split_once('}'));
            let name = inside.map(|(names, _)| names.trim_start_matches(|c| "+#./;?&".contains(c)));
            if let Some(name) = name.and_then(|names| names.split([',', ':', '*']).next()) {
                return Ok(Some(asked(&json!({"type": "ref/resource", "uri": template}), &json!(name))));
            }
        }
    }
    Ok(None)
}

fn asked(of: &Value, argument: &Value) -> String {
    format!(r#""ref":{of},"argument":{{"name":{argument},"value":""}}"#)
}

/// What is proposed, if anything can be completed.
fn proposed(talk: &mut Talk) -> Result<Option<Value>, Finding> {
    let Some(asked) = something_to_complete(talk)? else {
        talk.not_tried("no prompt with an argument is listed, and no template")?;
        return Ok(None);
    };
    let answer = talk.request("completion/complete", &asked)?;
    if answer.result().is_none() {
        talk.not_tried(format!("it is answered with an error: {}", answer.text()))?;
    }
    Ok(answer.value().map(|result| result["completion"].clone()))
}

fn count(completion: &Value) -> u64 {
    completion["values"].as_array().map_or(0, Vec::len) as u64
}

fn bound(talk: &mut Talk) -> Result<(), Finding> {
    let Some(completion) = proposed(talk)? else { return Ok(()) };
    let count = count(&completion);
    if count <= 100 { Ok(()) } else { Err(Finding::new("100 values at most", count)) }
}

fn total(talk: &mut Talk) -> Result<(), Finding> {
    let Some(completion) = proposed(talk)? else { return Ok(()) };
    let Some(total) = completion["total"].as_u64() else {
        return talk.not_tried("the server says no total");
    };
    let count = count(&completion);
    let more = completion["hasMore"].as_bool();
    if total >= count && more.is_none_or(|more| more == (total > count)) {
        return Ok(());
    }
    let expected = "a total of all values, and hasMore if that is more than was proposed";
    Err(Finding::new(expected, format!("{count} values, total {total}, hasMore {}", completion["hasMore"])))
}

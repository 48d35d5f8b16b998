//! Schemas: each result is what the published schema of the revision says.

use sanswire::mcp::Revision;
use serde_json::Value;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::schema::{Fit, published};
use crate::talk::{Answer, Lists, Talk};
use crate::transcript::From;

const EACH: Speaks = Speaks::Between(Revision::V2024_11_05, Revision::V2026_07_28);
const EXPLAIN: &str = "Clients decode results by the published schema of the revision that is spoken, and many drop a whole answer where one member does not fit. Leave out what you have no value for: null is a value.";

macro_rules! valid {
    ($id:literal, $title:literal, $page:literal, $speaks:expr, [$($needs:literal)?], $script:expr) => {
        Check {
            id: $id,
            title: $title,
            source: Source::Spec($page),
            strength: Strength::Must,
            speaks: $speaks,
            needs: &[$($needs)?],
            company: Company::Shared,
            explain: EXPLAIN,
            script: Script::Server($script),
        }
    };
}

pub(super) const CHECKS: &[Check] = &[
    valid!(
        "schema-initialize",
        "the result of initialize is valid",
        "basic/lifecycle#initialization",
        Speaks::Between(Revision::V2024_11_05, Revision::V2025_11_25),
        [],
        initialize
    ),
    valid!(
        "schema-discover",
        "the result of server/discover is valid",
        "server/discover#response",
        Speaks::Modern,
        [],
        discover
    ),
    valid!(
        "schema-tools-list",
        "what tools/list gives is valid",
        "server/tools#listing-tools",
        EACH,
        ["tools"],
        |talk| listing(talk, Lists::Tools, "ListToolsResult")
    ),
    valid!(
        "schema-resources-list",
        "what resources/list gives is valid",
        "server/resources#listing-resources",
        EACH,
        ["resources"],
        |talk| listing(talk, Lists::Resources, "ListResourcesResult")
    ),
    valid!(
        "schema-resource-templates-list",
        "what resources/templates/list gives is valid",
        "server/resources#resource-templates",
        EACH,
        ["resources"],
        |talk| listing(talk, Lists::Templates, "ListResourceTemplatesResult")
    ),
    valid!(
        "schema-prompts-list",
        "what prompts/list gives is valid",
        "server/prompts#listing-prompts",
        EACH,
        ["prompts"],
        |talk| listing(talk, Lists::Prompts, "ListPromptsResult")
    ),
    valid!(
        "schema-prompts-get",
        "what prompts/get gives is valid",
        "server/prompts#getting-a-prompt",
        EACH,
        ["prompts"],
        prompts_get
    ),
    valid!(
        "schema-resources-read",
        "what resources/read gives is valid",
        "server/resources#reading-resources",
        EACH,
        ["resources"],
        resources_read
    ),
    valid!(
        "schema-completion",
        "what completion/complete gives is valid",
        "server/utilities/completion#completion-results",
        Speaks::Between(Revision::V2025_03_26, Revision::V2026_07_28),
        ["completions"],
        completion
    ),
];

fn initialize(talk: &mut Talk) -> Result<(), Finding> {
    let Some(opened) = talk.facts().opened.clone() else {
        return talk.not_tried("the server was not opened");
    };
    talk.note(From::Event, "the result of initialize, when the server was first opened:");
    talk.note(From::Server, opened.as_str());
    fits(talk, "InitializeResult", serde_json::from_slice(opened.as_bytes()).ok().as_ref())
}

fn discover(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("server/discover", "")?;
    result(talk, "DiscoverResult", &answer)
}

fn listing(talk: &mut Talk, of: Lists, name: &str) -> Result<(), Finding> {
    let list = talk.list(of)?;
    if let Some(refusal) = list.refusal() {
        return talk.not_tried(refusal);
    }
    list.pages.iter().try_for_each(|page| result(talk, name, &page.answer))
}

fn prompts_get(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Prompts)?;
    let needs = |prompt: &Value| {
        prompt["arguments"].as_array().into_iter().flatten().any(|argument| argument["required"] == true)
    };
    let Some(name) = list.entries().find(|it| !needs(it)).and_then(|it| it.get("name")) else {
        return talk.not_tried("no prompt is listed that needs no argument");
    };
    let answer = talk.request("prompts/get", &format!(r#""name":{name}"#))?;
    result(talk, "GetPromptResult", &answer)
}

fn resources_read(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Resources)?;
    let Some(uri) = list.entries().find_map(|it| it.get("uri")) else {
        return talk.not_tried("no resource is listed");
    };
    let answer = talk.request("resources/read", &format!(r#""uri":{uri}"#))?;
    result(talk, "ReadResourceResult", &answer)
}

fn completion(talk: &mut Talk) -> Result<(), Finding> {
    let Some(asked) = super::completion::something_to_complete(talk)? else {
        return talk.not_tried("no prompt with an argument is listed, and no template");
    };
    let answer = talk.request("completion/complete", &asked)?;
    result(talk, "CompleteResult", &answer)
}

/// Whether the result is valid; what is refused, or asks for input first, is not judged.
pub(super) fn result(talk: &mut Talk, name: &str, answer: &Answer) -> Result<(), Finding> {
    let Some(result) = answer.result() else {
        return talk.not_tried(format!("it is answered with an error: {}", answer.text()));
    };
    if super::asks_for_input(result) {
        return talk.not_tried("the server asks for input first");
    }
    fits(talk, name, answer.value().as_ref())
}

/// Whether what is asked for is valid.
pub(super) fn input_required(talk: &mut Talk, answer: &Answer) -> Result<(), Finding> {
    fits(talk, "InputRequiredResult", answer.value().as_ref())
}

fn fits(talk: &mut Talk, name: &str, value: Option<&Value>) -> Result<(), Finding> {
    match value.map_or(Fit::Unknown, |value| published(talk.revision(), name, value)) {
        Fit::Fits => Ok(()),
        Fit::Misfit(misfit) => {
            Err(Finding::new(format!("a valid {name} of {}", talk.revision()), format!("one where {misfit}")))
        }
        Fit::Unknown => talk.not_tried("the result is too deep to be judged"),
    }
}

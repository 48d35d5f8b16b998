//! Prompts: their names, and what is said where one is asked for wrongly.

use sanswire::base64;
use serde_json::Value;

use super::forms::is_mime_type;
use super::pagination::unique;
use super::shown;
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::{Lists, Talk};

/// How many of the listed prompts are asked for.
const ASKED: usize = 5;

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "prompts-unique",
        "no two prompts have one name",
        Source::Spec("server/prompts#prompt"),
        Should,
        Speaks::EachEra,
        ["prompts"],
        |talk| {
            let list = talk.list(Lists::Prompts)?;
            match list.entries().next() {
                Some(_) => unique(&list),
                None => talk.not_tried("no prompt is listed"),
            }
        },
        "A prompt is asked for by its name: of two with one name only one can be had."
    ),
    shared!(
        "prompts-argument-names",
        "no prompt has two arguments of one name",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["prompts"],
        argument_names,
        "Arguments are the members of an object, so two of one name cannot both be given."
    ),
    shared!(
        "prompts-unknown",
        "a prompt that there is not is answered with -32602",
        Source::Spec("server/prompts#error-handling"),
        Should,
        Speaks::EachEra,
        ["prompts"],
        |talk| {
            let answer = talk.request("prompts/get", r#""name":"sanswire_check_no_such_prompt""#)?;
            super::is_refused(&answer, &[-32602])
        },
        "The name is a parameter, and an unknown one is an invalid parameter: -32602. Other errors look as if the server had failed."
    ),
    shared!(
        "prompts-missing-argument",
        "a prompt without an argument that it needs is answered with -32602",
        Source::Spec("server/prompts#error-handling"),
        Should,
        Speaks::EachEra,
        ["prompts"],
        missing_argument,
        "What is listed as required has to be there. A prompt that is made all the same says undefined where a text should stand."
    ),
    shared!(
        "prompts-media",
        "images, sounds and binary resources of prompts are in Base64 and have a MIME type",
        Source::Spec("server/prompts#promptmessage"),
        Must,
        Speaks::EachEra,
        ["prompts"],
        media,
        "The data of an image is Base64 as RFC 4648 has it, without a data: prefix and without line ends, and its MIME type says what it is."
    ),
];

fn arguments(prompt: &Value) -> impl Iterator<Item = &Value> {
    prompt["arguments"].as_array().into_iter().flatten()
}

fn argument_names(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Prompts)?;
    let mut tried = false;
    for prompt in list.entries() {
        let mut names: Vec<_> = arguments(prompt).filter_map(|it| it["name"].as_str()).collect();
        tried |= !names.is_empty();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let got = format!("{} twice in {}", shown(pair[0].as_bytes()), prompt["name"]);
            return Err(Finding::new("each argument once", got));
        }
    }
    if tried { Ok(()) } else { talk.not_tried("no prompt with an argument is listed") }
}

fn missing_argument(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Prompts)?;
    let Some(prompt) = list.entries().find(|it| arguments(it).any(|it| it["required"] == true)) else {
        return talk.not_tried("no prompt is listed that needs an argument");
    };
    let answer = talk.request("prompts/get", &format!(r#""name":{}"#, prompt["name"]))?;
    super::is_refused(&answer, &[-32602])
}

fn media(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Prompts)?;
    let mut tried = false;
    for prompt in list.entries().filter(|it| !arguments(it).any(|it| it["required"] == true)).take(ASKED) {
        let answer = talk.request("prompts/get", &format!(r#""name":{}"#, prompt["name"]))?;
        let result = answer.value().unwrap_or_default();
        for message in result["messages"].as_array().into_iter().flatten() {
            let found = media_flaw(&message["content"]);
            tried |= found.is_some();
            if let Some(Some(flaw)) = found {
                return Err(flaw);
            }
        }
    }
    if tried { Ok(()) } else { talk.not_tried("none of the first prompts has anything but text") }
}

/// What is wrong with the bytes in a content block; none if it has no bytes.
pub(super) fn media_flaw(block: &Value) -> Option<Option<Finding>> {
    let (data, mime, has_to) = match block["type"].as_str()? {
        "image" | "audio" => (&block["data"], &block["mimeType"], true),
        "resource" => (&block["resource"]["blob"], &block["resource"]["mimeType"], false),
        _ => return None,
    };
    let data = data.as_str()?;
    if base64::decode(data.as_bytes()).is_none() {
        return Some(Some(Finding::new("data in Base64", shown(data.as_bytes()))));
    }
    let fits = mime.as_str().map_or(!has_to, is_mime_type);
    Some((!fits).then(|| Finding::new("a MIME type", mime)))
}

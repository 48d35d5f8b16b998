//! Resources: how they are named, and what reading them gives.

use sanswire::base64;
use serde_json::Value;

use super::forms::{is_mime_type, is_uri, is_uri_template};
use super::pagination::unique;
use super::shown;
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::{Lists, Talk};

/// How many of the listed resources are read: reading changes nothing, but may take long.
const READ: usize = 3;

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "resources-uris",
        "each resource has a URI",
        Source::Spec("server/resources#common-uri-schemes"),
        Must,
        Speaks::EachEra,
        ["resources"],
        |talk| each(
            talk,
            Lists::Resources,
            "uri",
            "a URI: a scheme, a colon, and characters of RFC 3986",
            is_uri
        ),
        "A resource is named by a URI as RFC 3986 has it. A path or a bare name is none, and blanks and letters beyond ASCII are written as %20 and the like."
    ),
    shared!(
        "resources-unique",
        "no two resources have one URI",
        Source::Spec("server/resources#resource"),
        Should,
        Speaks::EachEra,
        ["resources"],
        |talk| {
            let list = talk.list(Lists::Resources)?;
            match list.entries().next() {
                Some(_) => unique(&list),
                None => talk.not_tried("no resource is listed"),
            }
        },
        "The URI is what tells one resource from another: of two with one URI only one can be read."
    ),
    shared!(
        "resources-mime-types",
        "the MIME type of a resource is one",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["resources"],
        |talk| each(talk, Lists::Resources, "mimeType", "type/subtype", is_mime_type),
        "A client chooses by the MIME type how it shows a resource. Write type/subtype, or leave it out."
    ),
    shared!(
        "resources-templates",
        "each template is one of RFC 6570",
        Source::Spec("server/resources#resource-templates"),
        Should,
        Speaks::EachEra,
        ["resources"],
        |talk| each(talk, Lists::Templates, "uriTemplate", "a template as RFC 6570 has it", is_uri_template),
        "A client puts values into the braces by RFC 6570. Names in braces are letters, digits, underscore and dot, and every brace is closed."
    ),
    shared!(
        "resources-unknown",
        "reading what is not there is answered with -32002",
        Source::Spec("server/resources#error-handling"),
        Should,
        Speaks::Legacy,
        ["resources"],
        |talk| unknown(talk, -32002),
        "The error says to a client that the resource is gone, and not that reading failed. An empty list of contents says that there is nothing in it."
    ),
    shared!(
        "resources-unknown-modern",
        "reading what is not there is answered with -32602",
        Source::Spec("server/resources#error-handling"),
        Must,
        Speaks::Modern,
        ["resources"],
        |talk| unknown(talk, -32602),
        "Since 2026-07-28 a resource that does not exist is answered with the error -32602, and never with an empty list of contents."
    ),
    shared!(
        "resources-read-uri",
        "what is read says the URI that was asked for",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["resources"],
        read_uri,
        "A client keeps contents by their URI. Several contents may have URIs of their own, as the files of a folder have; a single one is what was asked for."
    ),
    shared!(
        "resources-blob",
        "binary contents are in Base64",
        Source::Spec("server/resources#binary-content"),
        Must,
        Speaks::EachEra,
        ["resources"],
        blob,
        "The member blob holds the bytes in Base64 as RFC 4648 has it: of the alphabet with + and /, filled up with =, without line ends."
    ),
    shared!(
        "resources-size",
        "the size of a resource is true",
        Source::Spec("server/resources#resource"),
        Advice,
        Speaks::EachEra,
        ["resources"],
        size,
        "Hosts plan by the size how much of a context a resource takes. It is the number of bytes before Base64; leave it out where it is not known."
    ),
];

/// Every member of that name in the listing has to fit.
fn each(
    talk: &mut Talk,
    of: Lists,
    member: &str,
    wanted: &str,
    fits: fn(&str) -> bool,
) -> Result<(), Finding> {
    let list = talk.list(of)?;
    let mut there = list.entries().filter_map(|entry| entry[member].as_str()).peekable();
    if there.peek().is_none() {
        return talk.not_tried(format!("{} gives nothing with a {member}", of.method()));
    }
    match there.find(|text| !fits(text)) {
        None => Ok(()),
        Some(odd) => Err(Finding::new(wanted, shown(odd.as_bytes()))),
    }
}

fn unknown(talk: &mut Talk, code: i64) -> Result<(), Finding> {
    let answer = talk.request("resources/read", r#""uri":"sanswire-check://no/such/resource""#)?;
    super::is_refused(&answer, &[code])
}

/// The first resources that are listed, and what reading them gives: those that can be read.
fn read(talk: &mut Talk) -> Result<Vec<(Value, Value)>, Finding> {
    let list = talk.list(Lists::Resources)?;
    let mut all = Vec::new();
    for entry in list.entries().filter(|entry| entry["uri"].is_string()).take(READ) {
        let answer = talk.request("resources/read", &format!(r#""uri":{}"#, entry["uri"]))?;
        all.extend(answer.value().map(|result| (entry.clone(), result)));
    }
    Ok(all)
}

fn contents(result: &Value) -> &[Value] {
    result["contents"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn read_uri(talk: &mut Talk) -> Result<(), Finding> {
    let mut tried = false;
    for (entry, result) in read(talk)? {
        let [only] = contents(&result) else { continue };
        tried = true;
        if only["uri"] != entry["uri"] {
            let (wanted, got) = (entry["uri"].to_string(), only["uri"].to_string());
            return Err(Finding::new(format!("the URI {}", shown(wanted.as_bytes())), shown(got.as_bytes())));
        }
    }
    if tried { Ok(()) } else { talk.not_tried("no resource is listed that reads as a single one") }
}

fn blob(talk: &mut Talk) -> Result<(), Finding> {
    let mut tried = false;
    for (entry, result) in read(talk)? {
        for blob in contents(&result).iter().filter_map(|it| it["blob"].as_str()) {
            tried = true;
            if base64::decode(blob.as_bytes()).is_none() {
                let got = format!("{} of {}", shown(blob.as_bytes()), entry["uri"]);
                return Err(Finding::new("a blob in Base64", got));
            }
        }
    }
    if tried { Ok(()) } else { talk.not_tried("none of the first resources is binary") }
}

fn size(talk: &mut Talk) -> Result<(), Finding> {
    let mut tried = false;
    for (entry, result) in read(talk)? {
        let ([only], Some(said)) = (contents(&result), entry["size"].as_u64()) else { continue };
        let text = only["text"].as_str().map(str::len);
        let blob = || Some(base64::decode(only["blob"].as_str()?.as_bytes())?.len());
        let Some(len) = text.or_else(blob) else { continue };
        tried = true;
        if len as u64 != said {
            return Err(Finding::new(format!("{said} bytes of {}", entry["uri"]), format!("{len}")));
        }
    }
    if tried { Ok(()) } else { talk.not_tried("none of the first resources says its size") }
}

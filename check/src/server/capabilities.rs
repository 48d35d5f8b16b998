//! Capabilities: what is declared is there, and what is not is refused.

use sanswire::jsonrpc::{JsonRef, Kind};

use super::base::check;
use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{Answer, Talk};

const SCHEMA: Source = Source::Spec("schema#servercapabilities");
const NEGOTIATED: Source =
    Source::Eras("basic/lifecycle#capability-negotiation", "server/discover#discoverresult");
const NOT_FOUND: i64 = -32601;

pub(super) const CHECKS: &[Check] = &[
    check(
        "capabilities-objects",
        "each capability is an object",
        SCHEMA,
        "Clients look whether the member is there and what it holds: {} says yes. true, null or an array says something else to each of them.",
        objects,
    ),
    check(
        "capabilities-flags",
        "listChanged and subscribe are true or false",
        SCHEMA,
        "They are booleans, and left out they mean false.",
        flags,
    ),
    check(
        "capabilities-declared",
        "what is declared is there",
        NEGOTIATED,
        "A client asks for what is declared. Leave a capability out where its methods are not served: -32601 to them breaks clients that list all at the start.",
        declared,
    ),
    check(
        "capabilities-undeclared-served",
        "what is served is declared",
        NEGOTIATED,
        "Clients do not ask for what is not declared, so nobody finds it. Declare what is listed.",
        undeclared_served,
    ),
    Check {
        strength: Strength::Should,
        ..check(
            "capabilities-undeclared-refused",
            "what is not declared is refused with -32601",
            Source::JsonRpc("error_object"),
            "A method that a server does not have does not exist: answer as to any unknown method, not with silence or an internal error.",
            undeclared_refused,
        )
    },
    Check {
        speaks: Speaks::Modern,
        ..check(
            "capabilities-extension-names",
            "extensions are named with a prefix",
            Source::Spec("basic/versioning#extension-negotiation"),
            "An extension is called like a key of _meta, with the prefix of whoever made it: com.example/name. Its value is an object of settings.",
            extension_names,
        )
    },
];

fn objects(talk: &mut Talk) -> Result<(), Finding> {
    let Some(all) = talk.facts().capabilities().filter(|all| all.kind() == Kind::Object) else {
        return Err(Finding::new("capabilities that are an object", "none"));
    };
    match all.members().find(|(_, value)| value.kind() != Kind::Object) {
        None => Ok(()),
        Some((name, value)) => {
            let expected = format!("an object as capability {}", shown(name.decode().as_bytes()));
            Err(Finding::new(expected, shown(value.as_bytes())))
        }
    }
}

fn flags(talk: &mut Talk) -> Result<(), Finding> {
    let all = talk.facts().capabilities();
    for (capability, flag) in [
        ("tools", "listChanged"),
        ("prompts", "listChanged"),
        ("resources", "listChanged"),
        ("resources", "subscribe"),
    ] {
        let value = all.and_then(|all| all.get(capability)?.get(flag));
        if let Some(value) = value.filter(|value| value.kind() != Kind::Bool) {
            let expected = format!("true or false as {flag} of {capability}");
            return Err(Finding::new(expected, shown(value.as_bytes())));
        }
    }
    Ok(())
}

/// What asks for a capability without doing anything: the capability, a method, its parameters, and the list in its answer.
type Probe = (&'static str, &'static str, &'static str, Option<&'static str>);

fn probes(talk: &Talk) -> Vec<Probe> {
    let mut all = vec![
        ("tools", "tools/list", "", Some("tools")),
        ("resources", "resources/list", "", Some("resources")),
        ("prompts", "prompts/list", "", Some("prompts")),
        ("tasks", "tasks/list", "", Some("tasks")),
    ];
    // The oldest revision has completion without a capability for it.
    if talk.revision() >= sanswire::mcp::Revision::V2025_03_26 {
        let members = r#""ref":{"type":"ref/prompt","name":"sanswire-no-such-prompt"},"argument":{"name":"a","value":""}"#;
        all.push(("completions", "completion/complete", members, None));
    }
    all
}

fn declared(talk: &mut Talk) -> Result<(), Finding> {
    // Tasks are listed only where that is declared on its own.
    for (capability, method, members, _) in probes(talk) {
        if capability == "tasks" || !talk.facts().declares(capability) {
            continue;
        }
        let answer = talk.request(method, members)?;
        if answer.code() == Some(NOT_FOUND) {
            let expected = format!("{method} served where {capability} is declared");
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

fn undeclared(talk: &mut Talk) -> Result<Vec<(Probe, Answer)>, Finding> {
    let mut answers = Vec::new();
    for probe in probes(talk) {
        if !talk.facts().declares(probe.0) {
            let answer = talk.request(probe.1, probe.2)?;
            answers.push((probe, answer));
        }
    }
    Ok(answers)
}

fn undeclared_served(talk: &mut Talk) -> Result<(), Finding> {
    let asked = undeclared(talk)?;
    if asked.is_empty() {
        return talk.not_tried("the server declares everything that can be asked for without harm");
    }
    for ((capability, method, _, list), answer) in asked {
        let listed = list.and_then(|list| answer.result()?.get(list));
        if listed.is_some_and(|listed| listed.elements().next().is_some()) {
            let expected = format!("nothing listed by {method} where {capability} is not declared");
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

fn undeclared_refused(talk: &mut Talk) -> Result<(), Finding> {
    let asked = undeclared(talk)?;
    if asked.is_empty() {
        return talk.not_tried("the server declares everything that can be asked for without harm");
    }
    for ((capability, method, ..), answer) in asked {
        if answer.code().is_some_and(|code| code != NOT_FOUND) {
            let expected = format!("the error -32601 to {method} where {capability} is not declared");
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

fn extension_names(talk: &mut Talk) -> Result<(), Finding> {
    let Some(all) = talk.facts().capabilities().and_then(|all| all.get("extensions")) else {
        return talk.not_tried("the server declares no extension");
    };
    let named = |(name, value): (sanswire::jsonrpc::JsonStr<'_>, JsonRef<'_>)| {
        is_prefixed(&name.decode()) && value.kind() == Kind::Object
    };
    if all.kind() == Kind::Object && all.members().all(named) {
        return Ok(());
    }
    Err(Finding::new("extensions by names with a prefix, each an object", shown(all.as_bytes())))
}

/// Whether it is labels with dots between them, a slash, and a name, which may be empty.
fn is_prefixed(name: &str) -> bool {
    let Some((prefix, name)) = name.split_once('/') else { return false };
    let label = |label: &str| {
        let inside = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        inside && label.starts_with(|c: char| c.is_ascii_alphabetic()) && !label.ends_with('-')
    };
    let ends = |c: char| c.is_ascii_alphanumeric();
    let inside = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    prefix.split('.').all(label)
        && (name.is_empty() || inside && name.starts_with(ends) && name.ends_with(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_extensions_have_a_prefix() {
        for good in ["com.example/a", "io.modelcontextprotocol/ui", "a/b-c.d_e", "a/"] {
            assert!(is_prefixed(good), "{good}");
        }
        for bad in ["", "a", "/a", "1a/b", "a-/b", "a./b", "a/b/c", "a/-b", "a b/c"] {
            assert!(!is_prefixed(bad), "{bad}");
        }
    }
}

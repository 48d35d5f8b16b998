//! Requests without a handshake: what each says of itself, and what each answer holds.

use sanswire::jsonrpc::{JsonRef, Kind};
use sanswire::mcp::Revision;

use super::base::check;
use crate::check::{Check, Company, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{Answer, Meta, Talk};

const META: Source = Source::Spec("basic#meta");
const VERSIONS: Source = Source::Spec("basic/versioning#protocol-version-negotiation");

/// A version that was never one.
const UNKNOWN: &str = "1900-01-01";

const fn modern(
    id: &'static str,
    title: &'static str,
    source: Source,
    explain: &'static str,
    script: fn(&mut Talk) -> Result<(), Finding>,
) -> Check {
    Check { speaks: Speaks::Modern, ..check(id, title, source, explain, script) }
}

pub(super) const CHECKS: &[Check] = &[
    modern(
        "modern-discover",
        "server/discover tells versions and capabilities",
        Source::Spec("server/discover#discoverresult"),
        "supportedVersions is an array of version strings and capabilities an object: a client chooses by them what it asks and how.",
        discover,
    ),
    modern(
        "modern-result-type",
        "each result has a resultType",
        Source::Spec("basic#resulttype"),
        "A client reads resultType before anything else of a result. What is final says \"complete\".",
        |talk| {
            each_result(talk, "a resultType that is \"complete\"", |result| {
                result.get("resultType").and_then(JsonRef::str).is_some_and(|it| it.eq_str("complete"))
            })
        },
    ),
    modern(
        "modern-cache-hints",
        "discovery and listings say how long and for whom they hold",
        Source::Spec("server/utilities/caching#cacheable-results"),
        "ttlMs is an integer of 0 or more, in milliseconds, and cacheScope is \"public\" or \"private\". 0 says that nothing may be kept.",
        |talk| {
            each_result(talk, "a ttlMs of 0 or more and a cacheScope of public or private", |result| {
                let scope = result.get("cacheScope").and_then(JsonRef::str);
                result.get("ttlMs").and_then(JsonRef::as_u64).is_some()
                    && scope.is_some_and(|scope| scope.eq_str("public") || scope.eq_str("private"))
            })
        },
    ),
    Check {
        strength: Strength::Should,
        ..modern(
            "modern-server-info",
            "each result says by its metadata which server it is of",
            META,
            "Put io.modelcontextprotocol/serverInfo with a name and a version into _meta of every result: there is no handshake that would have said it.",
            |talk| {
                each_result(talk, "serverInfo with a name and a version in _meta", |result| {
                    let info =
                        result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
                    let text = |name| info.and_then(|info| info.get(name)?.str()).is_some();
                    text("name") && text("version")
                })
            },
        )
    },
    modern(
        "modern-capabilities-required",
        "a request that does not declare capabilities is refused with -32602",
        META,
        "io.modelcontextprotocol/clientCapabilities is required, and {} says none. Refuse what lacks it: to guess is to ask something of a client that it cannot do.",
        |talk| refused_without(talk, |meta| meta.capabilities = None),
    ),
    modern(
        "modern-version-required",
        "a request that does not say its version is refused",
        META,
        "io.modelcontextprotocol/protocolVersion is required with every request, and what lacks it is refused with -32602. No earlier request on the connection stands in for it.",
        |talk| refused_without(talk, |meta| meta.version = None),
    ),
    modern(
        "modern-client-info-optional",
        "a request that does not say who asks is served",
        META,
        "io.modelcontextprotocol/clientInfo is optional: a client may be told not to say it.",
        |talk| {
            let meta = Meta { client: None, ..talk.meta() };
            served(talk, &meta)
        },
    ),
    Check {
        strength: Strength::Should,
        ..modern(
            "modern-unknown-metadata",
            "metadata that the server does not know are ignored",
            META,
            "_meta is open: clients send trace contexts and keys of their own. Take what you know and leave the rest.",
            |talk| {
                let more = concat!(
                    r#""com.example/unknown":{"a":[null]},"#,
                    r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01""#
                );
                let meta = Meta { more: more.into(), ..talk.meta() };
                served(talk, &meta)
            },
        )
    },
    modern(
        "modern-unsupported-version",
        "a version that the server does not speak is refused with -32022",
        VERSIONS,
        "The client picks another version when it is told that this one is not spoken. By any other error it takes the server for one that wants a handshake.",
        |talk| {
            let answer = unsupported(talk)?;
            if answer.code() == Some(-32022) {
                return Ok(());
            }
            Err(Finding::new("the error -32022", answer.text()))
        },
    ),
    modern(
        "modern-unsupported-version-data",
        "the refusal of a version names those that are spoken",
        VERSIONS,
        "data.supported is an array of the versions that the server speaks, and data.requested the one that was asked for. The client chooses from them.",
        unsupported_data,
    ),
    modern(
        "modern-two-clients",
        "requests of several clients are served on one connection",
        Source::Spec("basic#statelessness"),
        "A connection is no session. Take version, capabilities and client from each request alone, never from an earlier one.",
        two_clients,
    ),
    Check {
        company: Company::Alone,
        needs: &["tools"],
        ..modern(
            "modern-first-request",
            "the first request may be any",
            VERSIONS,
            "Nothing opens a connection: server/discover is optional, and a client may begin with what it wants.",
            |talk| {
                let answer = talk.request("tools/list", "")?;
                if answer.result().is_some() {
                    return Ok(());
                }
                Err(Finding::new("a listing", answer.text()))
            },
        )
    },
    Check {
        strength: Strength::Should,
        ..modern(
            "modern-removed-methods",
            "methods that this revision no longer has are refused with -32601",
            Source::JsonRpc("error_object"),
            "ping, logging/setLevel, resources/subscribe and resources/unsubscribe are gone. A request with the metadata of this revision that asks for one asks for a method that does not exist.",
            removed_methods,
        )
    },
    Check {
        strength: Strength::Should,
        company: Company::Alone,
        ..modern(
            "modern-initialize",
            "initialize is served, or refused with the versions that are spoken",
            Source::Spec("basic/versioning#backward-compatibility-with-initialization-based-versions"),
            "A client that only knows the handshake can do no more than show the error. Name the versions that you speak in it.",
            initialize,
        )
    },
    modern(
        "modern-error-codes",
        "errors have codes that this revision defines",
        Source::Spec("basic#error-codes"),
        "Of -32020 to -32099 only -32020, -32021 and -32022 may be sent, and -32002 and -32042 are of older revisions: a resource that is not there is -32602.",
        error_codes,
    ),
];

fn discover(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("server/discover", "")?;
    let part = |name| answer.result().and_then(|result| result.get(name));
    let versions = part("supportedVersions").filter(|all| all.elements().all(|it| it.str().is_some()));
    let capabilities = part("capabilities").filter(|it| it.kind() == Kind::Object);
    if versions.is_some_and(|all| all.elements().next().is_some()) && capabilities.is_some() {
        return Ok(());
    }
    let expected = "supportedVersions, an array of strings, and capabilities, an object";
    Err(Finding::new(expected, answer.text()))
}

/// Discovery and all that is listed.
fn each_result(talk: &mut Talk, expected: &str, holds: fn(JsonRef<'_>) -> bool) -> Result<(), Finding> {
    let lists = talk.facts().lists();
    for method in ["server/discover"].into_iter().chain(lists) {
        let answer = talk.request(method, "")?;
        if !answer.result().is_some_and(holds) {
            return Err(Finding::new(format!("a result of {method} with {expected}"), answer.text()));
        }
    }
    Ok(())
}

fn refused_without(talk: &mut Talk, take_out: fn(&mut Meta)) -> Result<(), Finding> {
    let mut meta = talk.meta();
    take_out(&mut meta);
    let answer = talk.request_with("server/discover", &meta, "")?;
    if answer.code() == Some(-32602) {
        return Ok(());
    }
    Err(Finding::new("the error -32602", answer.text()))
}

fn served(talk: &mut Talk, meta: &Meta) -> Result<(), Finding> {
    let answer = talk.request_with("server/discover", meta, "")?;
    if answer.result().is_some() {
        return Ok(());
    }
    Err(Finding::new("a result", answer.text()))
}

/// Asks for a list, where there is one: some servers tell anybody, in any version, what they speak.
fn unsupported(talk: &mut Talk) -> Result<Answer, Finding> {
    let meta = Meta { version: Some(format!("\"{UNKNOWN}\"")), ..talk.meta() };
    let method = talk.facts().lists().first().copied().unwrap_or("server/discover");
    talk.request_with(method, &meta, "")
}

fn unsupported_data(talk: &mut Talk) -> Result<(), Finding> {
    let answer = unsupported(talk)?;
    let data = answer.message().get("error").and_then(|error| error.get("data"));
    let is = |it: JsonRef<'_>, text: &str| it.str().is_some_and(|it| it.eq_str(text));
    let supported = data.and_then(|data| data.get("supported"));
    let names = supported.is_some_and(|all| all.elements().any(|it| is(it, talk.revision().as_str())));
    if names && data.and_then(|data| data.get("requested")).is_some_and(|it| is(it, UNKNOWN)) {
        return Ok(());
    }
    Err(Finding::new("an error with data.supported and data.requested", answer.text()))
}

fn two_clients(talk: &mut Talk) -> Result<(), Finding> {
    let client = |name: &str| Some(format!(r#"{{"name":"{name}","version":"2"}}"#));
    let first = Meta { client: client("first"), ..talk.meta() };
    let second = Meta {
        client: client("second"),
        capabilities: Some(r#"{"sampling":{},"elicitation":{}}"#.into()),
        ..talk.meta()
    };
    let asked: Vec<_> = [&first, &second, &first]
        .into_iter()
        .map(|meta| talk.ask_with("server/discover", meta, ""))
        .collect();
    for id in asked {
        let answer = talk.answer_to(&id)?;
        if answer.result().is_none() {
            return Err(Finding::new("a result for each client", answer.text()));
        }
    }
    Ok(())
}

fn removed_methods(talk: &mut Talk) -> Result<(), Finding> {
    let uri = r#""uri":"file:///sanswire/no-such-resource""#;
    for (method, members) in [
        ("ping", ""),
        ("logging/setLevel", r#""level":"error""#),
        ("resources/subscribe", uri),
        ("resources/unsubscribe", uri),
    ] {
        let answer = talk.request(method, members)?;
        if answer.code() != Some(-32601) {
            return Err(Finding::new(format!("the error -32601 to {method}"), answer.text()));
        }
    }
    Ok(())
}

fn initialize(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let client = r#"{"name":"sanswire check","version":"1"}"#;
    let params = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{client}}}"#);
    talk.say_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#));
    let answer = talk.answer_to(&id)?;
    let Some(error) = answer.message().get("error") else { return Ok(()) };
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    if Revision::ALL.iter().any(|revision| text.contains(revision.as_str())) {
        return Ok(());
    }
    Err(Finding::new("an error that names the versions that are spoken", shown(text.as_bytes())))
}

fn error_codes(talk: &mut Talk) -> Result<(), Finding> {
    let tries = [
        (None, "sanswire/no-such-method", ""),
        (Some("resources"), "resources/read", r#""uri":"file:///sanswire/no-such-resource""#),
        (Some("tools"), "tools/list", r#""cursor":"sanswire-no-such-cursor""#),
    ];
    for (needed, method, members) in tries {
        if needed.is_some_and(|needed| !talk.facts().declares(needed)) {
            continue;
        }
        let answer = talk.request(method, members)?;
        let reserved = |code| (-32099..=-32023).contains(&code) || [-32002, -32042].contains(&code);
        if answer.code().is_some_and(reserved) {
            return Err(Finding::new(format!("a code of this revision to {method}"), answer.text()));
        }
    }
    Ok(())
}

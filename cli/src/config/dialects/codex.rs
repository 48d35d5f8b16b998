//! Codex: TOML, in which nothing is expanded. Where it names variables instead, our own references are written.

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::common::{names, read_words, time};
use crate::config::entry::Entry;
use crate::config::headers;
use crate::config::kind::{Kind, Words, pairs};
use crate::json::{member, text};

/// Members that only a command has, and those that only an address has.
const LOCAL: [&str; 4] = ["args", "env", "env_vars", "cwd"];
const REMOTE: [&str; 6] =
    ["bearer_token_env_var", "http_headers", "env_http_headers", "oauth", "oauth_resource", "scopes"];

pub(super) fn read(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    if member(value, "bearer_token").is_some() {
        return Err(
            "it has bearer_token, which Codex refuses: name a variable in bearer_token_env_var".into()
        );
    }
    let (has, others) = if member(value, "command").is_some() {
        ("command", REMOTE.as_slice())
    } else {
        ("url", LOCAL.as_slice())
    };
    if let Some(other) = others.iter().find(|name| member(value, name).is_some()) {
        return Err(format!("it has both {has} and {other}, which do not go together"));
    }
    let words = Words { http: &["url"], headers: "http_headers", ..Words::COMMON };
    let mut kind = read_words(value, entry, words)?;
    match &mut kind {
        Kind::Command { args, env, .. } => {
            args.iter_mut().for_each(literal);
            env.iter_mut().for_each(|(_, value)| literal(value));
            for name in passed_on(value)? {
                // What is not set is not handed on.
                if std::env::var_os(&name).is_some() && !env.iter().any(|(other, _)| *other == name) {
                    let reference = reference(&name);
                    env.push((name, reference));
                }
            }
        }
        Kind::Http(remote) => {
            let sent = &mut remote.headers;
            sent.iter_mut().for_each(|(_, value)| literal(value));
            if let Some(name) = text(value, "bearer_token_env_var") {
                sent.push(("Authorization".into(), format!("Bearer {}", reference(&name))));
            }
            for (header, name) in pairs(value, "env_http_headers")? {
                match headers::check(&header, "") {
                    Ok(_) => sent.push((header, reference(&name))),
                    Err(why) => entry.odd.push(why),
                }
            }
        }
        Kind::Demo | Kind::Broken(_) => {}
    }
    entry.access.filter.allowed_tools = names(value, "enabled_tools")?;
    entry.access.filter.blocked_tools = names(value, "disabled_tools")?.unwrap_or_default();
    entry.access.timeout = time(value, "tool_timeout_sec", 1.0, entry);
    entry.access.connect_timeout = time(value, "startup_timeout_sec", 1.0, entry)
        .or_else(|| time(value, "startup_timeout_ms", 1000.0, entry));
    Ok(kind)
}

/// `env_vars`: names, or objects with a name.
fn passed_on(value: JsonRef<'_>) -> Result<Vec<String>, String> {
    let Some(list) = member(value, "env_vars") else { return Ok(Vec::new()) };
    if list.kind() != JsonKind::Array {
        return Err(format!("env_vars is {}, not an array", list.kind()));
    }
    let name = |element: JsonRef<'_>| {
        let plain = element.str().map(|name| name.decode().into_owned());
        plain.or_else(|| text(element, "name")).ok_or_else(|| format!("env_vars holds {}", element.kind()))
    };
    list.elements().map(name).collect()
}

fn literal(text: &mut String) {
    if text.contains("${") {
        *text = text.replace("${", "$${");
    }
}

fn reference(name: &str) -> String {
    format!("${{{name}}}")
}

//! The dialect that most programs share: `command`, `args`, `env`; `url`, `headers`; and what some add to it.

use std::time::Duration;

use sanswire::jsonrpc::JsonRef;

use crate::config::entry::{Entry, is_disabled};
use crate::config::kind::{Kind, Words, strings};
use crate::json::member;

/// Nothing added.
pub(super) fn read(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    read_words(value, entry, Words::COMMON)
}

/// An entry whose members have these names.
pub(super) fn read_words(value: JsonRef<'_>, entry: &mut Entry, words: Words) -> Result<Kind, String> {
    let kind = Kind::read(value, words, &mut entry.odd)?;
    entry.disabled = is_disabled(value, true)?;
    if member(value, "envFile").is_some() {
        entry.odd.push("envFile is not read: put its variables into env".into());
    }
    Ok(kind)
}

/// Claude Code: `timeout` in milliseconds.
pub(super) fn milliseconds(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let kind = read(value, entry)?;
    entry.access.timeout = time(value, "timeout", 1000.0, entry);
    Ok(kind)
}

/// Copilot CLI: `tools`, of which `*` is all.
pub(super) fn copilot(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let kind = read(value, entry)?;
    entry.access.filter.allowed_tools = names(value, "tools")?;
    Ok(kind)
}

/// Windsurf: `serverUrl`; `url` is not read there.
pub(super) fn windsurf(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let kind = read_words(value, entry, Words { http: &["serverUrl"], ..Words::COMMON })?;
    entry.access.filter.blocked_tools = names(value, "disabledTools")?.unwrap_or_default();
    Ok(kind)
}

/// mcporter: many names of an address, `bearerToken`, and two lists of tools.
pub(super) fn mcporter(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let words = Words { http: &["baseUrl", "url", "serverUrl"], ..Words::COMMON };
    let mut kind = read_words(value, entry, words)?;
    let token = |name| member(value, name).and_then(|token| Some(token.str()?.decode().into_owned()));
    let token = token("bearerToken").or_else(|| token("bearerTokenEnv").map(|name| format!("${{{name}}}")));
    if let (Kind::Http(remote), Some(token)) = (&mut kind, token) {
        remote.headers.push(("Authorization".into(), format!("Bearer {token}")));
    }
    entry.access.filter.allowed_tools = names(value, "allowedTools")?;
    entry.access.filter.blocked_tools = names(value, "blockedTools")?.unwrap_or_default();
    Ok(kind)
}

/// philschmid's mcp-cli: two lists of tools, which may hold patterns.
pub(super) fn mcp_cli(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let kind = read(value, entry)?;
    entry.access.filter.allowed_tools = names(value, "allowedTools")?;
    entry.access.filter.blocked_tools = names(value, "disabledTools")?.unwrap_or_default();
    Ok(kind)
}

/// A list of tools. One that cannot be read makes the entry useless: without it more would be let in than was meant.
pub(super) fn names(value: JsonRef<'_>, name: &str) -> Result<Option<Vec<String>>, String> {
    member(value, name).map(|names| strings(names, name)).transpose()
}

/// A time in units of which `unit` are a second. What makes no sense there does not count.
pub(super) fn time(value: JsonRef<'_>, name: &str, unit: f64, entry: &mut Entry) -> Option<Duration> {
    let said = member(value, name)?;
    let seconds = said.as_f64().map(|said| said / unit);
    let read = seconds.and_then(|seconds| crate::options::duration(seconds.min(86_400.0)).ok());
    if read.is_none() {
        entry.odd.push(format!("{name} is no time and does not count"));
    }
    read
}

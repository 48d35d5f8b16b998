//! Gemini CLI: `httpUrl` beside a `url` that means the older way, two lists of tools, and lists of servers for the file
//! as a whole. Its `trust` is its own affair.

use sanswire::jsonrpc::JsonRef;

use super::common::{names, read_words, time};
use crate::config::entry::Entry;
use crate::config::kind::{Kind, Words};
use crate::json::member;

pub(super) fn read(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let words = Words { http: &["httpUrl"], sse: &["url"], ..Words::COMMON };
    let kind = read_words(value, entry, words)?;
    entry.access.filter.allowed_tools = names(value, "includeTools")?;
    entry.access.filter.blocked_tools = names(value, "excludeTools")?.unwrap_or_default();
    entry.access.timeout = time(value, "timeout", 1000.0, entry);
    Ok(kind)
}

/// `mcp.allowed` and `mcp.excluded`: a server that the one does not name or the other names is off.
pub(super) fn whole(file: JsonRef<'_>, entries: &mut [Entry]) {
    let Some(mcp) = member(file, "mcp") else { return };
    let list = |name: &str| names(mcp, name);
    for entry in entries {
        match (list("allowed"), list("excluded")) {
            (Ok(allowed), Ok(excluded)) => {
                let named = |list: &Vec<String>| list.contains(&entry.name);
                entry.disabled |=
                    allowed.is_some_and(|list| !named(&list)) || excluded.is_some_and(|list| named(&list));
            }
            (Err(why), _) | (_, Err(why)) => entry.kind = Kind::Broken(format!("mcp.{why}")),
        }
    }
}

//! opencode: `command` is an array, the environment is `environment`, and a type is required.

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::common::{read_words, time};
use crate::config::entry::Entry;
use crate::config::kind::{Kind, Words};
use crate::json::{member, text};

pub(super) fn read(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    let words = Words { env: "environment", http: &["url"], ..Words::COMMON };
    match text(value, "type").as_deref() {
        Some("local" | "remote") => {}
        Some(other) => return Err(format!("type is {other:?}, not local or remote")),
        None => return Err("it has no type, local or remote".into()),
    }
    if let Some(command) = member(value, "command").filter(|command| command.kind() != JsonKind::Array) {
        return Err(format!("command is {}, not an array of strings", command.kind()));
    }
    // What it calls remote may be either kind on the web.
    let kind = read_words(value, entry, words)?;
    entry.access.connect_timeout = time(value, "timeout", 1000.0, entry);
    Ok(kind)
}

//! `remove`, `enable` and `disable`: changes of servers that stand in our own files.

use crate::advice::servers;
use crate::config::{Configuration, Entry, Store};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::output::{document, escape, json_document};
use crate::target::unknown;

/// When a change counts.
pub(super) const TAKES_EFFECT: &str =
    "It counts from the next start on; what runs now keeps the servers that it has.";

/// What is done with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Remove,
    Enable,
    Disable,
}

/// Does it.
pub(super) fn run(context: &Context, name: &str, change: Change) -> Result<u8, Failure> {
    let configuration = context.configuration()?;
    let entry = entry(context, &configuration, name)?;
    let Some(path) = &entry.file else {
        return Err(Failure::usage(format!("{name} is built in, and in no file"))
            .hint("it is not listed any more once a server of your own is configured"));
    };
    let mut store = Store::open(path)?;
    if !store.has(&entry.key) {
        return Err(unknown(context, &configuration, name));
    }
    match change {
        Change::Remove => {
            store.remove(&entry.key)?;
        }
        Change::Enable | Change::Disable => {
            if store.entry(&entry.key).is_none_or(|entry| entry.kind() != sanswire::jsonrpc::Kind::Object) {
                return Err(Failure::usage(format!("{} is no object", entry.place())).of(name));
            }
            store.enable(&entry.key, change == Change::Enable, entry.on_by_default)?;
        }
    }
    store.save()?;
    drop(store);
    let (done, json) = match change {
        Change::Remove => ("Removed", "removed"),
        Change::Enable => ("Enabled", "enabled"),
        Change::Disable => ("Disabled", "disabled"),
    };
    if context.common.json {
        json_document(&object(|w| {
            w.string(json, &entry.key).string("file", &path.to_string_lossy());
        }))?;
    } else {
        let name = escape::line(&entry.key);
        document(&format!("{done} {name} in {}. {TAKES_EFFECT}\n", path.display()))?;
    }
    Ok(0)
}

/// The entry of that name, if it stands in a file of ours.
fn entry<'c>(context: &Context, configuration: &'c Configuration, name: &str) -> Result<&'c Entry, Failure> {
    let entry = configuration.find(name).ok_or_else(|| unknown(context, configuration, name))?;
    if entry.origin.is_own() {
        return Ok(entry);
    }
    Err(Failure::usage(format!(
        "{} belongs to {}, whose files are never written",
        entry.place(),
        entry.origin.title()
    ))
    .hint(format!(
        "change it there, or take it over with sanswire import; {} lists yours",
        servers(&context.common)
    ))
    .of(name))
}

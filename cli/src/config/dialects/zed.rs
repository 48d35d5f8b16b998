//! Zed: in older files the command is an object of path, arguments and environment.

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::common;
use crate::config::entry::{Entry, is_disabled};
use crate::config::kind::{Kind, pairs, strings};
use crate::json::{member, text};

pub(super) fn read(value: JsonRef<'_>, entry: &mut Entry) -> Result<Kind, String> {
    if text(value, "source").as_deref() == Some("extension") {
        return Err("it comes from an extension of Zed's, which says how it is started".into());
    }
    match member(value, "command").filter(|command| command.kind() == JsonKind::Object) {
        Some(command) => {
            entry.disabled = is_disabled(value, true)?;
            let program = text(command, "path").filter(|path| !path.trim().is_empty());
            let program = program.ok_or("command has no path")?;
            let args = member(command, "args").map(|args| strings(args, "args")).transpose()?;
            Ok(Kind::Command {
                program,
                args: args.unwrap_or_default(),
                env: pairs(command, "env")?,
                cwd: None,
            })
        }
        None => common::read(value, entry),
    }
}

//! Our own files: `.sanswire.json` in the project, then the user's.

use std::path::{Path, PathBuf};

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::entry::{Entry, Kind, Origin};
use super::{Configuration, Places, file};
use crate::failure::Failure;
use crate::json::member;

/// The file in the project.
const PROJECT_FILE: &str = ".sanswire.json";

/// Reads our own files, or `only` that one.
pub(super) fn load(into: &mut Configuration, places: &Places, only: Option<&PathBuf>) -> Result<(), Failure> {
    let broken = |why| Failure::usage(why).hint("correct the file, or read another one with --config FILE");
    if let Some(path) = only {
        let found = file::read(path, true).map_err(broken)?;
        let Some(found) = found else {
            return Err(Failure::usage(format!("{} is not there", path.display())));
        };
        return add(into, path, &found, Origin::Own).map_err(broken);
    }
    let project =
        places.directory.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|path| path.exists());
    let user = places.config_home.as_ref().map(|folder| folder.join("sanswire/config.json"));
    for (path, origin) in [(project, Origin::OwnProject), (user, Origin::Own)] {
        let Some(path) = path else { continue };
        if let Some(found) = file::read(&path, false).map_err(broken)? {
            add(into, &path, &found, origin).map_err(broken)?;
        }
    }
    Ok(())
}

fn add(into: &mut Configuration, path: &Path, found: &file::File, origin: Origin) -> Result<(), String> {
    into.own_files.push(path.into());
    let Some(servers) = member(found.value.view(), "mcpServers") else { return Ok(()) };
    if servers.kind() != JsonKind::Object {
        return Err(format!("{}: mcpServers is {}, not an object", path.display(), servers.kind()));
    }
    for (name, value) in servers.members() {
        let entry = Entry::read(&name.decode(), value, origin, path, &found.hash);
        warn_where_nothing_expands(into, &entry, value);
        into.entries.push(entry);
    }
    Ok(())
}

/// Says where a reference stands that will stay as it is.
fn warn_where_nothing_expands(into: &mut Configuration, entry: &Entry, value: JsonRef<'_>) {
    let mut tell = |place: &str| {
        into.warnings.push(format!(
            "{}: {place} stays as it is written; ${{…}} is put in only in args and in the values of env",
            entry.place()
        ));
    };
    for name in ["url", "headers", "type"] {
        if member(value, name).is_some_and(|value| String::from_utf8_lossy(value.as_bytes()).contains("${")) {
            tell(name);
        }
    }
    if let Kind::Command { program, env, cwd, .. } = &entry.kind {
        if program.contains("${") {
            tell("command");
        }
        if cwd.as_ref().is_some_and(|cwd| cwd.contains("${")) {
            tell("cwd");
        }
        if env.iter().any(|(name, _)| name.contains("${")) {
            tell("a name in env");
        }
    }
}

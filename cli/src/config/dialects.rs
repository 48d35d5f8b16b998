//! Other programs' files, each in its own dialect. They are read, and never written.
//!
//! | program | files | variables |
//! |---|---|---|
//! | Claude Code | `~/.claude.json` (the project's own part, then the user's), `.mcp.json` in the project | `${NAME}`, `${NAME:-default}` |
//! | Claude Desktop | `claude_desktop_config.json` in its configuration folder | none |
//! | Cursor | `.cursor/mcp.json` in the project, then `~/.cursor/mcp.json` | `${env:NAME}`, `${userHome}`, `${workspaceFolder}` |

use std::path::{Path, PathBuf};

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::entry::{Entry, Origin};
use super::{Configuration, Places, file};
use crate::json::member;

/// Reads what is there. What cannot be read is a warning: it is not ours to be strict about.
pub(super) fn load(into: &mut Configuration, places: &Places) {
    if let Some(home) = &places.home {
        with_file(into, &home.join(".claude.json"), |into, path, found| {
            let value = found.value.view();
            for folder in places.directory.ancestors() {
                let project = member(value, "projects")
                    .and_then(|projects| member(projects, &folder.to_string_lossy()))
                    .and_then(|project| member(project, "mcpServers"));
                add(into, project, Origin::ClaudeCode, path, &found.hash);
            }
            add(into, member(value, "mcpServers"), Origin::ClaudeCode, path, &found.hash);
        });
    }
    let mut read = |path: Option<PathBuf>, origin| {
        let Some(path) = path else { return };
        with_file(into, &path, |into, path, found| {
            add(into, member(found.value.view(), "mcpServers"), origin, path, &found.hash);
        });
    };
    read(in_project(places, ".mcp.json"), Origin::ClaudeCodeProject);
    read(claude_desktop(places), Origin::ClaudeDesktop);
    let cursor = places.home.as_ref().map(|home| home.join(".cursor/mcp.json"));
    // Below the home folder the walk up ends at the user's own file.
    read(
        in_project(places, ".cursor/mcp.json").filter(|path| Some(path) != cursor.as_ref()),
        Origin::CursorProject,
    );
    read(cursor, Origin::Cursor);
}

fn claude_desktop(places: &Places) -> Option<PathBuf> {
    let folder = if cfg!(target_os = "macos") {
        places.home.as_ref()?.join("Library/Application Support")
    } else {
        places.config_home.clone()?
    };
    Some(folder.join("Claude/claude_desktop_config.json"))
}

fn in_project(places: &Places, name: &str) -> Option<PathBuf> {
    places.directory.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn with_file(
    into: &mut Configuration,
    path: &Path,
    read: impl FnOnce(&mut Configuration, &Path, &file::File),
) {
    match file::read(path, false) {
        Ok(Some(found)) => read(into, path, &found),
        Ok(None) => {}
        Err(why) => into.warnings.push(why),
    }
}

fn add(into: &mut Configuration, servers: Option<JsonRef<'_>>, origin: Origin, path: &Path, hash: &str) {
    let Some(servers) = servers.filter(|servers| servers.kind() == JsonKind::Object) else { return };
    for (name, value) in servers.members() {
        into.entries.push(Entry::read_other(&name.decode(), value, origin, path, hash));
    }
}

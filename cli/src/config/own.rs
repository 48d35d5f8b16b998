//! Our own files: the user's, and `.sanswire.json` in the project.

use std::path::{Path, PathBuf};

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::entry::{Entry, Origin};
use super::kind::Kind;
use super::settings::{Said, Settings};
use super::{Configuration, Places, file};
use crate::arguments::suggestion;
use crate::failure::Failure;
use crate::json::member;

/// The file in the project.
pub(crate) const PROJECT_FILE: &str = ".sanswire.json";

/// Where a server may stand in a file: the name that everybody uses, and a shorter one.
pub(super) const CONTAINERS: [&str; 2] = ["mcpServers", "servers"];

/// Members of a file that mean something, or are known to mean nothing.
const KNOWN: [&str; 4] = ["mcpServers", "servers", "sanswire", "$schema"];

/// Our own files, as far as they may exist.
pub(crate) struct OwnFiles {
    /// The user's.
    pub(crate) user: Option<PathBuf>,
    /// The nearest one of the project that there is.
    pub(crate) project: Option<PathBuf>,
}

impl OwnFiles {
    pub(crate) fn of(places: &Places) -> Self {
        Self {
            user: places.config_home.as_ref().map(|folder| folder.join("sanswire/config.json")),
            project: places
                .directory
                .ancestors()
                .map(|folder| folder.join(PROJECT_FILE))
                .find(|path| path.exists()),
        }
    }
}

/// Reads our own files, or `only` that one. The user's comes first: no file of a project takes the name of a server
/// from it.
pub(super) fn load(into: &mut Configuration, places: &Places, only: Option<&PathBuf>) -> Result<(), Failure> {
    let broken = |why| Failure::usage(why).hint("correct the file, or read another one with --config FILE");
    if let Some(path) = only {
        let found = file::read(path, true).map_err(broken)?;
        let Some(found) = found else {
            return Err(Failure::usage(format!("{} is not there", path.display())));
        };
        let said = add(into, path, &found, Origin::Own).map_err(broken)?;
        into.settings = Settings::of(said, &Said::default());
        return Ok(());
    }
    let files = OwnFiles::of(places);
    let mut read = |path: Option<PathBuf>, origin| {
        let Some(path) = path else { return Ok(Said::default()) };
        match file::read(&path, false).map_err(broken)? {
            Some(found) => add(into, &path, &found, origin).map_err(broken),
            None => Ok(Said::default()),
        }
    };
    let user = read(files.user, Origin::Own)?;
    let project = read(files.project, Origin::OwnProject)?;
    for rule in project.allowed() {
        into.warnings.push(format!(
            "{PROJECT_FILE} allows {rule}, which does not count in the file of a project; say so in your own file"
        ));
    }
    into.settings = Settings::of(user, &project);
    Ok(())
}

fn add(into: &mut Configuration, path: &Path, found: &file::File, origin: Origin) -> Result<Said, String> {
    let shown = path.display();
    into.own_files.push(path.into());
    let value = found.value.view();
    let mut odd = Vec::new();
    let said = Said::read(value, &mut odd).map_err(|why| format!("{shown}: {why}"))?;
    for (name, _) in value.members() {
        let name = name.decode();
        if !KNOWN.contains(&&*name) {
            let meant = suggestion(&name, &KNOWN.map(str::to_owned)).map(str::to_owned);
            let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            odd.push(format!("{name:?} has no effect{meant}"));
        }
    }
    into.warnings.extend(odd.into_iter().map(|why| format!("{shown}: {why}")));
    for container in CONTAINERS {
        let Some(servers) = member(value, container) else { continue };
        if servers.kind() != JsonKind::Object {
            return Err(format!("{shown}: {container} is {}, not an object", servers.kind()));
        }
        for (name, value) in servers.members() {
            let enabled = said.enabled_default.unwrap_or(true);
            let entry = Entry::read_own(&name.decode(), value, origin, enabled, path, &found.hash);
            into.warnings.extend(entry.odd.iter().map(|why| format!("{}: {why}", entry.place())));
            warn_where_nothing_expands(into, &entry, value);
            into.entries.push(entry);
        }
    }
    Ok(said)
}

/// Says where a reference stands that will stay as it is.
fn warn_where_nothing_expands(into: &mut Configuration, entry: &Entry, value: JsonRef<'_>) {
    let mut tell = |place: &str| {
        into.warnings.push(format!(
            "{}: {place} stays as it is written; ${{…}} is put in only in args and in the values of env and \
             headers",
            entry.place()
        ));
    };
    for name in ["url", "type", "bearer_env", "ca_file", "client_cert", "client_key", "proxy"] {
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

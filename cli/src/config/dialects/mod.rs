//! Other programs' files, each in its own dialect. They are read, and never written.
//!
//! `table` has one row a program: where its files are, in whose order, what holds the servers, and by which rules
//! texts are expanded. The other files here read entries, one dialect family each.

mod codex;
mod common;
mod gemini;
mod opencode;
mod places;
mod table;
mod zed;

use std::path::{Path, PathBuf};

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::entry::{Entry, Origin};
use super::expand::Rules;
use super::kind::Kind;
use super::{Configuration, Places, file};
use crate::json::member;

pub(super) use places::NAMED;
pub(crate) use table::CLIENTS;

/// A program whose files are read.
#[derive(Debug)]
pub(crate) struct Client {
    /// A short name, to tell entries apart by.
    pub(crate) name: &'static str,
    /// That of its files in a project.
    pub(crate) project: &'static str,
    /// As people call it.
    pub(crate) title: &'static str,
    /// What holds the servers in its files.
    container: &'static str,
    /// How texts are expanded.
    pub(crate) rules: Rules,
    /// Reads an entry.
    read: Reader,
    /// Looks at the file as a whole.
    whole: Option<fn(JsonRef<'_>, &mut [Entry])>,
    /// Where its files are, the first that has a name has it.
    files: &'static [Place],
}

/// Reads an entry: its kind is given back, the rest put in.
type Reader = fn(JsonRef<'_>, &mut Entry) -> Result<Kind, String>;

/// Where a file may be.
#[derive(Debug)]
struct Place {
    base: Base,
    path: &'static str,
}

/// What the path of a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The nearest folder that has it, from the present one up.
    Project,
    /// The user's own folder.
    Home,
    /// As `Home`: what the file says under `projects` of the present folder and those above it.
    HomeProjects,
    /// Where programs keep their configuration: `~/.config`.
    Config,
    /// The same, but as the system has it: `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    System,
    /// The folder that a variable names, or a file if the path is empty.
    Variable(&'static str),
    /// For all users of the machine.
    Machine,
}

/// Whose file that is, if it is one that another program reads.
pub(super) fn owner(places: &Places, path: &Path) -> Option<&'static str> {
    let real = std::fs::canonicalize(path).ok();
    let is = |known: &Path| {
        known == path
            || real
                .as_deref()
                .is_some_and(|real| std::fs::canonicalize(known).is_ok_and(|known| known == real))
    };
    let owns = |client: &&Client| {
        client.files.iter().any(|place| match place.base {
            // In whatever project.
            Base::Project => {
                path.ends_with(place.path) || real.as_ref().is_some_and(|real| real.ends_with(place.path))
            }
            _ => place.path(places).is_some_and(|known| is(&known)),
        })
    };
    CLIENTS.iter().find(owns).map(|client| client.title)
}

/// Reads what is there. What cannot be read is a warning: it is not ours to be strict about.
pub(super) fn load(into: &mut Configuration, places: &Places) {
    for client in &CLIENTS {
        read(into, places, client);
    }
}

fn read(into: &mut Configuration, places: &Places, client: &'static Client) {
    // Below the home folder the walk up ends at the user's own file.
    let of_user: Vec<PathBuf> = client
        .files
        .iter()
        .filter(|place| place.base != Base::Project)
        .filter_map(|place| place.path(places))
        .collect();
    for place in client.files {
        let Some(path) = place.path(places) else { continue };
        let is_project = place.base == Base::Project;
        if is_project && of_user.contains(&path) {
            continue;
        }
        let found = match file::read(&path, false) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(why) => {
                into.warnings.push(why);
                continue;
            }
        };
        let origin = if is_project { Origin::Project(client) } else { Origin::User(client) };
        let value = found.value.view();
        let first = into.entries.len();
        if place.base == Base::HomeProjects {
            for folder in places.directory.ancestors() {
                let project = member(value, "projects")
                    .and_then(|projects| member(projects, &folder.to_string_lossy()));
                add(into, project, origin, &path, &found.hash);
            }
        } else {
            add(into, Some(value), origin, &path, &found.hash);
        }
        if let (Some(whole), Some(added)) = (client.whole, into.entries.get_mut(first..)) {
            whole(value, added);
        }
    }
}

fn add(into: &mut Configuration, holder: Option<JsonRef<'_>>, origin: Origin, path: &Path, hash: &str) {
    let (Origin::User(client) | Origin::Project(client)) = origin else { return };
    let servers = holder.and_then(|holder| member(holder, client.container));
    let Some(servers) = servers.filter(|servers| servers.kind() == JsonKind::Object) else { return };
    for (name, value) in servers.members() {
        let mut entry = Entry::new(name.decode().into_owned(), Kind::Demo, origin);
        entry.file = Some(path.into());
        entry.file_hash = hash.into();
        entry.kind = (client.read)(value, &mut entry).unwrap_or_else(Kind::Broken);
        into.entries.push(entry);
    }
}

#[cfg(test)]
mod tests;

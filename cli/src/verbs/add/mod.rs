//! `add`: a server is put into a file of ours.

mod wizard;

use std::path::PathBuf;

use sanswire::jsonrpc::RawJson;

use super::{plain_secrets, saved};
use crate::config::{Configuration, Entry, OwnFiles, PROJECT_FILE, Places, Remote, Store, literals};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::{Addition, ApprovalChoice, EraChoice, Inherit};
use crate::output::{document, json_document};
use crate::server::{is_address, no_environment};
use crate::words::check_name;

/// How a new server is reached.
#[derive(Debug, PartialEq)]
pub(super) enum New {
    Command { program: String, args: Vec<String> },
    Web(Remote),
}

/// Puts a server in: what the command line says, or what the person at the terminal does.
pub(super) fn run(context: &Context, addition: &Addition) -> Result<u8, Failure> {
    let path = file(context, addition.project)?;
    let said = said(context, addition)?;
    let (name, new) = match (said, &addition.name) {
        (Some(new), Some(name)) => {
            (check_name(name).map_err(|why| Failure::usage(format!("{name:?}: {why}")))?.to_owned(), new)
        }
        (Some(_), None) => return Err(Failure::usage("the server has no name").hint(USAGE)),
        (None, _) if !context.interactive || context.common.json => {
            return Err(Failure::usage("how is the server reached?").hint(USAGE));
        }
        (None, name) => {
            let taken = Store::open(&path)?;
            let free = |name: &str| if taken.has(name) { Err(is_there(name, &path)) } else { Ok(()) };
            match wizard::ask(name.as_deref(), &free)? {
                Some(asked) => asked,
                None => return Err(Failure::new(1, "cancelled", "nothing was written")),
            }
        }
    };
    let entry = entry(context, addition, &new)?;
    let mut store = Store::open(&path)?;
    if store.has(&name) {
        return Err(
            Failure::usage(is_there(&name, &path)).hint(format!("sanswire remove {name} takes it out"))
        );
    }
    store.insert(&name, &entry)?;
    store.save()?;
    drop(store);
    let literals = literals(entry.view());
    if context.common.json {
        json_document(&object(|w| {
            plain_secrets(w.string("saved", &name).string("file", &path.to_string_lossy()), &literals);
        }))?;
    } else {
        document(&format!("Saved {name} in {}. {}\n", path.display(), saved::TAKES_EFFECT))?;
    }
    for literal in &literals {
        context.warn(&literal.warning(&name));
    }
    // It could answer to another name. What is wrong with other files is no affair of this one.
    let configuration = Configuration::load(context.common.config.as_ref()).unwrap_or_default();
    let mine = |entry: &&Entry| entry.key == name && entry.file.as_ref() == Some(&path);
    if let Some(other) = configuration.entries.iter().find(mine).filter(|entry| entry.name != name) {
        context.warn(&format!(
            "{name} is the name of a server in another file; this one answers to {}",
            other.name
        ));
    }
    Ok(0)
}

const USAGE: &str = "sanswire add NAME -- COMMAND ARGUMENT…, or sanswire add NAME --url URL; on a terminal, sanswire add asks";

fn is_there(name: &str, path: &std::path::Path) -> String {
    format!("there is a server {name} in {} already", path.display())
}

/// The file that is written to.
pub(super) fn file(context: &Context, project: bool) -> Result<PathBuf, Failure> {
    if let Some(path) = &context.common.config {
        return std::path::absolute(path)
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())));
    }
    let places = Places::of_process();
    let files = OwnFiles::of(&places);
    if project {
        return Ok(files.project.unwrap_or_else(|| places.directory.join(PROJECT_FILE)));
    }
    files.user.ok_or_else(|| {
        Failure::usage("there is no configuration folder")
            .hint("set HOME or XDG_CONFIG_HOME, or use --project")
    })
}

/// What the command line says of how it is reached. `None`: nothing.
fn said(context: &Context, addition: &Addition) -> Result<Option<New>, Failure> {
    let remote = Remote::given(&addition.web)?;
    if let Some((program, args)) = addition.command.split_first() {
        let text = |word: &std::ffi::OsString| {
            word.to_str()
                .map(str::to_owned)
                .ok_or_else(|| Failure::usage(format!("{} is no text, and cannot be saved", word.display())))
        };
        let program = text(program)?;
        if program.trim().is_empty() {
            return Err(Failure::usage("the command is empty"));
        }
        if is_address(&program) {
            return Err(Failure::usage("a program stands behind --, not an address").hint(USAGE));
        }
        let args = args.iter().map(text).collect::<Result<_, _>>()?;
        return Ok(Some(New::Command { program, args }));
    }
    if remote.is_some() {
        no_environment(context)?;
    }
    Ok(remote.map(New::Web))
}

/// The entry as it is written; what is empty is left out.
fn entry(context: &Context, addition: &Addition, new: &New) -> Result<RawJson, Failure> {
    let common = &context.common;
    if addition.project && addition.approval == Some(ApprovalChoice::Allow) {
        return Err(Failure::usage("a project's file cannot allow calls without a question")
            .hint("put a rule into your own file: \"sanswire\": { \"rules\": { \"NAME/*\": \"allow\" } }"));
    }
    Ok(object(|w| {
        match new {
            New::Command { program, args } => {
                w.string("command", program);
                if !args.is_empty() {
                    w.array_of_strings("args", args.iter().map(String::as_str));
                }
                if !common.env.is_empty() {
                    w.object("env", |w| {
                        common.env.iter().for_each(|(name, value)| {
                            w.string(name, value);
                        })
                    });
                }
                if let Some(cwd) = &common.cwd {
                    let cwd = std::path::absolute(cwd).unwrap_or_else(|_| cwd.clone());
                    w.string("cwd", &cwd.to_string_lossy());
                }
                if let Some(inherit) = common.inherit_env {
                    w.string("inherit_env", if inherit == Inherit::All { "all" } else { "list" });
                }
            }
            New::Web(remote) => remote.write(w),
        }
        if let Some(approval) = addition.approval {
            w.string("approval", approval.as_str());
        }
        if let Some(timeout) = common.timeout {
            w.f64("timeout", timeout.as_secs_f64());
        }
        match common.era {
            None | Some(EraChoice::Auto) => {}
            Some(EraChoice::Legacy) => {
                w.string("era", "legacy");
            }
            Some(EraChoice::Modern) => {
                w.string("era", "modern");
            }
            Some(EraChoice::Date(revision)) => {
                w.string("era", revision.as_str());
            }
        }
    }))
}

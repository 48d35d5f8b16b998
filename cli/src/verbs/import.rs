//! `import`: servers of other programs are copied into the user's file, in our own words.

use sanswire::jsonrpc::RawJson;

use super::{add, plain_secrets, saved};
use crate::arguments::suggestion;
use crate::config::{CLIENTS, Configuration, Entry, Literal, Store, literals, translate};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::output::{document, escape, json_document};
use crate::server::require_trust;

/// One server: what of its words holds a secret as it is, or why it is left out.
struct Copy<'c> {
    entry: &'c Entry,
    written: Result<Vec<Literal>, String>,
}

/// Copies them, or says what would be copied.
pub(super) fn run(context: &Context, words: &[String], dry_run: bool) -> Result<u8, Failure> {
    // All files, also where only one is written to.
    let configuration = Configuration::load(None)?;
    for warning in &configuration.warnings {
        context.warn(warning);
    }
    let source = words.first().filter(|word| is_source(word));
    let names = if source.is_some() { words.get(1..).unwrap_or_default() } else { words };
    let entries: Vec<&Entry> = configuration
        .entries
        .iter()
        .filter(|entry| match source {
            Some(source) => entry.origin.name() == source.as_str() && !entry.origin.is_own(),
            // What comes with a project is taken over only if it is meant.
            None => !entry.origin.is_own() && !entry.origin.is_project(),
        })
        .filter(|entry| names.is_empty() || names.contains(&entry.key) || names.contains(&entry.name))
        .collect();
    if let Some(name) =
        names.iter().find(|name| !entries.iter().any(|entry| entry.key == **name || entry.name == **name))
    {
        return Err(nothing(source.map(String::as_str), name));
    }
    let path = add::file(context, false)?;
    let mut store = Store::open(&path)?;
    let mut copies: Vec<Copy<'_>> = Vec::new();
    for entry in entries {
        let written = if store.has(&entry.key) {
            Err(format!("there is one of this name in {} already", path.display()))
        } else {
            translate(entry)
        };
        if written.is_ok() && !dry_run {
            // From then on it is the user's own, and starts without a question.
            require_trust(context, entry)?;
        }
        if let Ok(written) = &written {
            store.insert(&entry.key, written)?;
        }
        copies.push(Copy { entry, written: written.map(|written| literals(written.view())) });
    }
    let any = copies.iter().any(|copy| copy.written.is_ok());
    if any && !dry_run {
        store.save()?;
    }
    drop(store);
    if context.common.json {
        json_document(&to_json(&copies, &path, dry_run))?;
    } else {
        document(&to_text(&copies, &path, dry_run))?;
    }
    for copy in &copies {
        for literal in copy.written.iter().flatten() {
            context.warn(&literal.warning(&copy.entry.key));
        }
    }
    // What was asked for by name and left out is no success.
    let refused = !names.is_empty() && copies.iter().any(|copy| copy.written.is_err());
    Ok(u8::from(refused))
}

fn is_source(word: &str) -> bool {
    CLIENTS.iter().any(|client| client.name == word || client.project == word)
}

fn nothing(source: Option<&str>, name: &str) -> Failure {
    let what = format!("there is no server {name:?} to import");
    match source {
        Some(source) => Failure::not_found(format!("{what} from {source}")),
        None => {
            let known: Vec<String> =
                CLIENTS.iter().flat_map(|client| [client.name, client.project]).map(str::to_owned).collect();
            let failure = Failure::not_found(format!("{what}, and no program of that name"));
            match suggestion(name, &known) {
                Some(meant) => failure.hint(format!("did you mean {meant}?")),
                None => failure.hint(format!("programs are {}", known.join(", "))),
            }
        }
    }
}

fn to_text(copies: &[Copy<'_>], path: &std::path::Path, dry_run: bool) -> String {
    if copies.is_empty() {
        return "There is nothing to import.\n".into();
    }
    let mut text = String::new();
    for copy in copies {
        let (name, source) = (escape::line(&copy.entry.key), copy.entry.origin.name());
        text.push_str(&match &copy.written {
            Ok(_) if dry_run => format!("would import {name} from {source}\n"),
            Ok(_) => format!("imported {name} from {source}\n"),
            Err(why) => format!("left out {name} from {source}: {}\n", escape::line(why)),
        });
        for odd in copy.entry.odd.iter().filter(|_| copy.written.is_ok()) {
            text.push_str(&format!("  {}\n", escape::line(odd)));
        }
    }
    if !dry_run && copies.iter().any(|copy| copy.written.is_ok()) {
        text.push_str(&format!("Saved in {}. {}\n", path.display(), saved::TAKES_EFFECT));
    }
    text
}

fn to_json(copies: &[Copy<'_>], path: &std::path::Path, dry_run: bool) -> RawJson {
    object(|w| {
        w.string("file", &path.to_string_lossy()).bool("dry_run", dry_run);
        w.array("servers", |w| {
            for copy in copies {
                w.object(|w| {
                    w.string("name", &copy.entry.key).string("source", copy.entry.origin.name());
                    match &copy.written {
                        // What it says may be secret.
                        Ok(literals) => plain_secrets(w.bool("imported", !dry_run), literals),
                        Err(why) => w.string("left_out", why),
                    };
                });
            }
        });
    })
}

//! `servers`: what is configured, where, and, if asked, whether it works.

mod check;
mod show;

use crate::config::launch::{secret_words, variable_secrets};
use crate::config::{Configuration, Entry, Kind, shown};
use crate::context::Context;
use crate::failure::Failure;
use crate::hosted::Hosted;
use crate::json::object;
use crate::mask::Mask;
use crate::output::{document, json_document};
use crate::server::{Server, is_trusted, quoted};
use crate::target::unknown;
use crate::words::check_name;
use check::{Checked, Row};

/// Whether servers are started to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// None is.
    None,
    /// With what is remembered of them.
    AsKnown,
    /// As if they were new.
    Anew,
}

/// Shows the servers.
pub(super) fn run(context: &Context, names: &[String], start: Start) -> Result<u8, Failure> {
    let check = start != Start::None;
    let configuration = context.configuration()?;
    if let Some(name) = names.iter().find(|name| configuration.find(name).is_none()) {
        return Err(unknown(context, &configuration, name));
    }
    let shown: Vec<&Entry> = configuration
        .entries
        .iter()
        .filter(|entry| if names.is_empty() { !entry.hidden } else { names.contains(&entry.name) })
        .collect();
    // Those of other programs start only when they are named.
    let starts = |entry: &Entry| check && !entry.disabled && (entry.origin.is_own() || !names.is_empty());
    // Questions are asked here, one after the other.
    let meant: Vec<_> = shown
        .into_iter()
        .map(|entry| (entry, starts(entry).then(|| Server::of_entry(context, entry))))
        .collect();
    let rows = checked(context, &configuration, meant, start)?;
    if context.common.json {
        json_document(&object(|w| {
            w.array("servers", |w| {
                for row in &rows {
                    w.object(|w| show::write(w, context, row));
                }
            });
        }))?;
    } else {
        document(&show::text(context, &configuration, &rows, check))?;
        for entry in rows.iter().map(|row| row.entry).filter(|entry| entry.origin.is_own()) {
            if let Err(why) = check_name(&entry.key) {
                context.warn(&format!("{}: {why}; it is used all the same", entry.place()));
            }
        }
        if configuration.own_files.is_empty() && names.is_empty() {
            hint(context, &configuration);
        }
    }
    Ok(rows.iter().find_map(Row::failed).unwrap_or(0))
}

/// Starts what is to be started, all at once, and says what came of each.
fn checked<'e>(
    context: &Context,
    configuration: &Configuration,
    meant: Vec<(&'e Entry, Option<Result<Server, Failure>>)>,
    start: Start,
) -> Result<Vec<Row<'e>>, Failure> {
    let mut servers = Vec::new();
    let mut rows = Vec::new();
    for (entry, server) in meant {
        let checked = match server {
            None => Some(Checked::No),
            Some(Err(failure)) => Some(Checked::Fails(failure)),
            Some(Ok(server)) => {
                if start == Start::Anew {
                    context.state.forget_verdict(&server.key);
                }
                servers.push(server);
                None
            }
        };
        rows.push((entry, checked));
    }
    let hosted = if servers.is_empty() { None } else { Some(Hosted::open(context, configuration, servers)?) };
    let rows = rows.into_iter().map(|(entry, checked)| {
        let checked = checked.or_else(|| Some(check::of(hosted.as_ref()?, &entry.name)));
        Row { entry, checked: checked.unwrap_or(Checked::No) }
    });
    let rows = rows.collect();
    if let Some(hosted) = hosted {
        hosted.close();
    }
    Ok(rows)
}

fn hint(context: &Context, configuration: &Configuration) {
    if context.common.quiet || context.common.no_mcp {
        return;
    }
    // The built-in one is always there.
    let mut text = "No file of yours is there yet: sanswire add puts a server into one".to_owned();
    if configuration.entries.len() > 1 {
        text.push_str(", sanswire import copies those of other programs");
    }
    crate::output::complain(&format!("{text}."));
}

/// The command as it stands in the file, what looks secret in it masked.
pub(super) fn command(entry: &Entry) -> String {
    match &entry.kind {
        Kind::Command { program, args, env, .. } => {
            // A reference to a variable is no secret: what it stands for is not shown here.
            let written = variable_secrets(env).into_iter().filter(|value| !value.contains('$'));
            let mask = Mask::new(secret_words(args).into_iter().chain(written));
            let words: Vec<String> =
                std::iter::once(program).chain(args).map(|word| quoted(&mask.apply(word))).collect();
            words.join(" ")
        }
        Kind::Http(remote) => shown(&remote.url),
        Kind::Demo => "built in".into(),
        Kind::Broken(_) => String::new(),
    }
}

/// Of one that was not started.
fn state(context: &Context, entry: &Entry) -> String {
    match &entry.kind {
        _ if entry.disabled => "disabled".into(),
        Kind::Broken(why) => format!("unusable: {why}"),
        Kind::Command { .. } | Kind::Http(_) if !is_trusted(context, entry) => "not allowed yet".into(),
        Kind::Command { .. } | Kind::Demo => "not started".into(),
        Kind::Http(_) => "not connected".into(),
    }
}

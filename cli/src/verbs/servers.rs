//! `servers`: what is configured, where, and, if asked, whether it works.

use sanswire::jsonrpc::ObjectWriter;

use super::introduction;
use super::many::beside;
use super::tools::Tools;
use crate::config::launch::secret_words;
use crate::config::{Configuration, Entry, Kind};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::mask::Mask;
use crate::output::table::table;
use crate::output::{document, json_document};
use crate::server::{Server, is_trusted, quoted};
use crate::session::Session;
use crate::target::unknown;
use crate::wait::Wait;
use crate::words::check_name;

/// What came of starting a server.
enum Checked {
    No,
    Works { introduction: String, revision: &'static str, tools: usize, started_ms: u64 },
    Fails(Failure),
}

/// Shows the servers.
pub(super) fn run(context: &Context, names: &[String], check: bool) -> Result<u8, Failure> {
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
    let wait = Wait::begin(context.animated && check, "starting servers");
    // Questions are asked here, one after the other.
    let meant: Vec<_> = shown
        .into_iter()
        .map(|entry| (entry, starts(entry).then(|| Server::of_entry(context, entry))))
        .collect();
    let rows: Vec<(&Entry, Checked)> = beside(meant, |(entry, server)| {
        (entry, server.map_or(Checked::No, |server| try_it(context, server)))
    });
    drop(wait);
    if context.common.json {
        json_document(&object(|w| {
            w.array("servers", |w| {
                for (entry, checked) in &rows {
                    w.object(|w| write(w, context, entry, checked));
                }
            });
        }))?;
    } else {
        document(&show(context, &rows))?;
        for (entry, _) in rows.iter().filter(|(entry, _)| entry.origin.is_own()) {
            if let Err(why) = check_name(&entry.key) {
                context.warn(&format!("{}: {why}; it is used all the same", entry.place()));
            }
        }
        if configuration.own_files.is_empty() && names.is_empty() {
            hint(context, &configuration);
        }
    }
    Ok(rows
        .iter()
        .find_map(
            |(_, checked)| if let Checked::Fails(failure) = checked { Some(failure.status) } else { None },
        )
        .unwrap_or(0))
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

fn try_it(context: &Context, server: Result<Server, Failure>) -> Checked {
    let tried = server.and_then(|server| {
        let mut session = Session::open(context, &server)?;
        let tools = Tools::of(&session);
        let peer = session.client.peer();
        let introduction = introduction(peer);
        let revision = peer.revision.as_str();
        let started_ms = u64::try_from(session.client.started_in().as_millis()).unwrap_or(u64::MAX);
        session.close();
        Ok(Checked::Works { introduction, revision, tools: tools?.items().count(), started_ms })
    });
    tried.unwrap_or_else(Checked::Fails)
}

fn show(context: &Context, rows: &[(&Entry, Checked)]) -> String {
    let row = |(entry, checked): &(&Entry, Checked)| {
        let state = match checked {
            Checked::No => state(context, entry),
            Checked::Works { introduction, tools, started_ms, .. } => {
                format!("works: {introduction}, {tools} tools, started in {started_ms} ms")
            }
            Checked::Fails(failure) => format!("fails: {}", failure.message.replace('\n', " ")),
        };
        vec![entry.name.clone(), source(entry), command(entry), state]
    };
    table(&["name", "source", "command", "state"], rows.iter().map(row))
}

fn source(entry: &Entry) -> String {
    match &entry.file {
        Some(file) => format!("{} ({})", entry.origin.name(), short(file)),
        None => entry.origin.name().into(),
    }
}

fn short(file: &std::path::Path) -> String {
    let home = crate::config::path_variable("HOME");
    match home.as_deref().and_then(|home| file.strip_prefix(home).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => file.display().to_string(),
    }
}

/// The command as it stands in the file, what looks secret in it masked.
pub(super) fn command(entry: &Entry) -> String {
    match &entry.kind {
        Kind::Command { program, args, .. } => {
            let mask = Mask::new(secret_words(args));
            let words: Vec<String> =
                std::iter::once(program).chain(args).map(|word| quoted(&mask.apply(word))).collect();
            words.join(" ")
        }
        Kind::Http { url, .. } => {
            // An address may hold a password, or a key in its query.
            let address = url.split(['?', '#']).next().unwrap_or_default();
            let Some((scheme, rest)) = address.split_once("://") else { return address.into() };
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        Kind::Demo => "built in".into(),
        Kind::Broken(_) => String::new(),
    }
}

fn state(context: &Context, entry: &Entry) -> String {
    match &entry.kind {
        _ if entry.disabled => "disabled".into(),
        Kind::Broken(why) => format!("unusable: {why}"),
        Kind::Http { .. } => "not supported yet (HTTP)".into(),
        Kind::Command { .. } if !is_trusted(context, entry) => "not allowed yet".into(),
        Kind::Command { .. } | Kind::Demo => "not started".into(),
    }
}

fn write(w: &mut ObjectWriter<'_>, context: &Context, entry: &Entry, checked: &Checked) {
    w.string("name", &entry.name).string("source", entry.origin.name());
    if let Some(file) = &entry.file {
        w.string("file", &file.to_string_lossy());
    }
    w.string("command", &command(entry));
    match checked {
        Checked::No => {
            w.string("state", &state(context, entry));
        }
        Checked::Works { introduction, revision, tools, started_ms } => {
            w.string("state", "works")
                .string("server", introduction)
                .string("revision", revision)
                .u64("tools", *tools as u64)
                .u64("started_ms", *started_ms);
        }
        Checked::Fails(failure) => {
            w.string("state", "fails").string("code", failure.code).string("message", &failure.message);
        }
    }
}

//! How servers are shown.

use std::fmt::Write as _;
use std::path::Path;

use sanswire::jsonrpc::ObjectWriter;

use super::check::{Checked, Connected, Row};
use super::{command, state};
use crate::config::{Configuration, Entry, Kind};
use crate::context::Context;
use crate::output::escape;
use crate::verbs::introduction;

/// How long a line of names may get.
const WIDTH: usize = 100;

/// For people: each server with its state, how it is reached and what it offers; then a summary, and the files.
pub(super) fn text(
    context: &Context,
    configuration: &Configuration,
    rows: &[Row<'_>],
    checked: bool,
) -> String {
    let mut text = String::new();
    for row in rows {
        let entry = row.entry;
        let name = console::style(escape::line(&entry.name)).bold();
        let place = if matches!(entry.kind, Kind::Http(_)) { "remote" } else { "local" };
        let state = match &row.checked {
            Checked::No => state(context, entry),
            Checked::Connected(connected) => console::style(connected.state()).green().to_string(),
            Checked::Fails(failure) => {
                let said = escape::line(&failure.message.replace('\n', " ")).into_owned();
                console::style(format!("failed: {said}")).red().to_string()
            }
        };
        let _ = writeln!(text, "{name}  {place}, {}  {state}", source(entry));
        let command = command(entry);
        if !command.is_empty() {
            let _ = writeln!(text, "    {}", escape::line(&command));
        }
        match &row.checked {
            Checked::Connected(connected) => connected.describe(&mut text),
            Checked::Fails(failure) => {
                if let Some(hint) = &failure.hint {
                    let _ = writeln!(text, "    {}", escape::line(hint));
                }
            }
            Checked::No => {}
        }
    }
    if checked {
        summarise(&mut text, rows);
    }
    if !configuration.own_files.is_empty() {
        let files: Vec<String> = configuration.own_files.iter().map(|file| short(file)).collect();
        let _ = writeln!(text, "{}", escape::line(&files.join(", ")));
    }
    text
}

/// How many of those that are in use are connected; what is disabled or was not to be started counts for neither.
fn summarise(text: &mut String, rows: &[Row<'_>]) {
    let meant = rows.iter().filter(|row| !matches!(row.checked, Checked::No)).count();
    let connected: Vec<&Connected> = rows
        .iter()
        .filter_map(
            |row| if let Checked::Connected(connected) = &row.checked { Some(connected) } else { None },
        )
        .collect();
    if meant > 0 {
        let tools: usize = connected.iter().map(|connected| connected.offered()).sum();
        let _ = writeln!(text, "\n{} of {meant} connected, {}", connected.len(), count(tools, "tool"));
    }
}

impl Connected {
    fn offered(&self) -> usize {
        self.tools.iter().filter(|tool| tool.exposed.is_some()).count()
    }

    fn state(&self) -> String {
        let (offered, listed) = (self.offered(), self.tools.len() + self.left_out);
        let tools = if offered == listed {
            count(offered, "tool")
        } else {
            format!("{offered} of {}", count(listed, "tool"))
        };
        format!("connected, {tools}: {}, started in {} ms", introduction(&self.peer), self.started_ms)
    }

    fn describe(&self, text: &mut String) {
        if let Some(why) = &self.listing {
            let _ = writeln!(text, "    its tools could not be listed: {}", escape::line(why));
        } else if self.tools.is_empty() && self.left_out == 0 {
            text.push_str("    it advertises no tools\n");
        }
        let names: Vec<&str> = self.tools.iter().filter_map(|tool| tool.exposed.as_deref()).collect();
        let mut line = String::new();
        for (n, name) in names.iter().enumerate() {
            if !line.is_empty() && line.len() + name.len() > WIDTH {
                let _ = writeln!(text, "    {}", line.trim_end());
                line.clear();
            }
            line.push_str(name);
            line.push_str(if n + 1 < names.len() { ", " } else { "" });
        }
        if !line.is_empty() {
            let _ = writeln!(text, "    {line}");
        }
        for (n, tool) in self.tools.iter().enumerate() {
            if let Some(reason) = &tool.reason {
                let name = if tool.name.is_empty() {
                    format!("number {}", n + 1).into()
                } else {
                    escape::line(&tool.name)
                };
                let _ = writeln!(text, "    left out: {name} ({})", escape::line(reason));
            }
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "    left out: {} more than can be listed", self.left_out);
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "    warning: {}", escape::line(warning));
        }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn source(entry: &Entry) -> String {
    match &entry.file {
        Some(file) => format!("{} ({})", entry.origin.name(), escape::line(&short(file))),
        None => entry.origin.name().into(),
    }
}

fn short(file: &Path) -> String {
    let home = crate::config::path_variable("HOME");
    match home.as_deref().and_then(|home| file.strip_prefix(home).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => file.display().to_string(),
    }
}

/// For programs: all of it.
pub(super) fn write(w: &mut ObjectWriter<'_>, context: &Context, row: &Row<'_>) {
    let entry = row.entry;
    w.string("name", &entry.name).string("source", entry.origin.name());
    if let Some(file) = &entry.file {
        w.string("file", &file.to_string_lossy());
    }
    w.string("transport", if matches!(entry.kind, Kind::Http(_)) { "http" } else { "stdio" });
    w.string("command", &command(entry));
    match &row.checked {
        Checked::No => {
            w.string("state", &state(context, entry));
        }
        Checked::Connected(connected) => {
            w.string("state", "connected")
                .string("server", &introduction(&connected.peer))
                .string("revision", connected.peer.revision.as_str())
                .u64("started_ms", connected.started_ms)
                .u64("offered", connected.offered() as u64)
                .u64("listed", (connected.tools.len() + connected.left_out) as u64);
            w.array("tools", |w| {
                for tool in &connected.tools {
                    w.object(|w| {
                        w.string("name", &tool.name).string("outcome", tool.outcome);
                        if let Some(exposed) = &tool.exposed {
                            w.string("exposed", exposed);
                        }
                        if let Some(reason) = &tool.reason {
                            w.string("reason", reason);
                        }
                    });
                }
            });
            if let Some(error) = &connected.listing {
                w.string("error", error);
            }
            w.array_of_strings("warnings", connected.warnings.iter().map(String::as_str));
        }
        Checked::Fails(failure) => {
            w.string("state", "failed").string("code", failure.code).string("message", &failure.message);
            if let Some(hint) = &failure.hint {
                w.string("hint", hint);
            }
        }
    }
}

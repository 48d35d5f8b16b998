//! `doctor`: starts a server, or connects to it, and reports how it behaves.

mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

use sanswire::client::{Peer, Stats};
use sanswire::http::client::Kind;
use sanswire::jsonrpc::ObjectWriter;
use sanswire::mcp::Era;
use sanswire_std::{Ended, Exit};

use super::introduction;
use super::tools::Tools;
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::Reach;
use crate::output::{document, escape, json_document};
use crate::server::{Means, Server, quoted};
use crate::session::Session;
use crate::target::select;
use web::{Seen, Watch};

/// How much of a junk line is shown, in characters.
const EXCERPT: usize = 80;
/// How many lines of standard error are shown.
const STDERR_LINES: usize = 5;

/// What was found out.
struct Report {
    name: String,
    reached: String,
    /// What was seen on the way, if it is on the web.
    seen: Option<Seen>,
    found: Result<Findings, Failure>,
}

struct Findings {
    peer: Peer,
    started_in: Duration,
    listed_in: Duration,
    tools: Result<ToolFindings, Failure>,
    stats: Stats,
    first_junk: String,
    violations: Vec<String>,
    stderr: String,
    exit: Exit,
    kind: Option<Kind>,
}

struct ToolFindings {
    count: usize,
    bytes: usize,
    set_aside: Vec<String>,
    notes: Vec<String>,
}

/// Reports on each server in turn.
pub(super) fn run(context: &Context, names: &[String], reach: &Reach) -> Result<u8, Failure> {
    let (servers, single) = select(context, names, reach)?;
    let mut reports = Vec::new();
    for (name, server) in servers {
        let reached = server.as_ref().map(reached).unwrap_or_default();
        let mut seen = None;
        let found = server.and_then(|server| examine(context, &server, &mut seen));
        let report = Report { name, reached, seen, found };
        if !context.common.json {
            if !reports.is_empty() {
                document("\n")?;
            }
            document(&show(&report))?;
        }
        reports.push(report);
    }
    if context.common.json {
        let json = |report: &Report| object(|w| write(w, report));
        match reports.first() {
            Some(report) if single => json_document(&json(report))?,
            _ => json_document(&object(|w| {
                for report in &reports {
                    w.raw(&report.name, json(report).view());
                }
            }))?,
        }
    }
    Ok(reports.iter().find_map(|report| report.failure()).map_or(0, |failure| failure.status))
}

impl Report {
    fn failure(&self) -> Option<&Failure> {
        match &self.found {
            Ok(found) => found.tools.as_ref().err(),
            Err(failure) => Some(failure),
        }
    }
}

fn reached(server: &Server) -> String {
    match &server.means {
        Means::Command(command) => {
            let mask = crate::mask::Mask::new(server.secrets.iter().cloned());
            let words =
                std::iter::once(command.program()).chain(command.arguments().iter().map(|word| &**word));
            let words: Vec<String> = words.map(|word| quoted(&mask.apply(&word.to_string_lossy()))).collect();
            words.join(" ")
        }
        Means::Tcp(address) => format!("tcp {address}"),
        Means::Unix(path) => format!("unix {}", path.display()),
        Means::Http(_, shown) => shown.clone(),
    }
}

fn examine(context: &Context, server: &Server, seen: &mut Option<Seen>) -> Result<Findings, Failure> {
    if !matches!(server.means, Means::Http(..)) {
        return look_at(Session::open(context, server)?);
    }
    let mut watch = None;
    let session = Session::open_watched(context, server, |mask, trace| {
        let new = Watch::new(mask.clone(), trace);
        watch = Some(Arc::clone(&new));
        Some(new)
    });
    let found = session.and_then(look_at);
    *seen = watch.map(|watch| watch.seen());
    found
}

fn look_at(mut session: Session<'_>) -> Result<Findings, Failure> {
    let before = Instant::now();
    let tools = Tools::of(&session).map(|tools| {
        let notes = tools
            .all
            .items()
            .iter()
            .flat_map(|tool| tool.notes().iter().map(move |note| format!("{}: {note}", tool.name())));
        ToolFindings {
            count: tools.all.items().len(),
            bytes: tools.pages.iter().map(sanswire::jsonrpc::RawJson::len).sum(),
            set_aside: tools
                .all
                .set_aside_items()
                .iter()
                .map(|aside| aside.what.to_string())
                .chain(tools.all.warnings().iter().map(|warning| warning.what.to_string()))
                .collect(),
            notes: notes.collect(),
        }
    });
    let listed_in = before.elapsed();
    let peer = session.client.peer().clone();
    let started_in = session.client.started_in();
    let kind = session.client.http_kind();
    let exit = session.close();
    let client = &session.client;
    let stderr = |tail: &str| session.masked(tail);
    let stats = client.stats();
    let first_junk = session.masked(&String::from_utf8_lossy(&stats.first_junk));
    Ok(Findings {
        first_junk: escape::excerpt(&first_junk, EXCERPT),
        peer,
        started_in,
        listed_in,
        tools,
        stats,
        violations: client
            .violations()
            .iter()
            .map(|violation| session.masked(&violation.to_string()))
            .collect(),
        stderr: stderr(&exit.stderr_tail),
        exit,
        kind,
    })
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn ending(exit: &Exit) -> String {
    let took = ms(exit.took);
    match exit.ended {
        Ended::OnEof => format!("{exit} {took} ms after its input ended"),
        Ended::OnTerm => format!("ignored the end of its input; {exit} on SIGTERM, after {took} ms"),
        Ended::OnKill => format!("ignored the end of its input and SIGTERM; {exit}, after {took} ms"),
        Ended::Already => format!("{exit} by itself, before its input ended"),
        _ => exit.to_string(),
    }
}

fn show(report: &Report) -> String {
    let mut text = format!("{}\n", console::style(escape::line(&report.name)).bold());
    let mut row = |title: &str, value: &str| {
        for (n, line) in value.lines().enumerate() {
            let title = if n == 0 { title } else { "" };
            text.push_str(&format!("  {title:<12} {}\n", escape::line(line)));
        }
    };
    row("reached by", &report.reached);
    if let Some(seen) = &report.seen {
        web::show(seen, &mut row);
    }
    let found = match &report.found {
        Ok(found) => found,
        Err(failure) => {
            row("fails", &failure.message);
            row("", failure.hint.as_deref().unwrap_or_default());
            return text;
        }
    };
    let era = if found.peer.era == Era::Modern { "modern" } else { "legacy" };
    row("server", &introduction(&found.peer));
    row("speaks", &format!("{} ({era})", found.peer.revision));
    let ready = if report.seen.is_some() { "ready in" } else { "started in" };
    row(ready, &format!("{} ms", ms(found.started_in)));
    if let Some(seen) = &report.seen {
        web::show_whole(seen, found.kind, &mut row);
    }
    let mut remarks = 0;
    match &found.tools {
        Ok(tools) => {
            row(
                "tools",
                &format!("{}, {} bytes, listed in {} ms", tools.count, tools.bytes, ms(found.listed_in)),
            );
            for aside in &tools.set_aside {
                row("set aside", aside);
            }
            for note in &tools.notes {
                row("remark", note);
            }
            remarks += tools.set_aside.len() + tools.notes.len();
        }
        Err(failure) => row("tools", &format!("fails: {}", failure.message)),
    }
    let stats = &found.stats;
    if stats.junk_lines > 0 {
        row("junk lines", &format!("{}, the first: {}", stats.junk_lines, found.first_junk));
    }
    for violation in &found.violations {
        row("violation", violation);
    }
    let seen = found.violations.len() as u64;
    if stats.violations > seen {
        row("violation", &format!("and {} more", stats.violations - seen));
    }
    remarks += usize::try_from(stats.violations.max(stats.junk_lines)).unwrap_or(usize::MAX);
    for (title, count) in [
        ("late answers", stats.late_responses),
        ("unusable notifications", stats.dropped_notifications),
        ("refused requests", stats.refused_requests + stats.dropped_requests),
    ] {
        if count > 0 {
            row("seen", &format!("{title}: {count}"));
        }
    }
    let lines: Vec<&str> = found.stderr.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    if report.seen.is_some() {
        // It runs elsewhere.
    } else if lines.is_empty() {
        row("stderr", "nothing");
    } else {
        let last = lines.len().saturating_sub(STDERR_LINES);
        row("stderr", &lines.get(last..).unwrap_or_default().join("\n"));
    }
    if report.seen.is_none() {
        row("ending", &ending(&found.exit));
    }
    remarks += usize::from(matches!(found.exit.ended, Ended::OnTerm | Ended::OnKill | Ended::Already));
    let verdict = match (&found.tools, remarks) {
        (Err(_), _) => "it does not work".into(),
        (Ok(_), 0) => "it works".into(),
        (Ok(_), n) => format!("it works, with {n} remark{}", if n == 1 { "" } else { "s" }),
    };
    row("in short", &verdict);
    text
}

fn write(w: &mut ObjectWriter<'_>, report: &Report) {
    w.string("name", &report.name)
        .string("reached_by", &report.reached)
        .bool("works", report.failure().is_none());
    if let Some(failure) = report.failure() {
        w.string("code", failure.code).string("message", &failure.message);
        if let Some(hint) = &failure.hint {
            w.string("hint", hint);
        }
        if let Some(answer) = &failure.answer {
            answer.write(w);
        }
    }
    if let Some(seen) = &report.seen {
        let kind = report.found.as_ref().ok().and_then(|found| found.kind);
        w.object("http", |w| web::write(w, seen, kind));
    }
    let Ok(found) = &report.found else { return };
    w.string("revision", found.peer.revision.as_str());
    w.string("era", if found.peer.era == Era::Modern { "modern" } else { "legacy" });
    w.object("server", |w| {
        w.string("name", &found.peer.server.name).string("version", &found.peer.server.version);
    });
    w.u64("started_ms", ms(found.started_in)).u64("listed_ms", ms(found.listed_in));
    if let Ok(tools) = &found.tools {
        w.u64("tools", tools.count as u64).u64("tools_bytes", tools.bytes as u64);
        w.array_of_strings("set_aside", tools.set_aside.iter().map(String::as_str));
        w.array_of_strings("remarks", tools.notes.iter().map(String::as_str));
    }
    let stats = &found.stats;
    w.u64("junk_lines", stats.junk_lines);
    if stats.junk_lines > 0 {
        w.string("first_junk", &found.first_junk);
    }
    w.u64("violation_count", stats.violations);
    w.array_of_strings("violations", found.violations.iter().map(String::as_str));
    w.u64("late_answers", stats.late_responses);
    w.string("stderr", &found.stderr).string("ending", &ending(&found.exit));
    w.u64("stopped_ms", ms(found.exit.took));
}

//! The questions of `add`, one after the other. Escape leaves them, and nothing was written.

use super::New;
use crate::config::{Remote, Speaks, check_url, headers, is_variable};
use crate::failure::Failure;
use crate::output::complain;
use crate::prompt::{Asked, choose, line};
use crate::words::{check_name, split};

/// Asks for the kind, the name unless it was given, and how it is reached. `None`: the person left.
pub(super) fn ask(
    given: Option<&str>,
    free: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Option<(String, New)>, Failure> {
    let fit = |name: &str| check_name(name).map_err(str::to_owned).and_then(free);
    if let Some(name) = given {
        fit(name).map_err(|why| Failure::usage(format!("{name:?}: {why}")))?;
    }
    let kind = choose("What kind of server?", &["A program on this machine", "A server on the web"]);
    let Asked::Answer(kind) = kind else { return Ok(None) };
    let name = match given {
        Some(name) => name.to_owned(),
        None => match line("Name", &fit) {
            Asked::Answer(name) => name,
            Asked::Left => return Ok(None),
        },
    };
    let new = if kind == 0 { command() } else { web() };
    Ok(new.map(|new| (name.trim().to_owned(), new)))
}

fn command() -> Option<New> {
    let blank = |text: &str| match split(text).words.first() {
        Some(program) if !program.trim().is_empty() => Ok(()),
        _ => Err("a command is needed".to_owned()),
    };
    let Asked::Answer(program) = line("Command", &blank) else { return None };
    let Asked::Answer(args) = line("Arguments, if any", &|_| Ok(())) else { return None };
    let (program, args) = (split(&program), split(&args));
    tell(&program.notes);
    tell(&args.notes);
    let mut words = program.words.into_iter().chain(args.words);
    Some(New::Command { program: words.next()?, args: words.collect() })
}

fn web() -> Option<New> {
    let Asked::Answer(url) = line("Address", &check_url) else { return None };
    let kinds = ["Find out", "Streamable HTTP", "HTTP with a stream of events, the older way"];
    let Asked::Answer(kind) = choose("How does it speak?", &kinds) else { return None };
    let fit = |text: &str| {
        headers::line(text).headers.iter().try_for_each(|(name, value)| headers::check(name, value).map(drop))
    };
    let Asked::Answer(said) = line("Headers, if any (Name: value, Name: value)", &fit) else { return None };
    let said = headers::line(&said);
    let dropped: Vec<String> =
        said.dropped.iter().map(|part| format!("{part:?} is not Name: value, and was dropped")).collect();
    tell(&dropped);
    let mut remote = Remote { url: url.trim().to_owned(), headers: said.headers, ..Remote::default() };
    remote.speaks = [Speaks::Auto, Speaks::Http, Speaks::Sse].get(kind).copied().unwrap_or_default();
    if !remote.has_authorization() {
        let Asked::Answer(name) = line(BEARER, &variable) else { return None };
        remote.bearer_env = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    }
    Some(New::Web(remote))
}

const BEARER: &str = "Variable that holds a token for it, if any";

/// The name of a variable, or nothing.
fn variable(text: &str) -> Result<(), String> {
    if text.trim().is_empty() || is_variable(text.trim()) {
        Ok(())
    } else {
        Err("the name of a variable is needed, not the token".into())
    }
}

fn tell(notes: &[String]) {
    for note in notes {
        complain(&format!("warning: {note}"));
    }
}

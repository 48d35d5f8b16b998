//! `check`: what a server does over standard input and output, against the specification.

use std::ffi::OsString;

use sanswire::jsonrpc::RawJson;
use sanswire_check::{Call, Plan, all};

use crate::arguments::read_all;
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::json::object;
use crate::options::{EraChoice, Reach, ReportArgs};
use crate::output::{document, json_document};
use crate::server::Means;
use crate::target::select;
use crate::verbs::reports::Reports;

/// Tells which checks there are.
pub(super) fn list(context: &Context) -> Result<u8, Failure> {
    if context.common.json {
        json_document(&object(|w| {
            w.array("checks", |w| {
                for check in all() {
                    w.raw(check.to_json().view());
                }
            });
        }))?;
        return Ok(0);
    }
    let lines: String =
        all().map(|check| format!("{} ({}): {}\n", check.id, check.strength.as_str(), check.title)).collect();
    document(&lines)?;
    Ok(0)
}

/// The calls that are allowed, each with its arguments. One alone may do without.
pub(super) fn calls(names: Vec<String>, arguments: &[String]) -> Result<Vec<Call>, Failure> {
    if names.len() == 1 && arguments.is_empty() {
        return Ok(names.into_iter().map(|name| Call::new(name, RawJson::empty_object())).collect());
    }
    if names.len() != arguments.len() {
        let message = format!("--call is given {} times, and --args {} times", names.len(), arguments.len());
        return Err(Failure::usage(message)
            .hint("--args is of the --call of the same number: --args '{}' where a tool needs none"));
    }
    let arguments = arguments.iter().map(|all| read_all(all)).collect::<Result<Vec<_>, _>>()?;
    Ok(names.into_iter().zip(arguments).map(|(name, arguments)| Call::new(name, arguments)).collect())
}

/// Checks one server.
pub(super) fn run(
    context: &Context,
    name: Option<String>,
    only: Vec<String>,
    command: Vec<OsString>,
    reports: ReportArgs,
    calls: Vec<Call>,
    read_only_calls: bool,
) -> Result<u8, Failure> {
    if let Some(unknown) = only.iter().find(|only| !all().any(|check| check.id.starts_with(only.as_str()))) {
        let message = format!("no check's name begins with {unknown}");
        return Err(Failure::new(status::OTHER, "usage", message).hint("check --list names them all"));
    }
    let reach = Reach { command, ..Reach::default() };
    let names: Vec<String> = name.into_iter().collect();
    if names.is_empty() && !reach.is_given() {
        let message = "there is no server to check";
        let hint = "sanswire check -- COMMAND ARGUMENT\u{2026}, or the name of one that is configured";
        return Err(Failure::new(status::OTHER, "usage", message).hint(hint));
    }
    let reports = Reports::prepare(context, reports)?;
    let (servers, _) = select(context, &names, &reach)?;
    let Some((_, server)) = servers.into_iter().next() else { return Ok(0) };
    let server = server?;
    let Means::Command(command) = &server.means else {
        let message =
            "only servers that are started, and speak over standard input and output, can be checked";
        return Err(Failure::new(status::OTHER, "usage", message).hint("doctor looks at any server"));
    };
    let mut plan = Plan::new(command.clone());
    plan.only = only;
    (plan.calls, plan.read_only_calls) = (calls, read_only_calls);
    match context.common.era {
        Some(EraChoice::Legacy) => plan.revisions.retain(|it| it.era() == sanswire::mcp::Era::Legacy),
        Some(EraChoice::Modern) => plan.revisions.retain(|it| it.era() == sanswire::mcp::Era::Modern),
        Some(EraChoice::Date(only)) => plan.revisions = vec![only],
        Some(EraChoice::Auto) | None => {}
    }
    if let Some(timeout) = context.common.timeout {
        (plan.start, plan.answer) = (timeout, timeout);
    }
    reports.tell(sanswire_check::run(&plan), &server.secrets, command)
}

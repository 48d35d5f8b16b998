//! `check`: what a server or a client does over standard input and output, against the specification.

use std::ffi::OsString;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::{Era, Revision};
use sanswire_check::{Call, Check, ClientPlan, Plan, all, clients};
use sanswire_std::Command;

use crate::arguments::read_all;
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::json::object;
use crate::options::{EraChoice, Reach, ReportArgs};
use crate::output::{document, json_document};
use crate::server::Means;
use crate::target::select;
use crate::verbs::reports::Reports;

/// Tells which checks there are, of servers or of clients.
pub(super) fn list(context: &Context, client: bool) -> Result<u8, Failure> {
    let checks: Vec<&Check> = if client { clients().collect() } else { all().collect() };
    if context.common.json {
        json_document(&object(|w| {
            w.array("checks", |w| {
                for check in &checks {
                    w.raw(check.to_json().view());
                }
            });
        }))?;
        return Ok(0);
    }
    let line = |check: &&Check| format!("{} ({}): {}\n", check.id, check.strength.as_str(), check.title);
    let lines: String = checks.iter().map(line).collect();
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

/// What was asked for by name has to be there.
fn known(only: &[String], checks: impl Iterator<Item = &'static Check> + Clone) -> Result<(), Failure> {
    match only.iter().find(|only| !checks.clone().any(|check| check.id.starts_with(only.as_str()))) {
        None => Ok(()),
        Some(unknown) => {
            let message = format!("no check's name begins with {unknown}");
            Err(Failure::new(status::OTHER, "usage", message).hint("check --list names them all"))
        }
    }
}

/// The revisions that are wanted, of these.
fn narrow(context: &Context, revisions: &mut Vec<Revision>) {
    match context.common.era {
        Some(EraChoice::Legacy) => revisions.retain(|it| it.era() == Era::Legacy),
        Some(EraChoice::Modern) => revisions.retain(|it| it.era() == Era::Modern),
        Some(EraChoice::Date(only)) => *revisions = vec![only],
        Some(EraChoice::Auto) | None => {}
    }
}

/// Checks one client.
pub(super) fn client(
    context: &Context,
    only: Vec<String>,
    command: Vec<OsString>,
    reports: ReportArgs,
) -> Result<u8, Failure> {
    known(&only, clients())?;
    let mut words = command.into_iter();
    let Some(program) = words.next() else {
        let message = "there is no client to check";
        let hint =
            "sanswire check --client -- COMMAND ARGUMENT\u{2026}, with {server} where its server belongs";
        return Err(Failure::new(status::OTHER, "usage", message).hint(hint));
    };
    let own = std::env::current_exe().map_err(|error| {
        let message = format!("where this program lies cannot be told: {error}");
        Failure::new(status::OTHER, "system", message).hint("start it by its whole path")
    })?;
    let mut plan =
        ClientPlan::new(Command::new(program).args(words), Command::new(own).args(["check", "--relay"]));
    if !plan.names_server() {
        let message = "the command does not say where its server belongs";
        let hint = "put {server} there, {server-command} and {server-args}, {server-json} or {config}";
        return Err(Failure::new(status::OTHER, "usage", message).hint(hint));
    }
    let reports = Reports::prepare(context, reports)?;
    plan.only = only;
    narrow(context, &mut plan.revisions);
    if let Some(timeout) = context.common.timeout {
        (plan.start, plan.patience) = (timeout, timeout);
    }
    reports.tell(sanswire_check::run_client(&plan), &[], &plan.command)
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
    known(&only, all())?;
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
    narrow(context, &mut plan.revisions);
    if let Some(timeout) = context.common.timeout {
        (plan.start, plan.answer) = (timeout, timeout);
    }
    reports.tell(sanswire_check::run(&plan), &server.secrets, command)
}

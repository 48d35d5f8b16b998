//! The verbs, one file each.

mod add;
mod call;
mod check;
mod complete;
mod doctor;
mod exposed;
mod import;
mod inspect;
mod limits;
mod many;
mod policy;
mod prompts;
mod replay;
mod reports;
mod resources;
mod saved;
mod servers;
mod tools;

use sanswire::client::Peer;
use sanswire::jsonrpc::ObjectWriter;
use saved::Change;
use servers::Start;

use crate::config::Literal;
use crate::context::Context;
use crate::failure::Failure;
use crate::options::{Cli, Verb};
use crate::output::escape;
use crate::trace::TraceFile;

/// Does what was asked for; gives the exit status.
pub(crate) fn run(cli: Cli) -> Result<u8, Failure> {
    let context = &Context::new(cli.common)?;
    let done = match cli.verb {
        Verb::Servers { names, check: false } => servers::run(context, &names, Start::None),
        Verb::Servers { names, check: true } => servers::run(context, &names, Start::AsKnown),
        Verb::Reconnect { names } => servers::run(context, &names, Start::Anew),
        Verb::Tools { servers, exposed: true, .. } => exposed::run(context, &servers),
        Verb::Tools { servers, exposed: false, reach } => tools::run(context, &servers, &reach),
        Verb::Inspect { target, reach } => inspect::run(context, &target, &reach),
        Verb::Call { words, args, out, yes, reach } => {
            call::run(context, &words, args.as_deref(), out.as_deref(), yes, &reach)
        }
        Verb::Resources { servers, reach } => resources::list(context, &servers, &reach),
        Verb::Read { target, out, reach } => resources::read(context, &target, out.as_deref(), &reach),
        Verb::Prompts { servers, reach } => prompts::list(context, &servers, &reach),
        Verb::Prompt { words, reach } => prompts::get(context, &words, &reach),
        Verb::Complete { words, reach } => complete::run(context, &words, &reach),
        Verb::Doctor { servers, reach } => doctor::run(context, &servers, &reach),
        Verb::Check { list: true, client, .. } => check::list(context, client),
        Verb::Check { client: true, only, command, reports, .. } => {
            check::client(context, only, command, *reports)
        }
        Verb::Check { server, only, command, reports, call, args, read_only_calls, .. } => {
            let calls = check::calls(call, &args)?;
            check::run(context, server, only, command, *reports, calls, read_only_calls)
        }
        Verb::Add(addition) => add::run(context, &addition),
        Verb::Remove { name } => saved::run(context, &name, Change::Remove),
        Verb::Enable { name } => saved::run(context, &name, Change::Enable),
        Verb::Disable { name } => saved::run(context, &name, Change::Disable),
        Verb::Import { words, dry_run } => import::run(context, &words, dry_run),
        Verb::Policy { what } => policy::run(context, &what),
        Verb::Limits => limits::run(context),
        Verb::Replay { file } => replay::run(context, &file),
        Verb::DemoServer(_) | Verb::Completions { .. } => Ok(0),
    };
    if context.trace.as_ref().is_some_and(TraceFile::is_incomplete) {
        context.warn("the trace is incomplete: not everything could be written");
    }
    crate::record::finish(context);
    done
}

/// Says in which members of an entry that was written a secret stands as it is, if in any.
fn plain_secrets<'a, 'w>(w: &'a mut ObjectWriter<'w>, literals: &[Literal]) -> &'a mut ObjectWriter<'w> {
    if literals.is_empty() {
        return w;
    }
    w.array_of_strings("plain_secrets", literals.iter().map(|literal| literal.member.as_str()))
}

/// A server as it calls itself, and how it speaks: `Thing 1.0, 2025-11-25`. Harmless on a terminal.
fn introduction(peer: &Peer) -> String {
    let name = peer.server.title.as_ref().unwrap_or(&peer.server.name);
    let named = format!("{} {}", escape::line(name), escape::line(&peer.server.version));
    let named = named.trim();
    if named.is_empty() { peer.revision.to_string() } else { format!("{named}, {}", peer.revision) }
}

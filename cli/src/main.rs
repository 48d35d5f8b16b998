//! Command line for Model Context Protocol servers: lists, inspects and calls their tools.
#![forbid(unsafe_code)]

mod advice;
mod approvals;
mod arguments;
mod config;
mod connection;
mod context;
mod demo;
mod encode;
mod failure;
mod hosted;
mod json;
mod mask;
mod options;
mod output;
mod prompt;
mod record;
mod refusal;
mod server;
mod session;
mod signals;
mod state;
mod target;
mod trace;
mod unreached;
mod verbs;
mod wait;
mod words;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use failure::{Failure, status};
use options::{Cli, Verb};
use server::{GOES_WITH_URL, is_address};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match cli.verb {
        Verb::DemoServer(demo) => {
            return demo.run().map_or_else(
                |failure| {
                    output::report(&failure, cli.common.json, cli.common.quiet);
                    ExitCode::from(failure.status)
                },
                |()| ExitCode::SUCCESS,
            );
        }
        Verb::Check { relay: Some(address), .. } => return ExitCode::from(sanswire_check::relay(&address)),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sanswire", &mut script);
            return print(&String::from_utf8_lossy(&script));
        }
        _ => {}
    }
    signals::watch();
    let (json, quiet) = (cli.common.json, cli.common.quiet);
    let status = verbs::run(cli).unwrap_or_else(|failure| {
        signals::settle();
        output::report(&failure, json, quiet);
        failure.status
    });
    signals::settle();
    ExitCode::from(status)
}

/// Prints what needs no server.
fn print(text: &str) -> ExitCode {
    match output::document(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::report(&failure, false, false);
            ExitCode::from(failure.status)
        }
    }
}

/// Help and version are no errors; everything else that clap says is wrong usage, under our own status.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return print(&error.to_string());
    }
    let json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    let stray = error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    if matches!(stray, Some(ContextValue::String(word)) if is_address(word)) {
        let failure = Failure::usage("an address stands where none is wanted").hint(GOES_WITH_URL);
        output::report(&failure, json, false);
    } else if json {
        let text = error.to_string();
        let said = text.lines().take_while(|line| !line.starts_with("Usage:"));
        let words: Vec<&str> = said.flat_map(str::split_whitespace).collect();
        output::report(&Failure::usage(words.join(" ").trim_start_matches("error: ")), true, true);
    } else {
        output::complain(error.to_string().trim_end());
    }
    ExitCode::from(status::OTHER)
}

//! The same scenarios on every runtime, over every transport and in every revision: a machine alone, blocking threads and
//! an async executor are to make no difference to an application.
//!
//! Each scenario is written once, and tried in each cell of a table that is shown at the end: `.` where it passed, a letter
//! where it cannot exist, with the reason. A cell with neither fails the run.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]

mod axes;
mod client;
mod hosts;
mod live;
mod on_smol;
mod on_std;
mod pair;
mod reasons;
mod scenarios;
mod scripted;
mod served;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let serve: Option<fn(&[String])> = match arguments.next().as_deref() {
        Some("--peer") => Some(live::child),
        Some("--served") => Some(served::child),
        _ => None,
    };
    if let Some(serve) = serve {
        serve(&arguments.collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    let mut arguments = libtest_mimic::Arguments::from_args();
    // Most of them wait, few of them work.
    arguments.test_threads = arguments.test_threads.or(Some(8));
    // There are many; the table says what became of them.
    arguments.quiet |= arguments.format.is_none() && !arguments.list;
    let whole = arguments.filter.is_none() && !arguments.list && arguments.skip.is_empty();
    let table = table::Table::new();
    let conclusion = libtest_mimic::run(&arguments, table.trials());
    if !whole {
        return conclusion.exit_code();
    }
    let holes = table.show();
    if holes == 0 { conclusion.exit_code() } else { ExitCode::FAILURE }
}

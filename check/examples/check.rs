//! Checks the server whose command follows.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::process::ExitCode;

use sanswire_check::{Command, Plan, run};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        println!("usage: check PROGRAM [ARGUMENT...]");
        return ExitCode::from(1);
    };
    let report = run(&Plan::new(Command::new(program).args(words)));
    println!("{report}");
    ExitCode::from(report.status())
}

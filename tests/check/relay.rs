//! The server that a client starts while it is checked.

use std::process::ExitCode;

fn main() -> ExitCode {
    let address = std::env::args_os().nth(1).unwrap_or_default();
    ExitCode::from(sanswire_check::relay(&address))
}

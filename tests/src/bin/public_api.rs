//! Prints what a crate offers, one line an item; see [`sanswire_tests::public_api`].
//!
//! `public_api FILE`, where the file is what `rustdoc --output-format json` wrote. Ends with status 77 where that is of a
//! format that is not known here.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for a script")]

use std::process::ExitCode;

use sanswire_tests::public_api::{FORMATS, Unread, lines};

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: public_api FILE");
        return ExitCode::from(2);
    };
    let document = std::fs::read(&file).map_err(|error| error.to_string());
    let document =
        document.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
    let document = match document {
        Ok(document) => document,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match lines(&document) {
        Ok(lines) => {
            println!("{}", lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(Unread::Format(format)) => {
            eprintln!(
                "{file}: format {format} of rustdoc's JSON; {} to {} are known",
                FORMATS.start(),
                FORMATS.end()
            );
            ExitCode::from(77)
        }
        Err(Unread::Unknown(what)) => {
            eprintln!("{file}: {what} is unknown to tests/src/public_api");
            ExitCode::FAILURE
        }
    }
}

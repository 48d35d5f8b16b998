//! Explores machines to a depth; see [`sanswire_tests::explore`].
//!
//! `explore [--model NAME] [--further N]`: so many steps further than the tests go. What is printed is the same on every
//! machine.
#![expect(clippy::print_stderr, reason = "its output is for a terminal")]

use std::process::ExitCode;

use sanswire_tests::explore::{Model, Rules};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let further = value("--further").and_then(|text| text.parse().ok()).unwrap_or(0);
    let wanted = value("--model");
    for model in Model::ALL {
        if wanted.as_ref().is_some_and(|wanted| *wanted != model.name()) {
            continue;
        }
        let mut rules = Rules::new();
        match model.explore(further, &mut rules) {
            Ok(found) => eprintln!("{}: {found}", model.name()),
            Err(broken) => {
                eprintln!("{}: {broken}", model.name());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

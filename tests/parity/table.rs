//! The table of all cells, and what became of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::Trial;
use sanswire::mcp::Revision;

use crate::axes::{Cell, Runtime, Transport};
use crate::reasons::{REASONS, reason};
use crate::scenarios::{Bench, SCENARIOS};

/// All cells.
pub(crate) struct Table {
    /// Those that were tried and passed, by their names.
    passed: Arc<Mutex<BTreeSet<String>>>,
}

/// The cells of one line of the table.
fn cells(scenario: &'static str, runtime: Runtime, transport: Transport) -> impl Iterator<Item = Cell> {
    Revision::ALL.into_iter().map(move |revision| Cell { scenario, runtime, transport, revision })
}

/// Every runtime with every transport.
fn columns() -> impl Iterator<Item = (Runtime, Transport)> {
    Runtime::ALL.into_iter().flat_map(|runtime| Transport::ALL.map(|transport| (runtime, transport)))
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { passed: Arc::default() }
    }

    /// A trial for each cell that has no reason not to be.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (scenario, run) in SCENARIOS {
            for (runtime, transport) in columns() {
                for cell in cells(scenario, runtime, transport).filter(|cell| reason(cell).is_none()) {
                    let passed = Arc::clone(&self.passed);
                    trials.push(Trial::test(cell.to_string(), move || {
                        run(&Bench::new(cell));
                        passed.lock().unwrap_or_else(PoisonError::into_inner).insert(cell.to_string());
                        Ok(())
                    }));
                }
            }
        }
        trials
    }

    /// Shows it; how many cells are neither `.` nor have a reason.
    pub(crate) fn show(&self) -> usize {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let width = SCENARIOS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::from("\nparity: each column holds the revisions ");
        let dates = Revision::ALL.map(|revision| revision.to_string()).join(", ");
        let _ = writeln!(text, "{dates}; . passed");
        let _ = write!(text, "{:width$}", "");
        for (runtime, transport) in columns() {
            if transport == Transport::Stdio {
                let _ = write!(text, "  {:17}", runtime.name());
            }
        }
        let _ = write!(text, "\n{:width$}", "");
        for (_, transport) in columns() {
            let gap = if transport == Transport::Stdio { "  " } else { " " };
            let _ = write!(text, "{gap}{:5}", transport.name());
        }
        text.push('\n');
        let (mut holes, mut count, mut used) = (0, 0, BTreeMap::new());
        for (scenario, _) in SCENARIOS {
            let _ = write!(text, "{scenario:width$}");
            for (runtime, transport) in columns() {
                text.push_str(if transport == Transport::Stdio { "  " } else { " " });
                for cell in cells(scenario, runtime, transport) {
                    match reason(&cell) {
                        Some(number) => {
                            let letter = char::from(b'a' + u8::try_from(number).unwrap());
                            *used.entry(number).or_insert(0) += 1;
                            text.push(letter);
                        }
                        None if passed.contains(&cell.to_string()) => {
                            count += 1;
                            text.push('.');
                        }
                        None => {
                            holes += 1;
                            text.push('X');
                        }
                    }
                }
            }
            text.push('\n');
        }
        for (number, (why, _)) in REASONS.iter().enumerate() {
            let letter = char::from(b'a' + u8::try_from(number).unwrap());
            let cells = used.get(&number).copied().unwrap_or(0);
            let _ = writeln!(text, "{letter}: {why} ({cells})");
        }
        let excused: i32 = used.values().sum();
        let _ = writeln!(text, "parity: {count} cells passed, {excused} cannot exist, {holes} did not pass");
        // A closed stdout is no reason to fail.
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
        holes
    }
}

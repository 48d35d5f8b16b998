//! The table of all cells, and what became of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::Trial;
use sanswire::mcp::Revision;

use crate::axes::{Cell, HOSTS, Lane, TO_SCRIPTS, TO_SERVERS, Transport};
use crate::reasons::{REASONS, reason};
use crate::scenarios::{Bench, HOSTED, Scenario, TO_SCRIPTED, TO_SERVED};

/// All cells.
pub(crate) struct Table {
    /// Those that were tried and passed, by their names.
    passed: Arc<Mutex<BTreeSet<String>>>,
}

/// Scenarios, and who they are tried by.
struct Part {
    title: &'static str,
    scenarios: &'static [(&'static str, Scenario)],
    lanes: &'static [Lane],
}

const PARTS: [Part; 3] = [
    Part { title: "a client meets a peer of no code of ours", scenarios: &TO_SCRIPTED, lanes: &TO_SCRIPTS },
    Part { title: "a client meets a server of ours", scenarios: &TO_SERVED, lanes: &TO_SERVERS },
    Part { title: "a host has a server of no code of ours", scenarios: &HOSTED, lanes: &HOSTS },
];

impl Part {
    /// Every lane with every transport.
    fn columns(&self) -> impl Iterator<Item = (Lane, Transport)> {
        self.lanes.iter().flat_map(|lane| Transport::ALL.map(|transport| (*lane, transport)))
    }
}

/// The cells of one line in one column.
fn cells(scenario: &'static str, (runtime, half): Lane, transport: Transport) -> impl Iterator<Item = Cell> {
    Revision::ALL.into_iter().map(move |revision| Cell { scenario, runtime, half, transport, revision })
}

/// What stands for a reason.
fn letter(number: usize) -> char {
    char::from(b'a' + u8::try_from(number).unwrap())
}

#[derive(Default)]
struct Count {
    passed: usize,
    holes: usize,
    excused: BTreeMap<usize, usize>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { passed: Arc::default() }
    }

    /// A trial for each cell that has no reason not to be.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for part in &PARTS {
            for (scenario, run) in part.scenarios {
                let all = part.columns().flat_map(|(lane, transport)| cells(scenario, lane, transport));
                for cell in all.filter(|cell| reason(cell).is_none()) {
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

    /// Shows it; how many cells neither passed nor have a reason.
    pub(crate) fn show(&self) -> usize {
        let dates = Revision::ALL.map(|revision| revision.to_string()).join(", ");
        let mut text = format!("\nparity: each column is of {dates}; . passed, X did not\n");
        let mut count = Count::default();
        for part in &PARTS {
            self.show_part(part, &mut text, &mut count);
        }
        text.push('\n');
        for (number, (why, _)) in REASONS.iter().enumerate() {
            let cells = count.excused.get(&number).copied().unwrap_or(0);
            let _ = writeln!(text, "{}: {why} ({cells})", letter(number));
        }
        let excused: usize = count.excused.values().sum();
        let (passed, holes) = (count.passed, count.holes);
        let _ = writeln!(text, "parity: {passed} cells passed, {excused} cannot exist, {holes} did not pass");
        // A closed stdout is no reason to fail.
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
        holes
    }

    fn show_part(&self, part: &Part, text: &mut String, count: &mut Count) {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let width = part.scenarios.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let gap = |transport| if transport == Transport::Stdio { "  " } else { " " };
        let _ = write!(text, "\n{}:\n{:width$}", part.title, "");
        for (runtime, half) in part.lanes {
            let _ = write!(text, "  {:17}", format!("{} to {}", runtime.name(), half.name()));
        }
        let _ = write!(text, "\n{:width$}", "");
        for (_, transport) in part.columns() {
            let _ = write!(text, "{}{:5}", gap(transport), transport.name());
        }
        text.push('\n');
        for (scenario, _) in part.scenarios {
            let _ = write!(text, "{scenario:width$}");
            for (lane, transport) in part.columns() {
                text.push_str(gap(transport));
                for cell in cells(scenario, lane, transport) {
                    text.push(match reason(&cell) {
                        Some(number) => {
                            *count.excused.entry(number).or_insert(0) += 1;
                            letter(number)
                        }
                        None if passed.contains(&cell.to_string()) => {
                            count.passed += 1;
                            '.'
                        }
                        None => {
                            count.holes += 1;
                            'X'
                        }
                    });
                }
            }
            text.push('\n');
        }
    }
}

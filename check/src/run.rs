//! Runs the checks of a plan.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sanswire::mcp::{Era, Revision};

use crate::check::{Check, Company, Role, Script, Speaks};
use crate::facts::{Facts, survey};
use crate::finding::Finding;
use crate::plan::Plan;
use crate::report::{Found, Report, Result, Verdict};
use crate::server;
use crate::talk::Talk;
use crate::transcript::Transcript;

/// Checks what the plan says. Blocks until all is done: as long as the server takes to start, many times, and at most the
/// plan's patience for each answer that does not come.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let survey = survey(plan);
    let mut report = Report {
        role: Role::Server,
        peer: survey.speaks.last().and_then(|(_, facts)| facts.name()),
        revisions: survey.speaks.iter().map(|(revision, _)| *revision).collect(),
        unspoken: survey.unspoken,
        unreached: None,
        results: Vec::new(),
        stale: Vec::new(),
    };
    if survey.speaks.is_empty() {
        report.unreached = Some(survey.silent.unwrap_or_else(|| {
            let expected = "an answer in one of the revisions that this program speaks";
            Found { finding: Finding::new(expected, "only others"), transcript: Transcript::new() }
        }));
        return report;
    }
    let spoken = &report.revisions;
    let mut work = VecDeque::new();
    for (revision, facts) in &survey.speaks {
        let mut shared = Vec::new();
        for check in server::all().filter(|check| plan.wants(check.id)) {
            if !holds(check, *revision, spoken) {
                continue;
            }
            if let Some(missing) = check.needs.iter().find(|needed| !facts.declares(needed)) {
                let why = format!("the server does not declare {missing}");
                report.results.push(Result::skipped(check, *revision, why));
            } else if check.company == Company::Alone {
                work.push_back((*revision, facts, vec![check]));
            } else {
                shared.push(check);
            }
        }
        if !shared.is_empty() {
            // The longest first.
            work.push_front((*revision, facts, shared));
        }
    }
    let (work, results) = (Mutex::new(work), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let next = lock(&work).pop_front();
                    let Some((revision, facts, checks)) = next else { return };
                    let found = together(plan, revision, facts, checks);
                    lock(&results).extend(found);
                }
            });
        }
    });
    report.results.extend(results.into_inner().unwrap_or_else(PoisonError::into_inner));
    let place = |id: &str| server::all().position(|check| check.id == id);
    report.results.sort_by_key(|result| (place(result.check.id), result.revision));
    report
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a check is tried in a revision, given those that the peer speaks.
pub(crate) fn holds(check: &Check, revision: Revision, spoken: &[Revision]) -> bool {
    let newest = |era| spoken.iter().rev().find(|spoken| spoken.era() == era) == Some(&revision);
    match check.speaks {
        Speaks::EachEra => newest(revision.era()),
        Speaks::Between(from, to) => (from..=to).contains(&revision),
        Speaks::Legacy => newest(Era::Legacy),
        Speaks::Modern => newest(Era::Modern),
        // The oldest has a handshake if any has.
        Speaks::Once => spoken.first().is_some_and(|oldest| newest(oldest.era())),
    }
}

/// Runs checks one after the other over one connection, and over another where one of them left it unusable.
fn together(plan: &Plan, revision: Revision, facts: &Facts, checks: Vec<&'static Check>) -> Vec<Result> {
    let mut results = Vec::new();
    let mut talk = None;
    for check in checks {
        let Script::Server(script) = check.script else { continue };
        let began = Instant::now();
        let mut present = match talk.take().map_or_else(|| opened(plan, revision, facts, check), Ok) {
            Ok(talk) => talk,
            Err(found) => {
                let Found { finding, transcript } = *found;
                let verdict = Verdict::Found(finding);
                results.push(Result::new(check, revision, verdict, transcript, began.elapsed()));
                continue;
            }
        };
        let mut outcome = script(&mut present);
        let not_tried = present.take_not_tried();
        let transcript = if check.company == Company::Shared {
            let alive = present.is_alive();
            if outcome.is_ok() && !alive {
                let expected = "a server that goes on answering afterwards";
                outcome = Err(Finding::new(expected, "none that does"));
            }
            let transcript = present.turn_over();
            if alive {
                talk = Some(present);
            }
            transcript
        } else {
            present.into_transcript()
        };
        let verdict = verdict(outcome, not_tried);
        results.push(Result::new(check, revision, verdict, transcript, began.elapsed()));
    }
    if let Some(mut talk) = talk {
        talk.leave(Duration::from_secs(2));
    }
    results
}

fn verdict(outcome: std::result::Result<(), Finding>, not_tried: Option<String>) -> Verdict {
    match (outcome, not_tried) {
        (Ok(()), None) => Verdict::Passed,
        (Ok(()), Some(why)) => Verdict::Skipped(why),
        (Err(finding), _) => Verdict::Found(finding),
    }
}

/// A connection: opened where many share it, and as it is where one has it alone.
fn opened(
    plan: &Plan,
    revision: Revision,
    facts: &Facts,
    check: &Check,
) -> std::result::Result<Talk, Box<Found>> {
    let mut talk = Talk::start(plan, revision, facts.clone()).map_err(|error| {
        let finding = Finding::new("a program that can be started again", error);
        Box::new(Found { finding, transcript: Transcript::new() })
    })?;
    if check.company == Company::Shared
        && let Err(finding) = talk.open()
    {
        return Err(Box::new(Found { finding, transcript: talk.into_transcript() }));
    }
    talk.turn_over();
    Ok(talk)
}

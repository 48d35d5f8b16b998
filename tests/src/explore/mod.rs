//! Machines explored to a depth: whatever may happen is tried in every state that can be reached, the shortest way first.
//!
//! A state is the script of steps that leads to it. A machine need not be copied for that: a script is played again, on a
//! new one, since the same calls come to the same. Two states are equal if the machine says the same of itself (`Debug`)
//! and the plain notes beside it are the same; of equal ones only the first is gone on from. From every state each way to
//! the end is taken as well: whatever happened before, it has to be over in time, with everything told.
//!
//! What must never break stands in one table, [`Rule`]. What breaks is told with the steps that lead there, of which there
//! are as few as can be.

pub mod approvals;
pub mod era;
pub mod host;
pub mod listening;
pub mod reconnect;
mod rules;
pub mod serving;

use std::collections::HashSet;
use std::fmt::{self, Debug, Write as _};
use std::hash::{DefaultHasher, Hasher as _};

pub use rules::{Model, Rule, Rules};

/// A machine, the world around it, and plain notes of what happened.
pub trait World: Sized {
    /// One of several ways to begin.
    type Setup: Clone + Debug;
    /// Something that may happen.
    type Step: Clone + Debug;
    /// A way to the end.
    type End: Copy + Debug + 'static;

    /// All ways to begin.
    fn setups() -> Vec<Self::Setup>;

    /// The beginning.
    fn new(setup: &Self::Setup, rules: &mut Rules) -> Self;

    /// Everything that may happen now.
    fn steps(&self) -> Vec<Self::Step>;

    /// It happens, and everything is taken out and held against the rules.
    fn take(&mut self, step: &Self::Step, rules: &mut Rules);

    /// Writes what tells this state from others.
    ///
    /// # Errors
    /// Those of `into`.
    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result;

    /// The ways to the end.
    fn ends(&self) -> Vec<Self::End>;

    /// Comes to its end, and everything has to be over.
    fn end(self, end: Self::End, rules: &mut Rules);
}

/// What was gone through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// States that differ.
    pub states: usize,
    /// Steps that were tried.
    pub transitions: usize,
    /// Ends that were come to.
    pub ends: usize,
    /// How many steps lead to the last states.
    pub depth: usize,
    /// Whether there is nothing beyond that.
    pub complete: bool,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, ends, depth, complete } = self;
        let beyond = if *complete { "nothing beyond" } else { "more beyond" };
        write!(f, "{states} states, {transitions} transitions, {ends} ends, depth {depth} ({beyond})")
    }
}

/// Goes through all states that so many steps lead to.
///
/// # Errors
/// The rule that broke, and the steps that lead there.
pub fn explore<W: World>(depth: usize, rules: &mut Rules) -> Result<Found, String> {
    let mut found = Found { complete: true, ..Found::default() };
    for setup in W::setups() {
        explore_from::<W>(&setup, depth, rules, &mut found)?;
    }
    Ok(found)
}

fn explore_from<W: World>(
    setup: &W::Setup,
    depth: usize,
    rules: &mut Rules,
    found: &mut Found,
) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut frontier: Vec<Vec<W::Step>> = vec![vec![]];
    let first = W::new(setup, rules);
    verdict::<W>(setup, &[], None, rules)?;
    seen.insert(print(&first));
    found.states += 1;
    end_all::<W>(setup, &[], first, rules, found)?;
    for level in 1..=depth {
        let mut next = Vec::new();
        for script in frontier {
            let world = replay::<W>(setup, &script, rules);
            let steps = world.steps();
            let mut present = Some(world);
            for step in steps {
                let mut world = present.take().unwrap_or_else(|| replay::<W>(setup, &script, rules));
                world.take(&step, rules);
                found.transitions += 1;
                let mut longer = script.clone();
                longer.push(step);
                verdict::<W>(setup, &longer, None, rules)?;
                if seen.insert(print(&world)) {
                    found.states += 1;
                    found.depth = found.depth.max(level);
                    end_all::<W>(setup, &longer, world, rules, found)?;
                    next.push(longer);
                }
            }
        }
        frontier = next;
    }
    // What was met last was not gone on from.
    let beyond = |script: &Vec<W::Step>| !replay::<W>(setup, script, rules).steps().is_empty();
    found.complete &= !frontier.iter().any(beyond);
    Ok(())
}

fn replay<W: World>(setup: &W::Setup, script: &[W::Step], rules: &mut Rules) -> W {
    let mut world = W::new(setup, rules);
    for step in script {
        world.take(step, rules);
    }
    world
}

fn end_all<W: World>(
    setup: &W::Setup,
    script: &[W::Step],
    world: W,
    rules: &mut Rules,
    found: &mut Found,
) -> Result<(), String> {
    let mut present = Some(world);
    let ends = present.as_ref().map_or_else(Vec::new, World::ends);
    for end in ends {
        let world = present.take().unwrap_or_else(|| replay::<W>(setup, script, rules));
        world.end(end, rules);
        found.ends += 1;
        verdict::<W>(setup, script, Some(end), rules)?;
    }
    Ok(())
}

fn verdict<W: World>(
    setup: &W::Setup,
    script: &[W::Step],
    end: Option<W::End>,
    rules: &mut Rules,
) -> Result<(), String> {
    let Some((rule, what)) = rules.take_broken() else { return Ok(()) };
    let mut text = format!("{rule:?}: {}\n{what}\nbegins with {setup:?}", rule.says());
    for step in script {
        let _ = write!(text, "\n  {step:?}");
    }
    if let Some(end) = end {
        let _ = write!(text, "\nends by {end:?}");
    }
    Err(text)
}

/// Hashes what is written, the same in every run.
struct Print(DefaultHasher);

impl fmt::Write for Print {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

fn print<W: World>(world: &W) -> u64 {
    let mut into = Print(DefaultHasher::new());
    let _ = world.tell(&mut into);
    into.0.finish()
}

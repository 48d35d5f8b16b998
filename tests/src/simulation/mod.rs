//! Whole conversations by a seed, thousands a second, with everything checked that must never break.
//!
//! A seed makes a [`Script`]: who meets whom, how they are set up, and what each does. It runs in virtual time: pipes
//! with faults, a peer that misbehaves in ways that have names ([`menu`], [`client_menu`], over HTTP [`web_menu`] and
//! [`web_caller_menu`]), applications that do whatever they may. Beside each machine goes a plain model that reads the
//! same bytes with other code and knows how each call has to end, and what may be spoken. Each run is done again with its
//! bytes cut otherwise, and has to come to the same.
//!
//! | rule | is checked |
//! |---|---|
//! | 1 one outcome for each call | the model knows which outcome, from the bytes |
//! | 2 at most one reply, none after a cancel | replies are told apart by what they say |
//! | 3 cuts do not matter | the script again, byte by byte or cut at random |
//! | 4 no spinning | the next deadline lies ahead; turns at one instant are counted |
//! | 5 bytes held | within what the limits say, after each read |
//! | 6 the same again | the script again, as it was |
//!
//! A run that fails is made as short as it can be, and written down as text that [`Script::parse`] reads:
//!
//! ```text
//! cargo run --release -p sanswire-tests --bin simulate -- --seeds 0..100000
//! cargo run --release -p sanswire-tests --bin simulate -- --seed 17
//! cargo run --release -p sanswire-tests --bin simulate -- --script FILE
//! ```

#![allow(clippy::manual_is_multiple_of, reason = "one choice of several")]

mod answers;
pub mod bad_client;
mod client;
pub mod client_menu;
mod client_model;
mod client_names;
mod coverage;
mod end;
mod host_world;
mod http_client;
pub mod menu;
pub mod mouth;
pub mod peer;
mod results;
mod script;
mod server;
mod server_model;
mod setup;
mod site_end;
mod web_answers;
pub mod web_caller;
pub mod web_caller_menu;
mod web_caller_world;
mod web_exchange;
pub mod web_menu;
mod web_model;
pub mod web_server;
mod web_streams;
mod web_world;
mod wire;
mod world;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use coverage::Coverage;
pub use script::{Script, Step, Who, World};

use crate::seed::Rng;
use end::Cuts;
use host_world::HostTrace;
use web_caller_world::CallerTrace;
use web_world::WebTrace;
use world::Trace;

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics are no longer printed by this program: [`check`] says where they came from instead.
pub fn silence() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        PLACE.with_borrow_mut(|last| *last = place.unwrap_or_default());
    }));
}

/// Runs a script, and again with other cuts, and sometimes once more as it was.
///
/// # Errors
/// What broke.
pub fn check(script: &Script, seen: &mut Coverage) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| keeps_the_rules(script, seen))).map_err(|failure| {
        let text = failure.downcast_ref::<String>().cloned();
        let text = text.or_else(|| failure.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        PLACE.with_borrow(|place| text.unwrap_or_default() + place)
    })
}

/// As [`check`], for whoever wants to see the panic itself.
///
/// # Panics
/// If a rule is broken.
pub fn keeps_the_rules(script: &Script, seen: &mut Coverage) {
    match script.world {
        World::Http | World::BadHttpServer => {
            compare(script, seen, web_world::run, WebTrace::differs, |trace| trace.was_full);
        }
        World::BadHttpClient => {
            compare(script, seen, web_caller_world::run, CallerTrace::differs, |trace| trace.was_full);
        }
        World::Host => compare(script, seen, host_world::run, HostTrace::differs, |trace| trace.was_full),
        World::Pair | World::BadServer | World::BadClient => {
            compare(script, seen, world::run, Trace::differs, |trace| trace.was_full);
        }
    }
}

/// Runs it, sometimes once more as it was, and once with other cuts.
fn compare<T: PartialEq>(
    script: &Script,
    seen: &mut Coverage,
    run: impl Fn(&Script, &Cuts, &mut Coverage) -> T,
    differs: impl Fn(&T, &T) -> String,
    was_full: impl Fn(&T) -> bool,
) {
    let whole = run(script, &Cuts::Whole, seen);
    let mut unseen = Coverage::default();
    let cuts = match script.setup % 8 {
        0 => Cuts::Bytes,
        _ => Cuts::Random(Rng::new(script.setup)),
    };
    if script.setup % 16 < 3 {
        let again = run(script, &Cuts::Whole, &mut unseen);
        seen.met("checked", "rule 6");
        assert!(
            again == whole,
            "rule 6: the same again comes to something else: {}",
            differs(&again, &whole)
        );
    }
    let cut = run(script, &cuts, &mut unseen);
    if !was_full(&whole) && !was_full(&cut) {
        seen.met("checked", "rule 3");
        assert!(whole == cut, "rule 3: the cuts matter: {}", differs(&whole, &cut));
    }
}

/// Leaves steps out as long as the script still fails; the shortest that was found, and how it fails.
#[must_use]
pub fn minimise(script: &Script, failure: &str) -> (Script, String) {
    shorten(script, failure, |shorter| check(shorter, &mut Coverage::default()))
}

/// As [`minimise`], for whatever `check` says of a script.
#[must_use]
pub fn shorten(
    script: &Script,
    failure: &str,
    check: impl Fn(&Script) -> Result<(), String>,
) -> (Script, String) {
    let mut best = (script.clone(), failure.to_owned());
    let mut size = script.steps.len();
    while size > 0 {
        let mut at = 0;
        while at < best.0.steps.len() {
            let mut shorter = best.0.clone();
            shorter.steps.drain(at..(at + size).min(shorter.steps.len()));
            match check(&shorter) {
                Err(failure) => best = (shorter, failure),
                Ok(()) => at += size,
            }
        }
        size /= 2;
    }
    best
}

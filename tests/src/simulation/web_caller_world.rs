//! A server of ours over HTTP, and a client that misbehaves.

use std::time::Duration;

use sanswire::Instant;

use super::coverage::Coverage;
use super::end::Cuts;
use super::menu::LINK_ACTS;
use super::script::{Script, Step, WAITS, Who};
use super::setup::Setup;
use super::site_end::SiteEnd;
use super::web_caller::WebCaller;
use super::web_caller_menu::WEB_CALLER_MENU;
use super::wire::Wire;
use crate::seed::Rng;

const MAX_TURNS: usize = 300_000;

/// What a run came to: what was sent on each connection, to the client.
#[derive(Debug, PartialEq)]
pub(super) struct CallerTrace {
    bytes: Vec<(u64, Vec<u8>)>,
    pub(super) was_full: bool,
}

impl CallerTrace {
    /// Where two runs first differ, in words.
    pub(super) fn differs(&self, other: &Self) -> String {
        let at = self.bytes.iter().zip(&other.bytes).take_while(|(one, two)| one == two).count();
        let show =
            |it: &Self| it.bytes.get(at).map(|(n, bytes)| (*n, String::from_utf8_lossy(bytes).into_owned()));
        format!("connection {:?} and {:?}", show(self), show(other))
    }
}

struct Run<'a> {
    end: SiteEnd,
    caller: WebCaller,
    known: u64,
    shape: (Duration, usize),
    bytes: Vec<(u64, Vec<u8>)>,
    now: Instant,
    seen: &'a mut Coverage,
}

/// Runs a script.
pub(super) fn run(script: &Script, cuts: &Cuts, seen: &mut Coverage) -> CallerTrace {
    let setup = Setup::of(script.setup);
    let mut rng = Rng::new(script.setup ^ 0x8777);
    let now = setup.now;
    let caller = WebCaller::new(setup.server.limits.max_message_bytes);
    let shape =
        (Duration::from_millis(*rng.pick(&[0, 0, 1, 20])), *rng.pick(&[usize::MAX, usize::MAX, 65_536]));
    let end = SiteEnd::new(setup.server, setup.auto, true, &mut rng, cuts.clone(), now);
    let mut run = Run { end, caller, known: 0, shape, bytes: Vec::new(), now, seen };
    for step in &script.steps {
        run.step(step);
    }
    run.settle();
    run.caller.give_up(run.now);
    run.end.site.shutdown(Duration::ZERO, run.now);
    run.pass(Duration::from_secs(120));
    run.end.check_over();
    run.seen.met("world", script.world.name());
    run.keep(|_| true);
    run.bytes.sort();
    // Whoever has sent all of it already is not asked to go on.
    let asked_on = |(_, bytes): &(u64, Vec<u8>)| bytes.windows(12).any(|part| part == b"HTTP/1.1 100");
    let was_full = run.end.was_full || run.bytes.iter().any(asked_on);
    CallerTrace { bytes: run.bytes, was_full }
}

impl Run<'_> {
    /// What was sent on connections that are over is kept.
    fn keep(&mut self, which: impl Fn(u64) -> bool) {
        for caller in self.caller.all() {
            let n = caller.connection.number();
            if which(n) {
                self.bytes.retain(|(known, _)| *known != n);
                self.bytes.push((n, caller.to_client.sent().to_vec()));
            }
        }
    }

    fn step(&mut self, step: &Step) {
        let Step { who, act, n } = *step;
        match who {
            Who::WebCaller => {
                self.keep(|_| true);
                let shape = self.shape;
                let wire = || Wire::new(shape.0, shape.1);
                self.caller.step(&WEB_CALLER_MENU[act], n, wire, self.now, self.seen);
            }
            Who::Server => self.end.act(act, n, self.now, self.seen),
            Who::Link => self.link(LINK_ACTS[act], n),
            Who::Wait => return self.pass(Duration::from_micros(u64::from(n) % WAITS[act].1)),
            _ => return,
        }
        if n % 8 != 0 {
            self.settle();
        }
    }

    fn link(&mut self, act: &'static str, n: u32) {
        let now = self.now;
        let many = self.caller.open.len().max(1);
        let Some(caller) = self.caller.open.get_mut(n as usize % many) else { return };
        let until = now.saturating_add(Duration::from_millis(u64::from(n) % 8000));
        self.seen.met("link", act);
        match act {
            "stall-to-server" => caller.to_site.stall(until),
            "stall-to-client" => caller.to_client.stall(until),
            "break-to-server" => caller.to_site.break_after(0, now),
            "break-to-server-soon" => caller.to_site.break_after(n as usize % 900, now),
            "break-to-client" => caller.to_client.break_after(0, now),
            "break-to-client-soon" => caller.to_client.break_after(n as usize % 900, now),
            "break-both" => {
                caller.to_site.break_after(0, now);
                caller.to_client.break_after(0, now);
            }
            "unread-by-server" => caller.to_site.stop_reading(now),
            _ => caller.to_client.stop_reading(now),
        }
    }

    /// Does all that can be done at this instant.
    fn settle(&mut self) {
        for _ in 0..MAX_TURNS {
            self.end.site.handle_timeout(self.now);
            let mut busy = self.caller.turn(self.now);
            for caller in self.caller.open.iter_mut().chain(&mut self.caller.parting) {
                if caller.connection.number() > self.known {
                    self.known = caller.connection.number();
                    if !self.end.welcome(caller.connection, self.now) {
                        caller.to_client.close(self.now);
                        caller.to_site.stop_reading(self.now);
                    }
                }
                busy |=
                    self.end.drive(caller.connection, &mut caller.to_site, &mut caller.to_client, self.now);
            }
            busy |= self.end.take(self.now, self.seen);
            self.caller.parting.retain(|caller| self.end.knows(caller.connection));
            if !busy {
                return self.end.check(self.now);
            }
        }
        panic!("rule 4: it spins at {:?}", self.now);
    }

    fn pass(&mut self, time: Duration) {
        // Nobody waits before what there is to do is done.
        self.settle();
        let to = self.now.saturating_add(time);
        for _ in 0..MAX_TURNS {
            let both = [self.caller.next(self.now), self.end.site.poll_timeout()];
            let next = both.into_iter().flatten().filter(|at| *at > self.now).min();
            let Some(at) = next.filter(|at| *at <= to) else {
                self.now = to;
                return self.settle();
            };
            self.now = at;
            self.settle();
        }
        panic!("rule 4: too many deadlines before {to:?}");
    }
}

//! The machines of a host and its clients alone, in virtual time.

use std::rc::Rc;
use std::time::Duration;

use sanswire::host::link::Status;
use sanswire::host::{CallHandle, CallOutcome, CallRequest};
use sanswire_tests::fleet::{Started, World};
use sanswire_tests::peer::entry;

use super::{Host, IT};
use crate::scenarios::Bench;
use crate::scripted::{Controls, Flags, server};

pub(super) struct PairHost {
    world: World,
}

impl PairHost {
    pub(super) fn open(bench: &Bench, flags: &[&str], limit: Option<Duration>) -> Self {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let revision = bench.revision();
        let program = Box::new(move |nth| {
            Started::Runs(server(revision, Flags::of(&flags, nth), &Rc::new(Controls::default())))
        });
        let mut config = super::config(limit);
        config.servers.insert(IT.into(), super::server(bench));
        let mut world = World::new(config, vec![(IT, program)]);
        world.config = bench.setup().config;
        world.until("started", |world| world.fleet.host().is_started());
        Self { world }
    }
}

impl Host for PairHost {
    fn start(&mut self, request: CallRequest) -> CallHandle {
        self.world.make(request).unwrap()
    }

    fn end(&mut self, call: CallHandle) -> CallOutcome {
        self.world.end(call)
    }

    fn status(&self) -> Status {
        self.world.status(IT)
    }

    fn offers(&self, tool: &str) -> bool {
        self.world.fleet.host().registry().find(IT, tool).is_some()
    }

    fn reconnect(&mut self) {
        let now = self.world.now();
        assert!(self.world.fleet.reconnect(IT, now));
    }

    fn begin_turn(&mut self) {
        let now = self.world.now();
        self.world.fleet.begin_turn(now);
    }

    fn record(&self) -> Vec<String> {
        let of_run = |run: &sanswire_tests::fleet::Run| {
            let received: Vec<_> = run.peer.server.received.iter().map(|it| entry(&it.message)).collect();
            std::iter::once("start".to_owned()).chain(received).collect::<Vec<_>>()
        };
        self.world.runs.iter().flat_map(of_run).collect()
    }

    fn pass(&mut self, time: Duration) {
        self.world.wait(time);
    }

    fn close(&mut self) {
        let now = self.world.now();
        self.world.fleet.close(now);
        self.world.until("over", |world| world.fleet.is_over());
    }
}

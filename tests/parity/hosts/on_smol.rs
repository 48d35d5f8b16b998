//! A host on futures.

use std::collections::BTreeMap;
use std::time::Duration;

use async_io::Timer;
use sanswire::host::link::Status;
use sanswire::host::{CallHandle, CallOutcome, CallRequest};
use sanswire_smol::ConnectOptions;
use sanswire_smol::host::{Launch, PendingCall};

use super::{Host, IT};
use crate::live::{Peer, Place};
use crate::on_smol::On;
use crate::scenarios::{Bench, LONG};

pub(super) struct SmolHost {
    host: sanswire_smol::host::Host,
    open: BTreeMap<CallHandle, PendingCall>,
    on: On,
    peer: Peer,
}

impl SmolHost {
    pub(super) fn open(bench: &Bench, flags: &[&str], limit: Option<Duration>) -> Self {
        let peer = Peer::start(bench.cell.transport, bench.revision(), flags);
        let mut options = ConnectOptions::new("parity", "0");
        options.config = bench.setup().config;
        options.stop = crate::scenarios::patience();
        let launch = match &peer.place {
            Place::Program(command) => Launch::command((**command).clone(), options),
            Place::Tcp(address) => Launch::tcp(address, options),
            Place::Http(target) => Launch::http((**target).clone(), options),
        };
        let (on, watch) = On::new(bench.cell.runtime);
        let builder = sanswire_smol::host::Host::builder(super::config(limit));
        let builder = builder.server(IT, super::server(bench), launch);
        let host = watch.into_iter().fold(builder, |builder, watch| builder.watch(watch)).open().unwrap();
        let starting = host.clone();
        assert!(on.run(async move { starting.wait_started(LONG).await }));
        Self { host, open: BTreeMap::new(), on, peer }
    }
}

impl Host for SmolHost {
    fn start(&mut self, request: CallRequest) -> CallHandle {
        let pending = self.host.start(request).unwrap();
        let call = pending.handle();
        self.open.insert(call, pending);
        call
    }

    fn end(&mut self, call: CallHandle) -> CallOutcome {
        let pending = self.open.remove(&call).unwrap();
        self.on.run(async move { pending.await.outcome })
    }

    fn status(&self) -> Status {
        self.host.state(IT).unwrap().status
    }

    fn offers(&self, tool: &str) -> bool {
        self.host.with(|machine| machine.registry().find(IT, tool).is_some())
    }

    fn reconnect(&mut self) {
        assert!(self.host.reconnect(IT));
    }

    fn begin_turn(&mut self) {
        self.host.begin_turn();
    }

    fn record(&self) -> Vec<String> {
        self.peer.record.entries()
    }

    fn pass(&mut self, time: Duration) {
        self.on.run(async move {
            Timer::after(time).await;
        });
    }

    fn close(&mut self) {
        let host = self.host.clone();
        self.on.run(async move {
            host.close().await;
        });
    }
}

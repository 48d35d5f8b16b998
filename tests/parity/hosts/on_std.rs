//! A host on blocking threads.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::host::link::Status;
use sanswire::host::{CallHandle, CallOutcome, CallRequest};
use sanswire_std::ConnectOptions;
use sanswire_std::host::{Launch, PendingCall};

use super::{Host, IT};
use crate::live::{Peer, Place};
use crate::scenarios::{Bench, LONG};

pub(super) struct StdHost {
    host: sanswire_std::host::Host,
    open: BTreeMap<CallHandle, PendingCall>,
    peer: Peer,
}

impl StdHost {
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
        let builder = sanswire_std::host::Host::builder(super::config(limit));
        let host = builder.server(IT, super::server(bench), launch).open().unwrap();
        assert!(host.wait_started(LONG));
        Self { host, open: BTreeMap::new(), peer }
    }
}

impl Host for StdHost {
    fn start(&mut self, request: CallRequest) -> CallHandle {
        let pending = self.host.start(request).unwrap();
        let call = pending.handle();
        self.open.insert(call, pending);
        call
    }

    fn end(&mut self, call: CallHandle) -> CallOutcome {
        self.open.remove(&call).unwrap().wait().outcome
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
        std::thread::sleep(time);
    }

    fn close(&mut self) {
        self.host.close();
    }
}

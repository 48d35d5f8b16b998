//! A client and its peer on one stream of lines.

use std::rc::Rc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, PeerRequestHandle, RequestHandle,
    RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use sanswire_tests::link::Shape;
use sanswire_tests::pair::Pair;
use sanswire_tests::peer::{LinePeer, entry};

use super::{BEGIN, Wire};
use crate::scripted::{Controls, Flags, server};

/// What fits between the two, as in a pipe.
const CAPACITY: usize = 64 * 1024;

pub(super) fn scripted(
    config: Config,
    revision: Revision,
    flags: &[String],
    nth: usize,
) -> impl Wire + 'static {
    let controls = Rc::new(Controls::default());
    let peer = LinePeer::new(server(revision, Flags::of(flags, nth), &controls), BEGIN);
    let client = LineConnection::new(config, [7; 32], BEGIN).unwrap();
    let shape = Shape { latency: Duration::from_millis(1), capacity: CAPACITY, ..Shape::default() };
    Lines { pair: Pair::new(client, peer, [shape.clone(), shape], 1, BEGIN), controls }
}

struct Lines {
    pair: Pair<LineConnection, LinePeer>,
    controls: Rc<Controls>,
}

impl Lines {
    /// Does what a handler of the peer's wants.
    fn obey(&mut self) {
        self.pair.b.deaf = self.controls.deaf.get();
        if self.controls.half_close.take() {
            self.pair.b_to_a.close(self.pair.now());
        }
    }
}

impl Wire for Lines {
    fn now(&self) -> Instant {
        self.pair.now()
    }

    fn step(&mut self) -> bool {
        let more = self.pair.step();
        self.obey();
        more
    }

    fn run_to(&mut self, to: Instant) {
        self.pair.settle();
        self.obey();
        while self.pair.next_at().is_some_and(|next| next <= to) {
            self.step();
        }
        self.pair.run_to(to);
        self.obey();
    }

    fn events(&self) -> &[(Instant, Event)] {
        &self.pair.a.events
    }

    fn record(&self) -> Vec<String> {
        let peer = &self.pair.b.machine;
        let start = std::iter::once("start".to_owned());
        let received = peer.server.received.iter().map(|received| entry(&received.message));
        start.chain(received).chain(peer.has_ended().then(|| "end".to_owned())).collect()
    }

    fn report(&self) -> String {
        self.pair.report()
    }

    fn request(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let now = self.pair.now();
        let request = self.pair.a.machine.request(method, Some(params), options, now)?;
        self.pair.a.ledger.accept(request);
        Ok(request)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let now = self.pair.now();
        let request = self.pair.a.machine.resume(from, answers, options, now)?;
        self.pair.a.ledger.accept(request);
        Ok(request)
    }

    fn cancel(&mut self, request: RequestHandle) -> Result<(), ApiError> {
        let now = self.pair.now();
        self.pair.a.machine.cancel(request, None, now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        let now = self.pair.now();
        self.pair.a.machine.answer(peer, answer, now)
    }

    fn close(&mut self) {
        let now = self.pair.now();
        self.pair.a.machine.close(now);
    }
}

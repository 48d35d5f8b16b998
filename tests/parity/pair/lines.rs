//! A client and its peer on one stream of lines.

use std::rc::Rc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, Link as _, PeerRequestHandle, RequestHandle,
    RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire::mcp::{Method, Revision};
use sanswire::server::{self, Notice, Reply};
use sanswire_pair::watch::Watched;
use sanswire_pair::{Application, Pair, Served, Shape};
use sanswire_tests::peer::{LinePeer, entry};

use super::app::{App, Half};
use super::{BEGIN, Wire};
use crate::scripted::{self, Controls, Flags};
use crate::served;

/// What fits between the two, as in a pipe.
const CAPACITY: usize = 64 * 1024;

fn join<P: Watched>(config: Config, peer: P) -> Pair<LineConnection, P> {
    let client = LineConnection::new(config, [7; 32], BEGIN).unwrap();
    let shape = Shape { latency: Duration::from_millis(1), capacity: CAPACITY, ..Shape::default() };
    Pair::new(client, peer, [shape.clone(), shape], 1, BEGIN)
}

pub(super) fn scripted(
    config: Config,
    revision: Revision,
    flags: &[String],
    nth: usize,
) -> impl Wire + 'static {
    let controls = Rc::new(Controls::default());
    let peer = LinePeer::new(scripted::server(revision, Flags::of(flags, nth), &controls), BEGIN);
    Lines { pair: join(config, peer), controls }
}

pub(super) fn served(config: Config) -> impl Wire + 'static {
    let mut server = server::LineConnection::new(served::config(), [9; 32], BEGIN).unwrap();
    server.set_catalog(served::catalog());
    Lines { pair: join(config, Served::new(server, App::new())), controls: Rc::default() }
}

/// What a peer has put on record.
trait Recorded: Watched {
    fn record(&self) -> Vec<String>;
}

impl Recorded for LinePeer {
    fn record(&self) -> Vec<String> {
        let start = std::iter::once("start".to_owned());
        let received = self.server.received.iter().map(|received| entry(&received.message));
        start.chain(received).chain(self.has_ended().then(|| "end".to_owned())).collect()
    }
}

impl Recorded for Served<LineApp> {
    fn record(&self) -> Vec<String> {
        self.application.record.clone()
    }
}

/// What answers on a stream of lines.
type LineApp = App<(), server::PeerRequestHandle>;

impl Half for server::LineConnection {
    type Of = ();
    type Asked = server::PeerRequestHandle;

    fn respond(&mut self, (): (), request: server::RequestHandle, reply: &Reply, now: Instant) {
        // What is refused is an answer to what was given up.
        let _ = Self::respond(self, request, reply, now);
    }

    fn notify(&mut self, (): (), request: server::RequestHandle, notice: &Notice, now: Instant) {
        let _ = Self::notify(self, request, notice, now);
    }

    fn ask(
        &mut self,
        (): (),
        request: server::RequestHandle,
        input: &InputRequest,
        now: Instant,
    ) -> Option<server::PeerRequestHandle> {
        self.request_input(request, input, now).ok()
    }

    fn grow(&mut self, now: Instant) {
        served::grow(self.catalog_mut());
        self.tools_changed(now);
    }

    fn stop(&mut self, drain: Duration, now: Instant) {
        self.shutdown(drain, now);
    }
}

impl Application for LineApp {
    fn handle_event(&mut self, server: &mut server::LineConnection, event: &server::Event, now: Instant) {
        match event {
            server::Event::Request { request, params, context, .. } => {
                self.handle_call(server, ((), *request), (params, context), now);
            }
            server::Event::Cancelled { request, .. } => self.handle_cancelled((), *request),
            server::Event::Answered { peer, outcome } => {
                self.handle_answered(server, ((), *peer), outcome, now);
            }
            _ => {}
        }
        Self::handle_timeout(self, server, now);
    }

    fn handle_timeout(&mut self, server: &mut server::LineConnection, now: Instant) {
        Self::handle_timeout(self, server, now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Self::poll_timeout(self)
    }
}

struct Lines<P: Watched> {
    pair: Pair<LineConnection, P>,
    controls: Rc<Controls>,
}

impl<P: Watched> Lines<P> {
    /// Does what a handler of the peer's wants.
    fn obey(&mut self) {
        self.pair.b.deaf = self.controls.deaf.get();
        if self.controls.half_close.take() {
            self.pair.b_to_a.close(self.pair.now());
        }
    }
}

impl<P: Recorded> Wire for Lines<P> {
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
        self.pair.b.machine.record()
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

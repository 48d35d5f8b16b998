//! What a pair lets a test see, and that it sees what is wrong.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails, which is what it is for")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use sanswire::client::{self, Link as _, Outcome, RequestOptions};
use sanswire::jsonrpc::RawJson;
use sanswire::server::{self, CloseReason, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};
use sanswire_pair::{Application, Pair, Served, Shape, Watched, each_seed};

type Talk<A> = Pair<client::LineConnection, Served<A>>;

/// A client, and a server with the tool `echo`.
fn talk<A: Application>(application: A, shapes: [Shape; 2], seed: u64) -> Talk<A> {
    let now = Instant::from_millis(1000);
    let client = client::LineConnection::new(client::Config::new("c", "1"), [1; 32], now).unwrap();
    let mut server = LineConnection::new(server::Config::new("s", "1"), [2; 32], now).unwrap();
    server.catalog_mut().tool(&RawJson::parse_str(r#"{"name":"echo"}"#).unwrap()).unwrap();
    Pair::new(client, Served::new(server, application), shapes, seed, now)
}

fn echo(server: &mut LineConnection, event: &Event, now: Instant) {
    if let Event::Request { request, params, .. } = event {
        let _ = server.respond(*request, &Reply::text(params.as_str()), now);
    }
}

fn plain() -> [Shape; 2] {
    [Shape::default(), Shape::default()]
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut pair = talk(echo, [Shape::any(seed), Shape::any(!seed)], seed);
        pair.ready();
        let call = pair.call_tool("echo", None, &RequestOptions::default()).unwrap();
        assert!(matches!(pair.outcome(call), Outcome::Complete(_)));
        (pair.report(), pair.a.written.clone(), pair.b.written.clone())
    };
    each_seed(20, |seed| assert_eq!(run(seed), run(seed)));
    assert_ne!(run(1).0, run(2).0, "two seeds are two runs");
}

#[test]
fn a_server_is_told_of_the_end_behind_its_last_answer() {
    let mut pair = talk(echo, plain(), 1);
    pair.ready();
    let call = pair.call_tool("echo", None, &RequestOptions::default()).unwrap();
    pair.outcome(call);
    let now = pair.now();
    pair.a.machine.close(now);
    pair.run_until("over", |pair| pair.b.ledger.is_closed());
    let last = &pair.b.events.last().unwrap().1;
    assert!(matches!(last, Event::Closed(CloseReason::Eof)), "{last:?}");
    assert!(
        String::from_utf8_lossy(&pair.b.written).lines().count() >= 2,
        "the record has what the server wrote"
    );
}

#[test]
fn a_link_that_breaks_loses_the_call_and_says_so() {
    // Wherever the answers break off, a call that was accepted ends. What had begun to come is no message any more.
    let mut ends = BTreeSet::new();
    for seed in 0..100 {
        let cut = Shape { cut_after: Some(300 + seed * 8), ..Shape::any(seed) };
        let mut pair = talk(echo, [Shape::default(), cut], seed);
        pair.run_for(Duration::from_secs(1));
        let Ok(call) = pair.call_tool("echo", None, &RequestOptions::default()) else { continue };
        ends.insert(match pair.outcome(call) {
            Outcome::Complete(_) => "complete",
            Outcome::Lost { maybe_ran: true } => "lost",
            Outcome::Invalid(_) => "in pieces",
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(ends, ["complete", "in pieces", "lost"].into());
}

#[test]
fn an_application_that_waits_is_woken_at_its_time() {
    struct Late(Option<(server::RequestHandle, Instant)>);
    impl Application for Late {
        fn handle_event(&mut self, _: &mut LineConnection, event: &Event, now: Instant) {
            if let Event::Request { request, .. } = event {
                self.0 = Some((*request, now.saturating_add(Duration::from_secs(7))));
            }
        }
        fn handle_timeout(&mut self, server: &mut LineConnection, now: Instant) {
            if let Some((request, _)) = self.0.take_if(|(_, at)| *at <= now) {
                server.respond(request, &Reply::text("late"), now).unwrap();
            }
        }
        fn poll_timeout(&self) -> Option<Instant> {
            self.0.map(|(_, at)| at)
        }
    }
    let mut pair = talk(Late(None), plain(), 1);
    pair.ready();
    let asked = pair.now();
    let call = pair.call_tool("echo", None, &RequestOptions::default()).unwrap();
    assert!(matches!(pair.outcome(call), Outcome::Complete(_)));
    assert_eq!(pair.now(), asked.saturating_add(Duration::from_secs(7)));
}

/// A machine that breaks its contract in one way.
#[derive(Debug)]
struct Broken {
    buffer: Vec<u8>,
    how: How,
    told: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// Its deadline stays where it was.
    Stands,
    /// It goes on after the end.
    Again,
    /// It loses bytes that were not written.
    Forgets,
    /// It wants to read and has no room.
    Full,
    /// Nothing is wrong with it.
    Sound,
}

impl Machine for Broken {
    type Event = ();
    fn read_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }
    fn handle_read(&mut self, _: Instant) {
        self.buffer.clear();
    }
    fn handle_eof(&mut self, _: Instant) {}
    fn handle_write_closed(&mut self, _: Instant) {}
    fn handle_timeout(&mut self, _: Instant) {}
    fn transmit(&self) -> &[u8] {
        if self.how == How::Forgets && self.told == 0 { b"one two" } else { b"" }
    }
    fn handle_written(&mut self, _: usize, _: Instant) {
        self.told = 2;
    }
    fn poll_event(&mut self) -> Option<()> {
        let most = if self.how == How::Again { 2 } else { 0 };
        (self.told < most).then(|| self.told += 1)
    }
    fn poll_timeout(&self) -> Option<Instant> {
        (self.how == How::Stands).then_some(Instant::ZERO)
    }
    fn wants_read(&self) -> bool {
        self.how != How::Again
    }
}

impl Watched for Broken {
    type Key = ();
    fn is_closed((): &()) -> bool {
        true
    }
    fn finished((): &()) -> Option<()> {
        None
    }
}

#[test]
fn a_machine_that_breaks_its_contract_is_found_out() {
    let run = |how| {
        let room = if how == How::Full { 0 } else { 64 * 1024 };
        let broken = Broken { buffer: Vec::with_capacity(room), how, told: 0 };
        let now = Instant::from_millis(1);
        let client = client::LineConnection::new(client::Config::new("c", "1"), [1; 32], now).unwrap();
        let mut pair = Pair::new(client, broken, plain(), 1, now);
        pair.small_writes = Some(3);
        let said = catch_unwind(AssertUnwindSafe(|| pair.settle())).map_err(|said| {
            said.downcast_ref::<String>()
                .cloned()
                .or_else(|| said.downcast_ref().map(|said: &&str| (*said).into()))
        });
        said.map_err(|said| said.unwrap_or_default())
    };
    assert_eq!(run(How::Sound), Ok(()));
    for (how, finding) in [
        (How::Stands, "is not ahead"),
        (How::Again, "an event came after `Closed`"),
        (How::Forgets, "bytes that were not written went away"),
        (How::Full, "has no room"),
    ] {
        let said = run(how).unwrap_err();
        assert!(said.contains(finding), "{how:?}: {said}");
    }
}

#[test]
fn a_run_that_fails_names_its_seed() {
    if std::env::var_os("SANSWIRE_SEED").is_some() {
        return; // that one alone is run, and it may be one that passes
    }
    let said = catch_unwind(|| each_seed(5, |seed| assert!(seed < 3, "too much"))).unwrap_err();
    let said = said.downcast_ref::<String>().unwrap();
    assert!(said.starts_with("seed 3 (again with SANSWIRE_SEED=3): too much"), "{said}");
}

//! The lead without a watcher behind it: what is not passed on is lost.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{Config, Outcome, RequestOptions, Start, Verdict};
use sanswire::mcp::Method;
use sanswire_system::clock::Clock;
use sanswire_system::recording::RecordedLine;

use super::{Lead, Leading, Waited};
use crate::link::Link;
use crate::os::{Input, tcp_ends};
use crate::shared::{Parts, Shared};

/// A server that answers a ping after `delay`, and other requests at once.
fn serve(stream: TcpStream, delay: Duration) {
    let mut out = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let Some(id) = line.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()) else { continue };
        let result = if line.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#
        } else {
            "{}"
        };
        let reply = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        if line.contains("\"ping\"") {
            let mut out = out.try_clone().unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(delay);
                let _ = out.write_all(reply.as_bytes());
            });
        } else if out.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn opened(delay: Duration) -> Arc<Shared> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (input, output) = tcp_ends(TcpStream::connect(listener.local_addr().unwrap()).unwrap()).unwrap();
    let (theirs, _) = listener.accept().unwrap();
    theirs.set_nodelay(true).unwrap();
    std::thread::spawn(move || serve(theirs, delay));
    let clock = Clock::start();
    let mut config = Config::new("test", "0");
    config.start = Start::Remembered(Verdict::Legacy);
    let shared = Shared::new(Parts {
        machine: Link::Line(RecordedLine::new(config, [0; 32], clock.now(), None).unwrap()),
        ends: Some((Input::SOCKET, input, output)),
        stderr: None,
        log: None,
        pid: None,
        unwrapped: None,
        clock,
        responder: None,
        tap: None,
    })
    .unwrap();
    shared.lead_opening();
    shared
}

fn call(shared: &Shared, method: Method, until: Option<Duration>) -> Option<Outcome> {
    let mut state = shared.lock();
    let now = shared.clock.now();
    let request = state.machine.asked().request(method, None, &RequestOptions::default(), now).unwrap();
    state.calls.insert(request, false);
    let until = until.map(|patience| now.saturating_add(patience));
    match shared.wait_call(state, request, now, until, None) {
        Waited::Finished(outcome) => Some(outcome),
        Waited::NotYet => None,
    }
}

fn asleep(shared: &Shared, calls: usize) {
    while shared.lock().calls.sleepers() < calls {
        std::thread::yield_now();
    }
}

#[test]
fn who_is_done_passes_the_lead_to_a_sleeper() {
    let shared = opened(Duration::from_millis(300));
    std::thread::scope(|scope| {
        let leader = scope.spawn(|| call(&shared, Method::Ping, Some(Duration::from_millis(100))));
        while shared.lock().lead != Lead::Caller {
            std::thread::yield_now();
        }
        let followers: Vec<_> = (0..3).map(|_| scope.spawn(|| call(&shared, Method::Ping, None))).collect();
        asleep(&shared, 3);
        assert_eq!(leader.join().unwrap(), None);
        for follower in followers {
            assert!(matches!(follower.join().unwrap(), Some(Outcome::Complete(_))));
        }
    });
    assert_eq!(shared.lock().lead, Lead::Nobody);
}

#[test]
fn who_unwinds_passes_the_lead_to_a_sleeper() {
    let shared = opened(Duration::from_millis(50));
    std::thread::scope(|scope| {
        let shared = &*shared;
        let mut leading = Leading { shared, has: false };
        leading.take(&mut shared.lock());
        let follower = scope.spawn(|| call(shared, Method::Ping, None));
        asleep(shared, 1);
        let unwinds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _leading = leading;
            let _locked = shared.lock();
            panic!("on purpose")
        }));
        assert!(unwinds.is_err());
        assert!(matches!(follower.join().unwrap(), Some(Outcome::Complete(_))));
    });
}

#[test]
fn an_offer_that_is_not_taken_is_made_to_the_next() {
    let shared = opened(Duration::from_millis(400));
    std::thread::scope(|scope| {
        let leader = scope.spawn(|| call(&shared, Method::Ping, Some(Duration::from_millis(100))));
        while shared.lock().lead != Lead::Caller {
            std::thread::yield_now();
        }
        // The first sleeper's patience ends with the leader's: whichever comes first, the last one must not wait
        // for ever.
        let brief = scope.spawn(|| call(&shared, Method::Ping, Some(Duration::from_millis(100))));
        asleep(&shared, 1);
        let last = scope.spawn(|| call(&shared, Method::Ping, None));
        asleep(&shared, 2);
        assert_eq!(leader.join().unwrap(), None);
        let _ = brief.join().unwrap();
        assert!(matches!(last.join().unwrap(), Some(Outcome::Complete(_))));
    });
}

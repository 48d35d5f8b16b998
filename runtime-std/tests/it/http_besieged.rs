//! The served half over HTTP, and what is meant to break it: who does not read, who does not write, who comes in
//! numbers.

use std::io::Write;
use std::sync::mpsc::channel;
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::JsonRef;
use sanswire_std::{Call, HttpOptions, Server, Tool};

use crate::common::{LONG, PLAIN, eventually, trials};
use crate::http_peer::{Site, Wire, call, listen, modern, said};
use crate::served::{server, threads};

trials!(
    a_client_that_never_reads_delays_no_other,
    a_client_that_never_reads_a_stream_delays_no_other,
    a_head_that_takes_too_long_is_given_up,
    a_body_that_stops_is_given_up,
    a_connection_without_a_request_is_closed_in_time,
    who_comes_when_there_are_enough_is_told_so,
    a_connection_that_rests_makes_room,
    junk_is_answered_and_ends_the_connection,
    thousands_of_streams_need_no_threads,
    requests_of_many_bytes_do_not_pile_up,
    what_a_client_does_not_read_is_not_kept,
    a_client_that_resets_its_connection_cancels_its_call,
    a_client_that_sends_ahead_and_ends_cancels_its_call,
    whatever_clients_do_others_are_served,
);

const MINUTE: &str = r#"{"ms":60000}"#;

fn a_client_that_never_reads_delays_no_other() {
    let site = Site::start(&["drain=100"]);
    let mut deaf: Vec<Wire> = (0..2).map(|_| site.connect()).collect();
    deaf.iter_mut().for_each(|wire| wire.send(&call(1, "big", r#"{"bytes":6000000}"#)));
    let mut client = site.connect();
    (0..50).for_each(|id| client.echoes(id));
    let text = said(&deaf[0].outcome().1).1;
    assert_eq!(text.len(), 6_000_000);
    drop(deaf);
    site.stop();
}

fn a_client_that_never_reads_a_stream_delays_no_other() {
    let site = Site::start(&["drain=100", "max-out=100000"]);
    let mut deaf = site.connect();
    deaf.send(&call(1, "progress", r#"{"n":1000000}"#));
    let mut client = site.connect();
    (0..50).for_each(|id| client.echoes(id));
    drop(deaf);
    client.echoes(50);
    site.stop();
}

fn limited(change: impl FnOnce(&mut HttpOptions)) -> Site {
    let mut options = HttpOptions::default();
    change(&mut options);
    Site::with(server(&[]), options)
}

fn a_head_that_takes_too_long_is_given_up() {
    let site = limited(|options| options.connection.head = Duration::from_millis(50));
    let mut wire = site.connect();
    wire.send("POST /mcp HTTP/1.1\r\nHost: local");
    assert_eq!(wire.answer().status, 408);
    assert!(wire.ended());
    drop(wire);
    site.stop();
}

fn a_body_that_stops_is_given_up() {
    let site = limited(|options| options.connection.stall = Duration::from_millis(50));
    let mut wire = site.connect();
    let request = call(1, "echo", r#"{"text":"x"}"#);
    wire.send(&request[..request.len() - 5]);
    assert_eq!(wire.answer().status, 408);
    assert!(wire.ended());
    drop(wire);
    site.stop();
}

fn a_connection_without_a_request_is_closed_in_time() {
    let site = limited(|options| options.connection.idle = Duration::from_millis(800));
    assert!(site.connect().ended());
    let mut wire = site.connect();
    wire.send(&call(1, "sleep", r#"{"ms":1000}"#));
    // It has one.
    assert_eq!(wire.answer().said(), (1, "slept".into()));
    assert!(wire.ended());
    site.stop();
}

fn who_comes_when_there_are_enough_is_told_so() {
    let site = Site::start(&["connections=2"]);
    let (mut first, mut second) = (site.connect(), site.connect());
    first.echoes(1);
    second.echoes(2);
    for _ in 0..200 {
        let mut third = site.connect();
        let answer = third.answer();
        assert_eq!((answer.status, answer.field("connection")), (503, Some("close")));
        assert!(third.ended());
    }
    first.echoes(3);
    drop(second);
    // There is room again as soon as the server has seen that.
    eventually("a new client is served", || {
        let mut wire = site.connect();
        wire.stream.write_all(call(4, "echo", r#"{"text":"in"}"#).as_bytes()).is_ok()
            && wire.head().is_some_and(|answer| answer.status == 200)
    });
    site.stop();
}

fn a_connection_that_rests_makes_room() {
    let options = || {
        let mut options = HttpOptions::default();
        options.yields_after = Duration::from_millis(20);
        options
    };
    let pause = || std::thread::sleep(Duration::from_millis(40));
    let site = Site::with(server(&["connections=3"]), options());
    let (mut first, mut busy, mut last) = (site.connect(), site.connect(), site.connect());
    first.echoes(1);
    last.echoes(2);
    busy.send(&listen(3));
    busy.stream();
    assert!(busy.event().is_some());
    pause();
    // The one that rests for the longest goes, and what it had asked was answered.
    let mut newcomer = site.connect();
    newcomer.echoes(4);
    assert!(first.ended());
    last.echoes(5);
    // What has not yet been read of a request is no rest.
    pause();
    last.send("POST /mcp HTTP/1.1\r\nHost:");
    newcomer.send("POST");
    pause();
    let mut late = site.connect();
    assert_eq!(late.answer().status, 503, "a stream, and two that ask");
    last.send(&call(6, "echo", r#"{"text":"6"}"#)["POST /mcp HTTP/1.1\r\nHost:".len()..]);
    assert_eq!(last.answer().said(), (6, "6".into()));
    pause();
    site.connect().echoes(7);
    assert!(last.ended());
    site.stop();
    // One that was used a moment ago is not taken from its client.
    let mut options = options();
    options.yields_after = Duration::from_secs(3600);
    let site = Site::with(server(&["connections=1"]), options);
    let mut only = site.connect();
    only.echoes(1);
    pause();
    assert_eq!(site.connect().answer().status, 503);
    only.echoes(2);
    site.stop();
}

fn junk_is_answered_and_ends_the_connection() {
    let site = Site::start(&[]);
    for junk in ["\r\n\r\n\r\n\r\n", "hello\r\n\r\n", "GET /mcp HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n"]
    {
        let mut wire = site.connect();
        wire.send(junk);
        assert_eq!(wire.answer().status, 400, "{junk:?}");
        assert!(wire.ended());
    }
    let mut wire = site.connect();
    wire.send(&format!("GET /mcp HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(100_000)));
    assert_eq!(wire.answer().status, 431);
    drop(wire);
    site.connect().echoes(1);
    site.stop();
}

#[cfg(unix)]
fn allow_files(count: u64) -> bool {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < count) {
        limit.current = Some(limit.maximum.map_or(count, |most| most.min(count)));
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current.is_none_or(|current| current >= count)
}

#[cfg(not(unix))]
fn allow_files(_: u64) -> bool {
    true
}

fn thousands_of_streams_need_no_threads() {
    if PLAIN {
        return;
    }
    // Both ends of each, and what else is open. Where that is not allowed, as many as are.
    let count = if allow_files(4_500) { 2_000 } else { 200 };
    let site = Site::start(&[]);
    let mut client = site.connect();
    let mut streams: Vec<Wire> = Vec::new();
    client.echoes(0);
    for id in 0..count {
        let mut wire = site.connect();
        wire.send(&listen(id));
        wire.stream();
        wire.event().unwrap();
        streams.push(wire);
    }
    (0..50).for_each(|id| client.echoes(id));
    client.send(&call(1, "change", "{}"));
    client.outcome();
    for wire in &mut streams {
        let told = wire.event().unwrap();
        assert!(told.as_str().contains("notifications/tools/list_changed"), "{}", told.as_str());
    }
    // Others run beside this one; each may have some of its own.
    let now = threads();
    assert!(now < 300, "{now} threads");
    site.stop();
    for wire in &mut streams {
        while wire.event().is_some() {}
        assert!(wire.ended());
    }
}

fn requests_of_many_bytes_do_not_pile_up() {
    let site = Site::start(&["threads=1", "max-waiting=50000", "drain=50"]);
    let (mut busy, mut lists) = (site.connect(), site.connect());
    busy.send(&call(1, "sleep", MINUTE));
    let mut send = |id: u64| {
        let mut wire = site.connect();
        wire.send(&call(id, "echo", &format!(r#"{{"text":"{}"}}"#, "x".repeat(20_000))));
        // What was sent before a listing is read with it at the latest.
        for _ in 0..2 {
            lists.send(&modern(0, "tools/list", None, ""));
            lists.outcome();
        }
        wire
    };
    let refused = |wire: &mut Wire| {
        let (_, answer) = wire.outcome();
        let code = answer.view().get("error").and_then(|error| error.get("code")).and_then(JsonRef::as_i64);
        assert_eq!(code, Some(-32603), "{}", answer.as_str());
    };
    // The third finds room for its first bytes, what comes after it does not.
    let mut wires: Vec<Wire> = (0..6).map(&mut send).collect();
    wires.iter_mut().skip(3).for_each(refused);
    // Whoever leaves makes room for another.
    drop(wires.remove(0));
    let another = send(6);
    refused(&mut send(7));
    drop(busy);
    wires.truncate(2);
    wires.push(another);
    for (wire, id) in wires.iter_mut().zip([1, 2, 6]) {
        assert_eq!(said(&wire.outcome().1), (id, "x".repeat(20_000)));
    }
    site.stop();
}

fn what_a_client_does_not_read_is_not_kept() {
    /// Many times of what the system keeps for a client, and the endpoint.
    const TOLD: u32 = 150_000;
    let (tell, told) = channel();
    let run = move |(): (), call: &Call<'_>| {
        (0..TOLD).for_each(|n| call.progress(f64::from(n), None, Some(&"x".repeat(100))));
        tell.send(()).unwrap();
        Ok("done")
    };
    let server = Server::builder("talks", "1").tool("talk", Tool::new("Talks"), run).build().unwrap();
    let site = Site::with(server, HttpOptions::default());
    let mut deaf = site.connect();
    deaf.send(&call(1, "talk", "{}"));
    told.recv_timeout(LONG).unwrap();
    let (events, last) = deaf.outcome();
    assert_eq!(said(&last), (1, "done".into()));
    assert!(events.len() < TOLD as usize, "all of it was kept");
    site.stop();
}

#[cfg(unix)]
fn a_client_that_resets_its_connection_cancels_its_call() {
    goes(|wire| rustix::net::sockopt::set_socket_linger(&wire.stream, Some(Duration::ZERO)).unwrap());
}

fn a_client_that_sends_ahead_and_ends_cancels_its_call() {
    goes(|_| ());
}

/// A client that goes when nothing more of it is read, after this.
fn goes(first: impl FnOnce(&Wire)) {
    let (tell, told) = channel();
    let run = move |(): (), call: &Call<'_>| {
        tell.send(false).unwrap();
        while !call.sleep(LONG) {}
        tell.send(true).unwrap();
        Ok("over")
    };
    let server = Server::builder("waits", "1").tool("wait", Tool::new("Waits"), run).build().unwrap();
    let mut options = HttpOptions::default();
    // Or it would be noticed then.
    options.keep_alive = LONG * 60;
    options.connection.stall = LONG * 60;
    let site = Site::with(server, options);
    let mut wire = site.connect();
    // So much behind its request that nothing more is read before it is answered.
    let more = call(2, "wait", "{}").repeat(100);
    wire.send(&(call(1, "wait", "{}") + &more));
    assert!(!told.recv_timeout(LONG).unwrap());
    first(&wire);
    drop(wire);
    if !PLAIN {
        assert!(told.recv_timeout(LONG).unwrap());
    }
    site.server.stopper().stop_now();
}

#[cfg(not(unix))]
fn a_client_that_resets_its_connection_cancels_its_call() {}

/// A xorshift generator: the same actions in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn whatever_clients_do_others_are_served() {
    let site = Site::start(&["drain=100"]);
    let clumsy = |seed: u64| {
        let mut dice = Dice(seed);
        let mut session = site.session();
        for id in 1..60 {
            let request = match dice.roll(6) {
                0 => call(id, "echo", r#"{"text":"x"}"#),
                1 => call(id, "progress", r#"{"n":50}"#),
                2 => call(id, "sleep", r#"{"ms":3}"#),
                3 => call(id, "big", r#"{"bytes":300000}"#),
                4 => listen(id),
                _ => session.post(crate::peer::call(id, "progress", r#"{"n":5}"#).trim_end()),
            };
            let mut wire = site.connect();
            match dice.roll(5) {
                // It leaves in the middle of its request,
                0 => {
                    let cut = dice.roll(request.len() as u64) as usize;
                    wire.send(&request[..cut]);
                }
                // or at once behind it,
                1 => wire.send(&request),
                // or sends it twice, or says that it sends no more,
                2 => wire.send(&(request.clone() + &request)),
                3 => {
                    wire.send(&request);
                    let _ = wire.stream.shutdown(std::net::Shutdown::Write);
                    wire.head();
                }
                // or leaves in the middle of the answer.
                _ => {
                    wire.send(&request);
                    assert_eq!(wire.head().unwrap().status, 200);
                }
            }
            if dice.roll(8) == 0 {
                session = site.session();
            }
        }
    };
    std::thread::scope(|scope| {
        for seed in 1..=8 {
            scope.spawn(move || clumsy(seed * 0x9e37_79b9));
        }
        let mut wire = site.connect();
        (0..200).for_each(|id| wire.echoes(id));
    });
    site.connect().echoes(1);
    site.stop();
}

//! All of it at once: calls that are quick, slow, big, broken and cancelled, whatever the number of threads.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use sanswire_std::sanswire::jsonrpc::JsonRef;

use crate::common::trials;
use crate::peer::{Lines, OPENING, Peer, call, cancel, ping};
use crate::served::server;

trials!(
    every_request_is_answered_once_over_pipes,
    every_request_is_answered_once_over_sockets,
    clients_that_leave_in_mid_call_harm_nobody,
);

/// Numbers that a seed decides (xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }

    fn request(&mut self, id: u64) -> String {
        let ms = self.below(6);
        match self.below(10) {
            0..4 => call(id, "echo", r#"{"text":"hi"}"#),
            4 => ping(id),
            5 => call(id, "sleep", &format!(r#"{{"ms":{ms}}}"#)),
            6 => call(id, "stubborn", &format!(r#"{{"ms":{ms}}}"#)),
            7 => call(id, "big", &format!(r#"{{"ms":{ms},"bytes":{}}}"#, self.below(100_000))),
            8 => call(id, "panic", "{}"),
            _ => call(id, "progress", r#"{"n":3,"ms":1}"#),
        }
    }
}

/// Sends `count` requests in pieces of any size, some of them cancelled at once or later. Whether each is cancelled.
fn send(dice: &mut Dice, count: u64, mut to: impl Write) -> BTreeMap<u64, bool> {
    let mut sent = BTreeMap::new();
    let mut text = String::new();
    for id in 0..count {
        text += &dice.request(id);
        sent.insert(id, false);
        if dice.below(8) == 0 {
            let other = id - dice.below(id.min(5) + 1);
            text += &cancel(other);
            sent.insert(other, true);
        }
        if dice.below(4) == 0 {
            to.write_all(text.as_bytes()).unwrap();
            text.clear();
            std::thread::sleep(std::time::Duration::from_millis(dice.below(3)));
        }
    }
    to.write_all(text.as_bytes()).unwrap();
    sent
}

/// All that is not cancelled is answered once, what is cancelled at most once, and nothing else comes before the end.
fn check(lines: &Lines, sent: &BTreeMap<u64, bool>) {
    let mut answers: BTreeMap<u64, u32> = BTreeMap::new();
    while let Some(message) = lines.message_or_end() {
        if let Some(id) = message.view().get("id").and_then(JsonRef::as_u64) {
            *answers.entry(id).or_default() += 1;
        }
    }
    for (id, cancelled) in sent {
        let count = answers.remove(id).unwrap_or(0);
        assert!(count == 1 || *cancelled && count == 0, "{id}: {count} answers, cancelled: {cancelled}");
    }
    assert!(answers.is_empty(), "{answers:?}");
}

fn every_request_is_answered_once_over_pipes() {
    for (seed, threads) in [(1, 1), (2, 2), (3, 5), (4, 64)] {
        let mut peer = Peer::start(&[&format!("threads={threads}"), "max-out=1000000"]);
        let mut input = peer.input.take().unwrap();
        let sent = send(&mut Dice::new(seed), 150, &mut input);
        drop(input);
        check(&peer.lines, &sent);
        assert!(peer.exit().success());
    }
}

fn every_request_is_answered_once_over_sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server(&["threads=8", "max-out=1000000"]);
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve_tcp(listener).unwrap());
        let clients: Vec<_> = (10..18)
            .map(|seed| {
                scope.spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    let lines = Lines::of(stream.try_clone().unwrap());
                    stream.write_all(OPENING.as_bytes()).unwrap();
                    assert!(lines.next().view().get("result").is_some());
                    let sent = send(&mut Dice::new(seed), 80, &mut stream);
                    stream.shutdown(std::net::Shutdown::Write).unwrap();
                    check(&lines, &sent);
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        server.stopper().stop();
        serving.join().unwrap();
    });
}

fn clients_that_leave_in_mid_call_harm_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server(&["threads=4", "drain=50"]);
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve_tcp(listener).unwrap());
        for seed in 20..60 {
            let mut dice = Dice::new(seed);
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(OPENING.as_bytes()).unwrap();
            let text: String = (0..dice.below(30)).map(|id| dice.request(id)).collect();
            stream.write_all(text.as_bytes()).unwrap();
            if dice.below(2) == 0 {
                let _ = stream.read(&mut [0; 64]);
            }
        }
        let mut stream = TcpStream::connect(address).unwrap();
        let lines = Lines::of(stream.try_clone().unwrap());
        stream.write_all((OPENING.to_owned() + &call(1, "echo", r#"{"text":"still"}"#)).as_bytes()).unwrap();
        assert!(lines.next().view().get("result").is_some());
        assert_eq!(lines.answer(), (1, "still".into()));
        server.stopper().stop();
        serving.join().unwrap();
    });
}

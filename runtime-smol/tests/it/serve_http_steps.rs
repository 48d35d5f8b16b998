//! A site that ends at every point where it waits: dropped, left by all of its clients, stopped. Afterwards nothing is left
//! of it, and no request has two answers.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sanswire_smol::{Stopper, bind_loopback};

use crate::common::{Driven, raw};
use crate::held::server;
use crate::http_peer::{call, listen, patient, post};

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    [End::Dropped, End::Left, End::Stopped, End::StoppedNow]
        .map(|end| {
            let name = format!("a_site_ends_at_any_point/{end:?}");
            crate::common::trial(name, move || ends_at_any_point(end))
        })
        .into()
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Dropped,
    /// All clients are gone, and then it is stopped.
    Left,
    Stopped,
    StoppedNow,
}

/// One connection of the clients.
struct Line {
    socket: TcpStream,
    to_send: Vec<u8>,
    said: String,
    ended: bool,
}

impl Line {
    fn new(address: SocketAddr, to_send: String) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, to_send: to_send.into_bytes(), said: String::new(), ended: false }
    }

    /// Sends and reads what it can.
    fn turn(&mut self, writes: bool) {
        let mut part = [0; 4096];
        while !self.ended {
            match self.socket.read(&mut part) {
                Ok(0) => self.ended = true,
                Ok(len) => self.said += std::str::from_utf8(&part[..len]).unwrap(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.ended = true,
            }
        }
        if self.ended {
            // A client that was told of the end goes.
            let _ = self.socket.shutdown(Shutdown::Both);
        } else if writes && !self.to_send.is_empty() {
            // Little at once: requests come in parts.
            let some = self.to_send.len().min(300);
            let wrote = self.socket.write(&self.to_send[..some]);
            drop(self.to_send.drain(..wrote.unwrap_or(0)));
        }
    }

    fn count(&self, what: &str) -> usize {
        self.said.matches(what).count()
    }
}

const CALLS: [(u64, &str); 5] =
    [(7001, "echo"), (7002, "nap"), (7003, "fail"), (7004, "nothing"), (7005, "nap")];
const ASK: &str = "7101";

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":7100,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"peer","version":"1"}}}"#
);

/// Calls that stand alone, a session whose call asks, who answers it, and a stream that stays open.
struct Peers {
    calls: Line,
    session: Line,
    answers: Line,
    listens: Line,
    asked: bool,
    answered: bool,
}

impl Peers {
    fn new(address: SocketAddr) -> Self {
        let calls = CALLS.map(|(id, tool)| call(id, tool, r#"{"text":"x"}"#)).concat();
        Self {
            calls: Line::new(address, calls),
            session: Line::new(address, post(&[], INITIALIZE)),
            answers: Line::new(address, String::new()),
            listens: Line::new(address, listen(7201)),
            asked: false,
            answered: false,
        }
    }

    fn lines(&mut self) -> [&mut Line; 4] {
        [&mut self.calls, &mut self.session, &mut self.answers, &mut self.listens]
    }

    fn turn(&mut self, writes: bool) {
        self.lines().into_iter().for_each(|line| line.turn(writes));
        if !writes {
            return;
        }
        let said = self.session.said.to_ascii_lowercase();
        let Some((_, rest)) = said.split_once("mcp-session-id: ") else { return };
        let Some((id, _)) = rest.split_once("\r\n") else { return };
        // Ids of sessions tell capitals from small letters.
        let at = said.len() - rest.len();
        let id = self.session.said[at..at + id.len()].to_owned();
        let fields = [("Mcp-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
        if !self.asked && said.contains("7100") && said.ends_with("}\n") {
            self.asked = true;
            let ask =
                r#"{"jsonrpc":"2.0","id":7101,"method":"tools/call","params":{"name":"ask","arguments":{}}}"#;
            self.session.to_send = post(&fields, ask).into_bytes();
        }
        let mut told = self.session.said.lines().filter_map(|line| line.strip_prefix("data:"));
        let question = told.find(|data| data.contains("elicitation/create"));
        if let Some(question) = question.filter(|_| !self.answered) {
            self.answered = true;
            let question = raw(question.trim());
            let id = String::from_utf8_lossy(question.view().get("id").unwrap().as_bytes()).into_owned();
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#);
            self.answers.to_send = post(&fields, &answer).into_bytes();
        }
    }

    fn has_to_send(&mut self) -> bool {
        self.lines().iter().any(|line| !line.to_send.is_empty())
    }

    fn have_ended(&mut self) -> bool {
        self.lines().iter().all(|line| line.ended)
    }

    fn said(&mut self) -> usize {
        self.lines().iter().map(|line| line.said.len() + usize::from(line.ended)).sum()
    }

    fn have_all(&self) -> bool {
        let calls = CALLS.iter().all(|(id, _)| self.calls.count(&id.to_string()) > 0);
        calls && self.session.count(ASK) > 0 && self.listens.count("acknowledged") > 0
    }
}

/// Whether all was answered before that many polls.
fn ends_after(polls: u32, end: End) -> bool {
    let held = Arc::<AtomicUsize>::default();
    let server = server(&held);
    let stopper = server.stopper();
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let serves = server.clone();
    let mut serves = Driven::new(async move {
        serves.serve_http(listener, patient()).await.unwrap();
    });
    let mut peers = Peers::new(address);
    for _ in 0..polls {
        peers.turn(true);
        if peers.have_all() {
            break;
        }
        let seen = serves.woken.get();
        serves.poll();
        assert!(!serves.ready, "it ended by itself");
        if peers.has_to_send() {
            continue;
        }
        peers.turn(true);
        if !peers.have_all() && !peers.has_to_send() {
            assert!(serves.woken.after(seen), "never woken");
        }
    }
    let over_before = peers.have_all();
    finish(&mut peers, serves, end, &stopper);
    assert_eq!(held.load(Ordering::SeqCst), 0, "handlers are left after {polls} polls");
    for (id, _) in CALLS {
        assert!(peers.calls.count(&id.to_string()) <= 1, "answers to {id} after {polls} polls");
    }
    assert!(peers.session.count(ASK) <= 1, "answers to the session's call after {polls} polls");
    drop((server, stopper));
    // Whatever keeps a connection, a call or the server keeps the tools.
    assert_eq!(Arc::strong_count(&held), 1, "something is left after {polls} polls");
    over_before
}

fn finish(peers: &mut Peers, mut serves: Driven<'static>, end: End, stopper: &Stopper) {
    match end {
        End::Dropped => {
            drop(serves);
            peers.turn(false);
            assert!(peers.have_ended(), "a socket is open");
            return;
        }
        End::Left => {
            for line in peers.lines() {
                let _ = line.socket.shutdown(Shutdown::Both);
            }
            stopper.stop();
        }
        End::Stopped => stopper.stop(),
        End::StoppedNow => stopper.stop_now(),
    }
    while !serves.ready {
        let seen = serves.woken.get();
        serves.poll();
        let before = peers.said();
        peers.turn(false);
        if before == peers.said() {
            assert!(serves.ready || serves.woken.after(seen), "never woken");
        }
    }
    peers.turn(false);
    assert!(peers.have_ended(), "a socket is open");
}

fn ends_at_any_point(end: End) {
    let mut polls = 0;
    while !ends_after(polls, end) {
        polls += 1;
        assert!(polls < 2000, "it never comes to an end");
    }
    assert!(polls > 5, "{polls} polls");
}

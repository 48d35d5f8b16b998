//! Served connections that end at every point where they wait: dropped, cut off, closed on one side, stopped. Afterwards
//! nothing is left of them, and no request has two answers.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Async;
use sanswire_smol::sanswire::jsonrpc::JsonRef;
use sanswire_smol::{ServeError, Server, Stopper};

use crate::common::{Driven, Folder, raw, request};
use crate::held::server;

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    let mut trials = Vec::new();
    for over in [Over::Unix, Over::Tcp, Over::Stream, Over::Listener] {
        for end in [End::Dropped, End::CutOff, End::HalfClosed, End::Stopped, End::StoppedNow] {
            let name = format!("a_connection_ends_at_any_point/{over:?}/{end:?}");
            trials.push(crate::common::trial(name, move || ends_at_any_point(over, end)));
        }
    }
    trials
}

/// What is served.
#[derive(Clone, Copy, Debug)]
enum Over {
    Unix,
    Tcp,
    /// Any stream.
    Stream,
    Listener,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Dropped,
    /// By the client, whose socket is gone.
    CutOff,
    /// By the client, which reads on.
    HalfClosed,
    Stopped,
    StoppedNow,
}

/// The other end.
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

struct Peer {
    socket: Socket,
    to_send: Vec<u8>,
    said: Vec<u8>,
    /// Up to where it was looked at.
    seen: usize,
    ended: bool,
}

impl Peer {
    fn new(socket: Socket) -> Self {
        match &socket {
            Socket::Unix(socket) => socket.set_nonblocking(true).unwrap(),
            Socket::Tcp(socket) => socket.set_nonblocking(true).unwrap(),
        }
        Self { socket, to_send: script().into_bytes(), said: Vec::new(), seen: 0, ended: false }
    }

    /// Sends and reads what it can, and answers what it is asked.
    fn turn(&mut self, writes: bool) {
        let mut part = [0; 4096];
        loop {
            let got = match &mut self.socket {
                Socket::Unix(socket) => socket.read(&mut part),
                Socket::Tcp(socket) => socket.read(&mut part),
            };
            match got {
                Ok(0) => self.ended = true,
                Ok(len) => {
                    self.said.extend_from_slice(&part[..len]);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.ended = true,
            }
            break;
        }
        while let Some(end) = self.said[self.seen..].iter().position(|byte| *byte == b'\n') {
            let line = &self.said[self.seen..self.seen + end];
            self.seen += end + 1;
            let message = raw(std::str::from_utf8(line).unwrap());
            if message
                .view()
                .get("method")
                .and_then(JsonRef::str)
                .is_some_and(|method| method.decode() == "elicitation/create")
            {
                let id = String::from_utf8_lossy(message.view().get("id").unwrap().as_bytes()).into_owned();
                let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#);
                self.to_send.extend_from_slice((answer + "\n").as_bytes());
            }
        }
        if writes && !self.to_send.is_empty() {
            // Little at once: lines come in parts.
            let some = self.to_send.len().min(150);
            let wrote = match &mut self.socket {
                Socket::Unix(socket) => socket.write(&self.to_send[..some]),
                Socket::Tcp(socket) => socket.write(&self.to_send[..some]),
            };
            drop(self.to_send.drain(..wrote.unwrap_or(0)));
        }
    }

    /// Whether the end comes. A process that another test starts at that moment has the socket too until it becomes another
    /// program, so that the end may be a while late.
    fn sees_the_end(&mut self) -> bool {
        let late = std::time::Instant::now() + Duration::from_secs(10);
        while !self.ended && std::time::Instant::now() < late {
            self.turn(false);
            if !self.ended {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.ended
    }

    fn half_close(&mut self) {
        let _ = match &self.socket {
            Socket::Unix(socket) => socket.shutdown(Shutdown::Write),
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Write),
        };
    }

    /// How often each request was answered; what is no request has no id.
    fn answers(&self) -> BTreeMap<Option<i64>, usize> {
        let mut answers = BTreeMap::new();
        for line in self.said[..self.seen].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message = raw(std::str::from_utf8(line).unwrap());
            if message.view().get("method").is_none() {
                *answers.entry(message.view().get("id").and_then(JsonRef::as_i64)).or_default() += 1;
            }
        }
        answers
    }
}

/// All that is answered; the second call is cancelled.
const ANSWERED: [i64; 8] = [0, 1, 3, 4, 5, 6, 7, 8];

/// A session that asks, and calls that stand alone.
fn script() -> String {
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}"#;
    let legacy = |id: i64, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":{id}}}}}}}"#
        ) + "\n"
    };
    let mut script = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#) + "\n";
    script += "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    script += &(legacy(1, "ask") + &legacy(2, "nap") + &legacy(3, "fail"));
    script += &request(4, "echo", r#"{"text":"x"}"#);
    script += "no JSON\n";
    script += &request(5, "nap", "{}");
    script += "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n";
    script += &(request(6, "nothing", "{}") + &request(7, "fail", "{}") + &request(8, "nap", "{}"));
    script
}

/// The future that serves, and the client.
fn begin(server: &Server, over: Over, folder: &Folder) -> (Driven<'static>, Peer) {
    let server = server.clone();
    // One that was stopped before it was polled is as any other.
    let well = |served: Result<(), ServeError>| served.unwrap();
    match over {
        Over::Unix | Over::Stream => {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let serves: std::pin::Pin<Box<dyn Future<Output = ()>>> = if matches!(over, Over::Unix) {
                Box::pin(async move { well(server.serve_unix_stream(theirs).await) })
            } else {
                let theirs = Async::new(theirs).unwrap();
                Box::pin(async move { well(server.serve_stream(theirs).await) })
            };
            (Driven::new(serves), Peer::new(Socket::Unix(ours)))
        }
        Over::Tcp => {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let theirs = listener.accept().unwrap().0;
            let serves = async move { well(server.serve_tcp_stream(theirs).await) };
            (Driven::new(serves), Peer::new(Socket::Tcp(ours)))
        }
        Over::Listener => {
            let path = folder.0.join("socket");
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(&path).unwrap();
            let ours = UnixStream::connect(&path).unwrap();
            let serves = async move { well(server.serve_unix(listener).await) };
            (Driven::new(serves), Peer::new(Socket::Unix(ours)))
        }
    }
}

/// Whether the script was over before that many polls.
fn ends_after(polls: u32, over: Over, end: End, folder: &Folder) -> bool {
    let held = Arc::<AtomicUsize>::default();
    let server = server(&held);
    let stopper = server.stopper();
    let (mut serves, mut peer) = begin(&server, over, folder);
    let all = |peer: &Peer| {
        let answers = peer.answers();
        ANSWERED.iter().all(|id| answers.contains_key(&Some(*id)))
    };
    for _ in 0..polls {
        peer.turn(true);
        if all(&peer) {
            break;
        }
        let seen = serves.woken.get();
        serves.poll();
        assert!(!serves.ready, "it ended by itself");
        if !peer.to_send.is_empty() {
            continue;
        }
        peer.turn(true);
        if !all(&peer) {
            assert!(serves.woken.after(seen), "never woken");
        }
    }
    let over_before = all(&peer);
    let listens = matches!(over, Over::Listener);
    finish(&mut peer, serves, end, &stopper, listens);
    assert_eq!(held.load(Ordering::SeqCst), 0, "handlers are left after {polls} polls");
    for (id, count) in peer.answers().into_iter().filter(|(id, _)| id.is_some()) {
        assert_eq!(count, 1, "answers to {id:?} after {polls} polls");
    }
    drop((server, stopper));
    // Whatever keeps a connection, a call or the server keeps the tools.
    assert_eq!(Arc::strong_count(&held), 1, "something is left after {polls} polls");
    over_before
}

fn finish(peer: &mut Peer, mut serves: Driven<'static>, end: End, stopper: &Stopper, listens: bool) {
    match end {
        End::Dropped => {
            drop(serves);
            assert!(peer.sees_the_end(), "its socket is open");
            return;
        }
        End::CutOff => match UnixStream::pair() {
            Ok((other, _)) => drop(std::mem::replace(&mut peer.socket, Socket::Unix(other))),
            Err(error) => panic!("{error}"),
        },
        End::HalfClosed => peer.half_close(),
        End::Stopped => stopper.stop(),
        End::StoppedNow => stopper.stop_now(),
    }
    let mut told = false;
    while !serves.ready {
        let seen = serves.woken.get();
        serves.poll();
        let before = (peer.said.len(), peer.ended);
        peer.turn(false);
        if peer.ended && !told {
            // A client that was told of the end goes.
            told = true;
            peer.half_close();
            if listens {
                stopper.stop();
            }
        } else if before == (peer.said.len(), peer.ended) {
            assert!(serves.ready || serves.woken.after(seen), "never woken");
        }
    }
    assert!(peer.sees_the_end(), "its socket is open");
}

fn ends_at_any_point(over: Over, end: End) {
    let folder = Folder::new("server-steps");
    for polls in 0..1000 {
        if ends_after(polls, over, end, &folder) {
            assert!(polls > 10, "there were no points where it waited");
            return;
        }
    }
    panic!("never ready");
}

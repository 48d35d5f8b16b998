//! How the served half ends, and what is left then.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::common::{eventually, trials};
use crate::peer::{Lines, OPENING, Peer, call, ping, socket_pair};
use crate::served::server;

trials!(
    the_end_of_input_lets_calls_finish,
    what_does_not_finish_after_the_end_is_given_up,
    a_client_that_vanishes_cancels_its_calls,
    a_stop_lets_calls_finish,
    a_stop_at_once_cancels,
    a_second_stop_is_one_at_once,
    a_server_that_was_stopped_serves_nobody,
    no_thread_is_left,
    a_handler_that_never_ends_is_left_behind,
    a_client_that_never_reads_costs_what_the_limits_say,
);

const MINUTE: &str = r#"{"ms":60000}"#;

// H-189, P-127
fn the_end_of_input_lets_calls_finish() {
    let mut peer = Peer::start(&["threads=2"]);
    // The last two have not even begun.
    peer.send(&(0..4).map(|id| call(id, "sleep", r#"{"ms":200}"#)).collect::<String>());
    peer.input = None;
    let mut ids: Vec<u64> = (0..4).map(|_| peer.lines.answer().0).collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3]);
    peer.finish();
}

fn what_does_not_finish_after_the_end_is_given_up() {
    let mut peer = Peer::start(&["drain=100"]);
    peer.send(&call(1, "sleep", MINUTE));
    peer.finish();
}

fn a_client_that_vanishes_cancels_its_calls() {
    // Nothing else ends it while anybody waits here.
    let mut peer = Peer::start(&["drain=60000"]);
    peer.send(&(call(1, "sleep", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    let mut gone = crate::peer::command(&["drain=60000"]);
    let mut child = gone.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all((OPENING.to_owned() + &call(1, "sleep", MINUTE)).as_bytes()).unwrap();
    let mut output = child.stdout.take().unwrap();
    // The session is open, and the call was read with its opening or is about to be.
    assert!(output.read(&mut [0; 1 << 12]).unwrap() > 0);
    drop((input, output));
    eventually("the server ends", || child.try_wait().unwrap().is_some());
}

fn a_stop_lets_calls_finish() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "sleep", r#"{"ms":300}"#) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    peer.send(&call(3, "stop", "{}"));
    assert_eq!(peer.lines.answer(), (3, "stopped".into()));
    assert_eq!(peer.lines.answer(), (1, "slept".into()));
    assert!(peer.lines.ended());
    assert!(peer.exit().success());
}

fn a_stop_at_once_cancels() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "sleep", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    peer.send(&call(3, "stop-now", "{}"));
    assert!(peer.lines.ended());
    assert!(peer.exit().success());
}

fn a_second_stop_is_one_at_once() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "sleep", MINUTE) + &call(2, "stop", "{}")));
    assert_eq!(peer.lines.answer(), (2, "stopped".into()));
    // Nothing new is taken, but the session's own answers.
    peer.send(&ping(3));
    assert_eq!(peer.lines.next().view().get("id").and_then(|id| id.as_u64()), Some(3));
    let (server, client, serving) = over_a_socket(&[]);
    (&client).write_all(call(1, "sleep", MINUTE).as_bytes()).unwrap();
    server.stopper().stop();
    server.stopper().stop();
    assert!(serving.join().is_ok());
    drop(peer);
}

fn a_server_that_was_stopped_serves_nobody() {
    let server = server(&[]);
    server.stopper().stop();
    let (ours, theirs) = socket_pair();
    server.serve_tcp_stream(theirs).unwrap();
    assert!(Lines::of(ours).ended());
}

fn no_thread_is_left() {
    let mut peer = Peer::start(&["count-threads"]);
    peer.send(&(0..20).map(|id| call(id, "sleep", r#"{"ms":50}"#)).collect::<String>());
    for _ in 0..20 {
        peer.lines.answer();
    }
    peer.input = None;
    // The one that served.
    assert_eq!(peer.exit().code(), Some(1));
}

fn a_handler_that_never_ends_is_left_behind() {
    let mut peer = Peer::start(&["drain=100", "count-threads"]);
    peer.send(&(call(1, "stubborn", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    peer.input = None;
    assert_eq!(peer.exit().code(), Some(2));
}

/// A server of a socket, its client's end, and the thread that serves.
fn over_a_socket(flags: &[&str]) -> (sanswire_std::Server, TcpStream, JoinHandle<()>) {
    let server = server(flags);
    let (ours, theirs) = socket_pair();
    let serves = server.clone();
    let serving = std::thread::spawn(move || serves.serve_tcp_stream(theirs).unwrap());
    (&ours).write_all(OPENING.as_bytes()).unwrap();
    (server, ours, serving)
}

fn a_client_that_never_reads_costs_what_the_limits_say() {
    let (server, client, serving) = over_a_socket(&["max-out=1000000", "drain=200"]);
    let (tell, told) = channel();
    let writes = client.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut sent = 0;
        let mut id = 0;
        loop {
            id += 1;
            let line = call(id, "big", r#"{"bytes":100000}"#);
            if (&writes).write_all(line.as_bytes()).is_err() {
                break;
            }
            sent += line.len();
            if tell.send(sent).is_err() {
                break;
            }
        }
    });
    // It writes until the server has stopped reading and the sockets are full.
    let mut sent = 0;
    while let Ok(more) = told.recv_timeout(Duration::from_secs(1)) {
        sent = more;
        assert!(sent < 20_000_000, "it reads on and on");
    }
    assert!(sent > 0);
    // The drain's deadline ends it, though nobody has read anything.
    server.stopper().stop();
    serving.join().unwrap();
}

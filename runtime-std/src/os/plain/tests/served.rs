//! What a served half uses: listeners, many connections at once, standard input and output.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{BOUND, LONG};
use crate::os::{Accept, Conn, Got, Listener, PollEvent, Poller, StdioEnds, Wake, Want};

const SHORT: Duration = Duration::from_millis(20);
const CHILD: &str = "SANSWIRE_TEST_CHILD";

fn listener() -> (Listener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (Listener::tcp(listener).unwrap(), address)
}

fn wait(poller: &Poller, timeout: Duration) -> Vec<PollEvent> {
    let mut events = vec![PollEvent { key: 99, readable: true, writable: true }];
    poller.wait(&mut events, Some(timeout)).unwrap();
    events
}

/// What there is to be told, waited for.
fn told(poller: &Poller) -> Vec<PollEvent> {
    let started = Instant::now();
    loop {
        let events = wait(poller, LONG);
        if !events.is_empty() {
            return events;
        }
        assert!(started.elapsed() < LONG);
    }
}

/// The next connection, waited for.
fn next(listener: &Listener) -> Conn {
    let poller = Poller::new().unwrap();
    poller.add(1, listener, Want::READ).unwrap();
    let started = Instant::now();
    loop {
        if let Accept::Conn(conn) = listener.accept() {
            return conn;
        }
        assert!(started.elapsed() < LONG);
        wait(&poller, LONG);
    }
}

/// One connection, and its client.
fn pair(listener: &Listener, address: SocketAddr) -> (Conn, TcpStream) {
    let theirs = TcpStream::connect(address).unwrap();
    (next(listener), theirs)
}

#[test]
fn one_is_active_among_many() {
    let (listener, address) = listener();
    let poller = Poller::new().unwrap();
    let mut pairs: Vec<_> = (0..40).map(|_| pair(&listener, address)).collect();
    for (key, (conn, _)) in (0..).zip(&pairs) {
        poller.add(key, conn, Want::READ).unwrap();
    }
    poller.add(1000, &listener, Want::READ).unwrap();
    assert!(wait(&poller, SHORT).is_empty());
    pairs[33].1.write_all(b"x").unwrap();
    let active = |key| [PollEvent { key, readable: true, writable: false }];
    assert_eq!(told(&poller), active(33));
    assert_eq!(told(&poller), active(33));
    let mut buffer = Vec::with_capacity(8);
    assert_eq!(pairs[33].0.read(&mut buffer), Got::Bytes { len: 1, full: false });
    assert!(wait(&poller, SHORT).is_empty());
    let _calls = TcpStream::connect(address).unwrap();
    assert_eq!(told(&poller), active(1000));
    poller.set(1000, &listener, Want::NOTHING).unwrap();
    assert!(wait(&poller, SHORT).is_empty());
    // An end is told of until nobody wants to know.
    drop(pairs[5].1.shutdown(std::net::Shutdown::Write));
    assert_eq!(told(&poller), active(5));
    assert_eq!(pairs[5].0.read(&mut buffer), Got::End { broken: false });
    assert_eq!(told(&poller), active(5));
    poller.set(5, &pairs[5].0, Want { read: false, write: true }).unwrap();
    assert_eq!(told(&poller), [PollEvent { key: 5, readable: false, writable: true }]);
    poller.remove(5, &pairs[5].0).unwrap();
    poller.remove(5, &pairs[5].0).unwrap();
    assert!(wait(&poller, SHORT).is_empty());
}

#[test]
fn a_wake_or_a_change_ends_one_wait() {
    let (listener, address) = listener();
    let poller = Poller::new().unwrap();
    let (conn, mut theirs) = pair(&listener, address);
    poller.add(7, &conn, Want::NOTHING).unwrap();
    theirs.write_all(b"x").unwrap();
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            poller.wake();
        });
        assert!(wait(&poller, LONG).is_empty());
    });
    poller.wake();
    assert!(wait(&poller, LONG).is_empty());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            poller.set(7, &conn, Want::READ).unwrap();
        });
        assert_eq!(told(&poller), [PollEvent { key: 7, readable: true, writable: false }]);
    });
    assert!(started.elapsed() < LONG);
    poller.set(7, &conn, Want::NOTHING).unwrap();
    let started = Instant::now();
    assert!(wait(&poller, SHORT).is_empty());
    assert!(started.elapsed() >= SHORT);
}

#[test]
fn what_was_written_arrives_before_the_end() {
    let (listener, address) = listener();
    let (conn, mut theirs) = pair(&listener, address);
    assert_eq!(conn.write(&[7; 2 * BOUND]).unwrap(), BOUND);
    conn.end_output();
    let mut all = Vec::new();
    theirs.read_to_end(&mut all).unwrap();
    assert!(all == [7; BOUND]);
    assert_eq!(conn.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    theirs.write_all(b"late").unwrap();
    let poller = Poller::new().unwrap();
    poller.add(1, &conn, Want::READ).unwrap();
    assert_eq!(told(&poller).len(), 1);
    let mut buffer = Vec::with_capacity(8);
    assert_eq!(conn.read(&mut buffer), Got::Bytes { len: 4, full: false });
    assert_eq!(buffer, b"late");
}

#[test]
fn a_listener_that_goes_lets_go_of_its_address() {
    for unspecified in [false, true] {
        let listener = TcpListener::bind(if unspecified { "0.0.0.0:0" } else { "127.0.0.1:0" }).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
        let listener = Listener::tcp(listener).unwrap();
        // One that was accepted ahead goes with it.
        let mut theirs = unspecified.then(|| TcpStream::connect(address).unwrap());
        std::thread::sleep(SHORT);
        drop(listener);
        if let Some(theirs) = &mut theirs {
            assert!(!matches!(theirs.read(&mut [0; 8]), Ok(1..)));
        }
        let started = Instant::now();
        while TcpStream::connect(address).is_ok() {
            assert!(started.elapsed() < LONG);
        }
    }
}

#[test]
fn standard_input_and_output_are_served_one_after_another() {
    let module = module_path!().split_once("::").unwrap().1;
    let mut served = Command::new(std::env::current_exe().unwrap())
        .args([&format!("{module}::in_a_child_that_takes_its_own"), "--exact", "--ignored", "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (served.stdin.take().unwrap(), served.stdout.take().unwrap());
    stdin.write_all(b"one\n").unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"go on\n") {
        let mut byte = [0];
        stdout.read_exact(&mut byte).unwrap();
        said.extend(byte);
    }
    stdin.write_all(b"two\n").unwrap();
    drop(stdin);
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert!(served.wait().unwrap().success(), "{said}");
    assert!(said.contains(&"x".repeat(BOUND)) && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "takes the standard input and output of a process of its own"]
fn in_a_child_that_takes_its_own() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let ends = StdioEnds::take().unwrap();
    assert_eq!(StdioEnds::take().unwrap_err().kind(), ErrorKind::ResourceBusy);
    let wake = Wake::new().unwrap();
    let both = Want { read: true, write: true };
    let mut buffer = Vec::with_capacity(100);
    assert!(ends.wait(&wake, both, Some(LONG)).writable);
    while !ends.wait(&wake, Want::READ, Some(LONG)).readable {}
    assert_eq!(ends.read(&mut buffer), Got::Bytes { len: 4, full: false });
    // Nothing more comes until this has left.
    assert_eq!(ends.write(b"go on\n").unwrap(), 6);
    drop(ends);
    let ends = StdioEnds::take().unwrap();
    while !ends.wait(&wake, Want::READ, Some(LONG)).readable {}
    assert_eq!(ends.read(&mut buffer), Got::Bytes { len: 4, full: false });
    assert_eq!(buffer, b"one\ntwo\n");
    while !ends.wait(&wake, Want::READ, Some(LONG)).readable {}
    assert_eq!(ends.read(&mut buffer), Got::End { broken: false });
    assert_eq!(ends.write(&[b'x'; 2 * BOUND]).unwrap(), BOUND);
    ends.leave();
    assert!(ends.write(b"late").is_err());
    wake.wake();
    assert!(ends.wait(&wake, Want::NOTHING, None).wake);
}

//! Listeners and the connections that come of them.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::FdFlags;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{child, in_child};
use crate::os::{Accept, Conn, Got, Listener, PollEvent, Poller, Want};

const LONG: Duration = Duration::from_secs(20);

fn tcp() -> (Listener, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (Listener::tcp(listener).unwrap(), address)
}

/// The next connection, waited for.
fn next(listener: &Listener) -> Conn {
    let poller = Poller::new().unwrap();
    poller.add(1, listener, Want::READ).unwrap();
    loop {
        let mut events = Vec::new();
        poller.wait(&mut events, Some(LONG)).unwrap();
        assert_eq!(events, [PollEvent { key: 1, readable: true, writable: false }]);
        match listener.accept() {
            Accept::Conn(conn) => return conn,
            Accept::Nothing => {}
            other => panic!("{other:?}"),
        }
    }
}

fn read(conn: &Conn) -> Got {
    conn.read(&mut Vec::with_capacity(16))
}

#[test]
fn a_connection_never_blocks_and_no_child_gets_it() {
    let (listener, address) = tcp();
    assert!(matches!(listener.accept(), Accept::Nothing));
    let mut theirs = TcpStream::connect(address).unwrap();
    let conn = next(&listener);
    assert!(rustix::fs::fcntl_getfl(&conn).unwrap().contains(OFlags::NONBLOCK));
    assert!(rustix::io::fcntl_getfd(&conn).unwrap().contains(FdFlags::CLOEXEC));
    assert!(rustix::net::sockopt::tcp_nodelay(&conn).unwrap());
    assert_eq!(read(&conn), Got::Nothing);
    // A peer that reads nothing fills what lies between.
    let mut wrote = 0;
    let error = loop {
        match conn.write(&[7; 60_000]) {
            Ok(len) => wrote += len,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    conn.end_output();
    let mut all = Vec::new();
    theirs.read_to_end(&mut all).unwrap();
    assert!(wrote > 0 && all.len() == wrote && all.iter().all(|byte| *byte == 7));
    // The other direction is open still.
    theirs.write_all(b"late").unwrap();
    let started = Instant::now();
    let mut buffer = Vec::with_capacity(16);
    while conn.read(&mut buffer) == Got::Nothing {
        assert!(started.elapsed() < LONG);
        std::thread::yield_now();
    }
    assert_eq!(buffer, b"late");
    drop(theirs);
    while !matches!(read(&conn), Got::End { .. }) {
        assert!(started.elapsed() < LONG);
        std::thread::yield_now();
    }
    assert_eq!(conn.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn unix_sockets_are_served_too() {
    let dir = std::env::temp_dir().join(format!("sanswire-listen-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("socket");
    let listener = Listener::unix(UnixListener::bind(&path).unwrap()).unwrap();
    let mut theirs = UnixStream::connect(&path).unwrap();
    let conn = next(&listener);
    std::fs::remove_dir_all(&dir).unwrap();
    theirs.write_all(b"hello").unwrap();
    let mut buffer = Vec::with_capacity(16);
    assert!(matches!(conn.read(&mut buffer), Got::Bytes { len: 5, .. }));
    conn.write(b"bye").unwrap();
    drop(conn);
    let mut all = Vec::new();
    theirs.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"bye");
}

#[test]
fn a_read_brings_no_more_than_the_bound() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let conn = Conn::unix(ours).unwrap();
    theirs.write_all(&[1; 100_000]).unwrap();
    let mut buffer = Vec::with_capacity(1 << 20);
    assert_eq!(conn.read(&mut buffer), Got::Bytes { len: 65536, full: true });
    assert_eq!((buffer.len(), buffer.capacity()), (65536, 1 << 20));
}

#[test]
fn a_caller_that_is_gone_is_no_fault() {
    let (listener, address) = tcp();
    let gone = TcpStream::connect(address).unwrap();
    // It ends with a reset, not in good order.
    rustix::net::sockopt::set_socket_linger(&gone, Some(Duration::ZERO)).unwrap();
    drop(gone);
    let mut theirs = TcpStream::connect(address).unwrap();
    theirs.write_all(b"x").unwrap();
    let started = Instant::now();
    loop {
        let conn = next(&listener);
        let mut got = read(&conn);
        while got == Got::Nothing {
            assert!(started.elapsed() < LONG);
            got = read(&conn);
        }
        match got {
            Got::Bytes { len, .. } => break assert_eq!(len, 1),
            // Some systems hand it over all the same.
            other => assert!(matches!(other, Got::End { .. }), "{other:?}"),
        }
    }
}

#[test]
fn a_listener_that_does_not_listen_has_failed() {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let listener = Listener::tcp(TcpListener::from(socket.unwrap())).unwrap();
    assert!(matches!(listener.accept(), Accept::Failed(_)));
}

#[test]
fn no_descriptors_left_means_later() {
    let done = child("listen::in_a_child_without_descriptors").output().unwrap();
    assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"), "{done:?}");
}

#[test]
#[ignore = "lowers the limit of a process of its own"]
fn in_a_child_without_descriptors() {
    if !in_child() {
        return;
    }
    let (listener, address) = tcp();
    let poller = Poller::new().unwrap();
    poller.add(1, &listener, Want::READ).unwrap();
    let theirs = TcpStream::connect(address).unwrap();
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: Some(64) }).unwrap();
    let mut held = Vec::new();
    while let Ok(fd) = theirs.try_clone() {
        held.push(fd);
    }
    for _ in 0..3 {
        match listener.accept() {
            Accept::Later => {}
            other => panic!("{other:?}"),
        }
    }
    // Ready all the time, so it has to be left alone for a while.
    let mut events = Vec::new();
    poller.wait(&mut events, Some(LONG)).unwrap();
    assert_eq!(events.len(), 1);
    poller.set(1, &listener, Want::NOTHING).unwrap();
    poller.wait(&mut events, Some(Duration::from_millis(5))).unwrap();
    assert_eq!(events.len(), 0);
    // Who called has waited meanwhile.
    drop(held);
    assert!(matches!(listener.accept(), Accept::Conn(_)));
}

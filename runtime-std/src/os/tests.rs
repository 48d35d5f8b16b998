//! What both sides do alike.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::{Conn, Got, PollEvent, Polls, Wake, Want};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);

fn pair(listener: &TcpListener) -> (Conn, TcpStream) {
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (Conn::tcp(ours).unwrap(), listener.accept().unwrap().0)
}

#[test]
fn one_wait_finds_all_that_have_news() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (wake, mut polls) = (Wake::new().unwrap(), Polls::default());
    let mut pairs: Vec<_> = (0..10).map(|_| pair(&listener)).collect();
    for (n, (conn, _)) in pairs.iter().enumerate() {
        polls.add(n as u64, conn, Want::READ);
    }
    assert!(!polls.wait(&wake, Some(SHORT)));
    assert_eq!(polls.found(), []);
    pairs[3].1.write_all(b"hello").unwrap();
    pairs[7].0.shutdown();
    let mut found = Vec::new();
    // The two come to be known one after the other, perhaps.
    while found.len() < 2 {
        assert!(!polls.wait(&wake, Some(LONG)));
        found = polls.found().iter().filter(|event| event.readable).map(|event| event.key).collect();
    }
    assert_eq!(found, [3, 7]);
    let mut buffer = Vec::with_capacity(16);
    assert_eq!(pairs[3].0.read(&mut buffer), Got::Bytes { len: 5, full: false });
    assert_eq!(buffer, b"hello");
    assert_eq!(pairs[7].0.read(&mut buffer), Got::End { broken: false });
}

#[test]
fn what_is_wanted_is_told_and_nothing_else() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (wake, mut polls) = (Wake::new().unwrap(), Polls::default());
    let (conn, mut theirs) = pair(&listener);
    theirs.write_all(b"hello").unwrap();
    polls.add(1, &conn, Want { read: false, write: true });
    assert!(!polls.wait(&wake, Some(LONG)));
    assert_eq!(polls.found(), [PollEvent { key: 1, readable: false, writable: true }]);
    polls.clear();
    assert_eq!(polls.found(), []);
    polls.add(1, &conn, Want::NOTHING);
    assert!(!polls.wait(&wake, Some(SHORT)));
    assert_eq!(polls.found(), []);
}

#[test]
fn a_wake_ends_waits_until_it_is_cleared() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (wake, mut polls) = (Wake::new().unwrap(), Polls::default());
    let (conn, _theirs) = pair(&listener);
    polls.add(1, &conn, Want::READ);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            wake.wake();
        });
        assert!(polls.wait(&wake, Some(LONG)));
    });
    assert!(polls.wait(&wake, None));
    wake.clear();
    assert!(!polls.wait(&wake, Some(SHORT)));
}

#[test]
fn who_is_cut_off_waits_no_longer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (wake, mut polls) = (Wake::new().unwrap(), Polls::default());
    let (conn, _theirs) = pair(&listener);
    polls.add(1, &conn, Want::READ);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            conn.shutdown();
        });
        // A wait may end for less.
        while polls.found().is_empty() {
            assert!(!polls.wait(&wake, Some(LONG)));
        }
    });
    assert!(polls.found()[0].readable);
}

#[cfg(unix)]
#[test]
fn an_end_by_a_fault_is_none_of_the_peers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for broken in [false, true] {
        let (conn, mut theirs) = pair(&listener);
        theirs.write_all(b"hello").unwrap();
        // An end with bytes unread, or no patience for what was written, is a reset.
        let linger = broken.then_some(Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&theirs, linger).unwrap();
        drop(theirs);
        let (wake, mut polls) = (Wake::new().unwrap(), Polls::default());
        let mut got = Got::Nothing;
        while !matches!(got, Got::End { .. }) {
            polls.clear();
            polls.add(1, &conn, Want::READ);
            assert!(!polls.wait(&wake, Some(LONG)));
            got = conn.read(&mut Vec::with_capacity(16));
        }
        assert_eq!(got, Got::End { broken });
    }
}

//! A server over HTTP in a process that has few descriptors, and more clients than that.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::time::Duration;

use sanswire_std::{HttpOptions, bind_loopback};

use crate::common::trials;
use crate::http_peer::{Wire, call, listen};
use crate::http_serving::method;
use crate::served::server;

trials!(
    without_descriptors_a_connection_that_rests_makes_room,
    without_descriptors_those_who_wait_are_served_later,
);

const DESCRIPTORS: u64 = 24;
/// More clients than that.
const CLIENTS: u64 = 40;

/// The other process. `yields`: the milliseconds after which a connection that rests gives way.
pub(crate) fn serve(yields: &str) {
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpOptions::default();
    options.yields_after = Duration::from_millis(yields.parse().unwrap());
    limit_descriptors();
    println!("{address}");
    server(&[]).serve_http(listener, options).unwrap();
}

#[cfg(unix)]
fn limit_descriptors() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) }).unwrap();
}

#[cfg(not(unix))]
const fn limit_descriptors() {}

/// A process that goes with the test, by unwinding too.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(yields: &str) -> (Killed, SocketAddr) {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--few-descriptors", yields])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let mut address = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (child, address.trim().parse().unwrap())
}

fn without_descriptors_a_connection_that_rests_makes_room() {
    let (_child, address) = start("20");
    let mut listens = Wire::to(address);
    listens.send(&listen(0));
    listens.stream();
    assert_eq!(method(&listens.event().unwrap()), "notifications/subscriptions/acknowledged");
    let mut rest = Vec::new();
    for n in 1..CLIENTS {
        let mut wire = Wire::to(address);
        wire.echoes(n);
        rest.push(wire);
    }
    // The longest rest ended first, those who came last are still there, and who is at something is let be.
    assert!(rest[0].ended());
    let last = rest.last_mut().unwrap();
    last.send(&call(CLIENTS, "change", "{}"));
    assert_eq!(last.answer().said(), (CLIENTS, "soon".into()));
    assert_eq!(method(&listens.event().unwrap()), "notifications/tools/list_changed");
}

fn without_descriptors_those_who_wait_are_served_later() {
    let (_child, address) = start("3600000");
    let mut first = Wire::to(address);
    first.echoes(0);
    let mut others = Vec::new();
    for n in 1..CLIENTS {
        // The system takes them in, if the server does not.
        let mut wire = Wire::to(address);
        wire.send(&call(n, "echo", r#"{"text":"in"}"#));
        others.push(wire);
    }
    // Whoever is there is served meanwhile.
    (0..20).for_each(|n| first.echoes(n));
    // Nobody gives way: it has rested for too short a time.
    for (n, mut wire) in (1..).zip(others) {
        assert_eq!(wire.answer().said(), (n, "in".into()));
    }
}

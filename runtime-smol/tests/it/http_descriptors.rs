//! A server over HTTP in a process that has few descriptors, and more clients than that.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_io::{Async, Timer};
use rustix::process::{Resource, Rlimit, setrlimit};
use sanswire_smol::sanswire::server::ListKind;
use sanswire_smol::{HttpOptions, Server, Tool, bind_loopback};

use crate::common::{POLLS, counted, trials};
use crate::http_peer::{Wire, call, listen, method};
use crate::listening::Killed;

trials! {
    each: ;
    once: without_descriptors_a_connection_that_rests_makes_room,
        without_descriptors_those_who_wait_over_http_are_served_later
}

const DESCRIPTORS: u64 = 24;
/// More clients than that.
const CLIENTS: u64 = 40;

/// The other process. `yields`: the milliseconds after which a connection that rests gives way.
pub(crate) fn serve(yields: &str) {
    let server = Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("change", Tool::new("Tells of a change"), |(), call| async move {
            call.server().update(ListKind::Tools, |_| ());
            Ok("told")
        })
        .tool("polls", Tool::new("Says how often this was polled"), |(), _| async {
            Ok(POLLS.load(Ordering::SeqCst).to_string())
        })
        .build()
        .unwrap();
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpOptions::default();
    options.yields_after = Duration::from_millis(yields.parse().unwrap());
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) }).unwrap();
    println!("{address}");
    async_io::block_on(counted(server.serve_http(listener, options))).unwrap();
}

fn start(yields: &str) -> (Killed, SocketAddr) {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--few-descriptors-http", yields])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let mut address = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (child, address.trim().parse().unwrap())
}

async fn subscribed(address: SocketAddr, id: u64) -> Wire {
    let mut wire = Wire::connect(address).await;
    wire.send(&listen(id)).await;
    wire.stream().await;
    assert_eq!(method(&wire.event().await.unwrap()), "notifications/subscriptions/acknowledged");
    wire
}

async fn without_descriptors_a_connection_that_rests_makes_room() {
    let (_child, address) = start("20");
    let mut listens = subscribed(address, 0).await;
    let mut rest = Vec::new();
    for n in 1..CLIENTS {
        let mut wire = Wire::connect(address).await;
        wire.echoes(n).await;
        rest.push(wire);
    }
    // The longest rest ended first, those who came last are still there, and who is at something is let be.
    assert!(rest[0].ended().await);
    let last = rest.last_mut().unwrap();
    last.send(&call(CLIENTS, "change", "{}")).await;
    assert_eq!(last.answer().await.said(), (CLIENTS, "told".into()));
    assert_eq!(method(&listens.event().await.unwrap()), "notifications/tools/list_changed");
}

async fn without_descriptors_those_who_wait_over_http_are_served_later() {
    let (_child, address) = start("3600000");
    let mut first = Wire::connect(address).await;
    first.echoes(0).await;
    let mut others = Vec::new();
    for n in 1..CLIENTS {
        // The system takes them in, if the server does not.
        let socket = TcpStream::connect(address).unwrap();
        let mut wire = Wire::of(Async::new(socket).unwrap());
        wire.send(&call(n, "echo", r#"{"text":"in"}"#)).await;
        others.push(wire);
    }
    // Whoever is there is served meanwhile, and the listener is not asked without an end.
    let mut polls = async || {
        first.send(&call(0, "polls", "{}")).await;
        first.answer().await.said().1.parse::<u64>().unwrap()
    };
    Timer::after(Duration::from_millis(200)).await;
    let before = polls().await;
    Timer::after(Duration::from_millis(300)).await;
    let more = polls().await - before;
    assert!(more < 500, "{more}");
    // Nobody gives way: it has rested for too short a time.
    for (n, mut wire) in (1..).zip(others) {
        assert_eq!(wire.answer().await.said(), (n, "in".into()));
    }
}

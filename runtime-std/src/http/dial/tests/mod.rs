//! Connections to real sockets.

mod tcp;
#[cfg(feature = "tls")]
mod tls;
mod tunnel;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use super::*;
use crate::os::{Got, Poller, Want};

/// Nothing here takes so long.
const LONG: Duration = Duration::from_secs(30);

fn dialer() -> Dialer {
    Dialer {
        proxies: Proxies::None,
        public_only: false,
        #[cfg(feature = "tls")]
        trust: Trust::new(None, None),
    }
}

fn to(scheme: Scheme, host: &str, port: u16) -> Authority {
    Authority { scheme, host: host.into(), port }
}

fn dial(dialer: &Dialer, to: &Authority) -> Result<Wire, DialFault> {
    dialer.dial(to, LONG, &Attempt::default())
}

/// A server for one connection.
fn serve(work: impl FnOnce(TcpStream) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (address, std::thread::spawn(move || work(listener.accept().unwrap().0)))
}

/// Writes all of `out` and reads to the end, waiting for nothing but what the wire names. What was read.
fn exchange(wire: &mut Wire, mut out: &[u8], room: usize, enough: usize) -> Vec<u8> {
    let poller = Poller::new().unwrap();
    poller.add(1, wire.conn(), Want::READ).unwrap();
    let end = Instant::now() + LONG;
    let (mut read, mut events, mut ended) = (Vec::new(), Vec::new(), false);
    while !ended && read.len() < enough {
        wire.flush().unwrap();
        while !out.is_empty() {
            match wire.write(out) {
                Ok(len) => out = &out[len..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let mut buffer = Vec::with_capacity(room);
        let got = wire.read(&mut buffer);
        assert!(buffer.capacity() == room, "beyond the spare room");
        read.extend_from_slice(&buffer);
        match got {
            // What is there at once is not waited for.
            Got::Bytes { full, .. } if full || wire.holds_input() => continue,
            Got::Bytes { len, .. } => assert_eq!(len, buffer.len()),
            Got::Nothing => assert!(!wire.holds_input(), "it holds what it does not give"),
            Got::End { .. } => ended = true,
        }
        if !ended && read.len() < enough {
            poller.set(1, wire.conn(), wire.wants(Want { read: true, write: !out.is_empty() })).unwrap();
            // It may end for no reason.
            poller.wait(&mut events, Some(LONG)).unwrap();
            assert!(Instant::now() < end, "nothing came");
        }
    }
    poller.remove(1, wire.conn()).unwrap();
    read
}

/// Sends everything back, until the end.
fn echo(mut stream: impl Read + Write) {
    let mut room = vec![0; 10_000];
    while let Ok(len @ 1..) = stream.read(&mut room) {
        if stream.write_all(&room[..len]).is_err() {
            return;
        }
    }
}

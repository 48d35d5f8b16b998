//! From an address or a command to a client.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use sanswire::client::{Config, Peer, Start, era};
use sanswire::error::CloseReason;
use sanswire_system::clock::Clock;
use sanswire_system::os::random_by_std;
use sanswire_system::recording::RecordedLine;
use sanswire_system::stderr::escaped;
use sanswire_system::tap::TapQueue;
use sanswire_system::{Command, ConnectError, HttpTarget};

use crate::client::Client;
use crate::http::{Dialer, Net};
use crate::launch;
use crate::link::Link;
use crate::options::ConnectOptions;
use crate::os::{self, Input, Output, Source};
use crate::shared::{Parts, Shared};

/// Only what is touched of it becomes memory.
pub(crate) const WATCHER_STACK: usize = 128 * 1024;

/// What a connection is made over.
enum Way<'a> {
    Process(&'a Command),
    Tcp(&'a [std::net::SocketAddr]),
    Unix(&'a Path),
    Http(&'a HttpTarget),
}

pub(crate) fn process(command: &Command, options: &ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Process(command), options)
}

pub(crate) fn tcp(address: impl ToSocketAddrs, options: &ConnectOptions) -> Result<Client, ConnectError> {
    let addresses: Vec<_> = address
        .to_socket_addrs()
        .map_err(|source| ConnectError::Dial { address: "that host".into(), source })?
        .collect();
    open_with_restart(&Way::Tcp(&addresses), options)
}

pub(crate) fn unix(path: &Path, options: &ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Unix(path), options)
}

pub(crate) fn http(target: &HttpTarget, options: &ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Http(target), options)
}

fn open_with_restart(way: &Way<'_>, options: &ConnectOptions) -> Result<Client, ConnectError> {
    let mut start = options.config.start.clone();
    let mut attempt = 0;
    loop {
        let error = match open(way, options, start.clone()) {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        let next = match &error {
            ConnectError::Closed { reason, .. } if options.restart => {
                era::next_start(reason, &start, attempt)
            }
            _ => None,
        };
        let Some(next) = next else { return Err(error) };
        start = next;
        attempt += 1;
    }
}

fn open(way: &Way<'_>, options: &ConnectOptions, start: Start) -> Result<Client, ConnectError> {
    let mut config = options.config.clone();
    config.limits.check()?;
    config.start = start;
    let clock = Clock::start();
    let (shared, watcher) = match way {
        Way::Process(command) => launch::spawn(command, config, options, clock)?,
        Way::Tcp(addresses) => {
            let stream = dial(addresses, &config)?;
            let ends = os::tcp_ends(stream).map_err(ConnectError::System)?;
            adopt_line(ends, config, options, clock)?
        }
        Way::Unix(path) => {
            let stream = os::dial_unix(path, config.limits.connect).map_err(|source| ConnectError::Dial {
                address: path.to_string_lossy().into_owned(),
                source,
            })?;
            let ends = os::unix_ends(stream).map_err(ConnectError::System)?;
            adopt_line(ends, config, options, clock)?
        }
        Way::Http(target) => {
            let dialer = Dialer::new(target)?;
            let net = Net::new(config, target, dialer, seed(), clock.now(), options.recorder.as_ref())?;
            adopt(Link::Http(Box::new(net)), None, options, clock)?
        }
    };
    if let Some(closer) = &options.closer {
        closer.closing().attach(&shared);
    }
    shared.lead_opening();
    let state = shared.lock();
    if let (Some(peer), None) = (&state.peer, &state.closed) {
        let peer = Peer::clone(peer);
        drop(state);
        return Ok(Client::new(shared, peer, clock.elapsed(), watcher));
    }
    drop(state);
    Err(failed(&shared, watcher))
}

/// Waits for the end of a connection that never became ready.
fn failed(shared: &Shared, watcher: JoinHandle<()>) -> ConnectError {
    let mut state = shared.lock();
    while state.exit.is_none() {
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let reason = state.closed.clone().unwrap_or(CloseReason::Eof);
    let exit = state.exit.clone();
    let fault = match &mut state.machine {
        Link::Http(net) if reason != CloseReason::Local => net.take_fault(),
        _ => None,
    };
    let stderr_tail = exit.as_ref().map(|exit| exit.stderr_tail.clone()).unwrap_or_default();
    let junk = &state.machine.session().stats().first_junk;
    let first_junk = escaped(&String::from_utf8_lossy(junk));
    drop(state);
    let _ = watcher.join();
    if let Some(tap) = &shared.tap {
        tap.finish(crate::client::TAP_PATIENCE);
    }
    if let Some(fault) = fault {
        return fault.into();
    }
    let (reason, exit) = (Box::new(reason), exit.map(Box::new));
    ConnectError::Closed { reason, exit, stderr_tail, first_junk }
}

/// All addresses together within the connect limit.
fn dial(addresses: &[std::net::SocketAddr], config: &Config) -> Result<TcpStream, ConnectError> {
    let started = Instant::now();
    let mut failed = (String::from("that host"), io::Error::from(io::ErrorKind::AddrNotAvailable));
    for address in addresses {
        let left = config.limits.connect.saturating_sub(started.elapsed());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(address, left) {
            Ok(stream) => return Ok(stream),
            Err(source) => failed = (address.to_string(), source),
        }
    }
    let (address, source) = failed;
    Err(ConnectError::Dial { address, source })
}

/// A connection that was begun, and the thread that watches it.
pub(crate) type Opened = (Arc<Shared>, JoinHandle<()>);

/// A connection that is one socket.
fn adopt_line(
    (input, output): (Source, Output),
    config: Config,
    options: &ConnectOptions,
    clock: Clock,
) -> Result<Opened, ConnectError> {
    let line = RecordedLine::new(config, seed(), clock.now(), options.recorder.as_ref())?;
    adopt(Link::Line(line), Some((Input::SOCKET, input, output)), options, clock)
}

/// Starts the watcher of a connection without a process.
fn adopt(
    mut machine: Link,
    ends: Option<(Input, Source, Output)>,
    options: &ConnectOptions,
    clock: Clock,
) -> Result<Opened, ConnectError> {
    let tap = start_tap(options)?;
    if let (Link::Http(net), Some(tap)) = (&mut machine, &tap) {
        net.tell(tap, clock);
    }
    let parts = Parts {
        machine,
        ends,
        stderr: None,
        log: None,
        pid: None,
        unwrapped: None,
        clock,
        responder: options.responder.clone(),
        tap,
    };
    let shared = Shared::new(parts).map_err(ConnectError::System)?;
    let watched = Arc::clone(&shared);
    let ladder = options.stop;
    let watcher = std::thread::Builder::new()
        .name("sanswire-watcher".into())
        .stack_size(WATCHER_STACK)
        .spawn(move || watched.watch(None, &ladder))
        .map_err(ConnectError::System)?;
    let _ = shared.watcher.set(watcher.thread().clone());
    Ok((shared, watcher))
}

pub(crate) fn start_tap(options: &ConnectOptions) -> Result<Option<Arc<TapQueue>>, ConnectError> {
    options.tap.clone().map(TapQueue::start).transpose().map_err(ConnectError::System)
}

/// Randomness from the system, by way of std's hash maps.
pub(crate) fn seed() -> [u8; 32] {
    random_by_std()
}

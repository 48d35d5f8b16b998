//! From an address or a command to a client.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_io::{Async, Timer};
use futures_lite::future::or;
use sanswire::client::{Config, Peer, Start, era};
use sanswire::error::CloseReason;
use sanswire_system::clock::Clock;
use sanswire_system::closing::Closable as _;
use sanswire_system::os::random;
use sanswire_system::recording::RecordedLine;
use sanswire_system::stderr::escaped;
use sanswire_system::tap::TapQueue;
use sanswire_system::{Command, ConnectError, HttpTarget};

use crate::client::Client;
use crate::http::{Dialer, Net};
use crate::launch;
use crate::line::Line;
use crate::link::Link;
use crate::options::ConnectOptions;
use crate::shared::{Parts, Shared};
use crate::threads;
use crate::watch::Watch;
use crate::wire::{Stream, Wire};

/// What a connection is made over.
enum Way {
    Process(Command),
    Tcp(Vec<SocketAddr>),
    Unix(PathBuf),
    Http(HttpTarget),
}

pub(crate) async fn process(command: Command, options: ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Process(command), &options).await
}

pub(crate) async fn tcp(
    address: impl ToSocketAddrs + Send + 'static,
    options: ConnectOptions,
) -> Result<Client, ConnectError> {
    let addresses = threads::run("sanswire-names", move || address.to_socket_addrs().map(Vec::from_iter))
        .map_err(ConnectError::System)?;
    let unknown = |source| ConnectError::Dial { address: "that host".into(), source };
    let addresses = within(options.config.limits.connect, async {
        addresses.await.unwrap_or_else(|| Err(io::ErrorKind::Other.into()))
    });
    open_with_restart(&Way::Tcp(addresses.await.map_err(unknown)?), &options).await
}

pub(crate) async fn unix(path: PathBuf, options: ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Unix(path), &options).await
}

pub(crate) async fn http(target: HttpTarget, options: ConnectOptions) -> Result<Client, ConnectError> {
    open_with_restart(&Way::Http(target), &options).await
}

/// A stream is there once: it cannot be tried anew.
pub(crate) async fn stream(stream: Box<dyn Stream>, options: ConnectOptions) -> Result<Client, ConnectError> {
    let config = options.config.clone();
    config.limits.check()?;
    let clock = Clock::start();
    let shared = adopt(Wire::Foreign(stream), config, &options, clock)?;
    ready(shared, &options, clock).await
}

async fn open_with_restart(way: &Way, options: &ConnectOptions) -> Result<Client, ConnectError> {
    let mut start = options.config.start.clone();
    let mut attempt = 0;
    loop {
        let error = match open(way, options, start.clone()).await {
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

async fn open(way: &Way, options: &ConnectOptions, start: Start) -> Result<Client, ConnectError> {
    let mut config = options.config.clone();
    config.limits.check()?;
    config.start = start;
    let clock = Clock::start();
    let shared = match way {
        Way::Process(command) => launch::spawn(command, config, options, clock).await?,
        Way::Tcp(addresses) => {
            let stream = dial(addresses, config.limits.connect).await?;
            adopt(Wire::tcp(stream).map_err(ConnectError::System)?, config, options, clock)?
        }
        Way::Unix(path) => {
            let stream = within(config.limits.connect, dial_unix(path)).await.map_err(|source| {
                ConnectError::Dial { address: path.to_string_lossy().into_owned(), source }
            })?;
            adopt(Wire::Unix(stream), config, options, clock)?
        }
        Way::Http(target) => {
            let net = Net::new(
                config,
                target,
                Dialer::new(target)?,
                seed()?,
                clock.now(),
                options.recorder.as_ref(),
            )?;
            own_link(Link::Http(Box::new(net)), options, clock)?
        }
    };
    ready(shared, options, clock).await
}

/// A connection whose last user it is to be: when it goes, the connection ends, and nothing is waited for.
pub(crate) struct Owned(Arc<Shared>);

impl Owned {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.cut_off();
    }
}

/// Waits until the session is ready.
async fn ready(owned: Owned, options: &ConnectOptions, clock: Clock) -> Result<Client, ConnectError> {
    let shared = owned.shared();
    if let Some(closer) = &options.closer {
        closer.closing().attach(shared);
    }
    let peer = shared
        .until(|state| match (&state.closed, &state.peer) {
            (Some(_), _) => Some(None),
            (None, Some(peer)) => Some(Some(Peer::clone(peer))),
            (None, None) => None,
        })
        .await;
    match peer {
        Some(peer) => Ok(Client::new(owned, peer, clock.elapsed())),
        None => Err(failed(shared).await),
    }
}

/// Waits for the end of a connection that never became ready.
async fn failed(shared: &Shared) -> ConnectError {
    let exit = shared.ended().await;
    let mut state = shared.lock();
    let reason = state.closed.clone().unwrap_or(CloseReason::Eof);
    let fault = match &mut state.link {
        Link::Http(net) if reason != CloseReason::Local => net.take_fault(),
        _ => None,
    };
    if let Some(fault) = fault {
        return fault.into();
    }
    let reason = Box::new(reason);
    let first_junk = escaped(&String::from_utf8_lossy(&state.link.session().stats().first_junk));
    let stderr_tail = exit.stderr_tail.clone();
    ConnectError::Closed { reason, exit: Some(Box::new(exit)), stderr_tail, first_junk }
}

/// All addresses together within the connect limit.
async fn dial(addresses: &[SocketAddr], patience: Duration) -> Result<Async<TcpStream>, ConnectError> {
    let started = Instant::now();
    let mut failed = (String::from("that host"), io::Error::from(io::ErrorKind::AddrNotAvailable));
    for address in addresses {
        let left = patience.saturating_sub(started.elapsed());
        if left.is_zero() {
            break;
        }
        match within(left, Async::<TcpStream>::connect(*address)).await {
            Ok(stream) => return Ok(stream),
            Err(source) => failed = (address.to_string(), source),
        }
    }
    let (address, source) = failed;
    Err(ConnectError::Dial { address, source })
}

/// A server that accepts nobody has a full queue after a while; there may be room in it later.
async fn dial_unix(path: &PathBuf) -> io::Result<Async<UnixStream>> {
    /// How long to wait before asking for room in that queue again.
    const LOOK: Duration = Duration::from_millis(5);
    loop {
        match Async::<UnixStream>::connect(path).await {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected) => {
                Timer::after(LOOK).await;
            }
            connected => return connected,
        }
    }
}

async fn within<T>(patience: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = async {
        Timer::after(patience).await;
        Err(io::ErrorKind::TimedOut.into())
    };
    or(work, late).await
}

/// A connection that is one stream.
fn adopt(wire: Wire, config: Config, options: &ConnectOptions, clock: Clock) -> Result<Owned, ConnectError> {
    let machine = RecordedLine::new(config, seed()?, clock.now(), options.recorder.as_ref())?;
    own_link(Link::Line(Line::new(machine, wire)), options, clock)
}

/// A connection without a process.
fn own_link(mut link: Link, options: &ConnectOptions, clock: Clock) -> Result<Owned, ConnectError> {
    let tap = start_tap(options)?;
    if let (Link::Http(net), Some(tap)) = (&mut link, &tap) {
        net.tell(tap, clock);
    }
    let parts = Parts {
        link,
        child: None,
        stderr: None,
        log: None,
        unwrapped: None,
        clock,
        responder: options.responder.clone(),
        tap,
        ladder: options.stop,
        watch: watch(options)?,
    };
    Ok(own(parts))
}

pub(crate) fn own(parts: Parts) -> Owned {
    Owned(Shared::new(parts))
}

pub(crate) fn watch(options: &ConnectOptions) -> Result<Watch, ConnectError> {
    match &options.watch {
        Some(watch) => Ok(watch.clone()),
        None => Watch::of_this_process().map_err(ConnectError::System),
    }
}

pub(crate) fn start_tap(options: &ConnectOptions) -> Result<Option<Arc<TapQueue>>, ConnectError> {
    options.tap.clone().map(TapQueue::start).transpose().map_err(ConnectError::System)
}

pub(crate) fn seed() -> Result<[u8; 32], ConnectError> {
    random().map_err(ConnectError::System)
}

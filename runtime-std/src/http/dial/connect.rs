//! From a host to a socket: its addresses, and the first of them that answers.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use sanswire_system::http::{HEAD_START, known_addresses, look_up, to_call};
use sanswire_system::{DialFault, DialStep};

use crate::http::dial::bound::Bound;

/// The system's resolver needs some.
const STACK: usize = 512 * 1024;

/// A connection to the first address of `host` that answers, and how long it took to learn its addresses.
///
/// They are called one after the other, both families in turn, the next one as soon as the last one has failed or has
/// not answered for a quarter of a second. With `public_only`, exactly those that are called were looked at before.
pub(super) fn connect(
    host: &str,
    port: u16,
    public_only: bool,
    bound: &Bound<'_>,
) -> Result<(TcpStream, Duration), DialFault> {
    let started = Instant::now();
    let found = addresses(host, port, bound)?;
    let named = started.elapsed();
    let call: Caller = Arc::new(|address, patience| TcpStream::connect_timeout(&address, patience));
    bound.begin(DialStep::Connect);
    first(to_call(&found, public_only)?, bound, &call).map(|stream| (stream, named))
}

fn addresses(host: &str, port: u16, bound: &Bound<'_>) -> Result<Vec<SocketAddr>, DialFault> {
    if let Some(known) = known_addresses(host, port) {
        return Ok(known);
    }
    bound.begin(DialStep::Name);
    // The system looks names up for as long as it likes.
    let (tell, told) = mpsc::channel();
    let name: Box<str> = host.into();
    start("sanswire-resolver", move || {
        let _ = tell.send(look_up(&name, port));
    })
    .map_err(DialFault::System)?;
    let fault = |source| DialFault::Name { host: host.into(), source };
    while let Some(patience) = bound.patience() {
        match told.recv_timeout(patience) {
            Ok(found) => return found.map_err(fault),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(fault(io::ErrorKind::Other.into())),
        }
    }
    Err(bound.over(DialStep::Name))
}

type Answer = (SocketAddr, io::Result<TcpStream>);

/// Calls one address, for so long at most.
pub(super) type Caller = Arc<dyn Fn(SocketAddr, Duration) -> io::Result<TcpStream> + Send + Sync>;

/// The first that answers. Those that answer later find nobody, and are closed.
pub(super) fn first(
    addresses: Vec<SocketAddr>,
    bound: &Bound<'_>,
    caller: &Caller,
) -> Result<TcpStream, DialFault> {
    let (tell, told) = mpsc::channel::<Answer>();
    let mut next = addresses.into_iter();
    let mut called = 0;
    let mut last = None;
    let mut call_next = Instant::now();
    while let Some(patience) = bound.patience() {
        let now = Instant::now();
        if called == 0 || now >= call_next {
            match next.next() {
                Some(address) => {
                    call(caller, address, bound.left(), &tell);
                    called += 1;
                    call_next = now + HEAD_START;
                }
                None if called == 0 => break,
                None => {}
            }
        }
        let patience =
            if next.len() > 0 { patience.min(call_next.saturating_duration_since(now)) } else { patience };
        match told.recv_timeout(patience) {
            Ok((_, Ok(stream))) => return Ok(stream),
            Ok((address, Err(source))) => {
                called -= 1;
                call_next = now;
                last = Some((address, source));
            }
            Err(_) => {}
        }
    }
    match last {
        // A call that ran out of time ran out of all there was.
        Some((address, source)) if called == 0 && source.kind() != io::ErrorKind::TimedOut => {
            Err(DialFault::Connect { address: address.to_string(), source })
        }
        _ => Err(bound.over(DialStep::Connect)),
    }
}

/// Calls an address on a thread of its own, since a connect cannot be ended early.
fn call(caller: &Caller, address: SocketAddr, patience: Duration, tell: &Sender<Answer>) {
    let (answer, caller) = (tell.clone(), Arc::clone(caller));
    let work = move || {
        let _ = answer.send((address, caller(address, patience)));
    };
    if let Err(error) = start("sanswire-dial", work) {
        let _ = tell.send((address, Err(error)));
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(work).map(drop)
}

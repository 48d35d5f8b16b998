//! From a host to a socket: its addresses, and the first of them that answers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use sanswire_system::http::{is_loopback, is_public};
use sanswire_system::{DialFault, DialStep};

use crate::http::dial::bound::Bound;

/// How long an address is called alone before the next one is called as well.
///
/// Source: RFC 8305, section 5.
const HEAD_START: Duration = Duration::from_millis(250);
/// So many addresses of a host are called at most.
const MAX_ADDRESSES: usize = 16;
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
    let mut addresses = found.iter().copied();
    if let Some(private) = addresses.find(|address| public_only && !is_public(address.ip())) {
        return Err(DialFault::NotPublic { address: private.ip() });
    }
    let call: Caller = Arc::new(|address, patience| TcpStream::connect_timeout(&address, patience));
    first(in_turn(&found), bound, &call).map(|stream| (stream, named))
}

/// All addresses of a host. The names of this computer itself are not looked up: nobody else's word counts for them
/// (RFC 6761, section 6.3).
fn addresses(host: &str, port: u16, bound: &Bound<'_>) -> Result<Vec<SocketAddr>, DialFault> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    if is_loopback(host) {
        let [v6, v4] = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
        return Ok(vec![(v6, port).into(), (v4, port).into()]);
    }
    // The system looks names up for as long as it likes.
    let (tell, told) = mpsc::channel();
    let name: Box<str> = host.into();
    start("sanswire-resolver", move || {
        let _ = tell.send((&*name, port).to_socket_addrs().map(Vec::from_iter));
    })
    .map_err(DialFault::System)?;
    let fault = |source| DialFault::Name { host: host.into(), source };
    while let Some(patience) = bound.patience() {
        match told.recv_timeout(patience) {
            Ok(Ok(found)) if found.is_empty() => return Err(fault(io::ErrorKind::NotFound.into())),
            Ok(found) => return found.map_err(fault),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(fault(io::ErrorKind::Other.into())),
        }
    }
    Err(bound.over(DialStep::Name))
}

/// Both families in turn, each in the system's order, that of its first address first.
pub(super) fn in_turn(found: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        found.iter().copied().partition(|address| address.is_ipv6() == first_is_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut all = Vec::with_capacity(found.len().min(MAX_ADDRESSES));
    while all.len() < MAX_ADDRESSES && first.len() + second.len() > 0 {
        all.extend(first.next());
        all.extend(second.next());
    }
    all.truncate(MAX_ADDRESSES);
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_in_the_order_of_the_system() {
        let turn = |found: &[&str]| {
            let found: Vec<SocketAddr> = found.iter().map(|address| address.parse().unwrap()).collect();
            in_turn(&found).iter().map(SocketAddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            turn(&["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "1.1.1.1:1", "1.1.1.2:1"]),
            ["[2001:db8::1]:1", "1.1.1.1:1", "[2001:db8::2]:1", "1.1.1.2:1", "[2001:db8::3]:1"]
        );
        assert_eq!(turn(&["1.1.1.1:1", "[2001:db8::1]:1"]), ["1.1.1.1:1", "[2001:db8::1]:1"]);
        assert_eq!(turn(&[]), [""; 0]);
        let many: Vec<_> = (0..40).map(|n| format!("1.1.1.{n}:1")).collect();
        assert_eq!(turn(&many.iter().map(String::as_str).collect::<Vec<_>>()).len(), MAX_ADDRESSES);
    }
}

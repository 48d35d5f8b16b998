//! From a host to a socket: its addresses, and the first of them that answers.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use async_io::{Async, Timer};
use futures_lite::future::or;
use sanswire_system::http::{HEAD_START, known_addresses, look_up, to_call};
use sanswire_system::os::after;
use sanswire_system::{DialFault, DialStep};

use crate::threads;

/// How long making a connection may take: all its steps together have this time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    until: Instant,
    limit: Duration,
}

impl Bound {
    pub(super) fn new(limit: Duration) -> Self {
        Self { until: after(limit), limit }
    }

    /// All the time that is left.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// All the time that is gone.
    pub(super) fn spent(&self) -> Duration {
        self.limit.saturating_sub(self.left())
    }

    fn over(&self, during: DialStep) -> DialFault {
        DialFault::TimedOut { during, limit: self.limit }
    }

    /// One step, which ends when the time of all of them does.
    pub(super) async fn within<T>(
        &self,
        during: DialStep,
        work: impl Future<Output = Result<T, DialFault>>,
    ) -> Result<T, DialFault> {
        let late = async {
            Timer::at(self.until).await;
            Err(self.over(during))
        };
        or(work, late).await
    }
}

/// A connection to the first address of `host` that answers, and how long it took to learn its addresses.
///
/// They are called one after the other, both families in turn, the next one as soon as the last one has failed or has
/// not answered for a quarter of a second.
pub(super) async fn connect(
    host: &str,
    port: u16,
    public_only: bool,
    bound: &Bound,
) -> Result<(Async<TcpStream>, Duration), DialFault> {
    let started = Instant::now();
    let found = match known_addresses(host, port) {
        Some(known) => known,
        None => bound.within(DialStep::Name, named(host, port)).await?,
    };
    let named = started.elapsed();
    let addresses = to_call(&found, public_only)?;
    let socket = bound.within(DialStep::Connect, first(addresses, bound)).await?;
    Ok((socket, named))
}

/// The system looks names up for as long as it likes, so it does on a thread of its own.
async fn named(host: &str, port: u16) -> Result<Vec<SocketAddr>, DialFault> {
    let name: Box<str> = host.into();
    let found = threads::run("sanswire-names", move || look_up(&name, port)).map_err(DialFault::System)?;
    let found = found.await.unwrap_or_else(|| Err(io::ErrorKind::Other.into()));
    found.map_err(|source| DialFault::Name { host: host.into(), source })
}

type Calling = Pin<Box<dyn Future<Output = io::Result<Async<TcpStream>>> + Send>>;

/// The first that answers. Those that were called besides are closed.
async fn first(addresses: Vec<SocketAddr>, bound: &Bound) -> Result<Async<TcpStream>, DialFault> {
    let mut next = addresses.into_iter();
    let mut called: Vec<(SocketAddr, Calling)> = Vec::new();
    let mut last = None;
    let mut head_start = Timer::never();
    let mut due = true;
    std::future::poll_fn(|cx| {
        loop {
            if std::mem::take(&mut due)
                && let Some(address) = next.next()
            {
                called.push((address, Box::pin(Async::<TcpStream>::connect(address))));
                head_start.set_after(HEAD_START);
            }
            let mut at = 0;
            while let Some((address, calling)) = called.get_mut(at) {
                match calling.as_mut().poll(cx) {
                    Poll::Ready(Ok(socket)) => return Poll::Ready(Ok(socket)),
                    Poll::Ready(Err(source)) => {
                        last = Some((*address, source));
                        due = next.len() > 0;
                        drop(called.remove(at));
                    }
                    Poll::Pending => at += 1,
                }
            }
            if called.is_empty() && !due {
                return Poll::Ready(Err(match last.take() {
                    // A call that ran out of time ran out of all there was.
                    Some((address, source)) if source.kind() != io::ErrorKind::TimedOut => {
                        DialFault::Connect { address: address.to_string(), source }
                    }
                    _ => bound.over(DialStep::Connect),
                }));
            }
            due |= next.len() > 0 && Pin::new(&mut head_start).poll(cx).is_ready();
            if !due {
                return Poll::Pending;
            }
        }
    })
    .await
}

//! From a host to a socket: its addresses, and the first of them that answers.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use async_io::{Async, Timer};
use futures_lite::future::or;
use sanswire_system::http::{Attempt, HEAD_START, known_addresses, look_up, to_call};
use sanswire_system::os::after;
use sanswire_system::{DialFault, DialStep};

use crate::threads;

/// How long making a connection may take: all its steps together have this time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    until: Instant,
    limit: Duration,
    attempt: &'a Attempt,
}

impl<'a> Bound<'a> {
    pub(super) fn new(limit: Duration, attempt: &'a Attempt) -> Self {
        Self { until: after(limit), limit, attempt }
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
        self.attempt.begin(during);
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
    bound: &Bound<'_>,
) -> Result<(Async<TcpStream>, Duration), DialFault> {
    let started = Instant::now();
    let found = match known_addresses(host, port) {
        Some(known) => known,
        None => bound.within(DialStep::Name, named(host, port)).await?,
    };
    let named = started.elapsed();
    let addresses = to_call(&found, public_only)?;
    let call = |address| -> Calling<Async<TcpStream>> { Box::pin(Async::<TcpStream>::connect(address)) };
    let socket = bound.within(DialStep::Connect, first(addresses, bound, call)).await?;
    Ok((socket, named))
}

/// The system looks names up for as long as it likes, so it does on a thread of its own.
async fn named(host: &str, port: u16) -> Result<Vec<SocketAddr>, DialFault> {
    let name: Box<str> = host.into();
    let found = threads::run("sanswire-names", move || look_up(&name, port)).map_err(DialFault::System)?;
    let found = found.await.unwrap_or_else(|| Err(io::ErrorKind::Other.into()));
    found.map_err(|source| DialFault::Name { host: host.into(), source })
}

type Calling<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// The first that answers. Those that were called besides are closed.
async fn first<T>(
    addresses: Vec<SocketAddr>,
    bound: &Bound<'_>,
    mut call: impl FnMut(SocketAddr) -> Calling<T>,
) -> Result<T, DialFault> {
    let mut next = addresses.into_iter();
    let mut called: Vec<(SocketAddr, Calling<T>)> = Vec::new();
    let mut last = None;
    let mut head_start = Timer::never();
    let mut due = true;
    std::future::poll_fn(|cx| {
        loop {
            if std::mem::take(&mut due)
                && let Some(address) = next.next()
            {
                called.push((address, call(address)));
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

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::sync::Mutex;

    use async_io::block_on;

    use super::*;

    /// Nothing here takes so long.
    const LONG: Duration = Duration::from_secs(30);

    /// What comes of calling an address.
    #[derive(Clone, Copy)]
    enum Says {
        Yes,
        No,
        Nothing,
        TimedOut,
    }

    /// Says when it is not called any more.
    struct Call(SocketAddr, Arc<Mutex<Vec<SocketAddr>>>);

    impl Drop for Call {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    /// Calls addresses that say this, one each: who answered, who was called, and who is not any more.
    fn call_all(
        says: &[Says],
        limit: Duration,
    ) -> (Result<SocketAddr, DialFault>, Vec<SocketAddr>, Vec<SocketAddr>) {
        let addresses: Vec<SocketAddr> = (1..).zip(says).map(|(n, _)| ([192, 0, 2, n], 1).into()).collect();
        let (mut called, dropped) = (Vec::new(), Arc::new(Mutex::new(Vec::new())));
        let attempt = Attempt::default();
        let bound = Bound::new(limit, &attempt);
        let answers: Vec<_> = addresses.iter().copied().zip(says.iter().copied()).collect();
        let call = |address| -> Calling<SocketAddr> {
            called.push(address);
            let call = Call(address, Arc::clone(&dropped));
            let (_, says) = *answers.iter().find(|(known, _)| *known == address).unwrap();
            Box::pin(async move {
                let call = call;
                match says {
                    Says::Yes => ready(Ok(call.0)).await,
                    Says::No => Err(io::ErrorKind::ConnectionRefused.into()),
                    Says::TimedOut => Err(io::ErrorKind::TimedOut.into()),
                    Says::Nothing => pending().await,
                }
            })
        };
        let answered = block_on(bound.within(DialStep::Connect, first(addresses, &bound, call)));
        let dropped = dropped.lock().unwrap().clone();
        (answered, called, dropped)
    }

    fn numbers(addresses: &[SocketAddr]) -> Vec<String> {
        addresses.iter().map(|address| address.ip().to_string().replace("192.0.2.", "")).collect()
    }

    #[test]
    fn the_first_that_answers_is_taken_and_the_others_are_let_go() {
        // The next one is called when one has failed, or has said nothing for a while.
        let (answered, called, dropped) = call_all(&[Says::No, Says::Nothing, Says::Yes, Says::Yes], LONG);
        assert_eq!(answered.unwrap().ip().to_string(), "192.0.2.3");
        assert_eq!(numbers(&called), ["1", "2", "3"]);
        let mut dropped = numbers(&dropped);
        dropped.sort();
        assert_eq!(dropped, ["1", "2", "3"]);
    }

    #[test]
    fn who_answers_at_once_is_called_alone() {
        let (answered, called, _) = call_all(&[Says::Yes, Says::Yes], LONG);
        assert_eq!(answered.unwrap().ip().to_string(), "192.0.2.1");
        assert_eq!(numbers(&called), ["1"]);
    }

    #[test]
    fn the_last_that_failed_says_why_there_is_none() {
        let (answered, called, _) = call_all(&[Says::No, Says::No], LONG);
        let fault = answered.unwrap_err();
        assert!(
            matches!(&fault, DialFault::Connect { address, .. } if address == "192.0.2.2:1"),
            "{fault:?}"
        );
        assert_eq!(numbers(&called), ["1", "2"]);
    }

    #[test]
    fn who_says_nothing_is_not_waited_for_beyond_the_bound() {
        let bound = Duration::from_millis(50);
        for says in [&[Says::Nothing] as &[Says], &[Says::No, Says::Nothing], &[Says::TimedOut], &[]] {
            let (answered, ..) = call_all(says, bound);
            let fault = answered.unwrap_err();
            let late =
                matches!(fault, DialFault::TimedOut { during: DialStep::Connect, limit } if limit == bound);
            assert!(late, "{fault:?}");
        }
    }
}

//! A client: a task owns the connection, and its clones ask that task.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sanswire::Machine;
use sanswire::client::{Config, Event, LineConnection, Link, Outcome, RequestHandle, RequestOptions};
use sanswire::error::{ApiError, CloseReason, ConfigError};
use sanswire::jsonrpc::RawJson;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::wire::{Clock, Wire};

/// A connection to one server. When the last clone goes, it ends.
#[derive(Clone)]
pub struct Client {
    /// Without a bound: who asks waits for the answer, so there are no more asks than callers. And whoever drops a call
    /// cannot wait for room.
    asks: mpsc::UnboundedSender<Ask>,
    next: Arc<AtomicU64>,
}

enum Ask {
    Call { key: u64, tool: String, arguments: Option<RawJson>, done: Done },
    GiveUp { key: u64 },
}

type Done = oneshot::Sender<Result<Outcome, ApiError>>;

impl Client {
    /// Spawns the task that drives the connection. It ends with the reason why the connection did.
    pub fn spawn<S>(
        stream: S,
        config: Config,
        seed: [u8; 32],
    ) -> Result<(Self, JoinHandle<CloseReason>), ConfigError>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let clock = Clock::start();
        let machine = LineConnection::new(config, seed, clock.now())?;
        let (asks, asked) = mpsc::unbounded_channel();
        let connection =
            Connection { machine, asked, calls: BTreeMap::new(), keys: BTreeMap::new(), ready: false, clock };
        let task = tokio::spawn(connection.run(Wire::new(stream, clock)));
        Ok((Self { asks, next: Arc::default() }, task))
    }

    /// Calls a tool as soon as the session is ready. Dropping the future cancels the call, on the wire too.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub async fn call_tool(&self, tool: &str, arguments: Option<&RawJson>) -> Result<Outcome, ApiError> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let (done, answer) = oneshot::channel();
        let ask = Ask::Call { key, tool: tool.into(), arguments: arguments.cloned(), done };
        self.asks.send(ask).map_err(|_| ApiError::Closed)?;
        let mut given_up = GivenUp { asks: &self.asks, key: Some(key) };
        let answer = answer.await;
        given_up.key = None;
        answer.map_err(|_| ApiError::Closed)?
    }
}

/// Cancels the call if it is dropped before that is over.
struct GivenUp<'a> {
    asks: &'a mpsc::UnboundedSender<Ask>,
    key: Option<u64>,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // If the connection has ended, the call has.
            let _ = self.asks.send(Ask::GiveUp { key });
        }
    }
}

struct Connection {
    machine: LineConnection,
    asked: mpsc::UnboundedReceiver<Ask>,
    calls: BTreeMap<RequestHandle, (u64, Done)>,
    keys: BTreeMap<u64, RequestHandle>,
    ready: bool,
    clock: Clock,
}

impl Connection {
    async fn run<S: AsyncRead + AsyncWrite>(mut self, mut wire: Wire<S>) -> CloseReason {
        loop {
            while let Some(event) = self.machine.poll_event() {
                if let Event::Closed(reason) = event {
                    wire.shutdown().await;
                    return reason;
                }
                self.on_event(event);
            }
            let (ready, asked) = (self.ready, &mut self.asked);
            // Calls that are made before the session is ready wait in the channel.
            let ask = async move { if ready { asked.recv().await } else { std::future::pending().await } };
            match wire.turn(&mut self.machine, ask).await {
                Some(Some(ask)) => self.on_ask(ask),
                Some(None) => {
                    // The last clone is gone. What waits may leave.
                    self.machine.close(self.clock.now());
                    self.ready = false;
                }
                None => {}
            }
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Ready(_) => self.ready = true,
            Event::Finished { request, outcome } => {
                if let Some((key, done)) = self.calls.remove(&request) {
                    self.keys.remove(&key);
                    // Nobody waits for it any more if it was given up.
                    let _ = done.send(Ok(outcome));
                }
            }
            // Progress, news, and what is worth a line in a log: see `core/examples/poll_loop.rs`.
            _ => {}
        }
    }

    fn on_ask(&mut self, ask: Ask) {
        let now = self.clock.now();
        match ask {
            Ask::Call { key, tool, arguments, done } => {
                match self.machine.call_tool(&tool, arguments.as_ref(), &RequestOptions::default(), now) {
                    Ok(request) => {
                        self.calls.insert(request, (key, done));
                        self.keys.insert(key, request);
                    }
                    Err(error) => drop(done.send(Err(error))),
                }
            }
            Ask::GiveUp { key } => {
                if let Some(request) = self.keys.get(&key) {
                    // Refused if it is over.
                    let _ = self.machine.cancel(*request, None, now);
                }
            }
        }
    }
}

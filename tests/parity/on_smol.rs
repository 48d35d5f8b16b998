//! Async clients, on an executor of one thread and on one of many.

use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_executor::{Executor, LocalExecutor};
use async_io::{Timer, block_on};
use sanswire::client::{Outcome, Peer, RequestHandle, RequestOptions};
use sanswire::error::{ApiError, CloseReason};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_smol::{Closer, ConnectOptions, Pending, Watch};

use crate::axes::Runtime;
use crate::client::{Client, Fault, Setup};
use crate::live::Place;
use crate::on_std::fault;

/// What futures are polled by.
#[derive(Clone)]
pub(crate) enum On {
    /// This thread, while it waits.
    One(Rc<LocalExecutor<'static>>),
    /// Two threads of an executor's, which end with it.
    Many(Arc<Threads>),
}

pub(crate) struct Threads {
    executor: Arc<Executor<'static>>,
    over: Arc<AtomicBool>,
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl On {
    pub(crate) fn new(runtime: Runtime) -> (Self, Option<Watch>) {
        if runtime == Runtime::SmolThreads {
            let (executor, over) = (Arc::new(Executor::new()), Arc::new(AtomicBool::new(false)));
            for _ in 0..2 {
                let (executor, over) = (Arc::clone(&executor), Arc::clone(&over));
                std::thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        block_on(executor.run(Timer::after(Duration::from_millis(50))));
                    }
                });
            }
            return (Self::Many(Arc::new(Threads { executor, over })), None);
        }
        let (executor, watch) = (LocalExecutor::new(), Watch::new());
        executor.spawn(watch.run()).detach();
        (Self::One(Rc::new(executor)), Some(watch))
    }

    pub(crate) fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        match self {
            Self::One(executor) => block_on(executor.run(future)),
            Self::Many(threads) => block_on(threads.executor.spawn(future)),
        }
    }
}

/// The outcome of `future`, unless so much time passes first.
async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let over = async {
        Timer::after(time).await;
        None
    };
    futures_lite::future::or(async { Some(future.await) }, over).await
}

pub(crate) fn connect(runtime: Runtime, place: &Place, setup: &Setup) -> Result<Box<dyn Client>, Fault> {
    let (on, watch) = On::new(runtime);
    let mut options = ConnectOptions::new("parity", "0");
    options.config = setup.config.clone();
    options.stop = crate::scenarios::patience();
    options.watch = watch;
    options.responder = Some(Arc::new(|_: InputRequest| async {
        InputAnswer::accept(Some(&RawJson::parse_str(crate::scenarios::SAID).unwrap()))
    }));
    // So that each connection is one start.
    options.restart = false;
    let closer = Closer::new();
    options.closer = Some(closer.clone());
    let close_after = setup.close_after;
    let closing = async move {
        if let Some(time) = close_after {
            Timer::after(time).await;
            closer.close().await;
        }
    };
    let made = match place {
        Place::Program(command) => {
            let command = (**command).clone();
            on.run(async move {
                futures_lite::future::zip(sanswire_smol::Client::connect(&command, options), closing).await.0
            })
        }
        Place::Tcp(address) => {
            let address: std::net::SocketAddr = address.parse().unwrap();
            on.run(async move {
                futures_lite::future::zip(sanswire_smol::Client::connect_tcp(address, options), closing)
                    .await
                    .0
            })
        }
        Place::Http(target) => {
            let target = (**target).clone();
            on.run(async move {
                futures_lite::future::zip(sanswire_smol::Client::connect_http(&target, options), closing)
                    .await
                    .0
            })
        }
    };
    match made {
        Ok(client) => Ok(Box::new(SmolClient { on, client, open: BTreeMap::new() })),
        Err(error) => Err(fault(error)),
    }
}

struct SmolClient {
    on: On,
    client: sanswire_smol::Client,
    open: BTreeMap<RequestHandle, Pending>,
}

impl Client for SmolClient {
    fn peer(&self) -> Peer {
        self.client.peer().clone()
    }

    fn start(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let pending = self.client.start(method, Some(params), options)?;
        let request = pending.handle();
        self.open.insert(request, pending);
        Ok(request)
    }

    fn start_together(&mut self, method: Method, all: Vec<RawJson>) -> Vec<RequestHandle> {
        let client = self.client.clone();
        let _cork = client.cork();
        let mut start = |params| self.start(method.clone(), params, &RequestOptions::default()).unwrap();
        all.into_iter().map(&mut start).collect()
    }

    fn wait(&mut self, request: RequestHandle) -> Outcome {
        let pending = self.open.remove(&request).unwrap();
        let outcome = self.on.run(within(crate::scenarios::LONG, pending));
        outcome.unwrap_or_else(|| panic!("{request:?} never ends"))
    }

    fn complete(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<(Outcome, Vec<f64>), ApiError> {
        let (client, options) = (self.client.clone(), options.clone());
        self.on.run(async move {
            let mut told = Vec::new();
            let tell = |progress: &sanswire::client::Progress| told.push(progress.progress);
            let outcome = client.complete(method, Some(params), &options, tell).await?;
            Ok((outcome, told))
        })
    }

    fn cancel(&mut self, request: RequestHandle) {
        self.open.remove(&request).unwrap().cancel(None);
    }

    fn give_up(&mut self, request: RequestHandle) {
        drop(self.open.remove(&request).unwrap());
    }

    fn notification(&mut self, time: Duration) -> Option<(Method, Option<RequestHandle>)> {
        let client = self.client.clone();
        let told = self.on.run(async move { within(time, client.next_notification()).await.flatten() })?;
        Some((told.method, told.subscription))
    }

    fn closed(&self) -> Option<CloseReason> {
        self.client.is_closed()
    }

    fn violations(&self) -> usize {
        self.client.violations().len()
    }

    fn close(&mut self) {
        let client = self.client.clone();
        self.on.run(async move {
            client.close().await;
        });
    }

    fn pass(&mut self, time: Duration) {
        self.on.run(async move {
            Timer::after(time).await;
        });
    }
}

//! A server: a task owns the connection, and each call runs as a task of its own.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sanswire::Machine;
use sanswire::error::{ApiError, ConfigError};
use sanswire::mcp::types::request::CallTool;
use sanswire::server::{Catalog, CloseReason, Config, Event, LineConnection, Reply, RequestHandle};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinSet};

use crate::wire::{Clock, Wire};

/// Does the work of a call.
pub type Handler = Arc<dyn Fn(CallTool) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync>;

/// Serves one connection until it ends, and gives the reason. Calls that the client cancels are aborted.
///
/// # Errors
/// A setting is out of bounds.
pub async fn serve<S: AsyncRead + AsyncWrite>(
    stream: S,
    config: Config,
    catalog: Arc<Catalog>,
    handler: Handler,
    seed: [u8; 32],
) -> Result<CloseReason, ConfigError> {
    let clock = Clock::start();
    let mut machine = LineConnection::new(config, seed, clock.now())?;
    machine.set_catalog(catalog);
    let mut wire = Wire::new(stream, clock);
    // All that is in it ends with this function.
    let mut calls = JoinSet::new();
    let mut handles: BTreeMap<RequestHandle, AbortHandle> = BTreeMap::new();
    let mut waiting: Option<(RequestHandle, Reply)> = None;
    loop {
        if let Some((request, reply)) = &waiting {
            // What is refused for another reason than this is refused for good: the call was cancelled, or the client has
            // gone.
            if !matches!(machine.respond(*request, reply, clock.now()), Err(ApiError::OutboundFull)) {
                waiting = None;
            }
        }
        while let Some(event) = machine.poll_event() {
            match event {
                Event::Request { request, params, .. } => {
                    let work = CallTool::read(&params).map(&*handler);
                    let answer = async move {
                        match work {
                            Ok(work) => (request, work.await),
                            Err(flaw) => (request, Reply::tool_error(&flaw.to_string())),
                        }
                    };
                    handles.insert(request, calls.spawn(answer));
                }
                Event::Cancelled { request, .. } => {
                    if let Some(call) = handles.remove(&request) {
                        call.abort();
                    }
                }
                Event::Closed(reason) => {
                    wire.shutdown().await;
                    return Ok(reason);
                }
                // News, and what is worth a line in a log.
                _ => {}
            }
        }
        let (next, calls) = (waiting.is_none() && !calls.is_empty(), &mut calls);
        let done = async move { if next { calls.join_next().await } else { std::future::pending().await } };
        match wire.turn(&mut machine, done).await.flatten() {
            Some(Ok((request, reply))) => {
                handles.remove(&request);
                waiting = Some((request, reply));
            }
            // One that was aborted is not there any more.
            Some(Err(panicked)) => {
                let request =
                    handles.iter().find(|(_, call)| call.id() == panicked.id()).map(|(request, _)| *request);
                if let Some(request) = request {
                    handles.remove(&request);
                    waiting = Some((request, Reply::tool_error("the tool panicked")));
                }
            }
            None => {}
        }
    }
}

//! A pair whose `a` is a client: what a test asks of it, with the checks of its contract.

use sanswire::client::{Event, LineConnection, Link, Outcome, Peer, RequestHandle, RequestOptions, params};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use crate::pair::Pair;
use crate::watch::Watched;

impl<B: Watched> Pair<LineConnection, B> {
    /// Runs until the client knows its server.
    ///
    /// # Panics
    /// If that never comes, with what happened instead.
    pub fn ready(&mut self) -> Peer {
        let peer = |pair: &Self| {
            pair.a.events.iter().find_map(|(_, event)| match event {
                Event::Ready(peer) => Some(peer.clone()),
                _ => None,
            })
        };
        self.run_until("ready", |pair| peer(pair).is_some());
        *peer(self).expect("it is ready")
    }

    /// Asks the server something.
    ///
    /// # Errors
    /// As [`Link::request`] does.
    pub fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.a.machine.request(method, params, options, self.now())?;
        self.a.ledger.accept(request);
        Ok(request)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// As [`Link::call_tool`] does.
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        self.request(Method::ToolsCall, Some(params::call_tool(name, arguments)), options)
    }

    /// Runs until this request has ended, and tells how.
    ///
    /// # Panics
    /// If it never ends, with what happened instead.
    pub fn outcome(&mut self, request: RequestHandle) -> Outcome {
        let outcome = |pair: &Self| {
            pair.a.events.iter().find_map(|(_, event)| match event {
                Event::Finished { request: ended, outcome } if *ended == request => Some(outcome.clone()),
                _ => None,
            })
        };
        self.run_until("finished", |pair| outcome(pair).is_some());
        outcome(self).expect("it has ended")
    }
}

//! Clients on blocking threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{Outcome, Peer, RequestHandle, RequestOptions};
use sanswire::error::{ApiError, CloseReason};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::{Closer, ConnectError, ConnectOptions, Pending, Responder};

use crate::client::{Client, Fault, Setup};
use crate::live::Place;

struct Accepts;

impl Responder for Accepts {
    fn respond(&self, _: &InputRequest) -> InputAnswer {
        InputAnswer::accept(Some(&RawJson::parse_str(crate::scenarios::SAID).unwrap()))
    }
}

pub(crate) fn connect(place: &Place, setup: &Setup) -> Result<Box<dyn Client>, Fault> {
    let mut options = ConnectOptions::new("parity", "0");
    options.config = setup.config.clone();
    options.stop = crate::scenarios::patience();
    options.responder = Some(Arc::new(Accepts));
    // So that each connection is one start.
    options.restart = false;
    let closer = Closer::new();
    options.closer = Some(closer.clone());
    let closing = setup.close_after.map(|time| {
        std::thread::spawn(move || {
            std::thread::sleep(time);
            closer.close();
        })
    });
    let made = match place {
        Place::Program(command) => sanswire_std::Client::connect(command, options),
        Place::Tcp(address) => sanswire_std::Client::connect_tcp(address, options),
        Place::Http(target) => sanswire_std::Client::connect_http(target, options),
    };
    if let Some(closing) = closing {
        closing.join().unwrap();
    }
    match made {
        Ok(client) => Ok(Box::new(StdClient { client, open: BTreeMap::new() })),
        Err(error) => Err(fault(error)),
    }
}

/// What every runtime means by its error.
pub(crate) fn fault(error: ConnectError) -> Fault {
    match error {
        ConnectError::Spawn { .. } => Fault::NoProgram,
        ConnectError::Dial { .. } => Fault::NoListener,
        ConnectError::Reach(_) => Fault::Unreachable,
        ConnectError::Closed { reason, .. } => Fault::Closed(*reason),
        other => panic!("{other}"),
    }
}

struct StdClient {
    client: sanswire_std::Client,
    open: BTreeMap<RequestHandle, Pending>,
}

impl Client for StdClient {
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
        let mut pending = self.open.remove(&request).unwrap();
        let outcome = pending.wait_timeout(crate::scenarios::LONG);
        outcome.unwrap_or_else(|| panic!("{request:?} never ends"))
    }

    fn complete(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<(Outcome, Vec<f64>), ApiError> {
        let mut told = Vec::new();
        let mut tell = |progress: &sanswire::client::Progress| told.push(progress.progress);
        let outcome = self.client.complete(method, Some(params), options, &mut tell)?;
        Ok((outcome, told))
    }

    fn cancel(&mut self, request: RequestHandle) {
        self.open.remove(&request).unwrap().cancel(None);
    }

    fn give_up(&mut self, request: RequestHandle) {
        drop(self.open.remove(&request).unwrap());
    }

    fn notification(&mut self, within: Duration) -> Option<(Method, Option<RequestHandle>)> {
        let told = self.client.next_notification(within)?;
        Some((told.method, told.subscription))
    }

    fn closed(&self) -> Option<CloseReason> {
        self.client.is_closed()
    }

    fn violations(&self) -> usize {
        self.client.violations().len()
    }

    fn close(&mut self) {
        self.client.close();
    }

    fn pass(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

//! What is asked of a host in a world, and what it told.

use sanswire::host::link::Status;
use sanswire::host::policy::ApprovalRequest;
use sanswire::host::{CallHandle, CallOutcome, CallRefused, CallRequest, Event, FleetEvent, Target, Warning};

use super::World;
use crate::client::json;
use crate::peer::Received;

impl World {
    /// Asks for a call of the tool of that exposed name.
    ///
    /// # Errors
    /// As [`Fleet::call`](sanswire::host::Fleet::call).
    pub fn try_call(&mut self, tool: &str, arguments: &str) -> Result<CallHandle, CallRefused> {
        let request = CallRequest::new("1", Target::Exposed(tool.into()), Some(json(arguments)));
        self.make(request)
    }

    /// Asks for a call.
    ///
    /// # Errors
    /// As [`Fleet::call`](sanswire::host::Fleet::call).
    ///
    /// # Panics
    /// If its handle was used before.
    pub fn make(&mut self, request: CallRequest) -> Result<CallHandle, CallRefused> {
        let call = self.fleet.call(request, self.now)?;
        assert!(self.open.insert(call), "{call:?} names two calls");
        Ok(call)
    }

    /// Asks for a call that is accepted.
    ///
    /// # Panics
    /// If it is refused.
    pub fn call(&mut self, tool: &str, arguments: &str) -> CallHandle {
        match self.try_call(tool, arguments) {
            Ok(call) => call,
            Err(refused) => panic!("{tool}: {refused}\n{}", self.report()),
        }
    }

    /// How a call ended, if it has.
    #[must_use]
    pub fn ended(&self, of: CallHandle) -> Option<CallOutcome> {
        self.find(|event| match event {
            Event::Finished { call, end } if *call == of => Some(end.outcome.clone()),
            _ => None,
        })
        .pop()
    }

    /// Waits for a call's end.
    ///
    /// # Panics
    /// If it never comes.
    pub fn end(&mut self, call: CallHandle) -> CallOutcome {
        self.until("finished", |world| world.ended(call).is_some());
        self.ended(call).unwrap()
    }

    /// Waits for a call's result, as a model sees it.
    ///
    /// # Panics
    /// If it ends otherwise.
    pub fn complete(&mut self, call: CallHandle) -> String {
        match self.end(call) {
            CallOutcome::Completed(result) => result.presented.text,
            other => panic!("no result but {other:?}\n{}", self.report()),
        }
    }

    /// Calls that have not ended.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.open.len()
    }

    /// What `pick` picks out of what the host told.
    pub fn find<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> Vec<T> {
        let told = self.events.iter().filter_map(|(_, event)| match event {
            FleetEvent::Host(event) => pick(event),
            _ => None,
        });
        told.collect()
    }

    /// All questions that were asked.
    #[must_use]
    pub fn questions(&self) -> Vec<ApprovalRequest> {
        self.find(|event| match event {
            Event::Approval(request) => Some((**request).clone()),
            _ => None,
        })
    }

    /// All warnings.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.find(|event| match event {
            Event::Warning(warning) => Some(warning.clone()),
            _ => None,
        })
    }

    /// The statuses of a server that were told, in order.
    #[must_use]
    pub fn statuses(&self, of: &str) -> Vec<Status> {
        self.find(|event| match event {
            Event::Status { server, status } if **server == *of => Some(*status),
            _ => None,
        })
    }

    /// A server's status.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn status(&self, server: &str) -> Status {
        self.fleet.host().state(server).expect("a server of that name").status
    }

    /// How often a server was tried to be started.
    #[must_use]
    pub fn starts(&self, server: &str) -> usize {
        self.starts.get(server).copied().unwrap_or(0)
    }

    /// What a server received with this method, by its own record, over all its runs.
    #[must_use]
    pub fn received(&self, server: &str, method: &str) -> Vec<Received> {
        let runs = self.runs.iter().filter(|run| run.server == server);
        runs.flat_map(|run| run.peer.server.with_method(method).into_iter().cloned()).collect()
    }

    /// The names that are offered, sorted.
    #[must_use]
    pub fn offered(&self) -> Vec<String> {
        self.fleet.host().registry().offered().map(|(name, _)| String::from(&**name)).collect()
    }
}

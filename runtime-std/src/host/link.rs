//! A connection, as the host's side of its keeper sees it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Thread;

use sanswire::client::RequestOptions;
use sanswire::host::RequestKey;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use super::slot::Running;
use crate::client::Client;
use crate::closer::Closer;
use crate::pending::Canceller;

/// A connection from the word to open it until its process is gone.
pub(super) struct Link {
    pub(super) server: Arc<str>,
    pub(super) closer: Closer,
    /// Its keeper, which sleeps when there is nothing to do.
    pub(super) keeper: Option<Thread>,
    /// There while it can be used.
    pub(super) client: Option<Client>,
    pub(super) shut: bool,
    todo: VecDeque<Todo>,
    /// The request that its keeper waits for.
    pub(super) running: Running,
}

/// A request that is the keeper's to make, since no call waits for it.
pub(super) struct Job {
    pub(super) key: RequestKey,
    pub(super) method: Method,
    pub(super) params: Option<RawJson>,
    pub(super) options: Box<RequestOptions>,
}

/// What a keeper is to do next.
pub(super) enum Todo {
    Request(Job),
    /// Give a request up that stays open.
    Drop(RequestKey),
    Leave,
    Nothing,
}

impl Link {
    pub(super) fn new(server: Arc<str>, closer: Closer) -> Self {
        Self {
            server,
            closer,
            keeper: None,
            client: None,
            shut: false,
            todo: VecDeque::new(),
            running: Running::No,
        }
    }

    pub(super) fn request(&mut self, job: Job) {
        self.todo.push_back(Todo::Request(job));
    }

    /// A request is not wanted any more; what is to be cancelled without the lock.
    pub(super) fn cancel(&mut self, key: RequestKey) -> Option<Canceller> {
        let waiting = |todo: &Todo| matches!(todo, Todo::Request(job) if job.key == key);
        if let Some(place) = self.todo.iter().position(waiting) {
            self.todo.remove(place);
            return None;
        }
        if matches!(key, RequestKey::Listing(_)) {
            return self.running.cancel();
        }
        self.todo.push_back(Todo::Drop(key));
        None
    }

    /// What its keeper is to do next.
    pub(super) fn next(&mut self) -> Todo {
        if self.shut {
            return Todo::Leave;
        }
        let todo = self.todo.pop_front().unwrap_or(Todo::Nothing);
        if let Todo::Request(Job { key: RequestKey::Listing(_), .. }) = &todo {
            self.running = Running::Starting;
        }
        todo
    }
}

//! A connection, as the host's side of its keeper sees it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Thread;

use sanswire::client::RequestOptions;
use sanswire::host::RequestKey;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use crate::client::Client;
use crate::closer::Closer;

/// A connection from the word to open it until its process is gone.
pub(super) struct Link {
    pub(super) server: Arc<str>,
    pub(super) closer: Closer,
    /// Its keeper, which sleeps when there is nothing to do.
    pub(super) keeper: Option<Thread>,
    /// There while it can be used.
    pub(super) client: Option<Client>,
    pub(super) shut: bool,
    /// It is shut because nothing came of it.
    pub(super) failed: bool,
    todo: VecDeque<Todo>,
}

/// A request that is the keeper's to make, since no thread waits for it.
pub(super) struct Job {
    pub(super) key: RequestKey,
    pub(super) method: Method,
    pub(super) params: Option<RawJson>,
    pub(super) options: Box<RequestOptions>,
}

/// What a keeper is to do next.
pub(super) enum Todo {
    Request(Job),
    /// Give a request up that was made.
    Drop(RequestKey),
    Leave,
    Nothing,
}

impl Link {
    pub(super) fn new(server: Arc<str>, closer: Closer) -> Self {
        Self { server, closer, keeper: None, client: None, shut: false, failed: false, todo: VecDeque::new() }
    }

    pub(super) fn request(&mut self, job: Job) {
        self.todo.push_back(Todo::Request(job));
    }

    /// A request is not wanted any more.
    pub(super) fn cancel(&mut self, key: RequestKey) {
        let waiting = |todo: &Todo| matches!(todo, Todo::Request(job) if job.key == key);
        match self.todo.iter().position(waiting) {
            Some(place) => drop(self.todo.remove(place)),
            None => self.todo.push_back(Todo::Drop(key)),
        }
    }

    /// What its keeper is to do next.
    pub(super) fn next(&mut self) -> Todo {
        if self.shut {
            return Todo::Leave;
        }
        self.todo.pop_front().unwrap_or(Todo::Nothing)
    }
}

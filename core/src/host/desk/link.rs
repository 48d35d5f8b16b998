//! A connection, as the host's side of its keeper sees it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::fmt;

use super::Kinds;
use crate::client::RequestOptions;
use crate::host::event::RequestKey;
use crate::jsonrpc::RawJson;
use crate::mcp::Method;

/// A connection from the word to open it until nothing is left of it.
pub struct Link<K: Kinds> {
    pub(super) server: Arc<str>,
    pub(super) closer: K::Closer,
    /// Its keeper, which sleeps when there is nothing to do.
    pub(super) keeper: Option<K::Waiter>,
    /// There while it can be used.
    pub(super) client: Option<K::Client>,
    pub(super) shut: bool,
    /// It is shut because nothing came of it.
    pub(super) failed: bool,
    todo: VecDeque<Todo>,
}

impl<K: Kinds> fmt::Debug for Link<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("server", &self.server).field("shut", &self.shut).finish_non_exhaustive()
    }
}

/// A request that is the keeper's to make, since no call waits for it.
#[derive(Debug)]
pub struct Job {
    /// Its name, under which its outcome goes to the host.
    pub key: RequestKey,
    /// What is asked.
    pub method: Method,
    /// With what.
    pub params: Option<RawJson>,
    /// Its limits.
    pub options: Box<RequestOptions>,
}

/// What a keeper is to do next.
#[derive(Debug)]
pub enum Todo {
    /// Make a request.
    Request(Job),
    /// Give a request up that was made.
    Drop(RequestKey),
    /// Shut the connection.
    Leave,
    /// Sleep.
    Nothing,
}

impl<K: Kinds> Link<K> {
    pub(super) const fn new(server: Arc<str>, closer: K::Closer) -> Self {
        Self { server, closer, keeper: None, client: None, shut: false, failed: false, todo: VecDeque::new() }
    }

    /// Whose connection it is.
    #[must_use]
    pub const fn server(&self) -> &Arc<str> {
        &self.server
    }

    /// It is not wanted any more; what ends it.
    pub(super) fn shut(&mut self, failed: bool) -> K::Closer {
        (self.shut, self.failed) = (true, failed);
        self.closer.clone()
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

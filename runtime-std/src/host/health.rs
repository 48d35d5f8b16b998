//! Whether servers answer, and by which connection they are reached.

use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{Outcome, RequestOptions};
use sanswire::host::ClientHandle;
use sanswire::host::link::Status;
use sanswire::mcp::Method;

use super::shared::{Shared, State};
use crate::client::Client;

/// The most characters of what a server says is wrong.
const MAX_WORDS: usize = 300;

impl State {
    fn current(&self, server: &str) -> Option<Client> {
        let links = self.links.values().rev().filter(|link| !link.shut && &*link.server == server);
        links.filter_map(|link| link.client.clone()).next()
    }
}

impl Shared {
    /// An open connection.
    pub(super) fn connection(&self, client: ClientHandle) -> Option<Client> {
        self.lock().links.get(&client)?.client.clone()
    }

    /// The connection by which a server can be called.
    pub(super) fn current(&self, server: &str) -> Option<Client> {
        let state = self.lock();
        state.machine.state(server).filter(|state| state.status == Status::Connected)?;
        state.current(server)
    }

    pub(super) fn health(&self, limit: Duration) -> Vec<(Arc<str>, Result<(), String>)> {
        let (connected, mask) = {
            let state = self.lock();
            let connected = state.machine.states().into_iter().filter(|it| it.status == Status::Connected);
            let connected: Vec<_> = connected.map(|it| (state.current(&it.name), it.name)).collect();
            (connected, state.machine.config().mask.clone())
        };
        let mut options = RequestOptions::default();
        (options.idle, options.absolute) = (Some(limit), Some(limit));
        let ask = |client: Client| client.start(Method::ToolsList, None, &options);
        // All are asked before one is waited for; each has its own limit.
        let asked: Vec<_> = connected.into_iter().map(|(client, name)| (name, client.map(ask))).collect();
        let answers = asked.into_iter().map(|(name, asked)| {
            let answer = match asked {
                None => Err("the connection is lost".into()),
                Some(Err(error)) => Err(error.to_string()),
                Some(Ok(pending)) => match pending.wait() {
                    Outcome::Complete(_) => Ok(()),
                    Outcome::Error(error) => Err(mask.line_within(&error.message, MAX_WORDS)),
                    Outcome::TimedOut { limit, .. } => Err(format!("no answer within {limit:?}")),
                    Outcome::TooLarge { .. } => Err("the answer is too long".into()),
                    Outcome::SessionGone { .. } => Err("the server has forgotten the session".into()),
                    Outcome::Lost { .. } | Outcome::Cancelled => Err("the connection is lost".into()),
                    _ => Err("the answer is unusable".into()),
                },
            };
            (name, answer)
        });
        answers.collect()
    }
}

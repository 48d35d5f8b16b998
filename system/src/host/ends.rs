//! How the connections of a host ended, or why they never began.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sanswire::host::ClientHandle;
use sanswire::host::link::SessionNumber;

use crate::error::ConnectError;
use crate::exit::{Ended, Exit};

/// How the last connection of each server ended that is gone, and why the last attempt at it came to nothing if it did.
#[derive(Debug, Default)]
pub struct Ends {
    exits: BTreeMap<Arc<str>, (SessionNumber, Exit)>,
    not_opened: BTreeMap<Arc<str>, Arc<ConnectError>>,
}

impl Ends {
    /// A connection ended.
    pub fn exited(&mut self, client: ClientHandle, server: &Arc<str>, exit: Exit) {
        let session = client.session();
        if self.exits.get(server).is_none_or(|(before, _)| *before < session) {
            self.exits.insert(Arc::clone(server), (session, exit));
        }
    }

    /// A connection was opened.
    pub fn opened(&mut self, server: &str) {
        self.not_opened.remove(server);
    }

    /// An attempt came to nothing.
    pub fn not_opened(&mut self, server: Arc<str>, error: ConnectError) {
        self.not_opened.insert(server, Arc::new(error));
    }

    /// Why the last attempt came to nothing, if it did.
    #[must_use]
    pub fn why_not(&self, server: &str) -> Option<Arc<ConnectError>> {
        self.not_opened.get(server).cloned()
    }

    /// How the last connection of each server ended, sorted by name. `left` are those whose end was not waited for any
    /// longer, after `total`.
    pub fn take<'a>(
        &mut self,
        left: impl Iterator<Item = (ClientHandle, &'a Arc<str>)>,
        total: Duration,
    ) -> Vec<(String, Exit)> {
        let mut exits = std::mem::take(&mut self.exits);
        for (client, server) in left {
            let exit = Exit::new(None, Ended::OnKill, total, String::new());
            exits.insert(Arc::clone(server), (client.session(), exit));
        }
        exits.into_iter().map(|(server, (_, exit))| (String::from(&*server), exit)).collect()
    }
}

//! Ending connections from elsewhere.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sanswire_system::closing::{Closable as _, Closing, patience_of};

use crate::client::TAP_PATIENCE;
use crate::shared::Shared;
use crate::shutdown::shut_down;

/// Ends a connection from another thread, while it is being opened too: what a signal or a button needs. Give it to
/// [`ConnectOptions::closer`](crate::ConnectOptions::closer); clones are the same. It keeps no connection open.
#[derive(Clone, Default)]
pub struct Closer(Arc<Closing<Shared>>);

impl Closer {
    /// One that nothing was opened with yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every connection that was or is being opened with it, each as by
    /// [`Client::close`](crate::Client::close); what would be opened later fails at once. Returns when all servers
    /// that were started are gone.
    pub fn close(&self) {
        let open = self.0.take(None);
        for shared in &open {
            shared.begin_close();
        }
        for shared in &open {
            shared.close();
            if let Some(tap) = &shared.tap {
                tap.finish(TAP_PATIENCE);
            }
        }
    }

    /// As [`close`](Self::close), and as [`close_all`](crate::close_all) within `total`. Whether all servers that were
    /// started are gone.
    pub fn close_within(&self, total: Duration) -> bool {
        let open = self.0.take(Some(patience_of(total)));
        shut_down(&open, total).iter().all(Option::is_some)
    }

    /// What ends with it, for what waits for nothing.
    pub(crate) fn closing(&self) -> &Closing<Shared> {
        &self.0
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").field("closed", &self.0.is_closed()).finish_non_exhaustive()
    }
}

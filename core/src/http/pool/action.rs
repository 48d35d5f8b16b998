//! What passes between a pool and its runtime.

use crate::exchange::Partition;
use crate::http::url::Authority;

/// Names one connection of a [`Pool`](super::Pool), from the wish for it to its end. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionHandle(u64);

impl ConnectionHandle {
    /// The `n`th.
    #[must_use]
    pub const fn numbered(n: u64) -> Self {
        Self(n)
    }

    /// Which it is.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// What a pool asks of its runtime. To be done in the order in which they come: with as many connections as there may
/// be, one is closed before the next is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Make a connection, and tell of it by [`handle_connected`](super::Pool::handle_connected) or
    /// [`handle_connect_failed`](super::Pool::handle_connect_failed).
    Dial {
        /// Its name.
        connection: ConnectionHandle,
        /// To whom.
        to: Authority,
        /// Whose credential it will carry.
        partition: Partition,
    },
    /// Write what [`transmit`](super::Pool::transmit) gives: a request has been put there.
    Write {
        /// On which one.
        connection: ConnectionHandle,
    },
    /// Read once, without waiting, and put in what there is; then call [`handle_looked`](super::Pool::handle_looked), even
    /// if that was the end of it.
    Look {
        /// At which one.
        connection: ConnectionHandle,
    },
    /// A stream that may bring nothing for long is on this one: have the system watch it, if it can, so that it is
    /// noticed when the other side is gone.
    KeepAlive {
        /// On which one.
        connection: ConnectionHandle,
    },
    /// Close this one, or end the attempt to make it. Nothing more is wanted of it.
    Close {
        /// Which one.
        connection: ConnectionHandle,
    },
}

//! What passes between a client and its runtime.

use core::fmt;

use bytes::Bytes;

use crate::exchange::Partition;
use crate::http::h1::Fault;
use crate::http::head::{HttpHandle, RequestHead};
use crate::http::url::Authority;

/// What a client asks of its runtime. `Debug` shows no content, no values of fields and no query.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Send this request, on a connection of its own while it lasts.
    Open {
        /// Its name.
        exchange: HttpHandle,
        /// Who to connect to.
        to: Authority,
        /// The head, `Host` included.
        head: RequestHead,
        /// The body; empty for none.
        body: Bytes,
        /// Whose credential it carries: connections are not shared across partitions.
        partition: Partition,
        /// Whether others may wait for it: an answer to the server, or a word that something is over. Where connections
        /// are bounded it must not wait for one behind what may wait for it.
        urgent: bool,
    },
    /// Nothing more is wanted of this exchange: close its connection, or do not send it. Nothing more is told of it.
    Close {
        /// Its name.
        exchange: HttpHandle,
    },
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { exchange, to, head, body, partition, urgent } => {
                let path = head.target.split('?').next().unwrap_or_default();
                f.debug_struct("Open")
                    .field("exchange", exchange)
                    .field("to", to)
                    .field("verb", &head.verb)
                    .field("path", &path)
                    .field("fields", &head.fields)
                    .field("body", &body.len())
                    .field("partition", partition)
                    .field("urgent", urgent)
                    .finish()
            }
            Self::Close { exchange } => f.debug_struct("Close").field("exchange", exchange).finish(),
        }
    }
}

/// How an exchange ended. Whether its request had begun to leave is told before, by
/// [`handle_sent`](super::Client::handle_sent).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// Its answer is whole.
    Whole,
    /// It broke off.
    Broken,
    /// The server sent what is not HTTP as it should be.
    Faulty(Fault),
    /// No connection could be made, or none that may be used. Nothing of the request left.
    Unreachable,
}

//! Who may send what: one table of revision, sender and method.
//!
//! A row names the revisions in which a client, and those in which a server, may send the method as a message of
//! its own. Whether that message is a request or a notification follows from the name. A third column holds the
//! requests that 2026-07-28 moved into the `inputRequests` of a result, where they are no messages any more.
//!
//! The cells are the unions `ClientRequest`, `ClientNotification`, `ServerRequest`, `ServerNotification` and
//! `InputRequest` of the published schemas; capabilities are looked at elsewhere. Extensions are not in the table:
//! the names they add are [`Method::Other`], the names they take back (`tasks/get` under 2026-07-28) are illegal
//! here, so a caller that negotiated an extension asks it first.
//!
//! Spec: MCP schema of each revision; 2026-07-28 basic, "Messages".

use crate::mcp::{Method, Revision};

/// Which side sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Where a legal message may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Channel {
    /// Wherever the transport carries messages of this direction.
    Any,
    /// Only on a stream that all messages share, such as stdio. Over HTTP the act that it stands for is closing the
    /// response stream.
    SharedStream,
    /// Only on a shared stream, and only for the id of a `subscriptions/listen` that the sender ends.
    EndOfListen,
    /// Only as part of the answer to the request that asked for it, never of a `subscriptions/listen`.
    RequestStream,
    /// Only as part of a `subscriptions/listen`, with its id in `_meta`.
    ListenStream,
}

/// Whether `sender` may send `method` as a message of its own under `revision`. Constant time, no allocation.
///
/// False for [`Method::Other`], which is not in the table: whether a name that no revision defines is let through
/// is the caller's to decide.
///
/// Spec: MCP schema of each revision, the unions of requests and notifications.
#[must_use]
pub const fn legal(revision: Revision, sender: Sender, method: &Method) -> bool {
    row(method).senders(sender) & bit(revision) != 0
}

/// Whether a server may put `method` into the `inputRequests` of a result under `revision`.
///
/// Spec: MCP 2026-07-28 schema, `InputRequest`.
#[must_use]
pub const fn embeddable(revision: Revision, method: &Method) -> bool {
    row(method).embedded & bit(revision) != 0
}

/// Where `method` may travel; `None` if it is not [`legal`].
///
/// Spec: MCP 2026-07-28 basic/patterns/cancellation and basic/patterns/subscriptions.
#[must_use]
pub const fn channel(revision: Revision, sender: Sender, method: &Method) -> Option<Channel> {
    if !legal(revision, sender, method) {
        return None;
    }
    if bit(revision) & MODERN == 0 {
        return Some(Channel::Any);
    }
    Some(match (sender, method) {
        (Sender::Client, Method::Cancelled) => Channel::SharedStream,
        (Sender::Server, Method::Cancelled) => Channel::EndOfListen,
        (Sender::Server, Method::Progress | Method::LogMessage) => Channel::RequestStream,
        (
            Sender::Server,
            Method::SubscriptionsAcknowledged
            | Method::ToolsListChanged
            | Method::PromptsListChanged
            | Method::ResourcesListChanged
            | Method::ResourcesUpdated,
        ) => Channel::ListenStream,
        _ => Channel::Any,
    })
}

/// Sets of revisions, one bit each.
type Revisions = u8;

const fn bit(revision: Revision) -> Revisions {
    match revision {
        Revision::V2024_11_05 => 1,
        Revision::V2025_03_26 => 1 << 1,
        Revision::V2025_06_18 => 1 << 2,
        Revision::V2025_11_25 => 1 << 3,
        Revision::V2026_07_28 => 1 << 4,
    }
}

const NEVER: Revisions = 0;
const ALWAYS: Revisions = LEGACY | MODERN;
const LEGACY: Revisions = 0b0_1111;
const LEGACY_SINCE_2025_06_18: Revisions = 0b0_1100;
const ONLY_2025_11_25: Revisions = 0b0_1000;
const MODERN: Revisions = 0b1_0000;

/// The revisions in which a method is legal, by place.
struct Row {
    client: Revisions,
    server: Revisions,
    embedded: Revisions,
}

impl Row {
    const fn client(client: Revisions) -> Self {
        Self { client, server: NEVER, embedded: NEVER }
    }

    const fn server(server: Revisions) -> Self {
        Self { client: NEVER, server, embedded: NEVER }
    }

    const fn both(client: Revisions, server: Revisions) -> Self {
        Self { client, server, embedded: NEVER }
    }

    const fn input(server: Revisions) -> Self {
        Self { client: NEVER, server, embedded: MODERN }
    }

    const fn senders(&self, sender: Sender) -> Revisions {
        match sender {
            Sender::Client => self.client,
            Sender::Server => self.server,
        }
    }
}

/// The table.
const fn row(method: &Method) -> Row {
    match method {
        Method::Initialize => Row::client(LEGACY),
        Method::ServerDiscover => Row::client(MODERN),
        Method::Ping => Row::both(LEGACY, LEGACY),
        Method::ToolsList
        | Method::ToolsCall
        | Method::ResourcesList
        | Method::ResourcesTemplatesList
        | Method::ResourcesRead
        | Method::PromptsList
        | Method::PromptsGet
        | Method::CompletionComplete => Row::client(ALWAYS),
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe | Method::LoggingSetLevel => {
            Row::client(LEGACY)
        }
        Method::SubscriptionsListen => Row::client(MODERN),
        Method::SamplingCreateMessage | Method::RootsList => Row::input(LEGACY),
        Method::ElicitationCreate => Row::input(LEGACY_SINCE_2025_06_18),
        Method::TasksGet | Method::TasksResult | Method::TasksCancel | Method::TasksList => {
            Row::both(ONLY_2025_11_25, ONLY_2025_11_25)
        }
        Method::Initialized | Method::RootsListChanged => Row::client(LEGACY),
        Method::Cancelled => Row::both(ALWAYS, ALWAYS),
        Method::Progress => Row::both(LEGACY, ALWAYS),
        Method::LogMessage
        | Method::ToolsListChanged
        | Method::PromptsListChanged
        | Method::ResourcesListChanged
        | Method::ResourcesUpdated => Row::server(ALWAYS),
        Method::ElicitationComplete => Row::server(ONLY_2025_11_25),
        Method::TasksStatus => Row::both(ONLY_2025_11_25, ONLY_2025_11_25),
        Method::SubscriptionsAcknowledged => Row::server(MODERN),
        Method::Other(_) => Row::client(NEVER),
    }
}

#[cfg(test)]
mod tests;

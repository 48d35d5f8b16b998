//! The client half of the protocol, for both eras.
//!
//! [`Session`] holds all rules and knows no transport: it takes messages and hands down exchanges. Over one
//! byte stream use [`LineConnection`], a [`Machine`](crate::machine::Machine) made of a line decoder and a
//! session. What an application asks of it stands in [`Link`], which the client over HTTP is as well.
//!
//! ```text
//!              ┌────────────── Opening ──────────────┐
//!   new ──────▶│ probe ──refused──▶ initialize       │── Ready ──▶ Closed
//!              │   └─silent─▶ initialize beside it   │     ▲
//!              └───────────────┬─────────────────────┘     └ requests, notifications, peer requests
//!                              └──▶ Closed (timeout, incompatible, refused, died)
//! ```

mod answering;
mod asking;
mod calls;
pub mod config;
mod encode;
pub mod era;
pub mod event;
mod handshake;
mod inbound;
pub mod input;
mod line;
mod link;
mod linked;
pub mod listing;
mod notices;
mod opening;
mod outcome;
mod peer_requests;
mod queue;
mod requests;
mod session;
mod typed;

#[cfg(test)]
mod tests;

pub use typed::params;

pub use calls::Calls;
pub use config::{Config, LogLevel, RequestOptions, ServerRequests, Start};
pub use event::{Deadline, Event, Outcome, Peer, PeerRequestHandle, Progress, RequestHandle, Verdict};
pub use input::{InputAnswers, InputRequired};
pub use line::LineConnection;
pub(crate) use link::Carry;
pub use link::{Link, Linked};
pub use listing::Listing;
pub use notices::{Notices, Notification};
pub(crate) use queue::PLACE;
pub use queue::Stats;
pub use session::Session;

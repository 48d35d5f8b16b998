//! The served half: a [`Server`] answers the requests of any number of clients.
//!
//! ```text
//!   Server ── serve_stdio, … ──▶ driver: reads, writes, waits; owns the machines
//!      │                            │ one Job a request
//!      │                            ▼
//!      └── Governor (the waist) ─▶ Application::handle(&Call) ─▶ Reply
//!                                       └─ Router: the closures that a Builder was given
//! ```

mod answer;
mod application;
mod builder;
mod call;
mod driver;
mod govern;
mod options;
mod records;
mod reply;
mod server;

pub use application::Application;
pub use builder::{BuildError, Builder};
pub use call::{AskError, Call};
pub use options::ServerOptions;
pub use records::RecordStats;
pub use reply::{IntoReply, Json, ToolError};
pub use server::{ServeError, Server, Stopper};

//! The served half: a [`Server`] answers the requests of any number of clients.
//!
//! ```text
//!   Server ── serve_tcp, … ──▶ Connection: a future that owns its stream, and the machine
//!      │                            │ one Answering a request, side by side in that future
//!      │                            ▼
//!      └── Governor (the waist) ─▶ Router, or Application::handle(Call) ─▶ Reply
//! ```

mod answer;
mod application;
mod ask;
mod builder;
mod call;
mod changes;
mod connection;
mod http;
mod hub;
mod listening;
mod options;
mod places;
mod question;
mod router;
mod server;
mod serving;
mod tasks;

pub use application::Application;
pub use builder::Builder;
pub use call::Call;
pub use sanswire::server::kit::{
    AskError, BuildError, Content, Contents, Definition, IntoContents, IntoMessages, IntoReply, Json,
    Messages, Prompt, Resource, ResourceUri, Schema, Tool, ToolError,
};
pub use sanswire_system::{HttpOptions, Refusals, ServeError, ServerOptions, bind_loopback};
pub use server::Server;
pub use serving::Stopper;

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
mod arguments;
mod ask;
mod builder;
mod call;
mod changes;
mod driver;
mod http;
mod options;
mod router;
mod server;
mod serving;

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

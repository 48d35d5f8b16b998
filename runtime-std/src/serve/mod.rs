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
mod content;
mod contents;
mod definition;
mod driver;
mod fault;
mod govern;
mod http;
mod messages;
mod options;
mod records;
mod reply;
mod router;
mod schema;
mod server;
mod serving;
mod slips;
mod template;

pub use application::Application;
pub use ask::{AskError, WallClock};
pub use builder::Builder;
pub use call::Call;
pub use content::Content;
pub use contents::{Contents, IntoContents};
pub use definition::{Definition, Prompt, Resource, Tool};
pub use fault::BuildError;
pub use http::{HttpOptions, bind_loopback};
pub use messages::{IntoMessages, Messages};
pub use options::ServerOptions;
pub use records::RecordStats;
pub use reply::{IntoReply, Json, ToolError};
pub use schema::Schema;
pub use server::{ServeError, Server};
pub use serving::Stopper;
pub use template::ResourceUri;

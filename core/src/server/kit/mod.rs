//! What servers are made of: for their authors the words that tools, resources and prompts are described and answered in,
//! for a runtime what finds the handler of a request and makes an answer of what it came to.
//!
//! An author meets the first half by way of a runtime, which gives it out under its own name: [`Tool`], [`Resource`],
//! [`Prompt`] and [`Schema`] describe, [`IntoReply`], [`IntoContents`] and [`IntoMessages`] say what a handler may give
//! back ([`Json`], [`Content`], [`Contents`], [`Messages`], or plain text), and [`ToolError`] is what it fails with.
//!
//! A runtime needs the second half, and says what a handler is: a closure that blocks, one that gives a future, or
//! anything else that can be cloned. Nothing here runs a handler, or waits for it.
//!
//! Around that stand [`Desk`], which keeps the requests of one connection of lines from their arrival to their answer, and
//! [`Questions`], which keeps what one call asks its client. [`Places`] keeps many connections apart.
//!
//! ```text
//!  Offer ──▶ Assembly ──build──▶ Built { config, catalog, handlers }
//!                                                     │ route(method, params)
//!                                                     ▼
//!  the runtime runs it ◀── Route::{Call, Read, Complete}, or Answer(Reply)
//!       └─ Result<Reply, ToolError> ──conclude──▶ Reply
//! ```
//!
//! ```
//! use sanswire::mcp::Method;
//! use sanswire::jsonrpc::{JsonRef, RawJson};
//! use sanswire::server::Reply;
//! use sanswire::server::kit::{self, Assembly, IntoReply, Offer, Route, Tool, ToolError};
//!
//! // What a handler of this runtime is. It has tools only.
//! type Handler = fn(JsonRef<'_>) -> Result<Reply, ToolError>;
//! type Nothing = ();
//!
//! let shout: Handler = |arguments| {
//!     kit::argument::<String>(Some(arguments), "text")?.to_uppercase().into_reply()
//! };
//! let mut assembly = Assembly::<Handler, Nothing, Nothing>::new("example", "1.0");
//! assembly.add(Offer::tool("shout", Tool::new("Capitals").string("text", "What to shout"), shout));
//! let handlers = assembly.build()?.handlers;
//!
//! // What a session reports as `Event::Request`.
//! let params = RawJson::parse_str(r#"{"name":"shout","arguments":{"text":"hi"}}"#)?;
//! let reply = match handlers.route(&Method::ToolsCall, &params) {
//!     Route::Call(run, arguments) => {
//!         kit::conclude(&Method::ToolsCall, &params, run(arguments), || unreachable!("nothing asks"))
//!     }
//!     Route::Answer(reply) => reply,
//!     Route::Read(..) | Route::Complete(..) => unreachable!("there are tools only"),
//! };
//! assert_eq!(reply, Reply::text("HI"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod ask;
mod assembly;
mod content;
mod contents;
mod definition;
mod desk;
mod fault;
mod handlers;
mod messages;
mod offer;
mod outcome;
mod places;
mod questions;
mod reply;
mod schema;
mod slips;
mod template;

pub use arguments::{argument, arguments};
pub use ask::AskError;
pub use assembly::{Assembly, Built};
pub use content::Content;
pub use contents::{Contents, IntoContents};
pub use definition::{Definition, Prompt, Resource, Tool};
pub use desk::{Cancel, Desk, Over, Request};
pub use fault::BuildError;
pub use handlers::{Handlers, Route};
pub use messages::{IntoMessages, Messages};
pub use offer::Offer;
pub use outcome::{broken_down, completion, conclude, unsendable};
pub use places::{ConnectionKey, Places};
pub use questions::{AskTerms, Asker, Questions, elicit_url, elicited};
pub use reply::{IntoReply, Json, ToolError};
pub use schema::Schema;
pub use template::ResourceUri;

#[cfg(test)]
mod tests;

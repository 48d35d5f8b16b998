//! MCP over HTTP as data, both roles and both eras, and HTTP/1.1 itself as a pair of machines.
//!
//! ```text
//!              bytes                heads and bodies                   messages
//!  socket ⇄ [h1::Client] ⇄ requests and answers ⇄ [Client]   ⇄ client::Session
//!         └──────────────── [Pool] ─────────────┘
//!  socket ⇄ [h1::Server] ⇄ requests and answers ⇄ [Endpoint] ⇄ server::Sessions
//!         └──────────────── [Site] ─────────────┘
//! ```
//!
//! [`h1`] knows no MCP: it turns bytes into heads and bodies and back, strictly. [`Client`] and [`Endpoint`] know no
//! bytes and no connections: they deal in [`RequestHead`]s, [`ResponseHead`]s and bodies, each under the
//! [`HttpHandle`] of its HTTP exchange. A client's connections and what goes over each are a [`Pool`]; an endpoint with all
//! connections of its clients is a [`Site`]. A runtime moves their bytes.

pub mod client;
pub mod endpoint;
mod fields;
pub mod h1;
mod head;
pub mod pool;
pub mod site;
mod url;
mod www_authenticate;

pub use crate::mcp::mirror;
pub use client::Client;
pub use endpoint::Endpoint;
pub use fields::{FieldFault, Fields};
pub use head::{HttpHandle, RequestHead, ResponseHead, Verb};
pub use pool::Pool;
pub use site::Site;
pub use url::{Authority, MAX_URL, Scheme, Url, UrlFault};
pub use www_authenticate::AuthChallenge;

//! What a server is, whichever runtime serves and runs its handlers: what it offers, and what binds its calls.

mod asks;
mod cancel;
mod error;
mod govern;
mod http;
mod offered;
mod options;
mod router;
mod said;

pub use asks::Asks;
pub use cancel::Cancel;
pub use error::ServeError;
pub use govern::Governor;
pub use http::{HttpOptions, Refusals, TURNED_AWAY, bind_loopback};
pub use offered::{Offered, Turn};
pub use options::{ServerOptions, Terms};
pub use router::Router;
pub use said::Said;

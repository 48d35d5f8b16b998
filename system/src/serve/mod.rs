//! What binds the calls of a server, whichever runtime runs its handlers.

mod asks;
mod cancel;
mod govern;
mod http;
mod options;

pub use asks::Asks;
pub use cancel::Cancel;
pub use govern::Governor;
pub use http::{HttpOptions, Refusals, TURNED_AWAY, bind_loopback};
pub use options::{ServerOptions, Terms};

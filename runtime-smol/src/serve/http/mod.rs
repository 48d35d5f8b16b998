//! Serving over HTTP: a future that owns the listener, the handlers, and a future for each connection.
//!
//! ```text
//!   Listener ─▶ Hosting ─┬─ Connection ⇄ its stream ┐
//!                        ├─ Connection ⇄ its stream ┼─ Hub: http::Site
//!                        └─ Answering, each request ┘
//! ```

mod connection;
mod hosting;
mod hub;

use std::net::TcpListener;

use async_io::Async;
use sanswire_system::serve::{HttpOptions, ServeError};

use crate::serve::listening::Listener;
use crate::serve::server::Server;
use hosting::Hosting;
pub(super) use hub::Hub;

impl Server {
    /// Serves all who come over HTTP, in both eras, on one path, in this one future. It ends when a
    /// [`Stopper`](crate::Stopper) says so and what was open is over. Meanwhile the listener does not block, for others who
    /// share it neither. Dropping the future ends all of it at once.
    ///
    /// Calls run in the order in which they came, however many of them one client has. Ids of sessions cannot be guessed:
    /// they come of the system's random bytes.
    ///
    /// # Errors
    /// A limit is out of bounds; the system gave no random bytes; the listener failed, and all its connections are over.
    pub async fn serve_http(&self, listener: TcpListener, options: HttpOptions) -> Result<(), ServeError> {
        let listener = Async::new(listener).map_err(ServeError::System)?;
        let hosting = Hosting::open(self.shared(), Listener::Tcp(listener), options)?;
        let served = hosting.await;
        self.flush_records().await;
        served.map_err(ServeError::System)
    }

    /// The most bytes that [`serve_http`](Self::serve_http) ever holds with these options, whatever its clients do. The
    /// catalog, what handlers hold and the system's own buffers are aside. It is the sum that
    /// [`SiteConfig::worst_case_bytes`](sanswire::http::site::SiteConfig::worst_case_bytes) tells of.
    #[must_use]
    pub fn worst_case_http_bytes(&self, options: &HttpOptions) -> usize {
        let max_connections = self.inner().serving.max_connections();
        options.worst_case_bytes(self.inner().offered.config(), max_connections)
    }
}

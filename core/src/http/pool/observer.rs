//! Whoever is told of what passes.

use bytes::Bytes;

use crate::http::head::{HttpHandle, RequestHead, ResponseHead};

/// Is told of the exchanges of a [`Pool`](super::Pool) as they pass. Called amid the machine's own work: it takes notes,
/// and nothing else. What it is told holds credentials and content.
pub trait Observer {
    /// The first byte of a request left.
    fn request(&mut self, exchange: HttpHandle, head: &RequestHead, body: &Bytes);

    /// The head of its answer came.
    fn answer(&mut self, exchange: HttpHandle, head: &ResponseHead);

    /// A piece of that answer came.
    fn piece(&mut self, exchange: HttpHandle, piece: &Bytes);

    /// The exchange is over. `whole`: its answer came to its end. May come for one that no request was told of.
    fn end(&mut self, exchange: HttpHandle, whole: bool);
}

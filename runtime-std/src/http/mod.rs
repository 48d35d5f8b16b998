//! Servers that are reached over HTTP.

mod attend;
mod dial;
mod net;

pub(crate) use dial::Dialer;
pub(crate) use net::Net;

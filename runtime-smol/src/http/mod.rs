//! Servers that are reached over HTTP.

mod dial;
mod dials;
mod line;
mod net;
mod reach;
mod wire;

pub(crate) use dial::Dialer;
pub(crate) use net::Net;

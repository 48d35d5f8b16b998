//! Servers that are reached over HTTP: where they are, and how to get there.

mod attend;
mod dial;
mod net;
mod target;

pub(crate) use dial::Dialer;
pub(crate) use net::Net;

pub use dial::{
    CertificateFault, DialFault, DialStep, PemFault, Proxied, ProxyAddress, ProxyAddressFault, ProxyFault,
    Reached, Secured, TlsFault,
};
pub use target::{HttpTarget, Proxy};

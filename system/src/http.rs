//! Servers that are reached over HTTP: what stands between here and there.

mod bypass;
mod fault;
mod guard;
mod proxy;
mod reached;
mod target;
#[cfg(feature = "tls")]
pub mod tls;

pub use fault::{CertificateFault, DialFault, DialStep, PemFault, ProxyFault, TlsFault};
pub use guard::is_public;
pub use proxy::{Ambient, ProxyAddress, ProxyAddressFault, authorization, host_and_port, is_loopback};
pub use reached::{Proxied, Reached, Secured};
pub use target::{HttpTarget, Proxy};

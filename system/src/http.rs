//! Servers that are reached over HTTP: what stands between here and there.

mod addresses;
mod attempt;
mod bypass;
mod fault;
mod guard;
mod proxies;
mod proxy;
mod reached;
mod target;
#[cfg(feature = "tls")]
pub mod tls;
mod tunnel;

pub use addresses::{HEAD_START, known_addresses, look_up, to_call};
pub use attempt::Attempt;
pub use fault::{CertificateFault, DialFault, DialStep, PemFault, ProxyFault, TlsFault};
pub use guard::is_public;
pub use proxies::Proxies;
pub use proxy::{Ambient, ProxyAddress, ProxyAddressFault, authorization, host_and_port, is_loopback};
pub use reached::{Proxied, Reached, Secured};
pub use target::{HttpTarget, Proxy};
pub use tunnel::Tunnel;

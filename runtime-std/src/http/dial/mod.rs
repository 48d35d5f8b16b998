//! From an authority to a connected stream. Everything here may block: it runs on threads of its own.

mod bound;
mod bypass;
mod connect;
mod fault;
mod guard;
mod line;
mod proxy;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod tunnel;
mod wire;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sanswire::http::{Authority, Scheme};

use bound::{Bound, BoundStream};
use line::Line;
use proxy::Ambient;

pub use fault::{CertificateFault, DialFault, DialStep, PemFault, ProxyFault, TlsFault};
pub use proxy::{ProxyAddress, ProxyAddressFault};
pub(crate) use wire::Wire;

use crate::error::ConnectError;
use crate::http::{HttpTarget, Proxy};

/// Makes the connections of one client. Shared by the threads that make them.
#[derive(Debug)]
pub(crate) struct Dialer {
    proxies: Proxies,
    public_only: bool,
    #[cfg(feature = "tls")]
    trust: tls::Trust,
}

#[derive(Debug)]
enum Proxies {
    None,
    Ambient(Ambient),
    Always(ProxyAddress),
}

impl Dialer {
    /// Reads what the environment says about proxies. Files with certificates are read when the first connection needs
    /// them.
    pub(crate) fn new(target: &HttpTarget) -> Result<Self, ConnectError> {
        let proxies = match &target.proxy {
            Proxy::At(_) if target.public_only => {
                return Err(DialFault::GuardedProxy.into());
            }
            Proxy::At(proxy) => Proxies::Always(proxy.clone()),
            Proxy::Environment if !target.public_only => {
                Proxies::Ambient(Ambient::read(&|name| std::env::var_os(name)))
            }
            Proxy::Environment | Proxy::Direct => Proxies::None,
        };
        Ok(Self {
            proxies,
            public_only: target.public_only,
            #[cfg(feature = "tls")]
            trust: tls::Trust::new(target.ca_file.clone(), target.client_certificate.clone()),
        })
    }

    /// Connects within `limit`, names, proxy and TLS included. Blocks. `cancelled` ends it early.
    pub(crate) fn dial(
        &self,
        to: &Authority,
        limit: Duration,
        cancelled: &AtomicBool,
    ) -> Result<Wire, DialFault> {
        let bound = Bound::new(limit, cancelled);
        let line = match self.proxy_for(to)? {
            Some(proxy) => {
                let mut line = self.reach(proxy.authority(), &bound)?;
                tunnel::open(&mut line, to, proxy, &bound)?;
                self.secured(line, to, &bound)?
            }
            None => self.reach(to, &bound)?,
        };
        line.into_wire().map_err(DialFault::System)
    }

    fn proxy_for(&self, to: &Authority) -> Result<Option<&ProxyAddress>, DialFault> {
        match &self.proxies {
            Proxies::None => Ok(None),
            Proxies::Always(proxy) => Ok(Some(proxy)),
            Proxies::Ambient(ambient) => {
                ambient.proxy_for(to).map_err(|(variable, fault)| DialFault::ProxySetting { variable, fault })
            }
        }
    }

    /// A line to who is called directly.
    fn reach<'a>(&self, to: &Authority, bound: &Bound<'a>) -> Result<Line<'a>, DialFault> {
        let stream = connect::connect(&to.host, to.port, self.public_only, bound)?;
        stream.set_nodelay(true).map_err(DialFault::System)?;
        self.secured(Line::Plain(BoundStream::new(stream, *bound)), to, bound)
    }

    /// Puts TLS on a line, if it leads to who speaks that.
    #[cfg(feature = "tls")]
    fn secured<'a>(&self, line: Line<'a>, to: &Authority, bound: &Bound<'_>) -> Result<Line<'a>, DialFault> {
        match to.scheme {
            Scheme::Http => Ok(line),
            Scheme::Https => {
                let config = self.trust.config().map_err(DialFault::Tls)?;
                tls::negotiate(line, &to.host, config, bound)
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "with TLS it is needed")]
    fn secured<'a>(&self, line: Line<'a>, to: &Authority, _: &Bound<'_>) -> Result<Line<'a>, DialFault> {
        match to.scheme {
            Scheme::Http => Ok(line),
            Scheme::Https => Err(DialFault::Tls(TlsFault::Unsupported)),
        }
    }
}

impl From<DialFault> for ConnectError {
    fn from(fault: DialFault) -> Self {
        Self::Reach(Box::new(fault))
    }
}

//! From an authority to a connected stream. Everything here may block: it runs on threads of its own.

mod bound;
mod connect;
mod line;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod tunnel;
mod wire;

use std::time::{Duration, Instant};

use sanswire::http::{Authority, Scheme};
#[cfg(not(feature = "tls"))]
use sanswire_system::TlsFault;
#[cfg(feature = "tls")]
use sanswire_system::http::tls::Trust;
use sanswire_system::http::{Attempt, Proxies};
use sanswire_system::{ConnectError, DialFault, HttpTarget, Proxied, Reached};

use bound::{Bound, BoundStream};
use line::Line;

pub(crate) use wire::Wire;

/// Makes the connections of one client. Shared by the threads that make them.
#[derive(Debug)]
pub(crate) struct Dialer {
    proxies: Proxies,
    public_only: bool,
    #[cfg(feature = "tls")]
    trust: Trust,
}

impl Dialer {
    /// Reads what the environment says about proxies. Files with certificates are read when the first connection needs
    /// them.
    pub(crate) fn new(target: &HttpTarget) -> Result<Self, ConnectError> {
        Ok(Self {
            proxies: Proxies::of(target)?,
            public_only: target.public_only,
            #[cfg(feature = "tls")]
            trust: Trust::new(target.ca_file.clone(), target.client_certificate.clone()),
        })
    }

    /// Connects within `limit`, names, proxy and TLS included. Blocks. `attempt` ends it early.
    pub(crate) fn dial(&self, to: &Authority, limit: Duration, attempt: &Attempt) -> Result<Wire, DialFault> {
        let bound = Bound::new(limit, attempt);
        let (line, mut how) = match self.proxies.proxy_for(to)? {
            Some(proxy) => {
                let reached = self.reach(proxy.authority(), &bound);
                let (mut line, mut how) = reached.map_err(|fault| fault.on_the_way_to(proxy.place()))?;
                let asked = Instant::now();
                tunnel::open(&mut line, to, proxy, &bound)?;
                how.proxy = Some(Proxied::new(proxy.authority().clone(), asked.elapsed()));
                how.tls = None;
                (self.secured(line, to, &bound, &mut how)?, how)
            }
            None => self.reach(to, &bound)?,
        };
        how.took = bound.spent();
        line.into_wire().map(|wire| wire.made(how)).map_err(DialFault::System)
    }

    /// A line to who is called directly.
    fn reach<'a>(&self, to: &Authority, bound: &Bound<'a>) -> Result<(Line<'a>, Reached), DialFault> {
        let called = Instant::now();
        let (stream, named) = connect::connect(&to.host, to.port, self.public_only, bound)?;
        let connected = called.elapsed().saturating_sub(named);
        let address = stream.peer_addr().map_err(DialFault::System)?;
        stream.set_nodelay(true).map_err(DialFault::System)?;
        let mut how = Reached::new(address, named, connected);
        let line = self.secured(Line::Plain(BoundStream::new(stream, *bound)), to, bound, &mut how)?;
        Ok((line, how))
    }

    /// Puts TLS on a line, if it leads to who speaks that.
    #[cfg(feature = "tls")]
    fn secured<'a>(
        &self,
        line: Line<'a>,
        to: &Authority,
        bound: &Bound<'_>,
        how: &mut Reached,
    ) -> Result<Line<'a>, DialFault> {
        match to.scheme {
            Scheme::Http => Ok(line),
            Scheme::Https => {
                let config = self.trust.config().map_err(DialFault::Tls)?;
                let begun = Instant::now();
                let (line, agreed) = tls::negotiate(line, &to.host, config, bound, begun)?;
                how.tls = Some(agreed);
                Ok(line)
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "with TLS it is needed")]
    fn secured<'a>(
        &self,
        line: Line<'a>,
        to: &Authority,
        _: &Bound<'_>,
        _: &mut Reached,
    ) -> Result<Line<'a>, DialFault> {
        match to.scheme {
            Scheme::Http => Ok(line),
            Scheme::Https => Err(DialFault::Tls(TlsFault::Unsupported)),
        }
    }
}

//! From an authority to a connected stream, as a future that whoever leads polls. Dropped, it is not wanted any more.

use std::io;
use std::time::{Duration, Instant};

use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
#[cfg(feature = "tls")]
use futures_rustls::TlsConnector;
#[cfg(feature = "tls")]
use rustls::ClientConfig;
use sanswire::http::{Authority, Scheme};
#[cfg(not(feature = "tls"))]
use sanswire_system::TlsFault;
#[cfg(feature = "tls")]
use sanswire_system::http::tls::{Trust, agreed, judge, of_tls, server_name};
use sanswire_system::http::{Attempt, Proxies, Tunnel};
use sanswire_system::{DialFault, DialStep, HttpTarget, Proxied, ProxyAddress, Reached};
#[cfg(feature = "tls")]
use std::sync::Arc;

use crate::http::line::Line;
use crate::http::reach::{self, Bound};
#[cfg(feature = "tls")]
use crate::threads;

/// Makes the connections of one client.
#[derive(Debug)]
pub(crate) struct Dialer {
    proxies: Proxies,
    public_only: bool,
    #[cfg(feature = "tls")]
    trust: Arc<Trust>,
}

/// A stream that was made, and how.
pub(super) struct Made {
    pub(super) line: Line,
    pub(super) how: Reached,
}

impl Dialer {
    /// Reads what the environment says about proxies. Files with certificates are read when the first connection needs
    /// them.
    pub(crate) fn new(target: &HttpTarget) -> Result<Self, DialFault> {
        Ok(Self {
            proxies: Proxies::of(target)?,
            public_only: target.public_only,
            #[cfg(feature = "tls")]
            trust: Arc::new(Trust::new(target.ca_file.clone(), target.client_certificate.clone())),
        })
    }

    /// Connects within `limit`, names, proxy and TLS included. `attempt` knows which step that is at.
    pub(super) async fn dial(
        &self,
        to: &Authority,
        limit: Duration,
        attempt: &Attempt,
    ) -> Result<Made, DialFault> {
        let bound = Bound::new(limit, attempt);
        let mut made = match self.proxies.proxy_for(to)? {
            Some(proxy) => {
                let reached = self.reach(proxy.authority(), &bound).await;
                let Made { mut line, mut how } =
                    reached.map_err(|fault| fault.on_the_way_to(proxy.place()))?;
                let asked = Instant::now();
                tunnel(&mut line, to, proxy, &bound).await?;
                how.proxy = Some(Proxied::new(proxy.authority().clone(), asked.elapsed()));
                how.tls = None;
                self.secured(Made { line, how }, to, &bound).await?
            }
            None => self.reach(to, &bound).await?,
        };
        made.how.took = bound.spent();
        Ok(made)
    }

    /// A line to who is called directly.
    async fn reach(&self, to: &Authority, bound: &Bound<'_>) -> Result<Made, DialFault> {
        let called = Instant::now();
        let (socket, named) = reach::connect(&to.host, to.port, self.public_only, bound).await?;
        let connected = called.elapsed().saturating_sub(named);
        let address = socket.get_ref().peer_addr().map_err(DialFault::System)?;
        socket.get_ref().set_nodelay(true).map_err(DialFault::System)?;
        let how = Reached::new(address, named, connected);
        self.secured(Made { line: Line::Plain(socket), how }, to, bound).await
    }

    /// Puts TLS on a line, if it leads to who speaks that.
    #[cfg(feature = "tls")]
    async fn secured(&self, made: Made, to: &Authority, bound: &Bound<'_>) -> Result<Made, DialFault> {
        if to.scheme == Scheme::Http {
            return Ok(made);
        }
        let Made { line, mut how } = made;
        let config = self.config(bound).await?;
        let name = server_name(&to.host)?;
        let shown = config.client_auth_cert_resolver.has_certs();
        let begun = Instant::now();
        let negotiating = async {
            TlsConnector::from(config).connect(name, line).await.map_err(|error| match of_tls(&error) {
                Some(error) => DialFault::Tls(judge(error, shown)),
                None => DialFault::Broken { during: DialStep::Tls, source: error },
            })
        };
        let stream = bound.within(DialStep::Tls, negotiating).await?;
        how.tls = Some(agreed(stream.get_ref().1, shown, begun.elapsed()));
        Ok(Made { line: Line::Tls(Box::new(stream)), how })
    }

    /// Whom to trust, and what to show. Files are read on a thread of its own, once.
    #[cfg(feature = "tls")]
    async fn config(&self, bound: &Bound<'_>) -> Result<Arc<ClientConfig>, DialFault> {
        if let Some(config) = self.trust.known() {
            return Ok(Arc::clone(config));
        }
        let trust = Arc::clone(&self.trust);
        let read = threads::run("sanswire-trust", move || trust.config().cloned());
        let read = read.map_err(DialFault::System)?;
        let failed = || DialFault::System(io::ErrorKind::Other.into());
        let reading = async { read.await.ok_or_else(failed)?.map_err(DialFault::Tls) };
        bound.within(DialStep::Tls, reading).await
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_async, reason = "with TLS it is needed")]
    async fn secured(&self, made: Made, to: &Authority, _: &Bound<'_>) -> Result<Made, DialFault> {
        match to.scheme {
            Scheme::Http => Ok(made),
            Scheme::Https => Err(DialFault::Tls(TlsFault::Unsupported)),
        }
    }
}

/// Asks `proxy`, at the other end of `line`, for a tunnel to a server. After that the line is the server's.
async fn tunnel(
    line: &mut Line,
    to: &Authority,
    proxy: &ProxyAddress,
    bound: &Bound<'_>,
) -> Result<(), DialFault> {
    let broken = |source| DialFault::Broken { during: DialStep::Proxy, source };
    let mut tunnel = Tunnel::new(to, proxy, bound.left())?;
    let asking = async {
        loop {
            while !tunnel.transmit().is_empty() {
                let len = line.write(tunnel.transmit()).await.map_err(broken)?;
                tunnel.wrote(len)?;
            }
            line.flush().await.map_err(broken)?;
            if tunnel.is_open()? {
                return Ok(());
            }
            let len = match line.read(tunnel.room()?).await {
                // Without TLS' own word for the end: nobody here waits for anything that could be cut short by that.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
                read => read.map_err(broken)?,
            };
            tunnel.read(len);
        }
    };
    bound.within(DialStep::Proxy, asking).await
}

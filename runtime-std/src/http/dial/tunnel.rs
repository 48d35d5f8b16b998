//! A way through a proxy.

use std::io::{Read, Write};

use sanswire::http::Authority;
use sanswire_system::http::Tunnel;
use sanswire_system::{DialFault, DialStep, ProxyAddress};

use crate::http::dial::bound::Bound;

/// Asks `proxy`, at the other end of `stream`, for a tunnel to a server. After that the stream is the server's.
pub(super) fn open(
    stream: &mut (impl Read + Write),
    to: &Authority,
    proxy: &ProxyAddress,
    bound: &Bound<'_>,
) -> Result<(), DialFault> {
    let broken = |source| bound.broken(DialStep::Proxy, source);
    bound.begin(DialStep::Proxy);
    let mut tunnel = Tunnel::new(to, proxy, bound.left())?;
    loop {
        while !tunnel.transmit().is_empty() {
            let len = stream.write(tunnel.transmit()).map_err(broken)?;
            tunnel.wrote(len)?;
        }
        if tunnel.is_open()? {
            return Ok(());
        }
        let len = stream.read(tunnel.room()?).map_err(broken)?;
        tunnel.read(len);
    }
}

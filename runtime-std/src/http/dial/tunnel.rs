//! A way through a proxy.

use std::io::{Read, Write};

use sanswire::http::h1::{self, Body, Closed};
use sanswire::http::{Authority, Fields, RequestHead, Verb};
use sanswire::machine::Machine;
use sanswire_system::clock::Clock;
use sanswire_system::http::{authorization, host_and_port};
use sanswire_system::{DialFault, DialStep, ProxyAddress, ProxyFault};

use crate::http::dial::bound::Bound;

/// The longest head of a proxy's answer.
const MAX_HEAD: usize = 16 * 1024;

/// Asks `proxy`, at the other end of `stream`, for a tunnel to a server. After that the stream is the server's.
///
/// Source: RFC 9110, section 9.3.6.
pub(super) fn open(
    stream: &mut (impl Read + Write),
    to: &Authority,
    proxy: &ProxyAddress,
    bound: &Bound<'_>,
) -> Result<(), DialFault> {
    let says = |fault| DialFault::Proxy { proxy: proxy.place().into(), fault };
    let broken = |source| bound.broken(DialStep::Proxy, source);
    let clock = Clock::start();
    let mut limits = h1::Limits::default();
    limits.max_head_bytes = MAX_HEAD;
    // Its answer has the time that all of this has.
    limits.head = bound.left();
    limits.stall = bound.left();
    let mut machine = h1::Client::new(limits, clock.now());
    let asked = machine.request(&head(to, proxy), Body::Empty, clock.now());
    if asked.is_err() {
        return Err(says(ProxyFault::Ended));
    }
    let mut room = [0; 4096];
    loop {
        while !machine.transmit().is_empty() {
            match stream.write(machine.transmit()).map_err(broken)? {
                0 => return Err(says(ProxyFault::Ended)),
                len => machine.handle_written(len, clock.now()),
            }
        }
        while let Some(event) = machine.poll_event() {
            match event {
                h1::ClientEvent::Head(head) if !(200..300).contains(&head.status) => {
                    return Err(says(match head.status {
                        407 => ProxyFault::Authorization { given: authorization(proxy).is_some() },
                        status => ProxyFault::Refused(status),
                    }));
                }
                h1::ClientEvent::Closed(Closed::Tunnel(behind)) if behind.is_empty() => return Ok(()),
                // A client speaks first, in HTTP and in TLS.
                h1::ClientEvent::Closed(Closed::Tunnel(_)) => return Err(says(ProxyFault::Unasked)),
                h1::ClientEvent::Closed(Closed::Fault(h1::Fault::Truncated)) => {
                    return Err(says(ProxyFault::Ended));
                }
                h1::ClientEvent::Closed(Closed::Fault(fault)) => {
                    return Err(says(ProxyFault::NotHttp(fault)));
                }
                h1::ClientEvent::Closed(_) => return Err(says(ProxyFault::Ended)),
                _ => {}
            }
        }
        // No more than it takes at once: what comes behind its answer must not get lost.
        let buffer = machine.read_buffer();
        let most = (buffer.capacity() - buffer.len()).min(room.len());
        if !machine.wants_read() || most == 0 {
            return Err(says(ProxyFault::Ended));
        }
        let room = room.get_mut(..most).unwrap_or_default();
        match stream.read(room).map_err(broken)? {
            0 => machine.handle_eof(clock.now()),
            len => drop(machine.handle_input(room.get(..len).unwrap_or_default(), clock.now())),
        }
    }
}

fn head(to: &Authority, proxy: &ProxyAddress) -> RequestHead {
    let target = host_and_port(&to.host, to.port);
    let mut fields = Fields::new();
    // What is no proper value is left out, and the proxy says what it misses.
    let _ = fields.push("Host", target.as_bytes());
    if let Some(authorization) = authorization(proxy) {
        let _ = fields.push("Proxy-Authorization", authorization.as_bytes());
    }
    RequestHead { verb: Verb::Other("CONNECT".into()), target: target.into(), fields }
}

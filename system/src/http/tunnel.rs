//! A way through a proxy.

use std::time::Duration;

use sanswire::http::h1::{self, Body, Closed};
use sanswire::http::{Authority, Fields, RequestHead, Verb};
use sanswire::machine::Machine;

use crate::clock::Clock;
use crate::http::{DialFault, ProxyAddress, ProxyFault, authorization, host_and_port};

/// The longest head of a proxy's answer.
const MAX_HEAD: usize = 16 * 1024;
/// So much is read at once.
const ROOM: usize = 4096;

/// The words with a proxy that open a way to a server. After that the stream is the server's.
///
/// Write [`transmit`](Self::transmit), read into [`room`](Self::room), and ask [`is_open`](Self::is_open) after either.
///
/// Source: RFC 9110, section 9.3.6.
#[derive(Debug)]
pub struct Tunnel<'a> {
    machine: h1::Client,
    clock: Clock,
    proxy: &'a ProxyAddress,
    room: Box<[u8; ROOM]>,
}

impl<'a> Tunnel<'a> {
    /// Asks this proxy for a way there, which has so much time.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn new(to: &Authority, proxy: &'a ProxyAddress, limit: Duration) -> Result<Self, DialFault> {
        let clock = Clock::start();
        let mut limits = h1::Limits::default();
        limits.max_head_bytes = MAX_HEAD;
        // Its answer has the time that all of this has.
        limits.head = limit;
        limits.stall = limit;
        let machine = h1::Client::new(limits, clock.now());
        let mut this = Self { machine, clock, proxy, room: Box::new([0; ROOM]) };
        let asked = this.machine.request(&head(to, proxy), Body::Empty, clock.now());
        if asked.is_ok() { Ok(this) } else { Err(this.says(ProxyFault::Ended)) }
    }

    fn says(&self, fault: ProxyFault) -> DialFault {
        DialFault::Proxy { proxy: self.proxy.place().into(), fault }
    }

    /// What to write, from its start. Empty: nothing.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.machine.transmit()
    }

    /// So much of it was written.
    ///
    /// # Errors
    /// None of it was: the proxy takes no more.
    pub fn wrote(&mut self, len: usize) -> Result<(), DialFault> {
        if len == 0 {
            return Err(self.says(ProxyFault::Ended));
        }
        self.machine.handle_written(len, self.clock.now());
        Ok(())
    }

    /// Where the next read goes. It has no more room than is taken at once: what comes behind the proxy's answer must not
    /// get lost.
    ///
    /// # Errors
    /// Nothing can come any more.
    pub fn room(&mut self) -> Result<&mut [u8], DialFault> {
        let buffer = self.machine.read_buffer();
        let most = (buffer.capacity() - buffer.len()).min(ROOM);
        if !self.machine.wants_read() || most == 0 {
            return Err(self.says(ProxyFault::Ended));
        }
        Ok(self.room.get_mut(..most).unwrap_or_default())
    }

    /// So much was read there; 0: the end.
    pub fn read(&mut self, len: usize) {
        let now = self.clock.now();
        if len == 0 {
            self.machine.handle_eof(now);
        } else {
            // All of it: there was no more room than that.
            let _ = self.machine.handle_input(self.room.get(..len).unwrap_or_default(), now);
        }
    }

    /// Whether the way is there.
    ///
    /// # Errors
    /// What the proxy did instead.
    pub fn is_open(&mut self) -> Result<bool, DialFault> {
        while let Some(event) = self.machine.poll_event() {
            let fault = match event {
                h1::ClientEvent::Head(head) if !(200..300).contains(&head.status) => match head.status {
                    407 => ProxyFault::Authorization { given: authorization(self.proxy).is_some() },
                    status => ProxyFault::Refused(status),
                },
                h1::ClientEvent::Closed(Closed::Tunnel(behind)) if behind.is_empty() => return Ok(true),
                // A client speaks first, in HTTP and in TLS.
                h1::ClientEvent::Closed(Closed::Tunnel(_)) => ProxyFault::Unasked,
                h1::ClientEvent::Closed(Closed::Fault(h1::Fault::Truncated)) => ProxyFault::Ended,
                h1::ClientEvent::Closed(Closed::Fault(fault)) => ProxyFault::NotHttp(fault),
                h1::ClientEvent::Closed(_) => ProxyFault::Ended,
                _ => continue,
            };
            return Err(self.says(fault));
        }
        Ok(false)
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

//! What a client is told by its runtime, and whoever writes that down.

use alloc::boxed::Box;

use bytes::Bytes;

use crate::http::client::{Client, Effect, End};
use crate::http::head::{HttpHandle, ResponseHead};
use crate::time::Instant;

/// What a runtime, or a [`Pool`](crate::http::Pool), tells a client. With what the application asks, and when, it is all that
/// decides what a client does.
///
/// `Debug` shows content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Input<'a> {
    /// [`Client::handle_sent`].
    Sent(HttpHandle),
    /// [`Client::handle_head`].
    Head(HttpHandle, &'a ResponseHead),
    /// [`Client::handle_body`].
    Body(HttpHandle, &'a Bytes),
    /// [`Client::handle_end`].
    End(HttpHandle, &'a End),
    /// [`Client::handle_timeout`].
    Timeout,
    /// A connection holds this request until it has left: until then it counts, whether its call needs it or not.
    Leaving(HttpHandle),
    /// Nothing of this request waits to be written any more.
    Left(HttpHandle),
}

/// Is told of every [`Input`] of a [`Client`] and of every [`Effect`] that is taken from it. Called amid other work: it
/// takes notes, and nothing else. What it is told holds credentials and content.
pub trait Witness {
    /// The client was told this, and has done what follows.
    fn told(&mut self, input: &Input<'_>, now: Instant, client: &Client);

    /// This effect was taken.
    fn taken(&mut self, effect: &Effect);
}

impl Client {
    /// Tells `witness` of what comes from now on.
    pub fn witness(&mut self, witness: Box<dyn Witness + Send + Sync>) {
        self.witness = Some(witness);
    }

    /// Any input, as its own method takes it.
    pub fn handle_input(&mut self, input: &Input<'_>, now: Instant) {
        match *input {
            Input::Sent(exchange) => self.handle_sent(exchange, now),
            Input::Head(exchange, head) => self.handle_head(exchange, head, now),
            Input::Body(exchange, piece) => self.handle_body(exchange, piece.clone(), now),
            Input::End(exchange, end) => self.handle_end(exchange, end.clone(), now),
            Input::Timeout => self.handle_timeout(now),
            Input::Leaving(exchange) => self.begin_leaving(exchange, now),
            Input::Left(exchange) => self.has_left(exchange, now),
        }
    }

    /// The first byte of an exchange's request left.
    pub fn handle_sent(&mut self, exchange: HttpHandle, now: Instant) {
        self.sent(exchange, now);
        self.tell(&Input::Sent(exchange), now);
    }

    /// The head of the answer.
    pub fn handle_head(&mut self, exchange: HttpHandle, head: &ResponseHead, now: Instant) {
        self.head(exchange, head, now);
        self.tell(&Input::Head(exchange, head), now);
    }

    /// A piece of its body.
    pub fn handle_body(&mut self, exchange: HttpHandle, piece: Bytes, now: Instant) {
        if self.witness.is_none() {
            return self.body(exchange, piece, now);
        }
        self.body(exchange, piece.clone(), now);
        self.tell(&Input::Body(exchange, &piece), now);
    }

    /// The exchange is over.
    pub fn handle_end(&mut self, exchange: HttpHandle, end: End, now: Instant) {
        if self.witness.is_none() {
            return self.end(exchange, end, now);
        }
        self.end(exchange, end.clone(), now);
        self.tell(&Input::End(exchange, &end), now);
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.time_is(now);
        self.tell(&Input::Timeout, now);
    }

    /// A connection holds this request until it has left, and tells when that is.
    pub(in crate::http) fn begin_leaving(&mut self, exchange: HttpHandle, now: Instant) {
        self.calls.begin_leaving(exchange);
        self.tell(&Input::Leaving(exchange), now);
    }

    /// Nothing of this request waits to be written any more.
    pub(in crate::http) fn has_left(&mut self, exchange: HttpHandle, now: Instant) {
        self.calls.has_left(exchange);
        self.tell(&Input::Left(exchange), now);
    }

    /// What to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        let effect = self.effects.pop_front()?;
        if let Some(witness) = &mut self.witness {
            witness.taken(&effect);
        }
        Some(effect)
    }

    fn tell(&mut self, input: &Input<'_>, now: Instant) {
        if let Some(mut witness) = self.witness.take() {
            witness.told(input, now, self);
            self.witness = Some(witness);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    extern crate std;
    use std::sync::Mutex;

    use super::*;
    use crate::client::{Config, Event};
    use crate::http::Url;
    use crate::http::client::Target;

    const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"x","version":"1"}}}"#;

    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<String>>>);

    impl Witness for Seen {
        fn told(&mut self, input: &Input<'_>, now: Instant, client: &Client) {
            let told = alloc::format!("{now:?} {input:?}, then {:?}", client.poll_timeout());
            self.0.lock().unwrap().push(told);
        }

        fn taken(&mut self, effect: &Effect) {
            self.0.lock().unwrap().push(alloc::format!("{effect:?}"));
        }
    }

    fn client() -> (Client, Seen) {
        let target = Target::new(Url::parse("http://h.example/mcp").unwrap());
        let mut client = Client::new(Config::new("x", "1"), target, [7; 32], Instant::ZERO).unwrap();
        let seen = Seen::default();
        client.witness(Box::new(seen.clone()));
        (client, seen)
    }

    #[test]
    fn every_input_is_witnessed_once_whichever_way_it_came() {
        let at = Instant::from_millis;
        let mut head = ResponseHead::new(200);
        head.fields.push("Content-Type", b"application/json").unwrap();
        let (exchange, piece) = (HttpHandle::numbered(1), Bytes::from_static(DISCOVERED.as_bytes()));
        let (mut one, seen) = client();
        one.poll_effect().unwrap();
        one.begin_leaving(exchange, at(1));
        // The head tells that the request was sent: that is no input of its own.
        one.handle_head(exchange, &head, at(2));
        one.has_left(exchange, at(3));
        one.handle_sent(exchange, at(4));
        one.handle_body(exchange, piece.clone(), at(5));
        one.handle_end(exchange, End::Whole, at(6));
        one.handle_timeout(at(7));
        assert_eq!((one.poll_effect(), one.has_effects()), (None, false));
        assert!(matches!(one.poll_event(), Some(Event::Ready(_))));
        assert_eq!(seen.0.lock().unwrap().len(), 8, "{:?}", seen.0.lock().unwrap());

        let (mut other, again) = client();
        other.poll_effect().unwrap();
        for (millis, input) in (1..).zip([
            Input::Leaving(exchange),
            Input::Head(exchange, &head),
            Input::Left(exchange),
            Input::Sent(exchange),
            Input::Body(exchange, &piece),
            Input::End(exchange, &End::Whole),
            Input::Timeout,
        ]) {
            other.handle_input(&input, at(millis));
        }
        assert_eq!(*seen.0.lock().unwrap(), *again.0.lock().unwrap());
        assert!(matches!(other.poll_event(), Some(Event::Ready(_))));
    }
}

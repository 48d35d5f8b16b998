//! A client over HTTP with its connections, whose inputs and outputs can be written down: those of the client. Its connections
//! and their bytes are not.

use std::ops::{Deref, DerefMut};

use sanswire::Instant;
use sanswire::client::{Config, Event};
use sanswire::error::ConfigError;
use sanswire::http::client::{Client, Effect, End, Input, Target, Witness};
use sanswire::http::{Pool, h1};

use super::calls::{Book, recorded_calls};
use super::file::Recorder;
use super::form::Form;
use super::http::{write_end, write_head};
use super::log::{Log, Then};

/// A [`Pool`] that writes down what its client is given and does, if it has a [`Recorder`]: the calls of the application,
/// which go by this as a [`Link`](sanswire::client::Link), heads and bodies, ends, time, effects and events. What only its
/// connections see is not written down.
#[derive(Debug)]
pub struct RecordedPool {
    pool: Pool,
    log: Option<Book>,
}

impl RecordedPool {
    /// A client that begins at once, and its connections; see [`Client::new`] and [`Pool::new`].
    ///
    /// # Errors
    /// A limit is out of bounds.
    pub fn new(
        config: Config,
        target: Target,
        max_connections: usize,
        seed: [u8; 32],
        now: Instant,
        recorder: Option<&Recorder>,
    ) -> Result<Self, ConfigError> {
        let to_write = recorder.map(|recorder| (recorder, config.clone(), target.clone()));
        let mut client = Client::new(config, target, seed, now)?;
        let log = to_write.and_then(|(recorder, config, target)| {
            Log::begin(recorder, &config, Some(&target), &seed, now, Then::of_http(&client))
        });
        let log = log.map(Book::new);
        if let Some(log) = &log {
            client.witness(Box::new(Notes(log.clone())));
        }
        Ok(Self { pool: Pool::new(client, h1::Limits::default(), max_connections, now), log })
    }

    /// The next event, oldest first; see [`Client::poll_event`].
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.pool.client_mut().poll_event()?;
        if let Some(log) = &self.log {
            log.open().told(&event);
            self.log.take_if(|log| log.open().is_over());
        }
        Some(event)
    }

    fn parts(&mut self) -> (&mut Client, Option<&Book>) {
        (self.pool.client_mut(), self.log.as_ref())
    }
}

recorded_calls!(RecordedPool, Self::parts);

impl Deref for RecordedPool {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        &self.pool
    }
}

impl DerefMut for RecordedPool {
    fn deref_mut(&mut self) -> &mut Pool {
        &mut self.pool
    }
}

/// Writes down what a client is told. Calls of the application tell it nothing, so nobody else has the book open then.
struct Notes(Book);

impl Witness for Notes {
    fn told(&mut self, input: &Input<'_>, now: Instant, client: &Client) {
        let mut log = self.0.open();
        if log.is_over() {
            return;
        }
        let then = Then::of_http(client);
        let (kind, exchange) = match *input {
            Input::Sent(exchange) => ("sent", Some(exchange)),
            Input::Leaving(exchange) => ("leaving", Some(exchange)),
            Input::Left(exchange) => ("left", Some(exchange)),
            Input::Timeout => ("timeout", None),
            Input::Head(exchange, head) => {
                if head.status >= 200 {
                    let events = head.is_of_type("text/event-stream");
                    log.answers(exchange, if events { Form::Events } else { Form::Whole });
                }
                return log.called("head", now, |w, pen| {
                    w.u64("exchange", exchange.number());
                    write_head(w, pen, head);
                    then.write(w);
                });
            }
            Input::Body(exchange, piece) => return log.piece(exchange, piece, now, then),
            Input::End(exchange, end) => {
                log.answered(exchange, *end == End::Whole);
                return log.called("ended", now, |w, _| {
                    w.u64("exchange", exchange.number());
                    write_end(w, end);
                    then.write(w);
                });
            }
            // One that this version does not know: what follows could not be replayed.
            _ => return log.end("an input that this version cannot write down"),
        };
        log.called(kind, now, |w, _| {
            if let Some(exchange) = exchange {
                w.u64("exchange", exchange.number());
            }
            then.write(w);
        });
    }

    fn taken(&mut self, effect: &Effect) {
        self.0.open().taken(effect);
    }
}

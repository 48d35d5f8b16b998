//! A client over one stream of lines whose inputs and outputs can be written down.

use sanswire::client::{Config, Event, LineConnection, Session};
use sanswire::error::ConfigError;
use sanswire::jsonrpc::RawJson;
use sanswire::{Instant, Machine};

use super::calls::{Book, recorded_calls};
use super::file::Recorder;
use super::log::{Log, Then};
use crate::options::Direction;

/// A [`LineConnection`] that writes down all that goes in and comes out, if it has a [`Recorder`]. Without one every call
/// costs a look at whether it has.
#[derive(Debug)]
pub struct RecordedLine {
    machine: LineConnection,
    log: Option<Book>,
    /// How much the read buffer held when it was lent.
    lent: Option<usize>,
}

impl RecordedLine {
    /// A connection that begins at once; see [`LineConnection::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(
        config: Config,
        seed: [u8; 32],
        now: Instant,
        recorder: Option<&Recorder>,
    ) -> Result<Self, ConfigError> {
        let Some(recorder) = recorder else {
            return Ok(Self { machine: LineConnection::new(config, seed, now)?, log: None, lent: None });
        };
        let machine = LineConnection::new(config.clone(), seed, now)?;
        let log = Log::begin(recorder, &config, None, &seed, now, Then::of(&machine));
        Ok(Self { machine, log: log.map(Book::new), lent: None })
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.machine.session()
    }

    /// See [`LineConnection::recycle`]. Not recorded: it changes nothing that can be seen.
    pub fn recycle(&mut self, message: RawJson) {
        self.machine.recycle(message);
    }

    /// See [`LineConnection::retained_bytes`]. What a recording holds back is not among them.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.machine.retained_bytes()
    }

    /// A record that is full, or at its end, costs nothing more.
    fn forget_what_is_over(&mut self) {
        self.log.take_if(|log| log.open().is_over());
    }

    /// Something without a value.
    fn happened(&mut self, kind: &str, now: Instant) {
        if let Some(log) = &self.log {
            let then = Then::of(&self.machine);
            log.open().called(kind, now, |w, _| then.write(w));
        }
    }
}

impl RecordedLine {
    fn parts(&mut self) -> (&mut LineConnection, Option<&Book>) {
        (&mut self.machine, self.log.as_ref())
    }
}

recorded_calls!(RecordedLine, Self::parts);

impl Machine for RecordedLine {
    type Event = Event;

    #[inline]
    fn read_buffer(&mut self) -> &mut Vec<u8> {
        let buffer = self.machine.read_buffer();
        if self.log.is_some() {
            self.lent = Some(buffer.len());
        }
        buffer
    }

    #[inline]
    fn handle_read(&mut self, now: Instant) {
        let Some(log) = &self.log else { return self.machine.handle_read(now) };
        let lent = self.lent.take().unwrap_or(usize::MAX);
        // Lent again, the buffer holds what it held: nothing was taken from it since.
        let read = self.machine.read_buffer().get(lent..).unwrap_or_default().to_vec();
        self.machine.handle_read(now);
        log.open().moved(Direction::Received, &read, now, Then::of(&self.machine));
        self.forget_what_is_over();
    }

    fn handle_eof(&mut self, now: Instant) {
        self.machine.handle_eof(now);
        self.happened("eof", now);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.machine.handle_write_closed(now);
        self.happened("write_closed", now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        self.happened("timeout", now);
    }

    #[inline]
    fn transmit(&self) -> &[u8] {
        self.machine.transmit()
    }

    #[inline]
    fn handle_written(&mut self, len: usize, now: Instant) {
        let Some(log) = &self.log else { return self.machine.handle_written(len, now) };
        let sent = self.machine.transmit().get(..len).unwrap_or_default().to_vec();
        self.machine.handle_written(len, now);
        log.open().moved(Direction::Sent, &sent, now, Then::of(&self.machine));
        self.forget_what_is_over();
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        let event = self.machine.poll_event()?;
        if let Some(log) = &self.log {
            log.open().told(&event);
        }
        Some(event)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn wants_read(&self) -> bool {
        self.machine.wants_read()
    }
}

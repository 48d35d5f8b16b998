//! The contract between a protocol state machine and whatever drives it.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::time::Instant;

/// A protocol state machine over one byte stream: no sockets, clock, randomness, threads or locks.
///
/// A driver moves bytes and tells the time; the machine decides everything else. The calls that take something
/// in are named `handle_*`, those that take something out `poll_*`, and a driver may mix them freely:
///
/// ```text
/// loop:
///   while let Some(event) = poll_event()          { hand it to the application }
///   while transmit() is not empty and the pipe takes it { write; handle_written(n) }
///   wait until readable (only if wants_read()), writable (only if transmit() is not empty) or poll_timeout()
///   readable: append one read to read_buffer(), then handle_read(now); end of input: handle_eof(now)
///   always:   handle_timeout(now)
/// ```
///
/// # Contract
///
/// - `handle_*` never fail and never panic, whatever bytes or instants they are given. What a peer does wrong
///   comes out as an event: a violation (the stream goes on) or one final `Closed`.
/// - Nothing needs to be drained between two inputs; what waits is bounded by [`Limits`](crate::limits::Limits).
/// - After `handle_timeout(now)` and a full drain, `poll_timeout()` is later than `now` or `None`.
/// - The result does not depend on how the stream was cut into reads; all complete frames of a read are decoded
///   in that call.
/// - An instant earlier than the last one counts as the last one.
/// - Same calls, same seed, same instants: same outputs, to the byte.
pub trait Machine {
    /// What the machine tells its application.
    type Event;

    /// The buffer to append one read to. Its spare room is at least one byte while [`wants_read`](Self::wants_read)
    /// holds; a driver fills spare room only and never lets the buffer grow.
    fn read_buffer(&mut self) -> &mut Vec<u8>;

    /// Look at what was appended to [`read_buffer`](Self::read_buffer).
    fn handle_read(&mut self, now: Instant);

    /// The peer will send nothing more.
    fn handle_eof(&mut self, now: Instant);

    /// The peer reads nothing more: what is queued for it is dropped with the requests that it holds, and new
    /// ones are refused. Requests that had begun to leave wait on, since their answers may still come.
    fn handle_write_closed(&mut self, now: Instant);

    /// The time is `now`. Early and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Bytes to write, from their start. Empty: nothing to write.
    fn transmit(&self) -> &[u8];

    /// `len` bytes of [`transmit`](Self::transmit) were written.
    fn handle_written(&mut self, len: usize, now: Instant);

    /// The next event, oldest first. `Closed` is the last one, comes once, and only after everything in
    /// [`transmit`](Self::transmit) was written or given up.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call [`handle_timeout`](Self::handle_timeout) next, at the latest. `None`: only input matters.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether the driver should read. False is back-pressure: events wait to be taken.
    fn wants_read(&self) -> bool;

    /// Copies `data` in, piece by piece, for drivers that own their read buffer (tests, foreign event loops).
    ///
    /// Returns how many bytes were taken: fewer than `data.len()` when [`wants_read`](Self::wants_read) turned
    /// false on the way. Offer the rest again after taking events.
    #[must_use = "what was not taken is to be offered again"]
    fn handle_input(&mut self, data: &[u8], now: Instant) -> usize {
        let mut taken = 0;
        while let Some(rest) = data.get(taken..).filter(|rest| !rest.is_empty()) {
            if !self.wants_read() {
                break;
            }
            let buffer = self.read_buffer();
            let room = buffer.capacity() - buffer.len();
            let piece = rest.get(..room.min(rest.len())).unwrap_or(rest);
            if piece.is_empty() {
                break;
            }
            buffer.extend_from_slice(piece);
            taken += piece.len();
            self.handle_read(now);
        }
        taken
    }

    /// One output at a time, for simple drivers: bytes (copied, and counted as written), else an event, else the
    /// next deadline.
    fn poll_output(&mut self, now: Instant) -> Output<Self::Event> {
        let waiting = self.transmit();
        if !waiting.is_empty() {
            let bytes = Bytes::copy_from_slice(waiting);
            self.handle_written(bytes.len(), now);
            return Output::Transmit(bytes);
        }
        match self.poll_event() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(self.poll_timeout()),
        }
    }
}

/// What [`Machine::poll_output`] gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<E> {
    /// Write these bytes to the peer, all of them; the machine counts them as written.
    Transmit(Bytes),
    /// Tell the application.
    Event(E),
    /// Nothing more now: wait for input, or until this instant.
    Timeout(Option<Instant>),
}

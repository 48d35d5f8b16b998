//! A machine on one stream that is sent any bytes while its application does things: what both roles have in common.

use std::time::Duration;

use sanswire::{Instant, Machine};

/// In an input, the first of what the application does; these bytes are in no UTF-8 text. All below are sent.
const FIRST_ACT: u8 = 0xf8;
/// Stands for many copies of the byte before it: how a short input gets long lines.
const REPEAT: u8 = 0xff;
const COPIES: usize = 1_500;

/// Bytes of an input, and how many copies it may still ask for.
pub(crate) struct Tape {
    room: usize,
}

impl Tape {
    pub(crate) const fn new(room: usize) -> Self {
        Self { room }
    }

    /// What the application does next; `None`: the byte, or copies of the one before it, are `sent`.
    pub(crate) fn take(&mut self, byte: u8, sent: &mut Vec<u8>) -> Option<u8> {
        match byte {
            REPEAT => {
                if let Some(last) = sent.last().copied().filter(|_| self.room > COPIES) {
                    sent.extend(std::iter::repeat_n(last, COPIES));
                    self.room -= COPIES;
                }
                None
            }
            FIRST_ACT.. => Some(byte),
            byte => {
                sent.push(byte);
                None
            }
        }
    }
}

/// What a [`Role`] is played with.
pub(super) struct Stage<'a, M> {
    pub(super) machine: &'a mut M,
    pub(super) now: &'a mut Instant,
    /// Everything that the machine wrote.
    pub(super) written: &'a mut Vec<u8>,
}

/// One side of a stream, with its application; the other side is the input.
pub(super) trait Role {
    type Machine: Machine;

    fn stage(&mut self) -> Stage<'_, Self::Machine>;

    /// Takes all events, and looks whether everything is as it has to be.
    fn look(&mut self);

    fn act(&mut self, what: u8);

    /// The machine took these bytes.
    fn took(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// What is sent and what the application does, in turn.
    fn play(&mut self, history: &[u8]) {
        let (mut tape, mut waiting) = (Tape::new(200_000), Vec::new());
        for byte in history {
            if let Some(what) = tape.take(*byte, &mut waiting) {
                self.read(&mut waiting);
                self.act(what);
            }
        }
        self.read(&mut waiting);
    }

    /// What was sent, as far as it is wanted.
    fn read(&mut self, waiting: &mut Vec<u8>) {
        loop {
            let Stage { machine, now, .. } = self.stage();
            if waiting.is_empty() || !machine.wants_read() {
                return;
            }
            let taken = machine.handle_input(waiting, *now);
            assert!(taken > 0 || !machine.wants_read(), "it wants to read and takes nothing");
            self.took(&waiting[..taken]);
            waiting.drain(..taken);
            self.look();
        }
    }

    /// Everything that waits is written.
    fn write(&mut self) {
        let Stage { machine, now, written } = self.stage();
        while !machine.transmit().is_empty() {
            written.extend_from_slice(machine.transmit());
            machine.handle_written(machine.transmit().len(), *now);
        }
    }

    fn pass(&mut self, time: Duration) {
        let Stage { machine, now, .. } = self.stage();
        *now = now.saturating_add(time);
        machine.handle_timeout(*now);
        self.look();
        let Stage { machine, now, .. } = self.stage();
        let next = machine.poll_timeout();
        assert!(next.is_none_or(|next| next > *now), "a deadline that does not pass");
    }
}

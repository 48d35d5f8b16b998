//! The standard input and output that this process was given, as the two ends of a connection.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::source::Input;
use super::{Interest, Output, Source, Wake};
use crate::os::{Got, StdioReady, Want};

/// The standard input between two who serve it: its thread reads on, for nobody can end that.
static INPUT: Mutex<Place> = Mutex::new(Place::Unused);

#[derive(Debug)]
enum Place {
    Unused,
    Taken,
    Left(Arc<Source>),
}

/// The inherited standard input and output.
///
/// They cannot be moved out of the way with std alone: what a handler, or a child that inherits, prints to standard
/// output lands on the wire, between two writes of this or within one. And what was read ahead, up to 64 KiB, is
/// not there for whoever reads [`io::stdin`] after this.
#[derive(Debug)]
pub(crate) struct StdioEnds {
    source: Arc<Source>,
    output: Arc<Output>,
    left: AtomicBool,
}

impl StdioEnds {
    /// Takes both from this process. `ResourceBusy`: somebody has them still.
    pub(crate) fn take() -> io::Result<Self> {
        let mut input = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
        let source = match std::mem::replace(&mut *input, Place::Taken) {
            Place::Left(source) => Ok(source),
            Place::Unused => Source::start("sanswire-input", io::stdin())
                .map(Arc::new)
                .inspect_err(|_| *input = Place::Unused),
            Place::Taken => {
                let said = "standard input and output are being served already";
                Err(io::Error::new(io::ErrorKind::ResourceBusy, said))
            }
        }?;
        match Output::start(io::stdout(), None, &source) {
            Ok(output) => Ok(Self { source, output: Arc::new(output), left: AtomicBool::new(false) }),
            Err(error) => {
                *input = Place::Left(source);
                Err(error)
            }
        }
    }

    /// Appends one read to `buffer`, within its spare room.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        match Input::PIPE.read(&self.source, buffer) {
            Got::Nothing if self.output.has_failed() => Got::End { broken: true },
            got => got,
        }
    }

    /// Writes what fits now, without waiting. `WouldBlock`: nothing does.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    /// Waits until what is wanted can be done, or `wake` was woken, or `timeout` is over, and sometimes for no
    /// reason. An end or a fault counts as ready: the next read or write finds out. `None`: for ever.
    pub(crate) fn wait(&self, wake: &Wake, want: Want, timeout: Option<Duration>) -> StdioReady {
        let input = want.read.then_some(&*self.source);
        let output = want.write.then(|| Arc::clone(&self.output));
        let ready = Interest { wake, input, stderr: None, output, timeout }.wait();
        let writable = want.write && self.output.writing().is_ready();
        StdioReady { wake: ready.wake, readable: ready.input, writable }
    }

    /// Waits a moment for what was written to leave, and lets others serve, as it happens when this goes: for who is
    /// done with it while another thread holds it still, which should read no more.
    pub(crate) fn leave(&self) {
        if !self.left.swap(true, Ordering::AcqRel) {
            self.output.finish();
            *INPUT.lock().unwrap_or_else(PoisonError::into_inner) = Place::Left(Arc::clone(&self.source));
        }
    }
}

impl Drop for StdioEnds {
    fn drop(&mut self) {
        self.leave();
    }
}

//! The server's process as the client started it: a relay that has come.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::process::MOST_LINE;
use crate::relay::{End, INPUT, INPUT_END, Listener, SIGNAL, read_frame};

/// What a relay told. `launch`: of the how manieth start it is, from 0.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) launch: usize,
    pub(crate) at: Instant,
    pub(crate) told: Told,
}

#[derive(Debug)]
pub(crate) enum Told {
    /// It is there.
    Started(End),
    /// A line of what the client says, without its line feed. `ended`: there was one.
    Line { bytes: Vec<u8>, ended: bool },
    /// The client has ended the input.
    InputEnd,
    /// It got this signal.
    Signal(u8),
    /// It is no more.
    Gone,
}

/// Where relays come, as many as the client starts.
#[derive(Debug)]
pub(crate) struct Door {
    listener: Arc<Listener>,
    closed: Arc<AtomicBool>,
    /// Who waits for relays.
    waiting: Option<JoinHandle<()>>,
    pub(crate) events: Receiver<Event>,
}

impl Door {
    pub(crate) fn new() -> io::Result<Self> {
        let listener = Arc::new(Listener::new()?);
        let closed = Arc::new(AtomicBool::new(false));
        let (tell, events) = channel();
        let (door, shut) = (Arc::clone(&listener), Arc::clone(&closed));
        let waiting = thread::Builder::new().name("check door".into()).spawn(move || {
            for launch in 0.. {
                let end = door.accept();
                if shut.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(end) = end else { continue };
                let tell = tell.clone();
                let listening = thread::Builder::new().name("check relay".into());
                let _ = listening.spawn(move || listen(launch, end, &tell));
            }
        })?;
        Ok(Self { listener, closed, waiting: Some(waiting), events })
    }

    pub(crate) fn address(&self) -> OsString {
        self.listener.address()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.listener.folder()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Nothing else wakes it; and what it holds of the listener, and so of its folder, is to be gone with this.
        if crate::relay::connect(&self.listener.address()).is_ok()
            && let Some(waiting) = self.waiting.take()
        {
            let _ = waiting.join();
        }
    }
}

fn listen(launch: usize, mut end: End, to: &Sender<Event>) {
    let tell = |told| to.send(Event { launch, at: Instant::now(), told }).is_ok();
    let Ok(writer) = end.try_clone() else { return };
    if !tell(Told::Started(writer)) {
        return;
    }
    let mut pending = Vec::new();
    while let Ok((kind, bytes)) = read_frame(&mut end) {
        let told = match kind {
            INPUT => {
                let mut rest = &bytes[..];
                while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                    pending.extend_from_slice(&rest[..at]);
                    if !tell(Told::Line { bytes: std::mem::take(&mut pending), ended: true }) {
                        return;
                    }
                    rest = &rest[at + 1..];
                }
                pending.extend_from_slice(rest);
                if pending.len() <= MOST_LINE {
                    continue;
                }
                Told::Line { bytes: std::mem::take(&mut pending), ended: false }
            }
            INPUT_END => {
                if !pending.is_empty()
                    && !tell(Told::Line { bytes: std::mem::take(&mut pending), ended: false })
                {
                    return;
                }
                Told::InputEnd
            }
            SIGNAL => Told::Signal(bytes.first().copied().unwrap_or_default()),
            _ => continue,
        };
        if !tell(told) {
            return;
        }
    }
    tell(Told::Gone);
}

//! The program that is checked: its process and its three pipes.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sanswire_system::Command;
use sanswire_system::launch::prepare;

/// The longest line that is taken: nobody sends a longer one by mistake.
pub(crate) const MOST_LINE: usize = 32 << 20;
/// How many lines may wait: a server that says more waits until they are read.
const WAITING: usize = 1024;

/// How long the rest of standard error is waited for behind the end of standard output.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What came from the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A line of standard output, without its line feed. `ended`: there was one.
    Line { bytes: Vec<u8>, ended: bool },
    /// A line that was longer than any may be. Nothing more is read.
    TooLong,
    /// The end of standard output.
    End,
}

/// A program that runs.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Heard>,
    stderr: Receiver<Vec<u8>>,
    gate: Arc<Gate>,
    ended: bool,
    /// Until when its last words on standard error are waited for, once its output has ended.
    last_words: Option<Instant>,
}

/// Whether standard output is read.
#[derive(Debug, Default)]
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn shut(&self) -> MutexGuard<'_, bool> {
        self.shut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) {
        let _open = self.opened.wait_while(self.shut(), |shut| *shut);
    }
}

/// What is read only while the gate is open.
struct Gated<R>(R, Arc<Gate>);

impl<R: io::Read> io::Read for Gated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.pass();
        self.0.read(buffer)
    }
}

impl Process {
    pub(crate) fn start(command: &Command) -> io::Result<Self> {
        let mut system = prepare(command, None, false).map_err(io::Error::other)?.system;
        system.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sanswire_system::os::bind_to_parent(&mut system);
        let mut child = system.spawn()?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the program has no pipes"));
        };
        let (say, said) = sync_channel::<Vec<u8>>(WAITING);
        thread::Builder::new().name("check input".into()).spawn(move || write_all(stdin, &said))?;
        let (hear, output) = sync_channel(WAITING);
        let gate = Arc::new(Gate::default());
        let mut stdout = Gated(stdout, Arc::clone(&gate));
        thread::Builder::new().name("check output".into()).spawn(move || {
            lines(&mut stdout, &hear);
        })?;
        let (complain, complaints) = sync_channel(WAITING);
        thread::Builder::new().name("check stderr".into()).spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(len @ 1..) = stderr.read(&mut buffer) {
                // What does not fit is dropped: a server must not wait for its log to be read.
                let _ = complain.try_send(buffer[..len].to_vec());
            }
        })?;
        Ok(Self { child, input: Some(say), output, stderr: complaints, gate, ended: false, last_words: None })
    }

    /// Says it, now or as soon as the program reads. Whether there is still an input.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> bool {
        self.input.as_ref().is_some_and(|input| input.try_send(bytes.to_vec()).is_ok())
    }

    /// Ends standard input, behind what was said.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Reads no more of its output, or goes on. What is read already is heard all the same.
    pub(crate) fn hold_output(&self, hold: bool) {
        *self.gate.shut() = hold;
        self.gate.opened.notify_all();
    }

    /// Closes its output, as soon as it says one more line: that one is lost.
    pub(crate) fn close_output(&mut self) {
        self.output = sync_channel(0).1;
    }

    /// What comes next, if anything comes by then.
    pub(crate) fn hear(&mut self, until: Instant) -> Option<Heard> {
        if self.ended {
            return Some(Heard::End);
        }
        let heard = match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        };
        self.ended = matches!(heard, Heard::End | Heard::TooLong);
        if self.ended {
            self.last_words = Some(Instant::now() + LAST_WORDS);
        }
        Some(heard)
    }

    /// What it has written to standard error since. Of one whose output has ended that is the rest, for which it waits a
    /// moment: what was written may be on its way, and another process may keep standard error open.
    pub(crate) fn complaints(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let wait = |it: &Self| it.last_words.map_or(Duration::ZERO, left);
        while let Ok(bytes) = self.stderr.recv_timeout(wait(self)) {
            all.extend(bytes);
        }
        all
    }

    /// How it exited, if it does by then.
    pub(crate) fn exit(&mut self, until: Instant) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::sleep(left.min(Duration::from_millis(5)));
        }
    }

    /// Asks it and its relatives to end, where the system can ask.
    pub(crate) fn terminate(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends it and its relatives.
    pub(crate) fn kill(&mut self) {
        self.input = None;
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ = self.child.kill();
    }

    /// Sends it and its relatives a signal, where the system has those.
    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

impl Drop for Process {
    /// Nothing is left of it and its relatives. It is waited for last, so that its number is not another's by then.
    fn drop(&mut self) {
        self.kill();
        self.hold_output(false);
        let _ = self.child.wait();
    }
}

fn write_all(mut stdin: ChildStdin, said: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = said.recv() {
        if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Cuts what comes into lines.
fn lines(from: &mut impl io::Read, to: &SyncSender<Heard>) {
    let (mut line, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let len = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut rest = &buffer[..len];
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            line.extend_from_slice(&rest[..at]);
            if to.send(Heard::Line { bytes: std::mem::take(&mut line), ended: true }).is_err() {
                return;
            }
            rest = &rest[at + 1..];
        }
        line.extend_from_slice(rest);
        if line.len() > MOST_LINE {
            let _ = to.send(Heard::TooLong);
            return;
        }
    }
    if !line.is_empty() {
        let _ = to.send(Heard::Line { bytes: line, ended: false });
    }
    let _ = to.send(Heard::End);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_while_the_gate_is_shut() {
        let gate = Arc::new(Gate::default());
        *gate.shut() = true;
        let (to, from) = sync_channel(16);
        let mut input = Gated(io::Cursor::new(b"a\n".to_vec()), Arc::clone(&gate));
        let reader = thread::spawn(move || lines(&mut input, &to));
        assert_eq!(from.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout));
        *gate.shut() = false;
        gate.opened.notify_all();
        reader.join().unwrap();
        assert_eq!(from.try_iter().count(), 2);
    }

    #[test]
    fn lines_are_cut_whatever_the_reads_are() {
        let (to, from) = sync_channel(16);
        let mut input = io::Cursor::new(b"a\n\nbc\r\nd".to_vec()).chain(io::Cursor::new(b"e".to_vec()));
        lines(&mut input, &to);
        let line = |bytes: &[u8], ended| Heard::Line { bytes: bytes.to_vec(), ended };
        let heard: Vec<_> = from.try_iter().collect();
        assert_eq!(
            heard,
            [line(b"a", true), line(b"", true), line(b"bc\r", true), line(b"de", false), Heard::End]
        );
    }
}

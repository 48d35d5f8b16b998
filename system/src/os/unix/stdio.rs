//! The standard input and output that this process was given, as the two ends of a connection.
//!
//! They are shared: with a terminal and its other programs, with siblings, with the parent perhaps. So they are
//! never set non-blocking, which is a property of what is shared. A read comes after a poll; a write uses whatever
//! way this kind of descriptor has to say that it must not wait.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::pipe::PIPE_BUF;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use sanswire::limits::MAX_READ_BYTES;

use super::input::Input;
use crate::os::Got;

/// Whether somebody serves them already.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The inherited standard input and output, under private descriptors that no child gets.
///
/// While this lives, standard input is empty and what is printed goes to standard error: a stray print, a handler
/// that reads, a child that inherits, nothing of that touches the wire. When it goes, or is left, both are as they
/// were.
/// What waits in std's own buffers stays there: bytes that were read from [`io::stdin`] before are not served, and
/// the unfinished line of a print is written to wherever standard output points when the line ends.
#[derive(Debug)]
pub struct StdioEnds {
    /// `None`: it was closed.
    input: Option<OwnedFd>,
    known: Mutex<Input>,
    /// Somebody found it readable, and nothing was read since.
    readable: AtomicBool,
    /// `None`: it was closed.
    output: Option<OwnedFd>,
    way: Way,
    #[cfg(target_os = "linux")]
    pipe: Pipe,
    /// Both were taken from this process; where they were, others are now. Cleared by whoever puts them back.
    taken: AtomicBool,
    input_moved: AtomicBool,
    output_moved: AtomicBool,
}

/// What was found out about an output that is a pipe.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
struct Pipe {
    /// It takes no writes that must not wait.
    refused: AtomicBool,
    /// It was asked to hold more.
    deepened: AtomicBool,
}

/// How to write without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pipe,
    Socket,
    /// A disk counts as fast.
    File,
    /// Terminals and devices, and pipes where the system knows nothing better: little after a poll each.
    Careful,
}

/// What a descriptor is of.
struct Kind {
    way: Way,
    place: (u64, u64),
}

/// Looks at what a descriptor is of.
fn look(fd: OwnedFd) -> io::Result<(OwnedFd, Kind)> {
    let file = File::from(fd);
    let found = file.metadata()?;
    let way = match found.file_type() {
        is if is.is_fifo() => Way::Pipe,
        is if is.is_socket() => Way::Socket,
        is if is.is_file() => Way::File,
        _ => Way::Careful,
    };
    Ok((file.into(), Kind { way, place: (found.dev(), found.ino()) }))
}

/// A copy that lies above the standard three. `None`: it is closed.
fn copy(fd: impl AsFd) -> io::Result<Option<OwnedFd>> {
    match rustix::io::fcntl_dupfd_cloexec(fd, 3) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::BADF) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

impl StdioEnds {
    /// Takes both from this process.
    ///
    /// # Errors
    /// `ResourceBusy`: somebody has them still. Else the system gives no descriptors.
    pub fn take() -> io::Result<Self> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            let said = "standard input and output are being served already";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, said));
        }
        let taken = Self::take_over().inspect_err(|_| TAKEN.store(false, Ordering::Release))?;
        taken.taken.store(true, Ordering::Release);
        Ok(taken)
    }

    fn take_over() -> io::Result<Self> {
        let ends = Self::new(copy(io::stdin())?, copy(io::stdout())?)?;
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        if ends.input.is_some() {
            dup2_stdin(&nothing)?;
            ends.input_moved.store(true, Ordering::Release);
        }
        if let Some(output) = &ends.output {
            let place = |fd| Ok::<_, io::Error>(look(fd)?.1.place);
            let errors = copy(io::stderr())?;
            // A shell's `2>&1` makes the wire of both. What is printed to the one can be kept away at least.
            let same = match (&errors, ends.way) {
                (None, _) => true,
                (Some(errors), Way::Pipe | Way::Socket) => {
                    place(errors.try_clone()?)? == place(output.try_clone()?)?
                }
                _ => false,
            };
            match errors {
                Some(errors) if !same => dup2_stdout(&errors)?,
                _ => dup2_stdout(&nothing)?,
            }
            ends.output_moved.store(true, Ordering::Release);
        }
        Ok(ends)
    }

    /// Two ends of any kind, which nothing is done to. `None`: that one is closed.
    ///
    /// # Errors
    /// The system's own, when it is asked of what kind they are.
    pub fn new(input: Option<OwnedFd>, output: Option<OwnedFd>) -> io::Result<Self> {
        let input = input.map(look).transpose()?;
        let output = output.map(look).transpose()?;
        let known = match input.as_ref().map(|(_, kind)| kind.way) {
            Some(Way::Pipe) => Input::PIPE,
            Some(Way::Socket) => Input::SHARED_SOCKET,
            _ => Input::FILE,
        };
        Ok(Self {
            known: Mutex::new(known),
            readable: AtomicBool::new(false),
            input: input.map(|(fd, _)| fd),
            way: output.as_ref().map_or(Way::Careful, |(_, kind)| kind.way),
            output: output.map(|(fd, _)| fd),
            #[cfg(target_os = "linux")]
            pipe: Pipe::default(),
            taken: AtomicBool::new(false),
            input_moved: AtomicBool::new(false),
            output_moved: AtomicBool::new(false),
        })
    }

    /// Puts both back where they were, as it happens when this goes: for who is done with it while another thread
    /// holds it still. What that thread reads and writes here is the wire as before.
    pub fn leave(&self) {
        if let Some(output) = &self.output
            && self.output_moved.swap(false, Ordering::AcqRel)
        {
            let _ = dup2_stdout(output);
        }
        if let Some(input) = &self.input
            && self.input_moved.swap(false, Ordering::AcqRel)
        {
            let _ = dup2_stdin(input);
        }
        if self.taken.swap(false, Ordering::AcqRel) {
            TAKEN.store(false, Ordering::Release);
        }
    }

    /// What is read from. `None`: it was closed.
    #[must_use]
    pub fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd)
    }

    /// What is written to. `None`: it was closed.
    #[must_use]
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        self.output.as_ref().map(AsFd::as_fd)
    }

    /// A wait has found the input readable: the next [`read`](Self::read) does not ask again.
    pub fn found_readable(&self) {
        self.readable.store(true, Ordering::Relaxed);
    }

    /// As on a system that knows no better way for pipes.
    #[must_use]
    pub fn without_nowait(self) -> Self {
        #[cfg(target_os = "linux")]
        self.pipe.refused.store(true, Ordering::Relaxed);
        self
    }

    /// Appends one read to `buffer`, within its spare room. After a wait that [found it
    /// readable](Self::found_readable), or this has to ask first. It may block only where others take from the same input.
    #[must_use]
    pub fn read(&self, buffer: &mut Vec<u8>) -> Got {
        let Some(fd) = &self.input else { return Got::End { broken: false } };
        if !self.readable.swap(false, Ordering::Relaxed) && !is_ready(fd, PollFlags::IN) {
            return Got::Nothing;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let got = known.read(fd, buffer);
        if let Got::Bytes { len: MAX_READ_BYTES.., .. } = got {
            known.deepen(fd);
        }
        got
    }

    /// Writes what fits now, without waiting. Only a terminal that was stopped, and a
    /// slow disk, may hold this up; and on systems without NOWAIT a pipe that somebody else fills at this moment.
    ///
    /// # Errors
    /// `WouldBlock`: nothing fits. A pipe that nobody reads gives the system's error (and SIGPIPE, which std ignores from
    /// the start of a Rust program).
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let Some(fd) = &self.output else { return Err(io::ErrorKind::BrokenPipe.into()) };
        match self.way {
            Way::Pipe => self.write_pipe(fd, bytes),
            Way::Socket => send_flags(fd, bytes, SendFlags::DONTWAIT),
            Way::File => Ok(rustix::io::retry_on_intr(|| rustix::io::write(fd, bytes))?),
            Way::Careful => write_carefully(fd, bytes),
        }
    }

    #[cfg(target_os = "linux")]
    fn write_pipe(&self, fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
        if self.pipe.refused.load(Ordering::Relaxed) {
            return write_carefully(fd, bytes);
        }
        let mut wrote = write_nowait(fd, bytes);
        let left = bytes.len() - wrote.unwrap_or(0);
        if left > MAX_READ_BYTES
            && matches!(wrote, Ok(_) | Err(Errno::AGAIN))
            && !self.pipe.deepened.swap(true, Ordering::Relaxed)
            && rustix::pipe::fcntl_setpipe_size(fd, 1024 * 1024).is_ok()
        {
            // Big messages cost few changes between the two processes then.
            let before = wrote.unwrap_or(0);
            wrote = match write_nowait(fd, bytes.get(before..).unwrap_or_default()) {
                Ok(more) => Ok(before + more),
                Err(_) if before > 0 => Ok(before),
                error => error,
            };
        }
        match wrote {
            Ok(len) => Ok(len),
            // An older system, or a strict one, in several dialects.
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::SPIPE | Errno::PERM) => {
                self.pipe.refused.store(true, Ordering::Relaxed);
                write_carefully(fd, bytes)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn write_pipe(&self, fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
        write_carefully(fd, bytes)
    }
}

impl Drop for StdioEnds {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(target_os = "linux")]
fn write_nowait(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    use rustix::io::{IoSlice, ReadWriteFlags, pwritev2, retry_on_intr};
    /// Behind what was written last, as if there were such a place in a pipe.
    const HERE: u64 = u64::MAX;
    retry_on_intr(|| pwritev2(fd, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT))
}

fn is_ready(fd: &OwnedFd, flags: PollFlags) -> bool {
    let mut fds = [PollFd::new(fd, flags)];
    matches!(rustix::event::poll(&mut fds, Some(&Timespec::default())), Ok(1..))
}

/// As much after a poll as a pipe takes at once then.
fn write_carefully(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let mut wrote = 0;
    for piece in bytes.chunks(PIPE_BUF) {
        let write = || rustix::io::retry_on_intr(|| rustix::io::write(fd, piece));
        let done = if is_ready(fd, PollFlags::OUT) { write() } else { Err(Errno::AGAIN) };
        match done {
            Ok(len) => wrote += len,
            Err(_) if wrote > 0 => break,
            Err(errno) => return Err(errno.into()),
        }
        if done != Ok(piece.len()) {
            break;
        }
    }
    Ok(wrote)
}

/// Sends what fits, without a signal. It waits where the socket does.
///
/// # Errors
/// The system's own.
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    send_flags(fd, bytes, SendFlags::empty())
}

fn send_flags(fd: &OwnedFd, bytes: &[u8], flags: SendFlags) -> io::Result<usize> {
    #[cfg(not(target_vendor = "apple"))]
    let flags = flags | SendFlags::NOSIGNAL;
    Ok(rustix::io::retry_on_intr(|| rustix::net::send(fd, bytes, flags))?)
}

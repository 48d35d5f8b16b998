//! The inherited standard input and output: every kind of descriptor that a host may give.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal};

use super::{child, in_child};
use crate::os::{Got, StdioEnds, StdioReady, Wake, Want};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);
const READ: Want = Want::READ;
const WRITE: Want = Want { read: false, write: true };

fn pipe() -> (OwnedFd, OwnedFd) {
    let (theirs, ours) = io::pipe().unwrap();
    (theirs.into(), ours.into())
}

fn ends(input: impl Into<OwnedFd>, output: impl Into<OwnedFd>) -> StdioEnds {
    StdioEnds::new(Some(input.into()), Some(output.into())).unwrap()
}

fn nothing() -> File {
    File::options().read(true).write(true).open("/dev/null").unwrap()
}

fn wait(ends: &StdioEnds, want: Want, timeout: Duration) -> StdioReady {
    ends.wait(&Wake::new().unwrap(), want, Some(timeout))
}

/// One read, after a poll.
fn read(ends: &StdioEnds, buffer: &mut Vec<u8>) -> Got {
    let started = Instant::now();
    while !wait(ends, READ, LONG).readable {
        assert!(started.elapsed() < LONG);
    }
    ends.read(buffer)
}

fn blocks(fd: impl AsFd) -> bool {
    !rustix::fs::fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

/// Writes until nothing fits any more.
fn fill(ends: &StdioEnds, piece: &[u8]) -> Vec<u8> {
    let mut wrote = Vec::new();
    loop {
        match ends.write(piece) {
            Ok(len) => {
                assert!(len > 0 && len <= piece.len());
                wrote.extend_from_slice(&piece[..len]);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return wrote;
            }
        }
    }
}

/// A peer that does not read fills what lies between; then it reads all of it, and is told nothing twice.
fn check_full(ends: &StdioEnds, mut peer: impl Read, output: impl AsFd) {
    let piece: Vec<u8> = (0..70_001u32).map(|n| (n % 251) as u8).collect();
    let mut wrote = fill(ends, &piece);
    assert!(blocks(&output) && !wait(ends, WRITE, SHORT).writable);
    let mut got = vec![0; wrote.len()];
    peer.read_exact(&mut got).unwrap();
    assert!(got == wrote);
    assert!(wait(ends, WRITE, LONG).writable);
    wrote = fill(ends, b"a message\n");
    assert!(blocks(output) && !wait(ends, WRITE, SHORT).writable);
    let mut got = vec![0; wrote.len()];
    peer.read_exact(&mut got).unwrap();
    assert!(got == wrote);
}

#[test]
fn a_full_pipe_is_not_waited_for() {
    let (theirs, ours) = pipe();
    let kept = ours.try_clone().unwrap();
    check_full(&ends(nothing(), ours), File::from(theirs), kept);
}

#[test]
fn nor_where_the_system_knows_no_such_write() {
    let (theirs, ours) = pipe();
    let kept = ours.try_clone().unwrap();
    check_full(&ends(nothing(), ours).without_nowait(), File::from(theirs), kept);
}

/// Linux refuses such a write to a pipe that has a name.
#[cfg(target_os = "linux")]
#[test]
fn nor_a_full_pipe_with_a_name() {
    let place = Scratch::new("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &place.0, rustix::fs::Mode::RWXU).unwrap();
    let theirs = File::options().read(true).write(true).open(&place.0).unwrap();
    let ours = File::options().write(true).open(&place.0).unwrap();
    let kept = ours.try_clone().unwrap();
    check_full(&ends(nothing(), ours), theirs, kept);
}

#[test]
fn nor_a_full_socket() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let kept = ours.try_clone().unwrap();
    check_full(&ends(nothing(), ours), theirs, kept);
}

#[test]
fn a_write_of_a_megabyte_makes_a_pipe_deeper() {
    let (theirs, ours) = pipe();
    let ends = ends(nothing(), ours);
    assert_eq!(ends.write(&[0; 65536]).unwrap(), 65536);
    assert_eq!(ends.write(b"x").unwrap_err().kind(), ErrorKind::WouldBlock);
    #[cfg(target_os = "linux")]
    {
        let before = rustix::pipe::fcntl_getpipe_size(&theirs).unwrap();
        assert!(ends.write(&[0; 1 << 20]).unwrap() >= (1 << 20) - before);
        assert_eq!(rustix::pipe::fcntl_getpipe_size(&theirs).unwrap(), 1 << 20);
    }
    drop(theirs);
}

#[test]
fn a_pipe_is_read_and_grows_only_for_one_who_fills_it() {
    let (ours, theirs) = pipe();
    let mut theirs = File::from(theirs);
    let kept = ours.try_clone().unwrap();
    let ends = ends(ours, nothing());
    assert!(!wait(&ends, READ, SHORT).readable);
    theirs.write_all(b"one\n").unwrap();
    let mut buffer = Vec::with_capacity(1 << 20);
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 4, full: false });
    let mut none = Vec::new();
    assert_eq!((ends.read(&mut none), none.capacity()), (Got::Nothing, 0));
    // Nobody waited for it.
    assert_eq!(ends.read(&mut buffer), Got::Nothing);
    theirs.write_all(b"two\n").unwrap();
    assert_eq!(ends.read(&mut buffer), Got::Bytes { len: 4, full: false });
    theirs.write_all(&[1; 65536]).unwrap();
    #[cfg(target_os = "linux")]
    assert_eq!(rustix::pipe::fcntl_getpipe_size(&kept).unwrap(), 65536);
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 65536, full: true });
    #[cfg(target_os = "linux")]
    {
        assert_eq!(rustix::pipe::fcntl_getpipe_size(&kept).unwrap(), 1 << 20);
        // More lies there now than one read may bring.
        theirs.write_all(&[2; 100_000]).unwrap();
        assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 65536, full: true });
        assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 34464, full: false });
    }
    drop(theirs);
    assert_eq!(read(&ends, &mut buffer), Got::End { broken: false });
    assert!(blocks(kept));
}

#[test]
fn a_socket_may_be_both_at_once() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let kept = ours.try_clone().unwrap();
    let ends = ends(ours.try_clone().unwrap(), ours);
    let mut buffer = Vec::with_capacity(100_000);
    // It is asked without a poll here, and does not block.
    assert_eq!(ends.read(&mut buffer), Got::Nothing);
    assert_eq!(ends.read(&mut Vec::with_capacity(10)), Got::Nothing);
    theirs.write_all(b"ping").unwrap();
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 4, full: false });
    ends.write(b"pong").unwrap();
    let mut pong = [0; 4];
    theirs.read_exact(&mut pong).unwrap();
    assert_eq!((&buffer[..], &pong), (&b"ping"[..], b"pong"));
    drop(theirs);
    assert_eq!(read(&ends, &mut buffer), Got::End { broken: false });
    assert_eq!(ends.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert!(blocks(kept));
}

/// A file that is gone when this is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("sanswire-{name}-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn files_are_always_ready() {
    let (input, output) = (Scratch::new("input"), Scratch::new("output"));
    std::fs::write(&input.0, [b'x'; 70_000]).unwrap();
    let ends = ends(File::open(&input.0).unwrap(), File::create(&output.0).unwrap());
    let both = wait(&ends, Want { read: true, write: true }, LONG);
    assert_eq!(both, StdioReady { wake: false, readable: true, writable: true });
    let mut buffer = Vec::with_capacity(100_000);
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 65536, full: true });
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 4464, full: false });
    assert_eq!(read(&ends, &mut buffer), Got::End { broken: false });
    assert_eq!(ends.write(&[b'y'; 1 << 20]).unwrap(), 1 << 20);
    assert_eq!(ends.write(b"z").unwrap(), 1);
    assert_eq!(std::fs::metadata(&output.0).unwrap().len(), (1 << 20) + 1);
}

#[test]
fn nothing_to_read_and_nowhere_to_write() {
    let null = ends(nothing(), nothing());
    assert_eq!(read(&null, &mut Vec::with_capacity(10)), Got::End { broken: false });
    assert_eq!(null.write(&[0; 10_000]).unwrap(), 10_000);
    let closed = StdioEnds::new(None, None).unwrap();
    let both = closed.wait(&Wake::new().unwrap(), Want { read: true, write: true }, None);
    assert_eq!(both, StdioReady { wake: false, readable: true, writable: true });
    assert_eq!(closed.read(&mut Vec::with_capacity(10)), Got::End { broken: false });
    assert_eq!(closed.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_terminal_is_read_by_lines_and_stays_as_it_was() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let Ok(theirs) = openpt(flags) else { return eprintln!("this system gives no terminal to a test") };
    grantpt(&theirs).and_then(|()| unlockpt(&theirs)).unwrap();
    let name = ptsname(&theirs, Vec::new()).unwrap().into_string().unwrap();
    let ours = File::options().read(true).write(true).open(name).unwrap();
    let mut mode = rustix::termios::tcgetattr(&ours).unwrap();
    mode.local_modes.remove(rustix::termios::LocalModes::ECHO);
    rustix::termios::tcsetattr(&ours, rustix::termios::OptionalActions::Now, &mode).unwrap();
    let kept = ours.try_clone().unwrap();
    let ends = ends(ours.try_clone().unwrap(), ours);
    rustix::io::write(&theirs, b"half a line").unwrap();
    assert!(!wait(&ends, READ, SHORT).readable);
    rustix::io::write(&theirs, b"\n").unwrap();
    let mut buffer = Vec::with_capacity(100);
    assert_eq!(read(&ends, &mut buffer), Got::Bytes { len: 12, full: false });
    assert_eq!(ends.write(b"{}\n").unwrap(), 3);
    let mut shown = [0; 10];
    let len = rustix::io::read(&theirs, &mut shown).unwrap();
    assert_eq!(&shown[..len], b"{}\r\n");
    assert!(blocks(kept));
}

#[test]
fn a_pipe_that_nobody_reads_is_told_of() {
    for nowait in [true, false] {
        let (theirs, ours) = pipe();
        let ends = ends(nothing(), ours);
        let ends = if nowait { ends } else { ends.without_nowait() };
        fill(&ends, &[0; 1000]);
        drop(theirs);
        assert!(wait(&ends, WRITE, LONG).writable);
        assert_eq!(ends.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}

#[test]
fn one_who_wants_nothing_is_told_once_that_nobody_is_there() {
    let (kept, input) = pipe();
    let (theirs, output) = pipe();
    let ends = ends(kept, output);
    fill(&ends, b"x");
    drop(input);
    assert_eq!(wait(&ends, Want::NOTHING, SHORT), StdioReady::default());
    drop(theirs);
    let gone = StdioReady { wake: false, readable: false, writable: true };
    for _ in 0..2 {
        assert_eq!(wait(&ends, Want::NOTHING, LONG), gone);
        assert_eq!(wait(&ends, Want::NOTHING, SHORT), StdioReady::default());
        assert!(wait(&ends, READ, LONG).readable);
    }
}

#[test]
fn a_wake_ends_a_wait_and_lasts_until_it_is_cleared() {
    let (ours, theirs) = pipe();
    let ends = ends(ours, nothing());
    let wake = Wake::new().unwrap();
    let woken = StdioReady { wake: true, readable: false, writable: false };
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            wake.wake();
        });
        assert_eq!(ends.wait(&wake, READ, Some(LONG)), woken);
    });
    assert_eq!(ends.wait(&wake, READ, None), woken);
    assert_eq!(ends.wait(&wake, Want::NOTHING, None), woken);
    assert!(started.elapsed() < LONG);
    wake.clear();
    let started = Instant::now();
    assert_eq!(ends.wait(&wake, READ, Some(SHORT)), StdioReady::default());
    assert!(started.elapsed() >= SHORT);
    drop(theirs);
    assert!(ends.wait(&wake, READ, Some(LONG)).readable);
    // What is not wanted does not end a wait, not even by an end.
    assert_eq!(ends.wait(&wake, Want::NOTHING, Some(SHORT)), StdioReady::default());
}

#[test]
fn what_others_print_and_read_is_not_the_wire() {
    let mut served = child("stdio::in_a_child_that_takes_its_own")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    served.stdin.take().unwrap().write_all(b"request\nrest\n").unwrap();
    let mut stdout = String::new();
    served.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    // Its own child lives still and keeps standard error open, but not the wire, which ended.
    let wire: Vec<&str> = stdout.lines().filter(|line| line.starts_with("wire ")).collect();
    let [wire] = wire[..] else { panic!("{stdout}") };
    let pid = Pid::from_raw(wire["wire ".len()..].parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    let mut stderr = String::new();
    served.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(served.wait().unwrap().success(), "{stdout}{stderr}");
    assert!(
        stdout.contains("after\n") && stdout.contains("after that\n") && stdout.contains("1 passed"),
        "{stdout}"
    );
    assert!(!stdout.contains("stray"), "{stdout}");
    assert!(stderr.contains("a stray print") && stderr.contains("a child's stray"), "{stderr}");
}

#[test]
#[ignore = "takes the standard input and output of a process of its own"]
fn in_a_child_that_takes_its_own() {
    if !in_child() {
        return;
    }
    let ends = StdioEnds::take().unwrap();
    assert_eq!(StdioEnds::take().unwrap_err().kind(), ErrorKind::ResourceBusy);
    println!("a stray print");
    let echo = Command::new("sh").args(["-c", "echo \"a child's stray $(cat)\""]).status().unwrap();
    assert!(echo.success());
    assert_eq!(io::stdin().read(&mut [0; 10]).unwrap(), 0);
    let mut request = Vec::with_capacity(8);
    assert_eq!(read(&ends, &mut request), Got::Bytes { len: 8, full: true });
    assert_eq!(request, b"request\n");
    #[expect(clippy::zombie_processes, reason = "it outlives this process, and is ended from outside")]
    let outlives = Command::new("sleep").arg("60").spawn().unwrap();
    ends.write(format!("wire {}\n", outlives.id()).as_bytes()).unwrap();
    drop(ends);
    assert!(blocks(io::stdin()) && blocks(io::stdout()));
    println!("after");
    let mut rest = String::new();
    io::stdin().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "rest\n");
    // Once more. A thread that holds it for ever is no hindrance.
    let ends = Arc::new(StdioEnds::take().unwrap());
    std::mem::forget(Arc::clone(&ends));
    ends.leave();
    println!("after that");
    let ends = StdioEnds::take().unwrap();
    assert_eq!(read(&ends, &mut Vec::with_capacity(8)), Got::End { broken: false });
}

#[test]
fn one_pipe_for_both_outputs_keeps_prints_to_the_one_away() {
    let (theirs, ours) = pipe();
    let mut served = child("stdio::in_a_child_with_one_pipe");
    served.stdin(Stdio::null()).stdout(ours.try_clone().unwrap()).stderr(ours);
    let mut process = served.spawn().unwrap();
    drop(served);
    let mut all = String::new();
    File::from(theirs).read_to_string(&mut all).unwrap();
    assert!(process.wait().unwrap().success(), "{all}");
    assert!(all.contains("1 passed") && all.contains("wire") && !all.contains("stray"), "{all}");
}

#[test]
#[ignore = "takes the standard input and output of a process of its own"]
fn in_a_child_with_one_pipe() {
    if !in_child() {
        return;
    }
    let ends = StdioEnds::take().unwrap();
    println!("a stray print");
    ends.write(b"wire\n").unwrap();
}

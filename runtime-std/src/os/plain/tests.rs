//! The threads behind the streams, one by one.

mod served;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::{Interest, Output, Source, Wake, discard, read_stderr, tcp_ends};
use crate::os::{Got, Ready};

const LONG: Duration = Duration::from_secs(20);
const BOUND: usize = 64 * 1024;

/// Gives as much as is asked for, for ever, and counts it.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fetch_add(buffer.len(), Ordering::SeqCst);
        Ok(buffer.len())
    }
}

/// Gives what it is sent, and ends with the sender.
struct Sent(Receiver<&'static [u8]>);

impl Read for Sent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.recv().unwrap_or_default();
        buffer[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

/// Takes what it is told to, and fails when it is told no more.
struct Told(Receiver<usize>, Arc<AtomicUsize>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.0.recv().map_err(|_| ErrorKind::BrokenPipe)?.min(bytes.len());
        self.1.fetch_add(len, Ordering::SeqCst);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn source() -> (Source, Sender<&'static [u8]>) {
    let (send, sent) = channel();
    (Source::start("test", Sent(sent)).unwrap(), send)
}

fn wait(wake: &Wake, input: &Source, timeout: Duration) -> Ready {
    Interest { wake, input: Some(input), stderr: None, output: None, timeout: Some(timeout) }.wait()
}

#[test]
fn no_more_is_read_ahead_than_the_bound() {
    let read = Arc::new(AtomicUsize::new(0));
    let source = Source::start("test", Endless(Arc::clone(&read))).unwrap();
    let wake = Wake::new().unwrap();
    assert!(wait(&wake, &source, LONG).input);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(read.load(Ordering::SeqCst), BOUND);
    let mut buffer = Vec::with_capacity(1000);
    let room = buffer.capacity();
    assert_eq!(read_stderr(&source, &mut buffer), Got::Bytes { len: room, full: true });
    assert_eq!((buffer.len(), buffer.capacity()), (room, room));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(read.load(Ordering::SeqCst), BOUND);
    // Its thread ends though the stream does not.
    let reading = source.reading();
    drop(source);
    reading.wait_for_end(LONG);
    assert_eq!(read.load(Ordering::SeqCst), BOUND);
}

#[test]
fn what_was_read_comes_before_the_end() {
    let (source, send) = source();
    let wake = Wake::new().unwrap();
    let mut buffer = Vec::with_capacity(100);
    assert_eq!(read_stderr(&source, &mut buffer), Got::Nothing);
    send.send(b"last words").unwrap();
    drop(send);
    assert!(wait(&wake, &source, LONG).input);
    assert_eq!(read_stderr(&source, &mut buffer), Got::Bytes { len: 10, full: false });
    assert!(wait(&wake, &source, LONG).input);
    assert_eq!(read_stderr(&source, &mut buffer), Got::End { broken: false });
    assert!(discard(&source));
    assert_eq!(buffer, b"last words");
}

#[test]
fn a_wake_lasts_until_it_is_cleared() {
    let (source, _send) = source();
    let wake = Wake::new().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            wake.wake();
        });
        let started = Instant::now();
        for _ in 0..2 {
            let ready = wait(&wake, &source, LONG);
            assert!(ready.wake && !ready.input);
        }
        assert!(started.elapsed() < LONG);
    });
    wake.clear();
    assert!(!wait(&wake, &source, Duration::from_millis(10)).wake);
}

#[test]
fn two_may_wait_for_one_source_while_the_lead_changes_hands() {
    let (source, send) = source();
    let (first, second) = (Wake::new().unwrap(), Wake::new().unwrap());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| wait(&first, &source, LONG).input);
        std::thread::sleep(Duration::from_millis(20));
        // The one that leaves takes nothing from the other.
        assert!(!wait(&second, &source, Duration::from_millis(20)).input);
        send.send(b"x").unwrap();
        assert!(waits.join().unwrap());
    });
}

#[test]
fn a_queue_is_bounded_and_tells_when_there_is_room() {
    let (source, _send) = source();
    let (tell, told) = channel();
    let taken = Arc::new(AtomicUsize::new(0));
    let output = Arc::new(Output::start(Told(told, Arc::clone(&taken)), None, &source).unwrap());
    let mut wrote = 0;
    let error = loop {
        match output.write(&[0; 10_000]) {
            Ok(len) => wrote += len,
            Err(error) => break error,
        }
    };
    assert_eq!((wrote, error.kind()), (BOUND, ErrorKind::WouldBlock));
    let wake = Wake::new().unwrap();
    let interest = |timeout| Interest {
        wake: &wake,
        input: Some(&source),
        stderr: None,
        output: Some(Arc::clone(&output)),
        timeout: Some(timeout),
    };
    let started = Instant::now();
    interest(Duration::from_millis(30)).wait();
    assert!(started.elapsed() >= Duration::from_millis(30));
    (0..100).for_each(|_| tell.send(usize::MAX).unwrap());
    interest(LONG).wait();
    assert!(output.write(b"x").is_ok() && started.elapsed() < LONG);
    // What is queued leaves, though nobody holds the output any more.
    drop(output);
    while taken.load(Ordering::SeqCst) < BOUND + 1 {
        assert!(started.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_fault_is_told_by_way_of_the_input() {
    let (source, _send) = source();
    let (tell, told) = channel();
    let output = Output::start(Told(told, Arc::default()), None, &source).unwrap();
    assert!(output.write(b"lost").is_ok() && !output.has_failed());
    drop(tell);
    let wake = Wake::new().unwrap();
    assert!(wait(&wake, &source, LONG).input);
    assert!(output.has_failed());
    assert_eq!(output.write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
    // It is told once.
    assert_eq!(read_stderr(&source, &mut Vec::with_capacity(1)), Got::Nothing);
    assert!(!wait(&wake, &source, Duration::from_millis(10)).input);
}

#[test]
fn a_socket_that_nobody_reads_is_let_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (_theirs, _) = listener.accept().unwrap();
    let (source, output) = tcp_ends(stream).unwrap();
    let started = Instant::now();
    let mut last = started;
    while last.elapsed() < Duration::from_millis(200) {
        assert!(started.elapsed() < LONG);
        match output.write(&[0; BOUND]) {
            Ok(_) => last = Instant::now(),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    output.shutdown();
    let wake = Wake::new().unwrap();
    assert!(wait(&wake, &source, LONG).input && discard(&source));
    drop(output);
    assert!(started.elapsed() < LONG);
}

//! The peer over one stream of lines.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use sanswire::Machine as _;
use sanswire::mcp::Revision;
use sanswire_tests::peer::{LinePeer, entry};

use super::{Clock, Record};
use crate::scripted::{Controls, Flags, server};

/// What a peer says its lines with.
trait Mouth: Write {
    /// Says nothing more.
    fn shut(&mut self);
}

impl Mouth for TcpStream {
    fn shut(&mut self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// Standard output, without the buffer of the standard library's.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Mouth for Stdout {
    fn shut(&mut self) {
        let nowhere = std::fs::File::options().write(true).open("/dev/null").unwrap();
        rustix::stdio::dup2_stdout(nowhere).unwrap();
    }
}

pub(super) fn child(revision: Revision, flags: &[String], record: &Record) {
    let nth = record.start(&format!("start {}", std::process::id()));
    let of_this = Flags::of(flags, nth);
    serve(std::io::stdin(), &mut Stdout, (revision, of_this), record, &AtomicBool::new(false));
    if of_this.has("ignore-end") {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Serves whoever comes, each on a thread of its own.
pub(super) fn listen(
    listener: &TcpListener,
    revision: Revision,
    flags: &[String],
    record: &Record,
    over: &std::sync::Arc<AtomicBool>,
) {
    while let Ok((mut stream, _)) = listener.accept() {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let nth = record.start("start");
        let (flags, record, over) = (flags.to_vec(), record.clone(), std::sync::Arc::clone(over));
        std::thread::spawn(move || {
            let of_this = Flags::of(&flags, nth);
            let input = stream.try_clone().unwrap();
            serve(input, &mut stream, (revision, of_this), &record, &over);
            let _ = stream.shutdown(Shutdown::Both);
        });
    }
}

fn serve(
    mut input: impl Read + Send + 'static,
    mouth: &mut dyn Mouth,
    (revision, flags): (Revision, Flags<'_>),
    record: &Record,
    over: &AtomicBool,
) {
    // Who does not take what was read has nothing more read: that is what a pipe fills up on.
    let (tell, come) = sync_channel::<Vec<u8>>(0);
    std::thread::spawn(move || {
        let mut block = vec![0; 64 * 1024];
        while let Ok(len) = input.read(&mut block) {
            if len == 0 || tell.send(block[..len].to_vec()).is_err() {
                return;
            }
        }
    });
    let controls = Rc::new(Controls::default());
    let clock = Clock::new();
    let mut peer = LinePeer::new(server(revision, flags, &controls), clock.now());
    let (mut noted, mut shut) = (0, false);
    loop {
        for received in &peer.server.received[noted..] {
            record.push(&entry(&received.message));
        }
        noted = peer.server.received.len();
        while !peer.transmit().is_empty() {
            match mouth.write(peer.transmit()) {
                Ok(len) => peer.handle_written(len, clock.now()),
                Err(_) => peer.handle_write_closed(clock.now()),
            }
        }
        if controls.half_close.take() {
            shut = true;
            mouth.shut();
        }
        if peer.poll_event().is_some() || over.load(Ordering::Relaxed) {
            return;
        }
        if controls.deaf.get() {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        match come.recv_timeout(clock.until(peer.poll_timeout())) {
            Ok(bytes) => {
                let taken = peer.handle_input(&bytes, clock.now());
                assert!(taken == bytes.len() || shut, "the peer reads on");
            }
            Err(RecvTimeoutError::Timeout) => peer.handle_timeout(clock.now()),
            Err(RecvTimeoutError::Disconnected) => {
                record.push("end");
                peer.handle_eof(clock.now());
            }
        }
    }
}

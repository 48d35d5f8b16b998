//! What the relay does.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::ends::{End, connect};
use super::{COMPLAINT, EXIT, INPUT, INPUT_END, OUTPUT, OUTPUT_END, read_frame, write_frame};

/// How long what was said is waited for before an exit: somebody may not read it at all.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The server that a client starts while it is checked: what comes in goes to the check at this address, and what the check
/// says comes out. Returns the status to exit with: what the check says, or 1 if it is gone.
///
/// A program that checks clients calls this when it is started as
/// [`ClientPlan::relay`](crate::ClientPlan::relay), with the argument that is behind that command's own. It blocks, and
/// takes the standard input and output of the process, and its SIGTERM, SIGINT and SIGHUP, which it only tells of.
#[must_use]
pub fn relay(address: &OsStr) -> u8 {
    serve(address).unwrap_or(1)
}

fn serve(address: &OsStr) -> io::Result<u8> {
    let mut check = connect(address)?;
    let up = Arc::new(Mutex::new(check.try_clone()?));
    #[cfg(unix)]
    signals(Arc::clone(&up))?;
    thread::Builder::new().name("relay input".into()).spawn(move || input(&up))?;
    let (out, out_done) = writer(io::stdout())?;
    let mut out = Some(out);
    loop {
        match read_frame(&mut check)? {
            (OUTPUT, bytes) => {
                if let Some(out) = &out {
                    let _ = out.send(bytes);
                }
            }
            (COMPLAINT, bytes) => {
                // As in a server that writes one after the other: where nobody reads this, nothing follows it.
                let _ = io::stderr().write_all(&bytes);
            }
            (OUTPUT_END, _) => {
                out = None;
                let _ = out_done.recv_timeout(LAST_WORDS);
                close_output();
            }
            (EXIT, status) => {
                drop(out);
                let _ = out_done.recv_timeout(LAST_WORDS);
                return Ok(status.first().copied().unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Writes what is sent, on a thread of its own: a client that does not read must not keep the relay from exiting. What it
/// gives back says when all is written.
fn writer(mut to: impl Write + Send + 'static) -> io::Result<(Sender<Vec<u8>>, Receiver<()>)> {
    let (send, sent) = channel::<Vec<u8>>();
    let (finish, done) = channel();
    thread::Builder::new().name("relay output".into()).spawn(move || {
        for bytes in sent {
            if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                break;
            }
        }
        let _ = finish.send(());
    })?;
    Ok((send, done))
}

fn tell(up: &Mutex<End>, kind: u8, bytes: &[u8]) -> io::Result<()> {
    write_frame(&mut *up.lock().unwrap_or_else(PoisonError::into_inner), kind, bytes)
}

fn input(up: &Mutex<End>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match io::stdin().lock().read(&mut buffer) {
            Ok(len @ 1..) => {
                if tell(up, INPUT, &buffer[..len]).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    let _ = tell(up, INPUT_END, &[]);
}

#[cfg(unix)]
fn signals(up: Arc<Mutex<End>>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    thread::Builder::new().name("relay signals".into()).spawn(move || {
        for signal in signals.forever() {
            let _ = tell(&up, super::SIGNAL, &[u8::try_from(signal).unwrap_or_default()]);
        }
    })?;
    Ok(())
}

/// Ends standard output while the process lives on, where the system can.
fn close_output() {
    #[cfg(unix)]
    if let Ok(nothing) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}

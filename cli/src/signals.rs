//! Signals: what runs is cancelled, servers are stopped as they should be, and the status says why.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use sanswire_std::Closer;
use sanswire_std::host::Host;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

static CAUGHT: AtomicI32 = AtomicI32::new(0);
/// Whether a prompt is shown.
static ASKING: AtomicBool = AtomicBool::new(false);
static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

/// What is ended when a signal comes.
enum Open {
    Connection(Closer),
    Host(Host),
}

/// From here on SIGINT, SIGTERM and SIGHUP end the program with 128 and their number, after its servers were
/// stopped. A second one does not wait for that.
pub(crate) fn watch() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let watch = move || {
        for signal in signals.forever() {
            match CAUGHT.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {}
                // A prompt takes whatever interrupts it for Ctrl-C, and sends a signal of its own.
                Err(first) if first != SIGINT && signal == SIGINT && ASKING.swap(false, Ordering::SeqCst) => {
                    continue;
                }
                Err(_) => exit(signal),
            }
            let ended = std::thread::Builder::new().name("signal".into()).spawn(move || {
                let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
                std::thread::scope(|scope| {
                    for open in &open {
                        scope.spawn(move || match open {
                            Open::Connection(closer) => closer.close(),
                            Open::Host(host) => drop(host.close()),
                        });
                    }
                });
                exit(signal);
            });
            if ended.is_err() {
                exit(signal);
            }
        }
    };
    // Without the thread the signals would do nothing: better their default.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(watch);
}

/// What is opened with this ends when a signal comes.
pub(crate) fn closer() -> Closer {
    let closer = Closer::new();
    end_with_signal(Open::Connection(closer.clone()));
    closer
}

/// A host that is closed when a signal comes.
pub(crate) fn watch_host(host: &Host) {
    end_with_signal(Open::Host(host.clone()));
}

fn end_with_signal(open: Open) {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(open);
    // A signal that came before would not find it.
    settle();
}

/// If a signal came, the program is about to end: nothing more is to be said, and this never returns.
pub(crate) fn settle() {
    while CAUGHT.load(Ordering::SeqCst) != 0 {
        std::thread::park();
    }
}

/// A prompt is shown from here on, or is no more.
pub(crate) fn asking(begun: bool) {
    ASKING.store(begun, Ordering::SeqCst);
}

/// A prompt was left by Ctrl-C, which it turns into a signal: that ends the program, once it is noticed.
pub(crate) fn interrupted() {
    for _ in 0..100 {
        settle();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn exit(signal: i32) -> ! {
    // A prompt or a progress bar may have hidden it.
    if console::user_attended_stderr() {
        let _ = console::Term::stderr().show_cursor();
    }
    std::process::exit(128 + signal);
}

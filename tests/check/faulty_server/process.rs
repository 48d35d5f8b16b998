//! The process: how it starts and how it ends.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Server;
use crate::lines::park;

/// What the server holds while it runs.
pub(crate) struct Held {
    _alone: Option<TcpListener>,
}

/// Whoever starts it: what servers of one client share.
fn client() -> u32 {
    #[cfg(unix)]
    return std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    0
}

fn lock() -> PathBuf {
    std::env::temp_dir().join(format!("faulty-server-of-{}", client()))
}

/// Starts it, unless something is in the way.
pub(crate) fn start(server: &Server) -> Held {
    if server.fault("lingers") {
        std::thread::sleep(Duration::from_secs(10));
    }
    if server.fault("stale-lock") && std::fs::remove_file(lock()).is_ok() {
        std::process::exit(1);
    }
    #[cfg(unix)]
    if server.fault("ignores-sigterm") {
        use std::os::unix::process::CommandExt as _;
        let this = std::env::current_exe().unwrap_or_default();
        // What is ignored stays ignored.
        let _ = Command::new("sh").arg("-c").arg("trap '' TERM; exec \"$0\" none").arg(this).exec();
    }
    let alone = server.fault("one-at-a-time").then(|| {
        let port = 20_000 + u16::try_from(client() % 10_000).unwrap_or_default();
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap_or_else(|_| std::process::exit(1))
    });
    Held { _alone: alone }
}

/// It has something to do.
pub(crate) fn works(server: &Server) {
    if server.fault("stale-lock") {
        let _ = std::fs::write(lock(), "");
    }
}

/// Ends it, when there is no more input.
pub(crate) fn end(server: &Server) {
    if server.fault("stale-lock") {
        let _ = std::fs::remove_file(lock());
    }
    if server.fault("leaves-a-child") {
        let this = std::env::current_exe().unwrap_or_default();
        let _ = Command::new(this).arg("lingers").stdin(Stdio::null()).spawn();
    }
    if server.fault("exits-with-3") {
        std::process::exit(3);
    }
    if server.fault("stays") {
        park();
    }
}

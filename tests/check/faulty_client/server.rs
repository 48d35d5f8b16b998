//! The server's process, and how it is stopped.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Client;

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    /// What it says, as it comes.
    pub(crate) output: Receiver<Vec<u8>>,
    /// What came and is no whole line yet.
    pub(crate) pending: Vec<u8>,
    /// It has written of an error to standard error.
    pub(crate) complained: Arc<AtomicBool>,
    /// Where nobody reads it.
    _stderr: Option<ChildStderr>,
}

impl Server {
    pub(crate) fn start(fault: &str, program: &str, words: impl Iterator<Item = String>) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (tell, output) = channel();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let mut stderr = child.stderr.take();
        let complained = Arc::new(AtomicBool::new(false));
        thread::spawn(move || stdout.map(|out: ChildStdout| read(out, |bytes| tell.send(bytes).is_ok())));
        if fault != "no-stderr"
            && let Some(stderr) = stderr.take()
        {
            let flag = Arc::clone(&complained);
            thread::spawn(move || {
                read(stderr, |bytes| {
                    flag.fetch_or(bytes.windows(5).any(|it| it == b"ERROR"), Ordering::SeqCst);
                    true
                });
            });
        }
        Ok(Self { child, stdin, output, pending: Vec::new(), complained, _stderr: stderr })
    }

    fn exits_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    #[cfg(unix)]
    fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM));
    }

    #[cfg(not(unix))]
    fn terminate(&self) {}
}

fn read(mut from: impl Read, mut take: impl FnMut(Vec<u8>) -> bool) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        if !take(buffer[..len].to_vec()) {
            return;
        }
    }
}

/// Closes its input, and then is more and more urgent.
pub(crate) fn stop(client: &mut Client) {
    if client.fault("signals-first") {
        client.server.terminate();
        thread::sleep(Duration::from_millis(50));
    }
    client.server.stdin = None;
    if client.fault("leaves") {
        return;
    }
    let patience = Duration::from_millis(if client.fault("impatient") { 10 } else { 700 });
    if client.server.exits_within(patience) {
        return;
    }
    if !client.fault("no-term") {
        client.server.terminate();
        if client.server.exits_within(Duration::from_millis(500)) || client.fault("no-kill") {
            return;
        }
    }
    let _ = client.server.child.kill();
    let _ = client.server.child.wait();
}

//! A program that is run to its end.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::equal;

/// Longer than every deadline of the programs' own.
const PATIENCE: Duration = Duration::from_secs(90);

/// How a program ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// The one document on standard output, of a run that ended with `status`.
    pub(crate) fn document(&self, status: i32) -> Result<Value, Failed> {
        equal(&self.status, &Some(status), &format!("the status, {self:?}"))?;
        serde_json::from_str(&self.stdout).map_err(|error| format!("{error}: {self:?}").into())
    }
}

/// Runs the program without input.
pub(crate) fn run(mut command: Command) -> Result<Done, Failed> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let readers = (reader(child.stdout.take()), reader(child.stderr.take()));
    let until = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            return Err(format!("{command:?} is still running after {PATIENCE:?}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: Receiver<String>| {
        let left = until.saturating_duration_since(Instant::now());
        reader.recv_timeout(left).map_err(|_| format!("{command:?} left something running"))
    };
    Ok(Done { status: status.code(), stdout: text(readers.0)?, stderr: text(readers.1)? })
}

/// What it started may hold the pipe longer than itself, so the thread is not joined.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, text) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until an error is as good as the whole for a message.
            let _ = pipe.read_to_end(&mut all);
        }
        // Nobody waits for it any more, if it took too long.
        let _ = sender.send(String::from_utf8_lossy(&all).into_owned());
    });
    text
}

//! A program that listens on a port of this machine.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use crate::clients::GRANTED;
use crate::installed::{Installation, clean};

/// How long one may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(10);

/// One that was started, and is ended with this.
#[derive(Debug)]
pub(crate) struct Listening {
    child: Child,
    /// What it complains of, line by line.
    stderr: Receiver<String>,
    pub(crate) port: u16,
}

impl Listening {
    /// Starts a program that was told to listen on `port`, and waits until it does.
    pub(crate) fn start(command: Command, port: u16) -> Result<Self, Failed> {
        let mut listening = Self::spawn(command, port)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect_timeout(&address, PATIENCE).is_err() {
            let said = || listening.stderr.try_iter().collect::<Vec<_>>().join("\n");
            if let Some(status) = listening.child.try_wait()? {
                return Err(format!("ended with {status} before it listened: {}", said()).into());
            }
            if Instant::now() >= until {
                return Err(format!("does not listen: {}", said()).into());
            }
            thread::sleep(STEP);
        }
        Ok(listening)
    }

    /// The demo server, on a port that the system picks.
    pub(crate) fn demo(installation: &Installation, dir: &Path) -> Result<Self, Failed> {
        let binary = installation.binary.as_ref().ok_or("not built: cargo build -p sanswire-cli")?;
        let mut command = clean(Command::new(binary), dir);
        command.args(["demo-server", "--http", "127.0.0.1:0"]);
        command.args(GRANTED.iter().flat_map(|tool| ["--allow", tool]));
        let mut listening = Self::spawn(command, 0)?;
        let line = listening.stderr.recv_timeout(PATIENCE).map_err(|_| "does not say where it listens")?;
        let port = line.rsplit_once("127.0.0.1:").and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
        listening.port = port.ok_or_else(|| format!("does not say where it listens: {line}"))?;
        Ok(listening)
    }

    fn spawn(mut command: Command, port: u16) -> Result<Self, Failed> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let pipe = child.stderr.take().ok_or("a pipe is missing")?;
        let (sender, stderr) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, stderr, port })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Ends it as whoever runs it would, by a signal: what is wrong with how it went.
    pub(crate) fn finish(mut self) -> Result<(), Failed> {
        let status = self.terminate()?;
        let complaints: Vec<_> = self.stderr.iter().collect();
        if status.success() && complaints.is_empty() {
            return Ok(());
        }
        Err(format!("ended with {status}, having said: {complaints:?}").into())
    }

    fn terminate(&mut self) -> Result<ExitStatus, Failed> {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status()?;
        if !sent.success() {
            return Err("it had ended before it was told to".into());
        }
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(STEP);
        }
        Err("still running long after it was told to end".into())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Both fail only when it is gone, which is what they are for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on, by the system's choice. Somebody may take it before it is used.
pub(crate) fn free_port() -> Result<u16, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

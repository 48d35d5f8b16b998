//! The peer in real time: as a process of its own, or on threads of this one behind a port of the loopback.

mod http;
mod lines;

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sanswire::mcp::Revision;
use sanswire_std::{Command, HttpTarget};

use crate::axes::Transport;

/// Where a peer puts down what it got.
#[derive(Clone)]
pub(crate) enum Record {
    Here(Arc<Mutex<Vec<String>>>),
    /// In a file, where the peer is another process.
    There(Arc<PathBuf>),
}

impl Record {
    pub(crate) fn in_file(path: &str) -> Self {
        Self::There(Arc::new(Path::new(path).to_owned()))
    }

    pub(crate) fn push(&self, entry: &str) {
        match self {
            Self::Here(entries) => {
                entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry.to_owned());
            }
            Self::There(path) => {
                // It is gone once nobody looks at it any more.
                if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(&**path) {
                    // One write, which no other process's comes into.
                    file.write_all(format!("{entry}\n").as_bytes()).unwrap();
                }
            }
        }
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        match self {
            Self::Here(entries) => entries.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Self::There(path) => {
                let text = std::fs::read_to_string(&**path).unwrap_or_default();
                text.lines().map(str::to_owned).collect()
            }
        }
    }

    /// Puts a start down; how many there were before.
    fn start(&self, what: &str) -> usize {
        let before = self.entries().iter().filter(|entry| entry.starts_with("start")).count();
        self.push(what);
        before
    }
}

/// The time of a peer's own.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> sanswire::Instant {
        sanswire::Instant::from_micros(1_000_000 + u64::try_from(self.0.elapsed().as_micros()).unwrap())
    }

    /// How long it is until then.
    fn until(self, at: Option<sanswire::Instant>) -> Duration {
        let now = self.now().as_micros();
        at.map_or(Duration::from_millis(100), |at| {
            // What ends a peer is looked for meanwhile.
            Duration::from_micros(at.as_micros().saturating_sub(now)).min(Duration::from_millis(100))
        })
    }
}

/// A way to the peer.
pub(crate) enum Place {
    Program(Box<Command>),
    Tcp(String),
    Http(Box<HttpTarget>),
}

/// The peer, as long as this is there.
pub(crate) struct Peer {
    pub(crate) place: Place,
    pub(crate) record: Record,
    over: Arc<AtomicBool>,
    /// What ends a server of ours.
    end: Option<Box<dyn FnOnce() + Send>>,
}

impl Peer {
    pub(crate) fn start(transport: Transport, revision: Revision, flags: &[&str]) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let here = Record::Here(Arc::default());
        if transport == Transport::Stdio {
            let path = fresh_path();
            let command = Command::new(std::env::current_exe().unwrap())
                .arg("--peer")
                .arg(&path)
                .arg(revision.to_string())
                .args(&flags);
            return Self {
                place: Place::Program(Box::new(command)),
                record: Record::There(Arc::new(path)),
                over,
                end: None,
            };
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (record, stop) = (here.clone(), Arc::clone(&over));
        if transport == Transport::Tcp {
            std::thread::spawn(move || lines::listen(&listener, revision, &flags, &record, &stop));
        } else {
            std::thread::spawn(move || http::listen(listener, revision, &flags, &record, &stop));
        }
        Self { place: at(transport, address), record: here, over, end: None }
    }

    /// A server of ours: the process that `--served HALF` starts, or what `listen` does with a listener.
    pub(crate) fn serving(
        transport: Transport,
        half: &str,
        listen: impl FnOnce(TcpListener, Record) -> Box<dyn FnOnce() + Send>,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if transport == Transport::Stdio {
            let path = fresh_path();
            let command = Command::new(std::env::current_exe().unwrap()).arg("--served").arg(half).arg(&path);
            let record = Record::There(Arc::new(path));
            return Self { place: Place::Program(Box::new(command)), record, over, end: None };
        }
        let record = Record::Here(Arc::default());
        record.push("start");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let end = Some(listen(listener, record.clone()));
        Self { place: at(transport, address), record, over, end }
    }

    /// A place where nobody is.
    pub(crate) fn nobody(transport: Transport) -> Place {
        if transport == Transport::Stdio {
            return Place::Program(Box::new(Command::new("/no/such/program")));
        }
        // No system gives this port to whoever asks for any.
        at(transport, "127.0.0.1:1".into())
    }
}

/// An address that is reached by this transport.
fn at(transport: Transport, address: String) -> Place {
    if transport == Transport::Tcp {
        return Place::Tcp(address);
    }
    Place::Http(Box::new(HttpTarget::new(&format!("http://{address}/mcp")).unwrap()))
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Record::There(path) = &self.record {
            let _ = std::fs::remove_file(&**path);
        }
        if let Some(end) = self.end.take() {
            return end();
        }
        // Who waits for a connection sees that it is over.
        match &self.place {
            Place::Tcp(address) => drop(std::net::TcpStream::connect(address)),
            Place::Http(target) => {
                let authority = target.target.url.authority();
                drop(std::net::TcpStream::connect((&*authority.host, authority.port)));
            }
            Place::Program(_) => {}
        }
    }
}

fn fresh_path() -> PathBuf {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let name = format!("sanswire-parity-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, "").unwrap();
    path
}

/// The process that a peer over standard input and output is.
pub(crate) fn child(arguments: &[String]) {
    let [record, revision, flags @ ..] = arguments else { panic!("{arguments:?}") };
    let record = Record::in_file(record);
    let revision = Revision::from_date(revision).unwrap();
    lines::child(revision, flags, &record);
}

//! All connections of a listener, as one future.

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_io::{Async, Timer};

use crate::serve::connection::Connection;
use crate::serve::hub::{NEWS, Signals};
use crate::serve::places::Places;
use crate::serve::server::Inner;
use crate::serve::tasks::Tasks;
use crate::signals::{self, Bells, Fire as _};
use crate::wire::{Wire, arm_read};

/// Connections that are accepted, and polled, in one turn.
const MAX_ACCEPTS: usize = 32;
const MAX_POLLS: usize = 64;
/// How long a listener is left alone when the system is out of something: descriptors, memory. Whoever calls goes on
/// waiting, so that asking again at once would spin.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) enum Listener {
    Tcp(Async<TcpListener>),
    Unix(Async<UnixListener>),
}

impl Listener {
    /// Takes in one who calls. The inner error is of that connection alone: it may say what would end a listener.
    fn accept(&self) -> io::Result<io::Result<Wire>> {
        match self {
            Self::Tcp(listener) => {
                listener.get_ref().accept().map(|(stream, _)| Async::new(stream).and_then(Wire::tcp))
            }
            Self::Unix(listener) => {
                listener.get_ref().accept().map(|(stream, _)| Async::new(stream).map(Wire::Unix))
            }
        }
    }

    fn arm(&self, bells: &Bells) -> io::Result<bool> {
        match self {
            Self::Tcp(listener) => arm_read(listener, &bells.read),
            Self::Unix(listener) => arm_read(listener, &bells.read),
        }
    }
}

/// A listener, and what was found of it.
pub(super) struct Door {
    /// None: it accepts nobody any more.
    listener: Option<Listener>,
    /// Somebody may wait there.
    is_ready: bool,
    pause: Option<Timer>,
    failed: Option<io::Error>,
}

/// Who is at the door.
pub(super) enum Next {
    /// A connection.
    Wire(Wire),
    /// Somebody who left.
    Gone,
    /// Nobody now.
    Nobody,
    /// Not known: to be asked again soon.
    Again,
    /// Somebody, and the system is out of what a connection takes. As after [`Nobody`](Self::Nobody), unless there is
    /// [more of it](Door::has_more).
    Short,
}

impl Door {
    pub(super) const fn new(listener: Listener) -> Self {
        Self { listener: Some(listener), is_ready: true, pause: None, failed: None }
    }

    /// The bell for reading rang.
    pub(super) const fn rang(&mut self) {
        self.is_ready = true;
    }

    pub(super) const fn is_open(&self) -> bool {
        self.listener.is_some()
    }

    pub(super) fn close(&mut self) {
        self.listener = None;
    }

    /// Something was given back to the system: whoever it was short for may be asked in.
    pub(super) fn has_more(&mut self) {
        self.pause = None;
    }

    /// Why it accepts nobody any more, if it failed.
    pub(super) const fn take_failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Takes the next who calls. After [`Nobody`](Next::Nobody) `bells` ring, or the task is woken, once there is somebody.
    pub(super) fn next(&mut self, bells: &Bells, cx: &mut Context<'_>) -> Next {
        if let Some(pause) = &mut self.pause {
            if Pin::new(pause).poll(cx).is_pending() {
                return Next::Nobody;
            }
            self.pause = None;
        }
        let Some(listener) = self.listener.as_ref().filter(|_| self.is_ready) else { return Next::Nobody };
        match listener.accept() {
            Ok(Ok(wire)) => Next::Wire(wire),
            // It is of that connection alone.
            Ok(Err(_)) => Next::Gone,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => match listener.arm(bells) {
                Ok(true) => {
                    self.is_ready = false;
                    Next::Nobody
                }
                Ok(false) => Next::Again,
                Err(error) => self.fail(error),
            },
            Err(error) => match Fault::of(&error) {
                Fault::Call => Next::Gone,
                Fault::Short => {
                    let mut pause = Timer::after(PAUSE);
                    if Pin::new(&mut pause).poll(cx).is_ready() {
                        return Next::Again;
                    }
                    self.pause = Some(pause);
                    Next::Short
                }
                Fault::Listener => self.fail(error),
            },
        }
    }

    fn fail(&mut self, error: io::Error) -> Next {
        self.failed = Some(error);
        self.listener = None;
        Next::Nobody
    }
}

/// A listener and its connections.
pub(super) struct Listening {
    server: Arc<Inner>,
    door: Door,
    connections: Tasks<Box<Connection>, Signals>,
    signals: Arc<Signals>,
    bells: Bells,
    places: Arc<Places>,
    /// Handlers of one connection, so that no client has them all.
    most: usize,
    most_connections: usize,
}

impl Listening {
    pub(super) fn new(server: &Arc<Inner>, listener: Listener) -> Self {
        let signals = Arc::<Signals>::default();
        let handlers = server.serving.max_handlers();
        server.serving.enter_listener(&signals);
        Self {
            server: Arc::clone(server),
            door: Door::new(listener),
            connections: Tasks::new(&signals),
            bells: Bells::new(&signals),
            signals,
            places: Places::new(handlers),
            most: handlers.div_ceil(2),
            most_connections: server.serving.max_connections(),
        }
    }

    /// Takes in those who call. Whether there may be more of them.
    fn accept(&mut self, cx: &mut Context<'_>) -> bool {
        if self.server.serving.is_stopping() {
            self.door.close();
        }
        for _ in 0..MAX_ACCEPTS {
            match self.door.next(&self.bells, cx) {
                // One for whom there is no room is sent away.
                Next::Wire(wire) if self.connections.len() < self.most_connections => {
                    let places = (&self.places, self.most);
                    if let Ok(connection) = Connection::new(&self.server, wire, places) {
                        self.connections.begin(Box::new(connection));
                    }
                }
                Next::Wire(_) | Next::Gone => {}
                Next::Nobody | Next::Short => return false,
                Next::Again => return true,
            }
        }
        true
    }
}

/// What an accept that failed means.
enum Fault {
    /// Whoever called is gone.
    Call,
    /// The system is out of something.
    Short,
    /// This listener accepts nobody any more.
    Listener,
}

impl Fault {
    fn of(error: &io::Error) -> Self {
        use rustix::io::Errno;
        match Errno::from_io_error(error) {
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Self::Short,
            Some(Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::OPNOTSUPP) => Self::Listener,
            _ => Self::Call,
        }
    }
}

impl Future for Listening {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.signals.set_task(cx.waker());
        if this.signals.take() & signals::READ != 0 {
            this.door.rang();
        }
        let mut more = this.accept(cx);
        let mut polls = 0;
        while polls < MAX_POLLS && this.connections.poll_woken().is_some() {
            polls += 1;
        }
        more |= polls == MAX_POLLS;
        if !this.door.is_open() && this.connections.len() == 0 {
            return Poll::Ready(this.door.take_failure().map_or(Ok(()), Err));
        }
        if more {
            this.signals.fire(NEWS);
        }
        Poll::Pending
    }
}

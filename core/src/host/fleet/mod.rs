//! A host together with its connections, for whoever does everything on one thread.
//!
//! ```text
//! loop:
//!   while let Some(opening) = poll_open()   { open a stream; attach(opening.client, …) or failed(opening.client, …) }
//!   while let Some(client) = poll_shut()    { close the stream of that client }
//!   while let Some(event) = poll_event()    { hand it to the application }
//!   for client in clients()                 { write transmit(client); handle_written(client, n) }
//!   wait until a stream is readable (only if wants_read(client)), writable or poll_timeout()
//!   readable: append one read to read_buffer(client), then handle_read(client); its end: handle_eof(client)
//!   always:   handle_timeout(now)
//! ```

mod asks;
mod connection;
mod streams;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::ToString as _;
use alloc::sync::Arc;
use core::time::Duration;

use self::connection::Connection;
use super::config::HostConfig;
use super::event::{CallHandle, ClientHandle, Effect, Event, RequestKey};
use super::machine::Host;
use crate::client::{self, Config, LineConnection, Link as _, RequestHandle, Start};
use crate::error::{ApiError, ConfigError};
use crate::jsonrpc::RawJson;
use crate::machine::Machine as _;
use crate::time::{Instant, Monotonic, earliest};

/// A [`Host`] and the [`LineConnection`] of each of its servers, as one machine over many streams.
///
/// `examples/host_loop.rs` is a whole program of this kind.
///
/// What the host asks of its connections is carried out within the call that made it ask, and what they tell reaches it
/// in the call that brought it. What is left to do outside is to open streams, to move bytes, and to close streams. Take
/// everything out after each call, as the loop in the module's text does; no call waits for that.
#[derive(Debug)]
pub struct Fleet {
    host: Host,
    clock: Monotonic,
    /// Every connection from the wish for it to its end.
    clients: BTreeMap<ClientHandle, Client>,
    /// Those that may have something to tell.
    busy: BTreeSet<ClientHandle>,
    openings: VecDeque<Opening>,
    shut: VecDeque<ClientHandle>,
    /// What connections told that the host leaves to others.
    events: VecDeque<Told>,
    /// Bytes that these keep alive.
    event_bytes: usize,
    max_events: usize,
    max_event_bytes: usize,
    closed: bool,
}

/// The longest limit for connecting that a connection takes, in milliseconds.
const LONGEST_MS: u64 = u32::MAX as u64;

#[derive(Debug)]
struct Client {
    server: Arc<str>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Asked for; whoever opens streams may be at it.
    Opening { start: Start, until: Instant },
    /// There is a stream.
    Attached(Box<Connection>),
}

/// An event that waits to be taken, and the bytes that it keeps alive.
#[derive(Debug)]
struct Told {
    event: FleetEvent,
    bytes: usize,
}

/// A connection that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opening {
    /// Its name.
    pub client: ClientHandle,
    /// Its server.
    pub server: Arc<str>,
    /// When it is given up. What is shut before it was attached is told by [`Fleet::poll_shut`] as well.
    pub until: Instant,
}

/// What a fleet tells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FleetEvent {
    /// The host tells something.
    Host(Event),
    /// A connection tells something that the host leaves to others: a request of its server's (take
    /// [`Fleet::answer_peer`]), its end, a notification, a violation.
    Client {
        /// The connection.
        client: ClientHandle,
        /// Its server.
        server: Arc<str>,
        /// What it tells.
        event: client::Event,
        /// The call that it belongs to, where the transport tells.
        call: Option<CallHandle>,
    },
}

impl Fleet {
    /// A host whose first connections are to be opened.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(config: HostConfig, now: Instant) -> Result<Self, ConfigError> {
        let (max_events, max_event_bytes) =
            (config.limits.max_queued_events, config.limits.max_queued_event_bytes);
        let mut this = Self {
            host: Host::new(config, now)?,
            clock: Monotonic::new(now),
            clients: BTreeMap::new(),
            busy: BTreeSet::new(),
            openings: VecDeque::new(),
            shut: VecDeque::new(),
            events: VecDeque::new(),
            event_bytes: 0,
            max_events,
            max_event_bytes,
            closed: false,
        };
        this.settle();
        Ok(this)
    }

    /// The next connection to open: an [`attach`](Self::attach) or a [`failed`](Self::failed) follows.
    pub fn poll_open(&mut self) -> Option<Opening> {
        self.openings.pop_front()
    }

    /// The next connection whose stream is to be closed, or is not wanted any more; nothing of it matters from here on.
    pub fn poll_shut(&mut self) -> Option<ClientHandle> {
        self.shut.pop_front()
    }

    /// A stream to its server is open: its first bytes wait in [`transmit`](Self::transmit).
    ///
    /// [`Config::start`] and the limit for connecting are set here, as the host knows them. False: the connection is not
    /// wanted any more; close the stream.
    ///
    /// # Errors
    /// The configuration is out of bounds: the attempt counts as failed.
    pub fn attach(
        &mut self,
        client: ClientHandle,
        mut config: Config,
        seed: [u8; 32],
        now: Instant,
    ) -> Result<bool, ConfigError> {
        let now = self.clock.advance(now);
        let Some(Client { stage, .. }) = self.clients.get_mut(&client) else { return Ok(false) };
        let Stage::Opening { start, until } = stage else { return Ok(false) };
        config.start = start.clone();
        config.limits.connect =
            until.saturating_since(now).clamp(Duration::from_millis(1), Duration::from_millis(LONGEST_MS));
        match LineConnection::new(config, seed, now) {
            Ok(machine) => {
                *stage = Stage::Attached(Box::new(Connection::new(machine)));
                Ok(true)
            }
            Err(error) => {
                self.failed(client, &error.to_string(), now);
                Err(error)
            }
        }
    }

    /// A stream to its server could not be opened; why, in words.
    pub fn failed(&mut self, client: ClientHandle, why: &str, now: Instant) {
        let now = self.clock.advance(now);
        if matches!(self.clients.get(&client), Some(Client { stage: Stage::Opening { .. }, .. })) {
            self.clients.remove(&client);
            self.host.handle_not_opened(client, why, now);
            self.settle();
        }
    }

    /// Time passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        for (client, Client { stage, .. }) in &mut self.clients {
            if let Stage::Attached(connection) = stage {
                connection.machine.handle_timeout(now);
                self.busy.insert(*client);
            }
        }
        // What a connection had to say at this instant comes before what the host does about it being late.
        self.settle();
        self.host.handle_timeout(now);
        self.settle();
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let connections = self.clients.values().filter_map(|client| match &client.stage {
            Stage::Attached(connection) => connection.machine.poll_timeout(),
            Stage::Opening { .. } => None,
        });
        connections.fold(self.host.poll_timeout(), |first, at| earliest(first, Some(at)))
    }

    /// What is to be told next: the host's word first.
    pub fn poll_event(&mut self) -> Option<FleetEvent> {
        if let Some(event) = self.host.poll_event() {
            return Some(FleetEvent::Host(event));
        }
        let told = self.events.pop_front()?;
        self.event_bytes -= told.bytes;
        if !self.busy.is_empty() {
            // There was no room for what connections still have to tell; now there is.
            self.settle();
        }
        Some(told.event)
    }

    /// Bytes that the host, the connections and their events hold, about.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let connections = self.clients.values().map(|client| match &client.stage {
            Stage::Attached(connection) => connection.machine.retained_bytes(),
            Stage::Opening { .. } => 0,
        });
        let events = self.event_bytes.saturating_add(self.events.capacity() * size_of::<Told>());
        connections.fold(self.host.retained_bytes().saturating_add(events), usize::saturating_add)
    }

    /// Whether the host was closed and every stream was told to be shut.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.closed && self.clients.is_empty() && self.shut.is_empty()
    }

    /// Carries out what the host asks and hands it what connections tell, until neither has anything left.
    fn settle(&mut self) {
        let now = self.clock.latest();
        loop {
            while let Some(effect) = self.host.poll_effect() {
                self.carry_out(effect, now);
            }
            // As long as nobody takes events, connections keep theirs, and stop reading when they have too many.
            if self.events.len() >= self.max_events || self.event_bytes >= self.max_event_bytes {
                return;
            }
            let Some(client) = self.busy.first().copied() else { return };
            match self.attached(client).and_then(|connection| connection.machine.poll_event()) {
                Some(event) => self.take(client, event, now),
                None => {
                    self.busy.remove(&client);
                }
            }
        }
    }

    fn carry_out(&mut self, effect: Effect, now: Instant) {
        match effect {
            Effect::Open { client, server, start, until } => {
                self.openings.push_back(Opening { client, server: server.clone(), until });
                self.clients.insert(client, Client { server, stage: Stage::Opening { start, until } });
            }
            Effect::Shut { client, .. } => self.shut(client, now),
            Effect::Request { key, client, method, params, options } => {
                self.ask(client, key, now, |machine| machine.request(method, params, &options, now));
            }
            Effect::Resume { key, client, from, answers, options } => {
                self.ask(client, key, now, |machine| machine.resume(&from, &answers, &options, now));
            }
            Effect::Cancel { key, client } => {
                if let Some(connection) = self.attached(client) {
                    connection.cancel(key, now);
                    self.busy.insert(client);
                }
            }
        }
    }

    /// Makes a request; one that is refused ends at once.
    fn ask(
        &mut self,
        client: ClientHandle,
        key: RequestKey,
        now: Instant,
        make: impl FnOnce(&mut LineConnection) -> Result<RequestHandle, ApiError>,
    ) {
        let made = match self.attached(client) {
            Some(connection) => connection.ask(key, make),
            None => Err(ApiError::Closed),
        };
        match made {
            Ok(()) => drop(self.busy.insert(client)),
            Err(error) => self.host.handle_outcome(key, Err(error), now),
        }
    }

    fn shut(&mut self, client: ClientHandle, now: Instant) {
        match self.clients.get_mut(&client).map(|client| &mut client.stage) {
            Some(Stage::Attached(connection)) => {
                connection.shut(now);
                self.busy.insert(client);
            }
            Some(Stage::Opening { .. }) => {
                self.clients.remove(&client);
                let before = self.openings.len();
                self.openings.retain(|opening| opening.client != client);
                if self.openings.len() == before {
                    self.shut.push_back(client);
                }
            }
            None => {}
        }
    }

    /// What a connection tells.
    fn take(&mut self, client: ClientHandle, event: client::Event, now: Instant) {
        let Some(Client { server, stage: Stage::Attached(connection) }) = self.clients.get_mut(&client)
        else {
            return;
        };
        if let client::Event::Finished { request, outcome } = event {
            if let Some(key) = connection.finished(request) {
                self.host.handle_outcome(key, Ok(outcome), now);
            }
            return;
        }
        if let client::Event::Progress { request, progress } = event {
            if let Some(key) = connection.key_of(request) {
                self.host.handle_progress(key, progress, now);
            }
            return;
        }
        let over = matches!(event, client::Event::Closed(_));
        if connection.is_shut() && !over {
            return;
        }
        let during = if let client::Event::PeerRequest { during, .. } = &event { *during } else { None };
        let call = during.and_then(|request| connection.call_of(request));
        let server = server.clone();
        if over {
            self.clients.remove(&client);
            self.shut.push_back(client);
        }
        self.host.handle_client(client, event.clone(), now);
        if !matches!(event, client::Event::Ready(_) | client::Event::Verdict(_)) {
            let bytes = kept_by(&event);
            self.event_bytes = self.event_bytes.saturating_add(bytes);
            let event = FleetEvent::Client { client, server, event, call };
            self.events.push_back(Told { event, bytes });
        }
    }

    fn attached(&mut self, client: ClientHandle) -> Option<&mut Connection> {
        match &mut self.clients.get_mut(&client)?.stage {
            Stage::Attached(connection) => Some(connection),
            Stage::Opening { .. } => None,
        }
    }
}

/// Bytes of messages that an event keeps alive.
fn kept_by(event: &client::Event) -> usize {
    let params = if let client::Event::Notification { params, .. } = event {
        params.as_ref()
    } else if let client::Event::PeerRequest { request, .. } = event {
        request.params.as_ref()
    } else {
        None
    };
    params.map_or(0, RawJson::retained_len)
}

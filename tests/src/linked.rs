//! A client and a server of ours in one revision, each given at once what the other wrote.

use std::collections::VecDeque;

use sanswire::client::{self, Link as _, Outcome, RequestHandle, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::log::LogLevel;
use sanswire::mcp::{Method, Revision};
use sanswire::server::{self, Catalog, Reply};
use sanswire::{Instant, Machine};

use crate::served;

/// Both, once the connection is open.
#[derive(Debug)]
pub struct Linked {
    /// The one.
    pub client: client::LineConnection,
    /// The other.
    pub server: server::LineConnection,
    /// The time.
    pub now: Instant,
    /// All that the client wrote.
    pub asked: Vec<u8>,
    /// All that the server wrote.
    pub said: Vec<u8>,
    /// What the client told and nobody took.
    pub client_events: VecDeque<client::Event>,
    /// What the server told and nobody took.
    pub server_events: VecDeque<server::Event>,
}

/// A client that can do everything.
#[must_use]
pub fn client_config(revision: Revision) -> client::Config {
    let mut config = client::Config::new("linked", "1");
    config.start = Start::Pinned(revision);
    config.log_level = Some(LogLevel::Debug);
    let can = &mut config.capabilities;
    (can.elicitation_form, can.elicitation_url, can.sampling, can.roots) = (true, true, true, true);
    (can.sampling_tools, can.sampling_context, can.roots_list_changed) = (true, true, true);
    config
}

impl Linked {
    /// Both in this revision, with what the server offers.
    ///
    /// # Panics
    /// If they do not come together.
    #[must_use]
    pub fn new(config: client::Config, catalog: Catalog) -> Self {
        let now = Instant::from_millis(1);
        let client = client::LineConnection::new(config, [1; 32], now).expect("in bounds");
        let mut offering = served::config();
        offering.log_level = LogLevel::Debug;
        let mut server = server::LineConnection::new(offering, [2; 32], now).expect("in bounds");
        server.set_catalog(catalog);
        let mut linked = Self {
            client,
            server,
            now,
            asked: Vec::new(),
            said: Vec::new(),
            client_events: VecDeque::new(),
            server_events: VecDeque::new(),
        };
        linked.pump();
        let ready = linked.client_events.iter().any(|event| matches!(event, client::Event::Ready(_)));
        assert!(ready, "not ready: {:?} {}", linked.client_events, String::from_utf8_lossy(&linked.said));
        linked.client_events.clear();
        linked
    }

    /// Carries over what either wrote until neither writes more.
    pub fn pump(&mut self) {
        loop {
            let asked = carry(&mut self.client, &mut self.server, self.now);
            self.server_events.extend(std::iter::from_fn(|| self.server.poll_event()));
            let said = carry(&mut self.server, &mut self.client, self.now);
            self.client_events.extend(std::iter::from_fn(|| self.client.poll_event()));
            if asked.is_empty() && said.is_empty() {
                return;
            }
            self.asked.extend(asked);
            self.said.extend(said);
        }
    }

    /// Asks, and carries it over. `None`: the client refuses.
    pub fn ask(&mut self, method: Method, params: Option<RawJson>) -> Option<RequestHandle> {
        let asked = self.client.request(method, params, &RequestOptions::default(), self.now).ok()?;
        self.pump();
        Some(asked)
    }

    /// The request that the server was just told of.
    pub fn reported(&mut self) -> Option<(server::RequestHandle, Box<server::Context>, RawJson)> {
        let events = std::mem::take(&mut self.server_events);
        events.into_iter().find_map(|event| match event {
            server::Event::Request { request, params, context, .. } => Some((request, context, params)),
            _ => None,
        })
    }

    /// Answers. `None`: the server refuses.
    pub fn reply(&mut self, request: server::RequestHandle, reply: &Reply) -> Option<()> {
        self.server.respond(request, reply, self.now).ok()?;
        self.pump();
        Some(())
    }

    /// How that request ended, if it has.
    pub fn outcome(&mut self, of: RequestHandle) -> Option<Outcome> {
        let ended = |event: &client::Event| matches!(event, client::Event::Finished { request, .. } if *request == of);
        let place = self.client_events.iter().position(ended)?;
        match self.client_events.remove(place) {
            Some(client::Event::Finished { outcome, .. }) => Some(outcome),
            _ => None,
        }
    }
}

fn carry(from: &mut impl Machine, to: &mut impl Machine, now: Instant) -> Vec<u8> {
    let mut all = Vec::new();
    while !from.transmit().is_empty() {
        let bytes = from.transmit().to_vec();
        from.handle_written(bytes.len(), now);
        let mut taken = 0;
        while taken < bytes.len() && to.wants_read() {
            taken += to.handle_input(&bytes[taken..], now);
        }
        all.extend(bytes);
    }
    all
}

//! A host together with its connections, while nobody takes what they tell.

use sanswire::client::{Config, Start};
use sanswire::host::policy::ServerMode;
use sanswire::host::{CallRequest, ClientHandle, Fleet, FleetEvent, HostConfig, ServerConfig, Target};
use sanswire::jsonrpc::RawJson;
use sanswire::limits::Limits;
use sanswire::mcp::Revision;

use crate::counting::{Gauge, KIB, NOW};

const SERVERS: usize = 3;
const BIG: usize = 64 * KIB;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = BIG;
    limits.max_list_bytes = 4 * BIG;
    limits.max_in_flight = 16;
    limits.max_subscriptions = 1;
    limits.max_peer_requests = 8;
    limits.max_queued_out_bytes = 64 * KIB;
    limits.max_queued_events = 2000;
    limits.max_queued_event_bytes = 128 * KIB;
    limits
}

struct Held {
    fleet: Fleet,
    gauge: Gauge,
    clients: Vec<ClientHandle>,
}

impl Held {
    fn ready() -> Self {
        let mut config = HostConfig::default();
        config.limits = limits();
        config.definitions.max_tools = 100;
        config.definitions.max_schema_bytes = 4 * KIB;
        config.definitions.max_description_bytes = 2 * KIB;
        config.max_calls = 16;
        config.max_call_bytes = 256 * KIB;
        config.approvals.max_bytes = 64 * KIB;
        config.pages.store_bytes = 256 * KIB;
        for index in 0..SERVERS {
            let mut server = ServerConfig::default();
            server.mode = ServerMode::Allow;
            server.start = Start::Pinned(Revision::V2025_11_25);
            config.servers.insert(format!("s{index}").into(), server);
        }
        let limits = limits();
        // What connections told and nobody took: as much as one of them may hold of it, and one message over.
        let events = 2 * (limits.max_queued_event_bytes + 2 * BIG) + 1024 * limits.max_queued_events;
        let limit = config.worst_case_bytes() + SERVERS * limits.worst_case_bytes() + events;
        let mut gauge = Gauge::new(limit);
        let fleet = gauge.run(|| Fleet::new(config, NOW).unwrap());
        let mut held = Self { fleet, gauge, clients: Vec::with_capacity(SERVERS) };
        held.gauge.run(|| {
            while let Some(opening) = held.fleet.poll_open() {
                let mut config = Config::new("held", "0");
                config.limits = limits.clone();
                assert!(held.fleet.attach(opening.client, config, [0; 32], NOW).unwrap());
                held.clients.push(opening.client);
            }
        });
        for client in held.clients.clone() {
            let answer = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{}}"#;
            held.read(client, &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{answer}}}\n"));
            held.write_all();
            let tools = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;
            held.read(client, &format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{tools}}}\n"));
        }
        held.take();
        assert_eq!(held.fleet.host().registry().offered().len(), SERVERS);
        held
    }

    fn write_all(&mut self) {
        for client in self.fleet.clients().collect::<Vec<_>>() {
            let len = self.fleet.transmit(client).len();
            self.gauge.run(|| self.fleet.handle_written(client, len, NOW));
        }
    }

    /// How many connections told something.
    fn take(&mut self) -> usize {
        self.gauge.run(|| {
            let events = core::iter::from_fn(|| self.fleet.poll_event());
            events.filter(|event| matches!(event, FleetEvent::Client { .. })).count()
        })
    }

    /// Whether all of it was taken.
    fn read(&mut self, client: ClientHandle, line: &str) -> bool {
        let taken = self.gauge.run(|| self.fleet.handle_input(client, line.as_bytes(), NOW));
        // Tables are counted about, and what is held is never counted as more than twice of it.
        let (counted, held) = (self.fleet.retained_bytes(), self.gauge.held());
        assert!(counted <= 2 * held, "{counted} of {held}");
        taken == line.len()
    }

    /// Every server goes on until its connection reads no more.
    fn flood(&mut self, line: &str) -> usize {
        let mut taken = 0;
        for client in self.clients.clone() {
            let enough = taken + 10_000;
            while taken < enough && self.read(client, line) {
                taken += 1;
            }
            assert!(!self.fleet.wants_read(client), "it never had enough");
        }
        taken
    }

    fn drained(&mut self) {
        assert!(self.take() > 0);
        assert!(self.clients.iter().all(|client| self.fleet.wants_read(*client)));
    }
}

pub(crate) fn fleet_notifications_that_nobody_takes() {
    for size in [10, 3 * KIB, BIG - 200] {
        let mut held = Held::ready();
        let text = "x".repeat(size);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":\"{text}\"}}}}\n"
        );
        let taken = held.flood(&line);
        assert!(taken >= SERVERS, "{taken}");
        held.drained();
    }
}

pub(crate) fn fleet_results_that_nobody_takes() {
    let mut held = Held::ready();
    let text = "y".repeat(BIG - 300);
    let mut made = 0_u64;
    for round in 0..20 {
        for server in 0..SERVERS {
            let target = Target::Exposed(format!("mcp__s{server}__t").into());
            let arguments = format!("{{\"n\":{made}}}");
            let call = |target| CallRequest::new("1", target, Some(RawJson::parse_str(&arguments).unwrap()));
            if held.gauge.run(|| held.fleet.call(call(target), NOW)).is_err() {
                continue;
            }
            made += 1;
            held.write_all();
            let client = held.clients[server];
            for id in 3..40 {
                let line = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
                );
                held.read(client, &line);
            }
        }
        if round == 10 {
            held.take();
        }
    }
    assert!((16..=64).contains(&made), "{made} calls");
}

//! How everybody is set up, by one number.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{self, Start, Verdict};
use sanswire::limits::Limits;
use sanswire::mcp::Revision;
use sanswire::server;

use super::wire::Wire;
use crate::seed::Rng;

/// Everything that a run starts from.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) client: client::Config,
    pub(super) server: server::Config,
    /// To the server, and to the client.
    pub(super) wires: [Wire; 2],
    /// So many of a hundred requests are answered at once.
    pub(super) auto: usize,
    pub(super) now: Instant,
    /// Whether a client that misbehaves begins in the newest era.
    pub(super) modern: bool,
}

impl Setup {
    pub(super) fn of(number: u64) -> Self {
        let mut rng = Rng::new(number);
        let narrow = rng.chance(50);
        let mut wire = || {
            let latency = Duration::from_millis(*rng.pick(&[0, 0, 0, 1, 20, 3000]));
            // A few bytes at a time with a pause after each would take hours.
            let least = if latency.is_zero() { 1 } else { 300 };
            let narrow = narrow && latency < Duration::from_secs(1);
            let capacity = if narrow { *rng.pick(&[usize::MAX, 65_536, 512, least]) } else { usize::MAX };
            Wire::new(latency, capacity)
        };
        let wires = [wire(), wire()];
        Self {
            client: client_config(&mut rng, narrow),
            server: server_config(&mut rng, narrow),
            wires,
            auto: *rng.pick(&[0, 50, 90]),
            now: Instant::from_millis(rng.number() % 1000),
            modern: rng.chance(50),
        }
    }
}

fn limits(rng: &mut Rng, narrow: bool) -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = 4096;
    limits.max_pages = 3;
    limits.max_items = 4;
    limits.request_idle = Duration::from_secs(*rng.pick(&[1, 30]));
    limits.request_absolute = Duration::from_secs(*rng.pick(&[3, 600]));
    limits.peer_request = Duration::from_secs(*rng.pick(&[1, 600]));
    limits.max_input_rounds = *rng.pick(&[1, 10]);
    if narrow {
        limits.max_json_depth = *rng.pick(&[8, 128]);
        limits.max_in_flight = *rng.pick(&[1, 2, 5, 1024]);
        limits.max_subscriptions = *rng.pick(&[0, 1, 64]);
        limits.max_peer_requests = *rng.pick(&[0, 1, 64]);
        limits.max_queued_out_bytes = *rng.pick(&[4096, 6000, 1 << 20]);
        limits.max_queued_events = *rng.pick(&[1, 2, 5, 4096]);
        limits.max_queued_event_bytes = *rng.pick(&[4096, 1 << 20]);
        limits.violation_budget = *rng.pick(&[0, 1, 3, 1000, 1000]);
        limits.max_junk_lines = *rng.pick(&[1, 3, 100]);
    }
    limits
}

fn client_config(rng: &mut Rng, narrow: bool) -> client::Config {
    let mut config = client::Config::new("simulated", "0");
    config.limits = limits(rng, narrow);
    let starts = [
        Start::Unknown,
        Start::Unknown,
        Start::Unknown,
        Start::Remembered(Verdict::Legacy),
        Start::Remembered(Verdict::Modern),
        Start::Remembered(Verdict::Died),
        Start::Pinned(Revision::V2026_07_28),
        Start::Pinned(*rng.pick(&Revision::ALL)),
    ];
    config.start = rng.pick(&starts).clone();
    config.capabilities.roots = rng.chance(60);
    config.capabilities.roots_list_changed = config.capabilities.roots && rng.chance(50);
    config.capabilities.elicitation_form = rng.chance(60);
    config.capabilities.sampling = rng.chance(60);
    config.lenient_ids = rng.chance(20);
    config
}

fn server_config(rng: &mut Rng, narrow: bool) -> server::Config {
    let mut config = server::Config::new("simulated", "0");
    config.limits = limits(rng, narrow);
    config.limits.drain = Duration::from_millis(*rng.pick(&[0, 300, 10_000]));
    config.capabilities.logging = true;
    config.capabilities.completions = true;
    config.capabilities.subscribe = true;
    config.page_size = *rng.pick(&[1, 2, 1000]);
    if rng.chance(20) {
        config.revisions = vec![*rng.pick(&Revision::ALL)];
    }
    config
}

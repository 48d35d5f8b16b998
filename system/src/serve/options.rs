//! What a server is bound by, beyond what its machine is set up with, and how its calls ask.

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sanswire::error::ConfigError;
use sanswire::server::Governed;
use sanswire::waist::log::Entry;
use sanswire::waist::{Bindings, Record, Tier, Trust};

use crate::clock::WallClock;
use crate::records::Sink;
use crate::serve::asks::Asks;
use crate::serve::govern::Governor;

/// What governs a server's calls, and how they ask their client. The default governs nothing, and that costs nothing.
///
/// As soon as anything is bound, or records are wanted, every call of a tool passes one
/// [`Waist`](sanswire::waist::Waist), whichever connection it came on. A refused call is answered with a result that
/// has `isError` and says which rule refused and what can be done; its handler does not run.
///
/// A [`Hook`](sanswire::waist::Hook) that panics refuses the call (rule: its name, class: terminal), and is asked again
/// for the next one; what panics after a call is dropped. It neither lets a call through nor stops others.
#[non_exhaustive]
pub struct ServerOptions {
    /// Grant, hooks, brakes, run and goal.
    pub bindings: Bindings,
    /// Which requests pass. Default: calls of tools.
    pub governed: Governed,
    /// How far the handlers are trusted. Default: [`Trust::Trusted`], for they are the program's own. Say less where
    /// they hand their work on to what is trusted less.
    pub trust: Trust,
    /// The boundary that the handlers' work is done behind, if there is one.
    pub tier: Option<Tier>,
    /// Seals what a call has learnt from its client between two rounds (2026-07-28). Keep it secret; give all processes
    /// behind one address the same. None: drawn at random, so that a call cannot go on after a restart.
    pub state_key: Option<[u8; 32]>,
    /// How long a client may take for one round of input (2026-07-28), in whole seconds. Default: 10 min.
    pub state_lifetime: Duration,
    /// How many questions one call may ask, over all its rounds. Default: 32.
    pub max_asks: usize,
    /// What time it is, for the lifetime above. Default: the system's.
    pub wall_clock: WallClock,
    pub(crate) records: Option<Sink>,
    /// None: nothing was ever bound.
    bind: Option<fn(Self) -> Result<Governor, ConfigError>>,
}

/// What the options come to.
#[derive(Default)]
pub struct Terms {
    /// What lets calls through.
    pub governor: Governor,
    /// How calls ask their client.
    pub asks: Asks,
}

impl Terms {
    /// What a runtime makes of options of its builder.
    ///
    /// # Errors
    /// A limit is out of its bounds.
    pub fn new(options: ServerOptions) -> Result<Self, ConfigError> {
        let asks = Asks::new(&options);
        let governor = options.bind.map_or_else(|| Ok(Governor::default()), |bind| bind(options))?;
        Ok(Self { governor, asks })
    }

    /// As [`new`](Self::new), of options that may have been made by hand.
    ///
    /// # Errors
    /// As there.
    pub fn bound(mut options: ServerOptions) -> Result<Self, ConfigError> {
        options.bind = Some(Governor::new);
        Self::new(options)
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            bindings: Bindings::default(),
            governed: Governed::default(),
            trust: Trust::Trusted,
            tier: None,
            state_key: None,
            state_lifetime: Duration::from_secs(600),
            max_asks: 32,
            wall_clock: Arc::new(SystemTime::now),
            records: None,
            bind: None,
        }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &mut f.debug_struct("ServerOptions");
        options.field("governed", &self.governed).field("trust", &self.trust).field("tier", &self.tier);
        options.finish_non_exhaustive()
    }
}

impl ServerOptions {
    /// Binds: grant, hooks, brakes, run and goal.
    #[must_use]
    pub fn with_bindings(mut self, mut bindings: Bindings) -> Self {
        bindings.always_record |= self.records.is_some();
        self.bindings = bindings;
        self.bind = Some(Governor::new);
        self
    }

    /// Gives every record, with the wall clock's time of what it tells, to `sink`, on a thread of its own. Binds: calls
    /// give records though nothing else is bound.
    ///
    /// Whatever `sink` does, no call fails or waits for it. One that panics loses that record
    /// ([`RecordStats::failed`](crate::RecordStats::failed)); while one does not return, the newest
    /// [`max_records`](Bindings::max_records) wait and the oldest are lost
    /// ([`RecordStats::lost`](crate::RecordStats::lost)). When a
    /// `serve_stdio` or one of its kind returns, and when the server itself is dropped, what
    /// waits is given out for a second at most.
    #[must_use]
    pub fn with_records(self, mut sink: impl FnMut(Record, SystemTime) + Send + 'static) -> Self {
        self.with_sink(Box::new(move |record, at| {
            sink(record, at);
            true
        }))
    }

    /// As [`with_records`](Self::with_records): appends every record to `log`, as a line of JSON
    /// ([`Entry`]). What cannot be written counts as failed.
    #[must_use]
    pub fn with_record_log(self, mut log: impl Write + Send + 'static) -> Self {
        self.with_sink(Box::new(move |record, at| {
            let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            // One write a line: whoever appends to the same file does not come between.
            let mut line = Entry::new(&record, at_ms).to_json().as_bytes().to_vec();
            line.push(b'\n');
            log.write_all(&line).and_then(|()| log.flush()).is_ok()
        }))
    }

    fn with_sink(mut self, sink: Sink) -> Self {
        self.bindings.always_record = true;
        self.records = Some(sink);
        self.bind = Some(Governor::new);
        self
    }
}

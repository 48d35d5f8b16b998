//! How a server is set up.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::error::ConfigError;
use crate::jsonrpc::RawJson;
use crate::limits::{Limits, MAX_KEPT_BYTES, MAX_READ_BYTES, OUT_RESERVE_BYTES};
use crate::mcp::types::lifecycle::{CacheHint, Implementation};
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Era, Revision};
use crate::server::event::Principal;
use crate::server::subscription::MAX_WATCHED;

/// How a server is set up. `Debug` does not show the key.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Who we are.
    pub server: Implementation,
    /// How to use this server, in words, for a model.
    pub instructions: Option<String>,
    /// What is offered. Tools, resources and prompts are offered as well as soon as the catalog has any.
    pub capabilities: Capabilities,
    /// The revisions that are served, at least one. All by default.
    pub revisions: Vec<Revision>,
    /// All bounds.
    pub limits: Limits,
    /// What a call of a tool that is not there gets.
    pub unknown_tool: UnknownTool,
    /// Which tools a principal may see and call. By default all.
    pub tool_filter: Option<ToolFilter>,
    /// Elements on a page of a listing. A page also ends where a message would get too long.
    pub page_size: usize,
    /// How long and for whom listings, the introduction and resources may be kept (2026-07-28).
    pub cache: CacheHints,
    /// Whether our name stands in every result (2026-07-28).
    pub announce_server: bool,
    /// The least level of log messages before a legacy client set one.
    pub log_level: LogLevel,
    /// Whether a legacy client on a stream of its own is pinged when it is silent. By default not.
    pub keep_alive: Option<KeepAlive>,
    /// Keys the cursors of listings. Give all processes behind one address the same, so that a listing may go on at
    /// any of them. `None`: taken from the seed.
    pub cursor_key: Option<[u8; 32]>,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            instructions,
            capabilities,
            revisions,
            limits,
            unknown_tool,
            tool_filter,
            page_size,
            cache,
            announce_server,
            log_level,
            keep_alive,
            cursor_key,
        } = self;
        f.debug_struct("Config")
            .field("server", server)
            .field("instructions", instructions)
            .field("capabilities", capabilities)
            .field("revisions", revisions)
            .field("limits", limits)
            .field("unknown_tool", unknown_tool)
            .field("tool_filter", tool_filter)
            .field("page_size", page_size)
            .field("cache", cache)
            .field("announce_server", announce_server)
            .field("log_level", log_level)
            .field("keep_alive", keep_alive)
            .field("cursor_key", &cursor_key.is_some())
            .finish()
    }
}

impl Config {
    /// The defaults, for a server of this name and version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            server: Implementation::new(name, version),
            instructions: None,
            capabilities: Capabilities::default(),
            revisions: Revision::ALL.into(),
            limits: Limits::default(),
            unknown_tool: UnknownTool::ProtocolError,
            tool_filter: None,
            page_size: 1000,
            cache: CacheHints::default(),
            announce_server: true,
            log_level: LogLevel::Info,
            keep_alive: None,
            cursor_key: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.limits.check()?;
        let within = |field, min: u64, max: u64, got: u64| {
            if (min..=max).contains(&got) { Ok(()) } else { Err(ConfigError { field, min, max, got }) }
        };
        within("revisions", 1, 64, self.revisions.len() as u64)?;
        within("page_size", 1, 1 << 20, self.page_size as u64)?;
        within("max_junk_lines", 1, 1 << 20, u64::from(self.limits.max_junk_lines))?;
        within(
            "max_resource_subscriptions",
            0,
            MAX_WATCHED as u64,
            self.limits.max_resource_subscriptions as u64,
        )?;
        for (field, value) in [
            ("drain", self.limits.drain),
            ("close_flush", self.limits.close_flush),
            ("list_changed_debounce", self.limits.list_changed_debounce),
        ] {
            within(field, 0, u64::from(u32::MAX), u64::try_from(value.as_millis()).unwrap_or(u64::MAX))?;
        }
        if let Some(keep) = self.keep_alive {
            for (field, value) in [("keep_alive.every", keep.every), ("keep_alive.timeout", keep.timeout)] {
                let millis = u64::try_from(value.as_millis()).unwrap_or(u64::MAX);
                within(field, 1000, u64::from(u32::MAX), millis)?;
            }
        }
        Ok(())
    }

    /// The newest revision of an era that is served.
    pub(crate) fn newest(&self, era: Era) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| revision.era() == era).max()
    }

    pub(crate) fn serves(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }
}

/// When a silent client is asked whether it is still there (revisions up to 2025-11-25). One ping is open at most, and
/// anything that the client says is a sign of life.
///
/// Spec: MCP 2025-11-25 basic/utilities/ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Ping after so long a silence. A second or more.
    pub every: Duration,
    /// Close the connection when nothing came for so long after a ping. A second or more.
    pub timeout: Duration,
}

/// What a server offers. Offer only what is answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Tools.
    pub tools: bool,
    /// Resources.
    pub resources: bool,
    /// Notices of changes of single resources.
    pub subscribe: bool,
    /// Prompts.
    pub prompts: bool,
    /// Completion of arguments.
    pub completions: bool,
    /// Log messages.
    pub logging: bool,
    /// Notices of changes of the lists.
    pub list_changed: bool,
    /// Extensions with their settings (2026-07-28): such as add to results or `_meta`. Methods of an extension's own are
    /// unknown here (-32601), so offer none that has some.
    pub extensions: Option<RawJson>,
    /// Whatever else, for those who know.
    pub experimental: Option<RawJson>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            tools: false,
            resources: false,
            subscribe: false,
            prompts: false,
            completions: false,
            logging: false,
            list_changed: true,
            extensions: None,
            experimental: None,
        }
    }
}

/// What a call of a tool that is not there gets. One that is filtered out gets the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownTool {
    /// The error -32602, as the specification says.
    #[default]
    ProtocolError,
    /// A result with `isError`, which a model gets to see.
    ToolError,
}

/// How long and for whom results may be kept (2026-07-28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// `server/discover`.
    pub discover: CacheHint,
    /// The listings, all pages of one alike. Not public where a filter makes them differ.
    pub lists: CacheHint,
    /// `resources/read`, where the application says nothing.
    pub reads: CacheHint,
}

impl Default for CacheHints {
    /// A minute for what rarely changes, nothing for contents, nobody else's to see.
    fn default() -> Self {
        let minute = CacheHint { ttl_ms: 60_000, public: false };
        Self { discover: minute, lists: minute, reads: CacheHint::default() }
    }
}

/// Which tools a principal may see and call: a pure function of the principal and the tool's name.
#[derive(Clone)]
pub struct ToolFilter(Arc<Shows>);

type Shows = dyn Fn(&Principal, &str) -> bool + Send + Sync;

impl ToolFilter {
    /// Shows the tools for which `shows` is true. It must give the same answer whenever it is asked the same, and soon: a
    /// runtime asks it while others wait, so it must not call that runtime either.
    pub fn new(shows: impl Fn(&Principal, &str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(shows))
    }

    /// Whether `principal` may see and call `tool`.
    #[must_use]
    pub fn shows(&self, principal: &Principal, tool: &str) -> bool {
        (self.0)(principal, tool)
    }
}

impl fmt::Debug for ToolFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolFilter")
    }
}

impl Limits {
    /// The most bytes one served connection ever holds, its allocator's rounding and the catalog aside: the message
    /// being read and one read, the block kept for reuse, what waits to be written, the events that wait, and the
    /// tables at their caps. Bytes already handed to the application are the application's.
    #[must_use]
    pub fn worst_case_server_bytes(&self) -> usize {
        // A table entry with its share of spare room, two ids of the client's and what is asked back.
        const ENTRY: usize = 3 * 1024;
        const EVENT: usize = 1024;
        const REFUSAL: usize = 1024;
        let frame = self.max_message_bytes.saturating_mul(2).saturating_add(MAX_READ_BYTES);
        let out = self
            .max_queued_out_bytes
            .saturating_add(self.max_message_bytes)
            .saturating_add(OUT_RESERVE_BYTES)
            // A batch is answered with an error each once there is no more room.
            .saturating_add(self.max_queued_events.saturating_mul(REFUSAL))
            .saturating_mul(2);
        // A view keeps up to twice its length alive, and one message overshoots.
        let events = self
            .max_queued_event_bytes
            .saturating_add(self.max_message_bytes)
            .saturating_add(MAX_READ_BYTES.saturating_mul(2))
            .saturating_mul(2)
            .saturating_add(self.max_queued_events.saturating_add(MAX_READ_BYTES / 16).saturating_mul(EVENT));
        let tables =
            (self.max_in_flight + self.max_subscriptions + self.max_peer_requests).saturating_mul(ENTRY);
        // Once watched, and once in a request that says so.
        let watched =
            self.max_resource_subscriptions.saturating_mul(2 * (super::subscription::MAX_URI_BYTES + 256));
        [frame, MAX_KEPT_BYTES, out, events, tables, watched]
            .into_iter()
            .fold(64 * 1024, usize::saturating_add)
    }
}

//! How much a host holds at most, by its settings, and how much its servers hold now.

use alloc::string::String;

use super::catalog::{Definition, MAX_EXPOSED_BYTES, ServerTools, SkipReason, ToolOutcome};
use super::config::HostConfig;
use super::manager::{MAX_ERROR_BYTES, MAX_INTRODUCTION_BYTES};
use super::policy::{MAX_CALLS, MAX_GRANTS, MAX_SAVED};
use super::results::MAX_RESULT_CEILING;
use crate::mcp::types::page::MAX_PAGE_ITEMS;
use crate::waist::MAX_NAME_BYTES;

/// The most servers of one host.
pub(super) const MAX_SERVERS: usize = 10_000;

/// A tool in the tables, with its share of spare room and the description that is made up for one that says nothing.
const TOOL: usize = 1536;

/// The short texts that a server gives of a tool, masked: its name, its title, what is to be known about it.
const SHORT: usize = 4 * 1024;

/// An entry of the table of names, its share of spare room and the name itself.
const NAMED: usize = 512 + MAX_EXPOSED_BYTES;

/// A server without its texts, and an open call without its arguments.
const ENTRY: usize = 4 * 1024;

/// The tools that were allowed, for the session and for longer, and the calls of a turn.
const REMEMBERED: usize = MAX_GRANTS * (MAX_NAME_BYTES + 256) + MAX_SAVED + MAX_CALLS * 128;

/// Masking makes no more of a byte: `\u{7f}`.
const MASKED: usize = 6;

impl HostConfig {
    /// The most bytes that a host of this configuration ever holds, its allocator's rounding, its waist and the
    /// configuration itself aside, if what it says is taken out after each thing that it is told.
    ///
    /// | what | how often |
    /// |---|---|
    /// | the tools of one listing as they are offered: schemas and descriptions by [`definitions`](Self::definitions), but no more than a listing can hold | twice a server: offered, and staged; once more while one is judged |
    /// | the pages of one listing: `max_list_bytes`, and one message over | [`max_starting`](Self::max_starting) that start and as many that are read anew |
    /// | an introduction and an error: 64 KiB and 2 KiB, in copies | a server |
    /// | arguments of calls, and what servers ask before they go on: [`max_call_bytes`](Self::max_call_bytes) | twice each: kept, and on their way |
    /// | questions, kept rests | [`approvals`](Self::approvals), [`pages`](Self::pages) |
    /// | a result that is made fit to be shown | one |
    /// | what was allowed, for the session and for longer: 10,000 tools, and 4 MiB of lines as they are changed | about 70 MiB, whatever is configured |
    ///
    /// A view of a message keeps up to twice its length alive. Connections are counted by
    /// [`Limits::worst_case_bytes`](crate::limits::Limits::worst_case_bytes), each for itself.
    #[must_use]
    pub fn worst_case_bytes(&self) -> usize {
        let sum = |parts: &[usize]| parts.iter().fold(0, |sum: usize, part| sum.saturating_add(*part));
        let servers = self.servers.len();
        let message = self.limits.max_message_bytes.saturating_mul(2);
        let listing = self.limits.max_list_bytes.saturating_add(message);

        let limits = &self.definitions;
        let text =
            sum(&[limits.max_schema_bytes, limits.max_schema_bytes, limits.max_description_bytes, SHORT]);
        let texts = limits.max_tools.saturating_mul(text).min(listing.saturating_mul(MASKED));
        let kept = limits.max_tools.saturating_mul(TOOL).saturating_add(texts);
        let name = self.servers.keys().map(|name| name.len()).max().unwrap_or(0);
        let named = limits.max_tools.saturating_mul(NAMED.saturating_add(name));
        let judged = kept.saturating_add(MAX_PAGE_ITEMS.saturating_mul(TOOL));

        let introduction = MAX_INTRODUCTION_BYTES.saturating_mul(4);
        let server = sum(&[kept, kept, named, introduction, 2 * MAX_ERROR_BYTES, ENTRY, name]);
        // The table of names is made anew beside the one before it, and once more to see what would change.
        let tables = servers.saturating_mul(named).saturating_mul(2);
        let read = servers.min(self.max_starting.saturating_mul(2)).saturating_mul(listing);

        let calls = sum(&[
            self.max_calls.saturating_mul(ENTRY),
            self.max_call_bytes.saturating_mul(4),
            self.approvals.max_bytes.saturating_mul(2),
            self.approvals.max_open.saturating_mul(ENTRY),
            self.pages.store_bytes,
            message.saturating_mul(1 + MASKED),
            MAX_RESULT_CEILING,
            REMEMBERED,
        ]);
        sum(&[servers.saturating_mul(server), tables, read, judged, calls])
    }
}

/// Bytes that a judged listing keeps alive, about: texts to the byte, tables by their entries.
pub(super) fn tools_bytes(tools: &ServerTools) -> usize {
    let each = tools.tools.iter().map(|tool| {
        let why = match &tool.outcome {
            ToolOutcome::Skipped(SkipReason::SetAside(_)) => 256,
            ToolOutcome::Skipped(_)
            | ToolOutcome::Registered
            | ToolOutcome::Filtered(_)
            | ToolOutcome::Denied => 0,
        };
        let definition = tool.definition.as_deref().map_or(0, definition_bytes);
        size_of_val(tool) + tool.name.capacity() + why + definition
    });
    let warnings = tools.warnings.iter().map(|warning| size_of_val(warning) + warning.name.capacity());
    each.chain(warnings).fold(size_of::<ServerTools>(), usize::saturating_add)
}

fn definition_bytes(definition: &Definition) -> usize {
    let schema = definition.output_schema.as_ref().map_or(0, |schema| schema.retained_len());
    let texts = definition.title.as_ref().map_or(0, String::capacity)
        + definition.description.capacity()
        + definition.input_schema.retained_len()
        + definition.tool.len();
    size_of_val(definition) + texts + schema + size_of_val(&*definition.notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ServerConfig;

    #[test]
    fn each_setting_that_bounds_something_counts() {
        let base = || {
            let mut config = HostConfig::default();
            config.servers.insert("a".into(), ServerConfig::default());
            config.servers.insert("b".into(), ServerConfig::default());
            config.max_starting = 1;
            config.limits.max_list_bytes = 1 << 30;
            config
        };
        let before = base().worst_case_bytes();
        let changes: [fn(&mut HostConfig); 13] = [
            |config| config.servers.extend([("c".into(), ServerConfig::default())]),
            |config| config.servers.extend([("b".repeat(1000).into(), ServerConfig::default())]),
            |config| config.limits.max_list_bytes += 1,
            |config| config.limits.max_message_bytes += 1,
            |config| config.definitions.max_tools += 1,
            |config| config.definitions.max_schema_bytes += 1,
            |config| config.definitions.max_description_bytes += 1,
            |config| config.max_calls += 1,
            |config| config.max_call_bytes += 1,
            |config| config.approvals.max_open += 1,
            |config| config.approvals.max_bytes += 1,
            |config| config.pages.store_bytes += 1,
            |config| {
                config.servers.extend([("c".into(), ServerConfig::default())]);
                config.max_starting += 1;
            },
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut config = base();
            change(&mut config);
            assert!(config.worst_case_bytes() > before, "{index}");
        }
        let mut huge = base();
        (huge.max_calls, huge.max_call_bytes, huge.pages.store_bytes) = (usize::MAX, usize::MAX, usize::MAX);
        assert_eq!(huge.worst_case_bytes(), usize::MAX, "it never overflows");
    }
}

//! `limits`: what is bounded, and how much memory that comes to.

use std::time::Duration;

use sanswire::http::endpoint::EndpointConfig;
use sanswire::http::{Pool, h1};
use sanswire::limits::Limits;
use sanswire::server::Config;
use sanswire_std::HttpTarget;

use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::output::table::table;
use crate::output::{document, json_document};

/// The value of a bound.
#[derive(Clone, Copy)]
enum Value {
    Bytes(usize),
    Count(usize),
    Time(Duration),
}

/// A name, its value, what it bounds.
type Row = (&'static str, Value, &'static str);

/// Shows every bound of a connection with its default, and the most memory that connections, and a host of the
/// configured servers, hold.
pub(super) fn run(context: &Context) -> Result<u8, Failure> {
    let mut limits = Limits::default();
    if let Some(timeout) = context.common.timeout {
        (limits.connect, limits.request_idle, limits.request_absolute) = (timeout, timeout, timeout);
    }
    let rows = rows(&limits);
    let (client, server) = (limits.worst_case_bytes(), limits.worst_case_server_bytes());
    let host = context.configuration()?.host();
    let servers = host.servers.values().filter(|server| server.enabled).count();
    let hosted = host.worst_case_bytes();
    // Whoever is spoken to over HTTP has connections beside what is known of the conversation.
    let remote = host.servers.values().filter(|server| server.enabled && server.transport == "http").count();
    let wires = HttpTarget::new("http://localhost/").map_or(1, |target| target.max_connections);
    let with = |wires| Pool::worst_case_bytes(&limits, &h1::Limits::default(), wires);
    let (each_remote, wire) = (with(wires), with(2) - with(1));
    let remote_client = each_remote - wire * wires;
    let all = hosted
        .saturating_add(client.saturating_mul(servers - remote))
        .saturating_add(each_remote.saturating_mul(remote));
    let endpoint = EndpointConfig::new(Config::new("sanswire", "")).worst_case_bytes();
    if context.common.json {
        json_document(&object(|w| {
            w.object("worst_case_bytes", |w| {
                w.u64("connection_to_a_server", client as u64).u64("connection_of_a_client", server as u64);
                w.u64("client_over_http", remote_client as u64);
                w.u64("connection_over_http", wire as u64).u64("server_over_http", endpoint as u64);
                w.u64("host", hosted as u64).u64("host_with_connections", all as u64);
            });
            w.object("limits", |w| {
                for (name, value, _) in &rows {
                    match value {
                        Value::Bytes(count) | Value::Count(count) => w.u64(name, *count as u64),
                        Value::Time(time) => w.f64(&format!("{name}_seconds"), time.as_secs_f64()),
                    };
                }
            });
        }))?;
        return Ok(0);
    }
    let shown = rows.into_iter().map(|(name, value, what)| vec![name.to_owned(), value.shown(), what.into()]);
    document(&format!(
        "{}\nThe most that is held at once, whatever the other side does:\n  {} for a connection to a server\n  {} for \
         a connection of a client, in a server\n  {} for a client of a server over HTTP\n  {} more for each HTTP connection (at most {wires} to a server)\n  {} for a \
         server over HTTP, with all its clients\n  {} for a host of what is configured (servers: {servers}), {} with \
         a connection to each\n",
        table(&["limit", "is", "of"], shown),
        bytes(client),
        bytes(server),
        bytes(remote_client),
        bytes(wire),
        bytes(endpoint),
        bytes(hosted),
        bytes(all),
    ))?;
    Ok(0)
}

fn rows(limits: &Limits) -> Vec<Row> {
    let count = |number: u32| Value::Count(usize::try_from(number).unwrap_or(usize::MAX));
    vec![
        ("max_message_bytes", Value::Bytes(limits.max_message_bytes), "one message, either way"),
        ("max_json_depth", count(limits.max_json_depth.into()), "levels of JSON"),
        ("max_in_flight", Value::Count(limits.max_in_flight), "requests that are open"),
        ("max_subscriptions", Value::Count(limits.max_subscriptions), "subscriptions that are open"),
        ("max_peer_requests", Value::Count(limits.max_peer_requests), "questions of a server that wait"),
        ("max_queued_out_bytes", Value::Bytes(limits.max_queued_out_bytes), "what waits to be written"),
        ("max_queued_events", Value::Count(limits.max_queued_events), "events that wait"),
        ("max_queued_event_bytes", Value::Bytes(limits.max_queued_event_bytes), "what they hold"),
        ("violation_budget", count(limits.violation_budget), "faults before a connection is closed"),
        ("max_junk_lines", count(limits.max_junk_lines), "lines in a row that a server does not understand"),
        ("max_resource_subscriptions", Value::Count(limits.max_resource_subscriptions), "watched resources"),
        ("max_input_rounds", count(limits.max_input_rounds), "rounds of questions in one call"),
        ("max_pages", count(limits.max_pages), "pages of a listing"),
        ("max_items", Value::Count(limits.max_items), "items of a listing"),
        ("max_list_bytes", Value::Bytes(limits.max_list_bytes), "a listing, all pages"),
        ("connect", Value::Time(limits.connect), "the start of a connection"),
        ("request_idle", Value::Time(limits.request_idle), "a request without a sign of life"),
        ("request_absolute", Value::Time(limits.request_absolute), "a request in all"),
        ("peer_request", Value::Time(limits.peer_request), "the answer to a server's question"),
        ("probe_hedge", Value::Time(limits.probe_hedge), "a probe, before the older way is tried beside it"),
        ("close_flush", Value::Time(limits.close_flush), "what is still written at the end"),
        ("drain", Value::Time(limits.drain), "what a server still does at the end"),
        ("list_changed_debounce", Value::Time(limits.list_changed_debounce), "the wait for further changes"),
    ]
}

impl Value {
    fn shown(self) -> String {
        match self {
            Self::Bytes(count) => bytes(count),
            Self::Count(count) => count.to_string(),
            Self::Time(time) => format!("{} s", time.as_secs_f64()),
        }
    }
}

/// In the biggest unit that leaves it readable.
fn bytes(count: usize) -> String {
    const MIB: usize = 1 << 20;
    const GIB: usize = 1 << 30;
    match count {
        GIB.. => format!("{:.1} GiB", count as f64 / GIB as f64),
        MIB.. if count.is_multiple_of(MIB) => format!("{} MiB", count / MIB),
        MIB.. => format!("{:.1} MiB", count as f64 / MIB as f64),
        1024.. => format!("{} KiB", count / 1024),
        _ => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_its_row() {
        // `Debug` prints each field once.
        let limits = Limits::default();
        let fields = format!("{limits:?}").matches(": ").count();
        let rows = rows(&limits);
        assert_eq!(rows.len(), fields, "{limits:?}");
        for (name, ..) in rows {
            assert!(format!("{limits:?}").contains(&format!("{name}: ")), "{name}");
        }
    }
}

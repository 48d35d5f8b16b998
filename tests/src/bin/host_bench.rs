//! What it costs a host to decide about a call, and to take listings in.
//!
//! `host_bench WHAT N` does it N times, to be counted by callgrind; the difference of two runs is the cost of one. WHAT
//! is
//!
//! - `decide`: all that is decided about a call of one of 1,000 tools, under 200 rules, 199 of which are about other
//!   tools: the tool is looked up, the call counted, grants asked, the steps gone through;
//! - `read`: 10,000 tools of 50 servers are judged, as their listings were read from the wire;
//! - `list`: the same, and they are put in one table, server by server, as they connect;
//! - `tell`: that table is written as one listing for a client.
//!
//! Those print the bytes that they read or write. Count [`DefinitionHash::of`](sanswire::host::policy::DefinitionHash::of) apart:
//! its cost is SHA-256's.
#![expect(clippy::print_stderr, reason = "its output is for a terminal")]

use std::hint::black_box;

use sanswire::host::Mask;
use sanswire::host::catalog::{
    Exposure, ExposureMode, ListingSettings, Registry, ServerTools, tools_listing,
};
use sanswire::host::policy::{
    ArgumentsHash, CallContext, CallRules, Grants, Policy, RuleDecision, RuleKey, ServerMode, ServerPolicy,
    Turn, Verdict, decide,
};
use sanswire::jsonrpc::RawJson;
use sanswire_tests::served::raw;
use serde_json::{Value, json};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, count] = words.as_slice() else {
        eprintln!("usage: host_bench decide|read|list|tell N");
        return;
    };
    let count = count.parse().unwrap();
    match what.as_str() {
        "decide" => decisions(count),
        "tell" => tells(count),
        what => listings(what, count),
    }
}

fn decisions(count: usize) {
    let mut registry = Registry::default();
    for (server, page) in pages(10, 100) {
        registry.set(&server, read(&server, &page));
    }
    let keys = (0..199).map(|n| match n % 4 {
        0 => format!("server-{}/delete_record_{n}", n % 10),
        1 => format!("server-{}/*_forever_{n}", n % 10),
        2 => format!("other-{n}/*"),
        _ => format!("*/drop_{n}_*"),
    });
    let rules = keys.map(|key| (key, RuleDecision::Deny)).chain([("server-7/*".into(), RuleDecision::Ask)]);
    let rules = rules.collect::<Vec<_>>().into_iter().rev();
    let mut policy = Policy::default();
    policy.servers = (0..10).map(|n| (format!("server-{n}"), ServerPolicy::of(ServerMode::Ask))).collect();
    policy.rules = CallRules::of(rules.map(|(key, decision)| (RuleKey::read(&key).unwrap(), decision)));
    policy.ask_on_repeat = u32::MAX;
    let arguments = raw(&json!({"path": "src/main.rs", "line": 12, "text": "hello"}));
    let mut grants = Grants::default();
    for (_, offered) in registry.offered() {
        grants.allow(&offered.tool, offered.definition.hash);
    }
    let mut turn = Turn::default();
    for _ in 0..count {
        let offered = registry.resolve(black_box("mcp__server-7__update_record_42")).unwrap();
        let view = Some(black_box(&arguments).view());
        let mut call = CallContext::new(&offered.tool);
        call.hints = offered.definition.hints;
        call.approver = true;
        call.nth_in_turn = turn.count(&offered.tool, ArgumentsHash::of(view));
        call.granted = grants.holds_for(&offered.tool, offered.definition.hash, view);
        let decision = decide(&policy, &call);
        assert_eq!((decision.verdict, decision.rule), (Verdict::Call, Some(0)));
    }
}

fn listings(what: &str, count: usize) {
    let pages = pages(50, 200);
    eprintln!("{} bytes", pages.iter().map(|(_, page)| page.len()).sum::<usize>());
    for _ in 0..count {
        let read = pages.iter().map(|(server, page)| (&**server, read(server, black_box(page))));
        let mut registry = Registry::default();
        match what {
            "read" => read.for_each(|read| drop(black_box(read))),
            _ => read.for_each(|(server, tools)| drop(black_box(registry.set(server, tools)))),
        }
        assert!(what == "read" || registry.offered().len() == 10_000);
    }
}

fn tells(count: usize) {
    let mut registry = Registry::default();
    for (server, page) in pages(50, 200) {
        registry.set(&server, read(&server, &page));
    }
    let mut exposure = Exposure::default();
    exposure.mode = ExposureMode::Eager;
    for n in 0..count {
        let listing = black_box(tools_listing(&registry, exposure.of(&registry)));
        if n == 0 {
            eprintln!("{} bytes", listing.len());
        }
    }
}

fn read(server: &str, page: &RawJson) -> ServerTools {
    ServerTools::read(server, &ListingSettings::default(), &Mask::default(), std::slice::from_ref(page))
}

/// Listings of so many tools each, of servers of the usual wordiness.
fn pages(servers: usize, tools: usize) -> Vec<(String, RawJson)> {
    let page = |server| {
        let tools: Vec<_> = (0..tools).map(|n| tool(server, n)).collect();
        (format!("server-{server}"), raw(&json!({"tools": tools})))
    };
    (0..servers).map(page).collect()
}

fn tool(server: usize, n: usize) -> Value {
    json!({
        "name": format!("update_record_{n}"),
        "title": format!("Update record {n}"),
        "description": format!(
            "Updates a record of kind {n} in the database of server {server}.\n\nReturns the record as it is after the \
             change. Fails if there is no such record, or if it was changed meanwhile."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The record's id, as other tools give it."},
                "fields": {"type": "object", "description": "What to change.", "additionalProperties": {"type": "string"}},
                "version": {"type": "integer", "minimum": 0, "description": "The version that was read last."},
                "dryRun": {"type": "boolean", "default": false}
            },
            "required": ["id", "fields"],
            "additionalProperties": false
        },
        "annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false}
    })
}

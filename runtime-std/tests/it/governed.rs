//! What a governed server lets through, what it says otherwise, and what it writes down.
#![expect(clippy::print_stderr, reason = "what the child writes there is what the test reads")]

use std::time::{Duration, SystemTime};

use sanswire_std::sanswire::Instant;
use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::sanswire::waist::log::{Entry, Tally};
use sanswire_std::sanswire::waist::{
    Bindings, Call as Effect, End, ErrorClass, Grant, Hook, Record, Refusal, Rejection, Scope, Spend, Tier,
    Trust,
};
use sanswire_std::{Builder, Call, Client, Server, ToolError};
use serde::de::IgnoredAny;

use crate::common::{LONG, connect, eventually, no_options, outcome, raw, tool, trials, within};

trials!(
    a_refused_call_leaves_one_record_and_does_not_run,
    the_zero_grant_refuses_all,
    nothing_bound_lets_all_through_and_writes_nothing_down,
    closed_without_policy_refuses_all,
    records_alone_bind_and_refuse_nothing,
    every_call_belongs_to_the_run_and_goal_of_the_server,
    how_a_call_ended_is_written_down,
    a_boundary_too_weak_for_the_trust_refuses,
    a_hook_that_panics_refuses_and_stops_nobody_else,
    a_log_says_what_happened,
    a_log_that_takes_nothing_fails_no_call,
    what_a_slow_sink_has_not_taken_yet_it_gets_at_the_end,
    a_sink_that_panics_loses_its_record_only,
    a_sink_that_never_returns_delays_no_call_and_no_end,
);

/// A server whose handlers and records write to standard error, so that a test can read them from there.
pub(crate) fn serve(flags: &[String]) {
    let flag = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
    let mut bindings = Bindings::default();
    bindings.grant = flag("grant=").map(|names| Grant::of(names.split(',')).into());
    bindings.grant = bindings.grant.or(flag("zero").map(|_| Grant::default().into()));
    bindings.scope = Scope { run: flag("run=").map(Into::into), goal: flag("goal=").map(Into::into) };
    bindings.open_without_policy = flag("closed").is_none();
    if flag("hook").is_some() {
        bindings.hooks = vec![Box::new(Fragile)];
    }
    let mut builder = tools(Server::builder("governed", "0")).waist(bindings);
    if let Some(trust) = flag("trust=") {
        let trust = if trust == "semi" { Trust::SemiTrusted } else { Trust::Untrusted };
        builder = builder.trust(trust, flag("kernel").map(|_| Tier::Kernel));
    }
    builder = match flag("sink=") {
        Some("print") => builder.records(print),
        Some("panic") => builder.records(|record, at| {
            assert!(!record.sequence.is_multiple_of(2), "on purpose");
            print(record, at);
        }),
        Some("slow") => builder.records(|record, at| {
            std::thread::sleep(Duration::from_millis(20));
            print(record, at);
        }),
        Some("full") => builder.record_log(Full),
        Some("log") => builder.record_log(std::io::stderr()),
        Some("block") => builder.records(|_, _| std::thread::sleep(Duration::from_secs(3600))),
        _ => builder,
    };
    // They are on purpose here, and their traces would fall between the lines.
    std::panic::set_hook(Box::new(|_| ()));
    let server = builder.build().unwrap();
    server.serve_stdio().unwrap();
    let stats = server.record_stats();
    eprintln!("lost {} failed {}", stats.lost, stats.failed);
}

/// Takes nothing.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn print(record: Record, at: SystemTime) {
    assert!(at.elapsed().is_ok_and(|since| since < LONG), "the time of a record is the wall clock's");
    let name = |name: &Option<std::sync::Arc<str>>| name.as_deref().unwrap_or("-").to_owned();
    eprintln!(
        "record {} {} {} {} {} {} {}",
        record.kind.as_str(),
        record.action,
        record.error.map_or("-", ErrorClass::as_str),
        record.rule.unwrap_or("-"),
        record.trust.as_str(),
        name(&record.scope.run),
        name(&record.scope.goal),
    );
}

fn tools(builder: Builder) -> Builder {
    const ANY: &str = r#"{"inputSchema":{"type":"object"}}"#;
    fn echo(_: IgnoredAny, _: &Call<'_>) -> Result<&'static str, ToolError> {
        eprintln!("ran echo");
        Ok("echoed")
    }
    fn secret(_: IgnoredAny, _: &Call<'_>) -> Result<&'static str, ToolError> {
        eprintln!("ran secret");
        Ok("told")
    }
    fn fail(_: IgnoredAny, _: &Call<'_>) -> Result<String, ToolError> {
        Err(ToolError::new("it did not work"))
    }
    fn busy(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
        call.fails_as(ErrorClass::Transient);
        Err(ToolError::new("try again"))
    }
    fn well(_: IgnoredAny, call: &Call<'_>) -> Result<&'static str, ToolError> {
        call.fails_as(ErrorClass::Transient);
        call.spend(Spend { tokens: 1, cost: 2 });
        Ok("it went well after all")
    }
    fn boom(_: IgnoredAny, _: &Call<'_>) -> Result<String, ToolError> {
        panic!("a secret of the handler's")
    }
    fn slow(_: IgnoredAny, call: &Call<'_>) -> Result<&'static str, ToolError> {
        eprintln!("ran slow");
        assert!(call.sleep(LONG), "nobody cancelled");
        Ok("too late")
    }
    builder
        .tool("echo", ANY, echo)
        .tool("secret", ANY, secret)
        .tool("fail", ANY, fail)
        .tool("busy", ANY, busy)
        .tool("well", ANY, well)
        .tool("boom", ANY, boom)
        .tool("slow", ANY, slow)
}

/// Panics before a call of `fail` and after one of `echo`.
struct Fragile;

impl Hook for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn before(&mut self, call: &Effect, _: Instant) -> Result<(), Refusal> {
        assert!(&*call.action != "fail", "on purpose");
        Ok(())
    }

    fn after(&mut self, call: &Effect, _: Result<&End, &Rejection>, _: Instant) {
        assert!(&*call.action != "echo", "on purpose");
    }
}

fn governed(flags: &[&str]) -> Client {
    connect(&[&["governed"], flags].concat())
}

/// The text that the tool's result has, which must have `isError`.
fn refused(client: &Client, tool: &str) -> String {
    let Outcome::Complete(result) = outcome(client, tool, "{}") else { panic!("{tool} is no result") };
    let result = CallToolResult::new(result);
    assert!(result.is_error(), "{tool}: {}", result.text());
    result.text()
}

/// Ends the server. What handlers and records wrote, but for the trace of panics.
fn written(client: &Client) -> Vec<String> {
    let exit = client.close();
    let text = client.stderr_tail();
    let ours = |line: &&str| ["ran ", "record ", "lost "].iter().any(|begin| line.starts_with(begin));
    let lines: Vec<_> = text.lines().filter(ours).map(String::from).collect();
    assert!(lines.last().is_some_and(|last| last.starts_with("lost ")), "{exit}: {text}");
    lines
}

fn a_refused_call_leaves_one_record_and_does_not_run() {
    // H-182, H-183: and it is not hidden
    let client = governed(&["grant=echo", "sink=print"]);
    let text = refused(&client, "secret");
    assert!(text.contains("grant") && text.contains("would have to allow it"), "{text}");
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
    let (ran, records): (Vec<_>, Vec<_>) =
        written(&client).into_iter().partition(|line| line.starts_with("ran "));
    assert_eq!(ran, ["ran echo"]);
    assert_eq!(
        records,
        [
            "record rejected secret forbidden grant trusted - -",
            "record start echo - - trusted - -",
            "record end echo - - trusted - -",
            "lost 0 failed 0",
        ]
    );
}

fn the_zero_grant_refuses_all() {
    // H-183
    let client = governed(&["zero"]);
    for name in ["echo", "secret", "boom"] {
        refused(&client, name);
    }
    assert_eq!(written(&client), ["lost 0 failed 0"]);
}

fn nothing_bound_lets_all_through_and_writes_nothing_down() {
    // H-178, C-28
    let client = governed(&[]);
    assert_eq!(tool(&client, "secret", "{}"), "told");
    assert_eq!(written(&client), ["ran secret", "lost 0 failed 0"]);
}

fn closed_without_policy_refuses_all() {
    // C-28: a run is no policy
    for flags in [&["closed", "sink=print"][..], &["closed", "sink=print", "run=r"]] {
        let client = governed(flags);
        assert!(refused(&client, "echo").contains("policy"));
        let lines = written(&client);
        assert!(lines[0].starts_with("record rejected echo forbidden policy"), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
    let client = governed(&["closed", "grant=echo"]);
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
}

fn records_alone_bind_and_refuse_nothing() {
    let client = governed(&["sink=print"]);
    assert_eq!(tool(&client, "secret", "{}"), "told");
    let lines = written(&client);
    assert!(lines.contains(&"record end secret - - trusted - -".into()), "{lines:?}");
}

fn every_call_belongs_to_the_run_and_goal_of_the_server() {
    // H-177, H-179
    let client = governed(&["run=r7", "goal=ship it", "sink=print"]);
    assert_eq!(tool(&client, "secret", "{}"), "told");
    refused(&client, "fail");
    let lines = written(&client);
    let records: Vec<_> = lines.iter().filter(|line| line.starts_with("record ")).collect();
    assert_eq!(records.len(), 4, "{lines:?}");
    assert!(records.iter().all(|line| line.ends_with(" r7 ship it")), "{lines:?}");
}

fn how_a_call_ended_is_written_down() {
    // H-187, H-181
    let client = governed(&["sink=print"]);
    refused(&client, "fail");
    refused(&client, "busy");
    assert_eq!(tool(&client, "well", "{}"), "it went well after all");
    let Outcome::Error(error) = outcome(&client, "boom", "{}") else { panic!("a panic is an error") };
    assert_eq!((error.code, error.message.contains("secret")), (-32603, false));
    let slow = client.start(Method::ToolsCall, Some(raw(r#"{"name":"slow"}"#)), &no_options()).unwrap();
    eventually("it runs", || client.stderr_tail().contains("ran slow"));
    slow.cancel(None);
    // Nobody waits for a call that was cancelled, the end of the server neither.
    eventually("it has ended", || client.stderr_tail().contains("record end slow"));
    let lines = written(&client);
    let ends: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("record end ")).collect();
    assert_eq!(
        ends,
        [
            "fail terminal - trusted - -",
            "busy transient - trusted - -",
            "well - - trusted - -",
            "boom terminal - trusted - -",
            "slow cancelled - trusted - -",
        ]
    );
}

fn a_boundary_too_weak_for_the_trust_refuses() {
    // H-134
    for (flags, passes) in [
        (&["trust=none"][..], false),
        (&["trust=semi"], false),
        (&["trust=none", "kernel"], false),
        (&["trust=semi", "kernel"], true),
    ] {
        let client = governed(&[flags, &["run=r"]].concat());
        if passes {
            assert_eq!(tool(&client, "echo", "{}"), "echoed", "{flags:?}");
        } else {
            let text = refused(&client, "echo");
            assert!(text.contains("containment"), "{flags:?}: {text}");
        }
        assert_eq!(written(&client).contains(&"ran echo".into()), passes, "{flags:?}");
    }
}

fn a_hook_that_panics_refuses_and_stops_nobody_else() {
    let client = governed(&["hook", "sink=print"]);
    for _ in 0..2 {
        let text = refused(&client, "fail");
        assert!(text.contains("fragile") && !text.contains("on purpose"), "{text}");
        assert_eq!(tool(&client, "echo", "{}"), "echoed");
    }
    let lines = written(&client);
    let records: Vec<_> = lines.iter().filter(|line| line.contains(" rejected ")).collect();
    assert_eq!(records, ["record rejected fail terminal fragile trusted - -"; 2]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("record end echo - ")).count(), 2);
}

fn a_log_says_what_happened() {
    // H-188
    let client = governed(&["grant=echo,fail", "sink=log"]);
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
    refused(&client, "secret");
    refused(&client, "fail");
    client.close();
    let mut tally = Tally::default();
    for line in client.stderr_tail().lines().filter(|line| line.starts_with('{')) {
        let entry = Entry::read(raw(line).view()).unwrap();
        let since = SystemTime::UNIX_EPOCH + Duration::from_millis(entry.at_ms);
        assert!(since.elapsed().is_ok_and(|since| since < LONG), "{line}");
        tally.add(&entry);
    }
    assert_eq!((tally.last, tally.missing, tally.open.len()), (5, 0, 0));
    let counts = |action: &str| {
        let counts = tally.actions[action];
        (counts.started, counts.ended, counts.failed, counts.rejected)
    };
    assert_eq!(
        [counts("echo"), counts("secret"), counts("fail")],
        [(1, 1, 0, 0), (0, 0, 0, 1), (1, 0, 1, 0)]
    );
}

fn a_log_that_takes_nothing_fails_no_call() {
    // H-181
    let client = governed(&["sink=full"]);
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
    assert_eq!(written(&client).last().unwrap(), "lost 0 failed 2");
}

fn what_a_slow_sink_has_not_taken_yet_it_gets_at_the_end() {
    let client = governed(&["sink=slow"]);
    for _ in 0..4 {
        assert_eq!(tool(&client, "echo", "{}"), "echoed");
    }
    let lines = written(&client);
    assert_eq!(lines.iter().filter(|line| line.starts_with("record ")).count(), 8, "{lines:?}");
}

fn a_sink_that_panics_loses_its_record_only() {
    // H-181
    let client = governed(&["sink=panic"]);
    for _ in 0..3 {
        assert_eq!(tool(&client, "echo", "{}"), "echoed");
    }
    let lines = written(&client);
    assert_eq!(lines.iter().filter(|line| line.starts_with("record start")).count(), 3, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "lost 0 failed 3");
}

fn a_sink_that_never_returns_delays_no_call_and_no_end() {
    // H-181
    let client = governed(&["sink=block"]);
    within(LONG, || {
        for _ in 0..3000 {
            assert_eq!(tool(&client, "echo", "{}"), "echoed");
        }
        let lines = written(&client);
        // 6000 records, of which 64 may have been taken and 4096 wait.
        let lost: u64 = lines.last().unwrap().strip_prefix("lost ").unwrap()[..4].parse().unwrap();
        assert!((1840..=1904).contains(&lost), "{lost}");
    });
}

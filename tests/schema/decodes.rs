//! What we read is valid, and what is valid we read: each type of the published schemas by examples and all that is near
//! them, in each revision. Where we differ, a table says so and why.

use std::collections::BTreeSet;

use sanswire::jsonrpc::{self, RawJson};
use sanswire::mcp::Revision;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::types::completion::Completion;
use sanswire::mcp::types::content::{Content, ContentBlock};
use sanswire::mcp::types::form::Form;
use sanswire::mcp::types::log::LogMessage;
use sanswire::mcp::types::page::{ListItem, Page};
use sanswire::mcp::types::prompt::{GetPromptResult, prompts};
use sanswire::mcp::types::request::{CallTool, Complete, GetPrompt, resource_uri};
use sanswire::mcp::types::resource::{ReadResourceResult, resource_templates, resources};
use sanswire::mcp::types::subscription::SubscriptionFilter;
use sanswire::mcp::types::tool::tools;
use sanswire_tests::schema::examples;
use sanswire_tests::served::raw;
use serde_json::{Value, json};

use super::changes::changes;
use super::oracle::{is_valid, validator};

type Read = fn(&RawJson) -> bool;

/// A type that the library reads, and whether it takes a value of it without a complaint.
const TYPES: &[(&str, Read)] = &[
    ("JSONRPCMessage", |raw| jsonrpc::parse(raw.as_bytes().to_vec().into(), 128).is_ok()),
    ("ListToolsResult", |raw| {
        whole(&tools(raw)) && tools(raw).items.iter().all(|tool| tool.notes().is_empty())
    }),
    ("ListResourcesResult", |raw| whole(&resources(raw))),
    ("ListResourceTemplatesResult", |raw| whole(&resource_templates(raw))),
    ("ListPromptsResult", |raw| {
        let page = prompts(raw);
        whole(&page) && page.items.iter().all(|prompt| prompt.arguments().all(|argument| argument.is_ok()))
    }),
    ("CallToolResult", |raw| {
        let result = CallToolResult::new(raw.clone());
        result.flaw().is_none() && result.content().all(known)
    }),
    ("GetPromptResult", |raw| {
        let result = GetPromptResult::new(raw.clone());
        result.messages().all(|message| message.role().is_some() && message.content().all(known))
    }),
    ("ReadResourceResult", |raw| {
        ReadResourceResult::new(raw.clone()).contents().all(|(_, read)| read.is_ok())
    }),
    ("CompleteResult", |raw| Completion::read(raw).is_ok()),
    ("CallToolRequestParams", |raw| CallTool::read(raw).is_ok()),
    ("GetPromptRequestParams", |raw| GetPrompt::read(raw).is_ok()),
    ("ReadResourceRequestParams", |raw| resource_uri(raw).is_ok()),
    ("CompleteRequestParams", |raw| Complete::read(raw).is_ok()),
    ("SubscriptionsListenRequestParams", |raw| SubscriptionFilter::read(raw.view()).is_ok()),
    ("LoggingMessageNotificationParams", |raw| {
        LogMessage::read(raw.view()).is_ok_and(|message| message.level.is_some())
    }),
    ("ElicitRequestFormParams", |raw| Form::read(raw.view()).is_ok()),
];

fn whole<T: ListItem>(page: &Page<T>) -> bool {
    page.warnings.is_empty() && page.set_aside.is_empty()
}

fn known(block: ContentBlock<'_>) -> bool {
    !matches!(block.content(), Content::Unknown { .. })
}

/// What the examples have of a type, as it stands or inside of a message.
fn samples(of: &str) -> Vec<Value> {
    let all = examples();
    let direct = all.iter().filter(|example| example.of == of).map(|example| example.value.clone());
    let messages = ["Request", "Notification", "ResultResponse", "Error"];
    let message = |example: &&sanswire_tests::schema::Example| {
        messages.iter().any(|end| example.of.ends_with(end)) && example.value.get("jsonrpc").is_some()
    };
    let mut found: Vec<Value> = direct.collect();
    if of == "JSONRPCMessage" {
        found.extend(all.iter().filter(message).map(|example| example.value.clone()));
        found.push(json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}));
        found.push(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        found.push(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
        found.push(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m", "data": [1]}}));
    }
    if let Some(name) = of.strip_suffix("RequestParams") {
        let request = format!("{name}Request");
        let of_requests = all.iter().filter(|example| example.of == request);
        found.extend(of_requests.map(|example| example.value["params"].clone()));
    }
    found
}

/// Where the two differ: the type, or all; where in the value (`**`: anything from there on); how it was changed, or
/// however; and why that is right.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// What we take and the schema does not.
const LENIENT: &[Row] = &[
    (
        "",
        "_meta",
        "",
        "what a request says of itself is looked at before its parameters: P-040, and refused there",
    ),
    ("", "_meta.**", "", "the same"),
    ("", "resultType", "", "P-018, P-019: looked at before the result is given out"),
    ("", "ttlMs", "", "P-264: a hint of another kind counts as none"),
    ("", "cacheScope", "", "the same"),
    ("JSONRPCMessage", "id", "absent", "P-008: an error whose request could not be read has none"),
    ("JSONRPCMessage", "id", "null", "B-15: or null, as JSON-RPC says"),
    ("JSONRPCMessage", "params", "null", "B-21: null counts as absent"),
    ("JSONRPCMessage", "params._meta", "", "whoever takes the message looks at it"),
    ("JSONRPCMessage", "result", "", "B-23: whoever asked knows what it has to be"),
    ("JSONRPCMessage", "result.**", "", "the same"),
    ("", "nextCursor", "null", "B-39: null counts as absent"),
    (
        "ListToolsResult",
        "tools.*.inputSchema.**",
        "",
        "B-47: any object is a schema until an argument is typed by it",
    ),
    ("", "*.*.title", "", "B-43: an optional text of another kind counts as absent"),
    ("", "*.*.description", "", "the same"),
    ("", "*.*.mimeType", "", "the same"),
    ("", "*.*.icons", "", "icons are handed on unread: whoever shows them looks at them"),
    ("", "*.*.icons.**", "", "the same"),
    ("ListPromptsResult", "prompts.*.arguments", "", "a prompt can be had without knowing its arguments"),
    (
        "ListPromptsResult",
        "prompts.*.arguments.*.description",
        "",
        "an optional text of another kind counts as absent",
    ),
    ("ListPromptsResult", "prompts.*.arguments.*.required", "", "another kind counts as no"),
    ("CallToolResult", "content", "", "B-45: a result may be structured alone"),
    ("CallToolResult", "isError", "", "B-43: another kind counts as no"),
    ("CallToolResult", "structuredContent", "", "any value since 2026-07-28, and harmless before"),
    ("GetPromptResult", "", "", "a view of what is there: nothing"),
    ("GetPromptResult", "messages", "", "the same"),
    ("GetPromptResult", "messages.*.content", "", "a message may have several blocks, or none"),
    ("GetPromptResult", "description", "", "an optional text of another kind counts as absent"),
    ("ReadResourceResult", "", "", "a view of what is there: nothing"),
    ("ReadResourceResult", "contents", "", "the same"),
    ("CompleteResult", "completion.**", "", "a completion is a proposal: what is no text is left out"),
    ("CallToolRequestParams", "arguments", "null", "B-21: null counts as absent"),
    ("GetPromptRequestParams", "arguments", "null", "the same"),
    ("CompleteRequestParams", "context", "null", "the same"),
    ("CompleteRequestParams", "context.arguments", "null", "the same"),
    ("SubscriptionsListenRequestParams", "notifications.**", "", "what is of another kind asks for nothing"),
    ("LoggingMessageNotificationParams", "data", "absent", "a message that says nothing is still one"),
    ("LoggingMessageNotificationParams", "logger", "", "an optional text of another kind counts as absent"),
    ("ElicitRequestFormParams", "message", "", "a form is shown as far as it is understood"),
    ("ElicitRequestFormParams", "mode", "", "which kind it is was read before"),
    (
        "ElicitRequestFormParams",
        "requestedSchema.**",
        "",
        "the answer is checked, by what is understood of it",
    ),
];

/// What the schema takes and we do not.
const STRICT: &[Row] = &[
    ("JSONRPCMessage", "id", "", "P-003, P-004: a bad id makes no notification of a request"),
    ("JSONRPCMessage", "", "array", "a batch is read by itself, where the revision has them"),
    ("CompleteRequestParams", "context", "", "it came with 2025-06-18, and nobody means anything else by it"),
    ("CompleteRequestParams", "context.**", "", "the same"),
];

fn fits((of, at, how, _): &Row, change: (&str, &str, &str)) -> bool {
    let there = match at.strip_suffix("**") {
        Some(start) => begins(start, change.1),
        None => {
            at.split('.').count() == change.1.split('.').count()
                && at
                    .split('.')
                    .zip(change.1.split('.'))
                    .all(|(wanted, found)| wanted == "*" || wanted == found)
        }
    };
    (of.is_empty() || *of == change.0) && there && (how.is_empty() || *how == change.2)
}

fn begins(start: &str, at: &str) -> bool {
    let mut steps = at.split('.');
    start
        .trim_end_matches('.')
        .split('.')
        .all(|wanted| steps.next().is_some_and(|found| wanted == "*" || wanted == found))
        && steps.next().is_some()
}

#[test]
fn what_is_valid_is_read_and_what_is_read_is_valid_but_for_what_a_table_says() {
    // B-15 B-21 B-39 B-45
    let mut unsaid = BTreeSet::new();
    let mut used = BTreeSet::new();
    let mut compared = 0;
    for (name, read) in TYPES {
        let samples = samples(name);
        for revision in Revision::ALL.into_iter().filter(|revision| validator(*revision, name).is_some()) {
            // Examples of the newest that are valid in an older one.
            let mut valid = samples.iter().filter(|sample| is_valid(revision, name, sample)).peekable();
            assert!(valid.peek().is_some(), "no example of {name} in {revision}");
            for sample in valid {
                assert!(read(&raw(sample)), "{revision} {name}: {sample}");
                let depth = if *name == "JSONRPCMessage" { 2 } else { 5 };
                for change in changes(sample, depth) {
                    let (theirs, ours) = (is_valid(revision, name, &change.value), read(&raw(&change.value)));
                    compared += 1;
                    if theirs == ours {
                        continue;
                    }
                    let table = if ours { LENIENT } else { STRICT };
                    match table.iter().find(|row| fits(row, (name, &change.at, change.how))) {
                        Some(row) => {
                            used.insert((ours, row.0, row.1, row.2));
                        }
                        None => {
                            unsaid.insert(format!(
                                "{} {name} {} {}",
                                if ours { "taken" } else { "refused" },
                                change.at,
                                change.how
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(unsaid.is_empty(), "{unsaid:#?}");
    assert!(compared > 10_000, "{compared}");
    let tables = LENIENT.iter().map(|row| (true, row)).chain(STRICT.iter().map(|row| (false, row)));
    let unused: Vec<_> =
        tables.filter(|(lenient, (of, at, how, _))| !used.contains(&(*lenient, *of, *at, *how))).collect();
    assert!(unused.is_empty(), "nothing is left of {unused:#?}");
}

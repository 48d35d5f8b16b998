//! What we write is valid: every message of a client and of a server of ours, in each revision.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::Machine;
use sanswire::client::{Event, InputAnswers, Link as _, Outcome, RequestOptions, params};
use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::mcp::types::subscription::SubscriptionFilter;
use sanswire::mcp::{Era, Method, Revision};
use sanswire::server::{Catalog, Notice, Reply};
use sanswire_tests::linked::{Linked, client_config};
use sanswire_tests::schema::{definition_of, examples};
use sanswire_tests::served::raw;
use serde_json::{Value, json};

use super::oracle::assert_valid;

/// The examples of a type, and those that stand in lists.
fn values(of: &str) -> Vec<RawJson> {
    let (list, member) = match of {
        "ResourceTemplate" => ("ListResourceTemplatesResult", "resourceTemplates"),
        "Prompt" => ("ListPromptsResult", "prompts"),
        _ => (of, ""),
    };
    let found: Vec<RawJson> = examples()
        .iter()
        .filter(|example| example.of == list)
        .flat_map(|example| match example.value[member].as_array() {
            Some(items) => items.clone(),
            None => vec![example.value.clone()],
        })
        .map(|value| raw(&value))
        .collect();
    assert!(!found.is_empty(), "no example of {of}");
    found
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    for tool in values("Tool") {
        let _ = catalog.tool(&tool);
    }
    for resource in values("Resource") {
        let _ = catalog.resource(&resource);
    }
    for template in values("ResourceTemplate") {
        let _ = catalog.resource_template(&template);
    }
    for prompt in values("Prompt") {
        let _ = catalog.prompt(&prompt);
    }
    catalog.tool(&raw(&json!({"name": "t"}))).expect("a tool");
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).expect("a resource");
    catalog.prompt(&raw(&json!({"name": "p", "arguments": [{"name": "a"}]}))).expect("a prompt");
    catalog
}

/// Requests of the client that an application answers, with what it may answer.
fn asked_and_answered(linked: &mut Linked) {
    let complete = params::complete(params::Reference::Prompt("p"), "a", "v", &[("b", "w")]);
    let all = [
        (Method::ToolsCall, params::call_tool("t", Some(&raw(&json!({"n": 1})))), "CallToolResult"),
        (Method::ResourcesRead, params::uri("x:y"), "ReadResourceResult"),
        (Method::PromptsGet, params::get_prompt("p", &[("a", "v")]), "GetPromptResult"),
        (Method::CompletionComplete, complete, "CompleteResult"),
    ];
    for (method, params, of) in all {
        let mut replies: Vec<Reply> = values(of).into_iter().map(Reply::Complete).collect();
        replies.push(Reply::Error(ErrorObject {
            code: -32603,
            message: "no".into(),
            data: Some(raw(&json!([1]))),
        }));
        if method == Method::ToolsCall {
            replies.push(Reply::text("plain"));
            replies.push(Reply::Complete(raw(&json!({"structuredContent": {"a": 1}}))));
        }
        for reply in replies {
            let call = linked.ask(method.clone(), Some(params.clone())).expect("it can be asked");
            let (request, context, _) =
                linked.reported().unwrap_or_else(|| panic!("{method} is not reported"));
            if context.wants_progress {
                let progress =
                    Notice::Progress { progress: 0.5, total: Some(1.0), message: Some("half".into()) };
                linked.server.notify(request, &progress, linked.now).expect("progress is wanted");
            }
            let log = Notice::Log {
                level: LogLevel::Error,
                logger: Some("l".into()),
                data: raw(&json!({"a": [null]})),
            };
            linked.server.notify(request, &log, linked.now).expect("logs are on");
            linked.reply(request, &reply).unwrap_or_else(|| panic!("{method} does not take {reply:?}"));
            assert!(linked.outcome(call).is_some(), "{method} does not end");
        }
    }
}

/// Questions of the server, in the way of the era.
fn input(linked: &mut Linked, era: Era) {
    let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let sample =
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}], "maxTokens": 5});
    let all = [
        (InputKind::ListRoots, None, json!({"roots": [{"uri": "file:///a", "name": "a"}]})),
        (InputKind::ElicitForm, Some(form), json!({"action": "accept", "content": {"a": "b"}})),
        (
            InputKind::Sample,
            Some(sample),
            json!({"role": "assistant", "model": "m",
            "content": {"type": "text", "text": "x"}}),
        ),
    ];
    for (kind, params, answer) in all {
        let ask = InputRequest { kind, params: params.as_ref().map(raw) };
        let answer = InputAnswer::Result(raw(&answer));
        let call = linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
        let (request, ..) = linked.reported().expect("a call is reported");
        if era == Era::Legacy {
            // Older revisions lack some.
            if linked.server.request_input(request, &ask, linked.now).is_ok() {
                linked.pump();
                let asked = linked.client_events.iter().find_map(|event| match event {
                    Event::PeerRequest { handle, .. } => Some(*handle),
                    _ => None,
                });
                let handle = asked.expect("the client is asked");
                linked.client.answer(handle, &answer, linked.now).expect("it can be answered");
                linked.client_events.clear();
                linked.pump();
            }
            linked.reply(request, &Reply::text("x")).expect("it is open");
            continue;
        }
        let requests = vec![KeyedInput { key: "k".into(), request: ask }];
        linked
            .reply(request, &Reply::InputRequired { requests, state: Some("s".into()) })
            .expect("it may ask");
        let Some(Outcome::InputRequired(input)) = linked.outcome(call) else { panic!("no round of input") };
        let answers = InputAnswers::collect(&input, |_| answer.clone());
        linked.client.resume(&input, &answers, &RequestOptions::default(), linked.now).expect("it goes on");
        linked.pump();
        let (request, ..) = linked.reported().expect("the second round is reported");
        linked.reply(request, &Reply::text("x")).expect("it is open");
    }
}

fn everything(revision: Revision) -> Linked {
    let mut linked = Linked::new(client_config(revision), catalog());
    for method in
        [Method::ToolsList, Method::ResourcesList, Method::ResourcesTemplatesList, Method::PromptsList]
    {
        linked.ask(method, None).expect("a listing");
    }
    asked_and_answered(&mut linked);
    input(&mut linked, revision.era());
    // Refusals: no such tool, no such method.
    linked.ask(Method::ToolsCall, Some(params::call_tool("nowhere", None)));
    linked.ask(Method::Other("com.example/do".into()), None);
    // Given up.
    let call = linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
    linked.client.cancel(call, Some("enough"), linked.now).expect("it is open");
    linked.pump();
    if revision.era() == Era::Legacy {
        linked.ask(Method::Ping, None).expect("a ping");
        linked.ask(Method::ResourcesSubscribe, Some(params::uri("x:y"))).expect("a subscription");
        linked.ask(Method::LoggingSetLevel, Some(params::level(LogLevel::Debug))).expect("a level");
        linked.server.log(LogLevel::Info, None, &RawJson::null(), linked.now).expect("logs are on");
        linked.client.notify(Method::RootsListChanged, None, linked.now).expect("it has roots");
    } else {
        let filter = SubscriptionFilter::new().tools().prompts().resources().resource("x:y").to_json();
        linked.ask(Method::SubscriptionsListen, Some(params::listen(&filter))).expect("a subscription");
    }
    linked.server.tools_changed(linked.now);
    linked.server.prompts_changed(linked.now);
    linked.server.resources_changed(linked.now);
    linked.server.resource_updated("x:y", linked.now).expect("a resource");
    linked.pump();
    if revision.era() == Era::Legacy {
        linked.ask(Method::ResourcesUnsubscribe, Some(params::uri("x:y"))).expect("no subscription");
    } else {
        linked.server.end_subscriptions(linked.now);
    }
    linked.pump();
    // A call that takes too long: the client says that it waits no more.
    linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
    linked.now = linked.now.saturating_add(Duration::from_secs(10_000));
    linked.client.handle_timeout(linked.now);
    linked.pump();
    linked.client.close(linked.now);
    linked.pump();
    linked
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a message is JSON")).collect()
}

fn result_of(method: &str, result: &Value) -> &'static str {
    match method {
        _ if result["resultType"] == "input_required" => "InputRequiredResult",
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "roots/list" => "ListRootsResult",
        "sampling/createMessage" => "CreateMessageResult",
        "elicitation/create" => "ElicitResult",
        "ping" | "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => "EmptyResult",
        other => panic!("no result of {other} is known"),
    }
}

/// All that one side wrote, against its unions; `others` are the requests of the other side. What was met.
fn check(
    revision: Revision,
    [requests, notifications]: [&'static str; 2],
    written: &[Value],
    others: &BTreeMap<String, String>,
    met: &mut BTreeSet<&'static str>,
) {
    for message in written {
        assert_valid(revision, "JSONRPCMessage", message);
        if let Some(method) = message["method"].as_str() {
            let union = if message.get("id").is_some() { requests } else { notifications };
            match definition_of(revision, union, method) {
                Some(name) => {
                    met.insert(name);
                    assert_valid(revision, name, message);
                }
                None => assert_eq!(method, "com.example/do", "{revision}: {message}"),
            }
        } else if let Some(result) = message.get("result") {
            let method = &others[&message["id"].to_string()];
            let name = result_of(method, result);
            met.insert(name);
            assert_valid(revision, name, result);
        }
    }
}

fn requests(written: &[Value]) -> BTreeMap<String, String> {
    let requests = written.iter().filter(|message| message.get("id").is_some());
    requests
        .filter_map(|message| Some((message["id"].to_string(), message["method"].as_str()?.to_owned())))
        .collect()
}

#[test]
fn all_that_a_client_and_a_server_write_is_valid_in_their_revision() {
    // P-116 P-117
    for revision in Revision::ALL {
        let linked = everything(revision);
        let (asked, said) = (lines(&linked.asked), lines(&linked.said));
        let mut met = BTreeSet::new();
        check(revision, ["ClientRequest", "ClientNotification"], &asked, &requests(&said), &mut met);
        check(revision, ["ServerRequest", "ServerNotification"], &said, &requests(&asked), &mut met);
        let least = if revision.era() == Era::Legacy { 32 } else { 24 };
        assert!(met.len() >= least, "{revision}: {} {met:?}", met.len());
        let ends = linked.client_events.iter().any(|event| matches!(event, Event::Closed(_)));
        assert!(ends, "{revision}: it was closed");
    }
}

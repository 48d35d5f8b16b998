//! What one side reads, writes and the other reads is the same on both, and the same again the second time.

use sanswire::client::{self, Link as _, Outcome, params};
use sanswire::jsonrpc::{self, Message, RawJson};
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::types::input::{InputAnswer, InputRequest, KeyedInput};
use sanswire::mcp::types::lifecycle::{ClientCapabilities, Implementation};
use sanswire::mcp::types::log::LogMessage;
use sanswire::mcp::types::page::{ListItem, Page};
use sanswire::mcp::types::prompt::Prompt;
use sanswire::mcp::types::request::{CallTool, Complete, CompletionRef, GetPrompt};
use sanswire::mcp::types::resource::{Resource, ResourceTemplate};
use sanswire::mcp::types::subscription::SubscriptionFilter;
use sanswire::mcp::types::tool::Tool;
use sanswire::mcp::{Method, Revision, codes};
use sanswire::server::{Catalog, Notice, PeerOutcome, Reply};

use crate::linked::{Linked, client_config};

/// Takes a revision, a type and a value of it from `data`: sends it, if the library takes it, and compares.
///
/// # Panics
/// If what comes out is not what went in.
pub fn check_schema_round_trip(data: &[u8]) {
    let [revision, kind, text @ ..] = data else { return };
    let revision = Revision::ALL[usize::from(*revision) % Revision::ALL.len()];
    let text = bytes::Bytes::from(without_space(text));
    let Ok(value) = RawJson::parse(text, 64) else { return };
    // A type that does not take the value leaves off in the middle.
    let _: Option<()> = match kind % 15 {
        0 => {
            listed::<Tool>(revision, &value, Method::ToolsList, |catalog, value| catalog.tool(value).is_ok())
        }
        1 => listed::<Resource>(revision, &value, Method::ResourcesList, |catalog, value| {
            catalog.resource(value).is_ok()
        }),
        2 => {
            listed::<ResourceTemplate>(revision, &value, Method::ResourcesTemplatesList, |catalog, value| {
                catalog.resource_template(value).is_ok()
            })
        }
        3 => listed::<Prompt>(revision, &value, Method::PromptsList, |catalog, value| {
            catalog.prompt(value).is_ok()
        }),
        4 => filter(&value),
        5 => capabilities(revision, &value),
        6 => implementation(revision, &value),
        7 => call_tool(revision, &value),
        8 => get_prompt(revision, &value),
        9 => complete(revision, &value),
        10 => input(revision, &value),
        11 => result(revision, &value),
        12 => error(revision, &value),
        13 => log(revision, &value),
        _ => progress(revision, &value),
    };
}

/// The text without the white space between its tokens, of which a message keeps as much as whoever writes it.
fn without_space(text: &[u8]) -> Vec<u8> {
    let (mut inside, mut escaped) = (false, false);
    let keeps = |byte: &&u8| {
        let byte = **byte;
        if inside {
            inside = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            return true;
        }
        inside = byte == b'"';
        !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
    };
    text.iter().filter(keeps).copied().collect()
}

fn plain(revision: Revision) -> Linked {
    let mut catalog = Catalog::new();
    let tool = RawJson::parse_str(r#"{"name":"t","inputSchema":{"type":"object"}}"#).expect("JSON");
    catalog.tool(&tool).expect("a tool");
    Linked::new(client_config(revision), catalog)
}

/// A definition as the server offers it, listed, offered by another server, and listed again.
fn listed<T: ListItem>(
    revision: Revision,
    definition: &RawJson,
    method: Method,
    add: impl Fn(&mut Catalog, &RawJson) -> bool,
) -> Option<()> {
    let list = |definition: &RawJson| {
        let mut catalog = Catalog::new();
        add(&mut catalog, definition).then_some(())?;
        let mut linked = Linked::new(client_config(revision), catalog);
        let asked = linked.ask(method.clone(), None).expect("a listing can be asked for");
        match linked.outcome(asked) {
            Some(Outcome::Complete(result)) => Some(result),
            other => panic!("{revision} {method}: {other:?}"),
        }
    };
    let once = list(definition)?;
    let page = Page::<T>::read(&once);
    assert!(
        page.set_aside.is_empty() && page.warnings.is_empty(),
        "{:?} {:?}",
        page.set_aside,
        page.warnings
    );
    let [item] = &page.items[..] else { panic!("{} elements", page.items.len()) };
    let first = once.view().get(T::ITEMS).and_then(|items| items.elements().next()).expect("an element");
    let again = T::read(definition.clone()).expect("who offers it can read it");
    assert_eq!(item.key(), again.key(), "{revision} {method}");
    if revision == Revision::V2026_07_28 {
        // An input schema is given what it has to have.
        let member =
            |of: jsonrpc::JsonRef<'_>, name: &str| of.get(name).map(|value| value.as_bytes().to_vec());
        let names = definition.view().members().map(|(name, _)| name.decode().into_owned());
        for name in names.filter(|name| name != "inputSchema") {
            assert_eq!(member(first, &name), member(definition.view(), &name), "{name}");
        }
    }
    let written = once.slice_of(first).expect("a part of it");
    let twice = list(&written).expect("what was listed can be offered");
    assert_eq!(twice, once, "{revision} {method}");
    Some(())
}

fn filter(params: &RawJson) -> Option<()> {
    let filter = SubscriptionFilter::read(params.view()).ok()?;
    let written = filter.to_json();
    let params = RawJson::object(|w| {
        w.raw("notifications", written.view());
    });
    let again = SubscriptionFilter::read(params.view()).expect("what is written can be read");
    assert_eq!(again, filter);
    assert_eq!(again.to_json(), written);
    Some(())
}

/// What a server sees of a client that is set up like this.
fn seen(
    revision: Revision,
    capabilities: Option<&ClientCapabilities>,
    client: Option<&Implementation>,
) -> (ClientCapabilities, Implementation) {
    let mut config = client_config(revision);
    config.capabilities = capabilities.cloned().unwrap_or(config.capabilities);
    config.client = client.cloned().unwrap_or(config.client);
    let mut catalog = Catalog::new();
    let tool = RawJson::parse_str(r#"{"name":"t","inputSchema":{"type":"object"}}"#).expect("JSON");
    catalog.tool(&tool).expect("a tool");
    let mut linked = Linked::new(config, catalog);
    linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
    let (_, context, _) = linked.reported().expect("a call that is reported");
    (context.capabilities.clone(), context.client().expect("a client says who it is"))
}

fn capabilities(revision: Revision, value: &RawJson) -> Option<()> {
    let read = ClientCapabilities::read(value.view());
    let (once, _) = seen(revision, Some(&read), None);
    let (twice, _) = seen(revision, Some(&once), None);
    assert_eq!(once, twice, "{revision}");
    if revision == Revision::V2026_07_28 {
        let modern = ClientCapabilities { roots_list_changed: false, ..read };
        assert_eq!(ClientCapabilities { roots_list_changed: false, ..once }, modern, "{revision}");
    }
    Some(())
}

fn implementation(revision: Revision, value: &RawJson) -> Option<()> {
    let read = Implementation::read(value.view());
    // What a client calls itself is cut to a bound.
    let title = read.title.as_ref().map_or(0, |title| title.len());
    if read.name.len().max(read.version.len()).max(title) > 128 {
        return None;
    }
    let (_, once) = seen(revision, None, Some(&read));
    assert_eq!((&once.name, &once.version), (&read.name, &read.version), "{revision}");
    assert_eq!(seen(revision, None, Some(&once)).1, once, "{revision}");
    if revision >= Revision::V2025_06_18 {
        assert_eq!(once, read, "{revision}");
    }
    Some(())
}

/// The parameters that a server is told of, if it is told at all: what it does not know it refuses itself.
fn arrived(revision: Revision, method: Method, params: RawJson) -> Option<RawJson> {
    let mut linked = plain(revision);
    linked.ask(method, Some(params))?;
    Some(linked.reported()?.2)
}

fn call_tool(revision: Revision, value: &RawJson) -> Option<()> {
    let call = CallTool::read(value).ok()?;
    let params = params::call_tool(&call.name, Some(&call.arguments));
    assert_eq!(CallTool::read(&params).expect("what is written can be read"), call);
    let arrived = arrived(revision, Method::ToolsCall, params)?;
    assert_eq!(CallTool::read(&arrived).expect("it can be read there"), call, "{revision}");
    Some(())
}

fn pairs(of: &[(String, String)]) -> Vec<(&str, &str)> {
    of.iter().map(|(name, value)| (&**name, &**value)).collect()
}

fn get_prompt(revision: Revision, value: &RawJson) -> Option<()> {
    let get = GetPrompt::read(value).ok()?;
    let params = params::get_prompt(&get.name, &pairs(&get.arguments));
    assert_eq!(GetPrompt::read(&params).expect("what is written can be read"), get);
    let arrived = arrived(revision, Method::PromptsGet, params)?;
    assert_eq!(GetPrompt::read(&arrived).expect("it can be read there"), get, "{revision}");
    Some(())
}

fn complete(revision: Revision, value: &RawJson) -> Option<()> {
    let asked = Complete::read(value).ok()?;
    let of = match &asked.reference {
        CompletionRef::Prompt(name) => params::Reference::Prompt(name),
        CompletionRef::Resource(uri) => params::Reference::Resource(uri),
        _ => return None,
    };
    let params = params::complete(of, &asked.argument, &asked.value, &pairs(&asked.context));
    assert_eq!(Complete::read(&params).expect("what is written can be read"), asked);
    let arrived = arrived(revision, Method::CompletionComplete, params)?;
    assert_eq!(Complete::read(&arrived).expect("it can be read there"), asked, "{revision}");
    Some(())
}

/// A call that waits for its answer.
fn called(revision: Revision) -> (Linked, client::RequestHandle, sanswire::server::RequestHandle) {
    let mut linked = plain(revision);
    let asked = linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
    let (request, ..) = linked.reported().expect("a call that is reported");
    (linked, asked, request)
}

/// `{"method": …, "params": …, "answer": …}`
fn input(revision: Revision, value: &RawJson) -> Option<()> {
    let member = |name| value.view().get(name).and_then(|part| value.slice_of(part));
    let method = Method::from_name(&value.view().get("method")?.str()?.decode());
    let ask = InputRequest::new(&method, member("params"))?;
    let (mut linked, asked, request) = called(revision);
    if revision == Revision::V2026_07_28 {
        let requests = vec![KeyedInput { key: "k".into(), request: ask.clone() }];
        linked.reply(request, &Reply::InputRequired { requests, state: Some("s".into()) })?;
        return match linked.outcome(asked) {
            Some(Outcome::InputRequired(input)) => {
                let [found] = input.requests() else { panic!("{:?}", input.requests()) };
                assert_eq!((&*found.key, &found.request), ("k", &ask));
                Some(())
            }
            // What the client cannot do for its user is no use to it.
            Some(Outcome::Invalid(_)) => None,
            other => panic!("{other:?}"),
        };
    }
    let peer = linked.server.request_input(request, &ask, linked.now).ok()?;
    linked.pump();
    let told = linked.client_events.iter().find_map(|event| match event {
        client::Event::PeerRequest { handle, request, .. } => Some((*handle, request.clone())),
        _ => None,
    });
    let (handle, found) = told?;
    assert_eq!(found.kind, ask.kind, "{revision}");
    let answer = member("answer")?;
    linked.client.answer(handle, &InputAnswer::Result(answer.clone()), linked.now).ok()?;
    linked.pump();
    let ended = linked.server_events.iter().find_map(|event| match event {
        sanswire::server::Event::Answered { peer: of, outcome } if *of == peer => Some(outcome),
        _ => None,
    });
    match ended {
        Some(PeerOutcome::Result(found)) => assert_eq!(found, &answer, "{revision}"),
        Some(PeerOutcome::Invalid(_)) => {}
        other => panic!("{revision}: {other:?}"),
    }
    Some(())
}

fn result(revision: Revision, value: &RawJson) -> Option<()> {
    let send = |value: &RawJson| {
        let (mut linked, asked, request) = called(revision);
        linked.reply(request, &Reply::Complete(value.clone()))?;
        match linked.outcome(asked) {
            Some(Outcome::Complete(result)) => Some(result),
            other => panic!("{revision}: {other:?}"),
        }
    };
    let once = send(value)?;
    let (before, after) = (CallToolResult::new(value.clone()), CallToolResult::new(once.clone()));
    assert_eq!(before.is_error(), after.is_error(), "{revision}");
    if revision == Revision::V2026_07_28 {
        // One that is structured alone is given a text.
        if before.content().next().is_some() {
            assert_eq!(before.text(), after.text());
        }
        let bytes =
            |result: &CallToolResult| result.structured_content().map(|found| found.as_bytes().to_vec());
        assert_eq!(bytes(&before), bytes(&after));
    }
    assert_eq!(send(&once).expect("what came can be sent"), once, "{revision}");
    Some(())
}

fn error(revision: Revision, value: &RawJson) -> Option<()> {
    let message = [br#"{"jsonrpc":"2.0","id":1,"error":"#, value.as_bytes(), b"}"].concat();
    let Ok(Message::Error { error, .. }) = jsonrpc::parse(message.into(), 70) else { return None };
    let (mut linked, asked, request) = called(revision);
    linked.reply(request, &Reply::Error(error.clone()))?;
    let mut said = error;
    if revision == Revision::V2026_07_28 && said.code == codes::RESOURCE_NOT_FOUND {
        // There it has no code of its own.
        said.code = codes::INVALID_PARAMS;
    }
    match linked.outcome(asked) {
        Some(Outcome::Error(found)) => assert_eq!(found, said, "{revision}"),
        other => panic!("{revision}: {other:?}"),
    }
    Some(())
}

/// The notification that the client is told of.
fn told(linked: &mut Linked, of: &Method) -> Option<RawJson> {
    linked.pump();
    linked.client_events.iter().find_map(|event| match event {
        client::Event::Notification { method, params, .. } if method == of => params.clone(),
        _ => None,
    })
}

fn log(revision: Revision, value: &RawJson) -> Option<()> {
    let before = LogMessage::read(value.view()).ok()?;
    let (level, data) = (before.level?, value.slice_of(before.data?)?);
    let (mut linked, _, request) = called(revision);
    let logger = before.logger.as_ref().map(|logger| logger.clone().into_owned());
    linked.server.notify(request, &Notice::Log { level, logger, data }, linked.now).ok()?;
    let params = told(&mut linked, &Method::LogMessage);
    let params = params.unwrap_or_else(|| panic!("{revision}: a log message of {level:?} did not arrive"));
    let after = LogMessage::read(params.view()).expect("it can be read there");
    assert_eq!((after.level, &after.logger), (before.level, &before.logger), "{revision}");
    let bytes = |data: Option<jsonrpc::JsonRef<'_>>| data.map(|data| data.as_bytes().to_vec());
    assert_eq!(bytes(after.data), bytes(before.data), "{revision}");
    Some(())
}

fn progress(revision: Revision, value: &RawJson) -> Option<()> {
    let view = value.view();
    let progress = client::Progress {
        progress: view.get("progress")?.as_f64()?,
        total: view.get("total").and_then(jsonrpc::JsonRef::as_f64),
        message: view.get("message").and_then(jsonrpc::JsonRef::str).map(|text| text.decode().into_owned()),
    };
    let (mut linked, asked, request) = called(revision);
    let client::Progress { progress: done, total, message } = progress.clone();
    linked.server.notify(request, &Notice::Progress { progress: done, total, message }, linked.now).ok()?;
    linked.pump();
    let found = linked.client_events.iter().find_map(|event| match event {
        client::Event::Progress { request, progress } if *request == asked => Some(progress),
        _ => None,
    });
    let found = found.unwrap_or_else(|| panic!("{revision}: {progress:?} did not arrive"));
    assert_eq!((found.progress, found.total), (progress.progress, progress.total), "{revision}");
    if revision != Revision::V2024_11_05 {
        assert_eq!(found.message, progress.message, "{revision}");
    }
    Some(())
}

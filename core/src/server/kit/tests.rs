//! Who is found for a request, and what is told of what a handler came to.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::jsonrpc::{ErrorObject, JsonRef, RawJson};
use crate::mcp::codes::{self, ErrorCode};
use crate::mcp::{Method, types::completion::MAX_VALUES};
use crate::server::{Catalog, ListKind, Reply, UnknownTool};

/// Handlers are known by what they are called.
type Named = Assembly<String, String, &'static str>;
type NamedHandlers = Handlers<String, String, &'static str>;

fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn with_type(name: &str) -> impl FnOnce(Option<Box<str>>) -> String {
    move |mime_type| format!("{name} {}", mime_type.unwrap_or_default())
}

fn template(template: &str, name: &str) -> Result<Offer<String, String>, BuildError> {
    Offer::resource_template(template, Resource::new("n"), with_type(name))
}

fn assembly() -> Named {
    let mut assembly = Named::new("s", "1");
    assembly.add(Offer::tool("add", Tool::new("Adds"), "add".into()));
    assembly.add(Offer::prompt("greet", Prompt::new("Greets"), |description| {
        description.unwrap_or_default().into_string()
    }));
    assembly.add(Offer::resource("a:b", Resource::new("n").mime_type("text/x"), with_type("resource")));
    assembly.add(template("a:{x}", "first"));
    assembly.add(template("a:{x}/{y}", "second"));
    assembly.add(template("a:{y}/c", "third"));
    assembly
}

fn handlers() -> NamedHandlers {
    assembly().build().expect("all is well").handlers
}

/// What is found: a handler with what it is given, or the answer.
fn found(handlers: &NamedHandlers, method: &Method, params: &str) -> Result<String, Reply> {
    match handlers.route(method, &raw(params)) {
        Route::Call(name, arguments) => {
            Ok(format!("{name} {}", core::str::from_utf8(arguments.as_bytes()).expect("text")))
        }
        Route::Read(name, uri) => Ok(format!("{name} {uri} x={} y={}", uri.variable("x"), uri.variable("y"))),
        Route::Complete(name, asked) => Ok(format!("{name} {}={}", asked.argument, asked.value)),
        Route::Answer(reply) => Err(reply),
    }
}

fn code(reply: &Reply) -> Option<ErrorCode> {
    match reply {
        Reply::Error(error) => Some(error.code),
        _ => None,
    }
}

#[test]
fn a_request_finds_its_handler_and_what_it_is_given() {
    let handlers = handlers();
    let read = Method::ResourcesRead;
    for (method, params, expected) in [
        (Method::ToolsCall, r#"{"name":"add","arguments":{"a":1}}"#, r#"add {"a":1}"#),
        (Method::ToolsCall, r#"{"name":"\u0061dd"}"#, "add {}"),
        (Method::PromptsGet, r#"{"arguments":{"a":"b"},"name":"greet"}"#, r#"Greets {"a":"b"}"#),
        (read.clone(), r#"{"uri":"a:b"}"#, "resource text/x a:b x= y="),
        (read.clone(), r#"{"uri":"a:c"}"#, "first  a:c x=c y="),
        (read.clone(), r#"{"uri":"a:%20/c"}"#, "second  a:%20/c x=  y=c"),
    ] {
        assert_eq!(found(&handlers, &method, params).as_deref(), Ok(expected), "{method:?} {params}");
    }
}

#[test]
fn what_there_is_nobody_for_is_answered() {
    let mut handlers = handlers();
    let invalid = Some(codes::INVALID_PARAMS);
    let complete = r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":"v"}}"#;
    for (method, params, expected) in [
        (Method::ToolsCall, r#"{"name":"sub"}"#, invalid),
        (Method::PromptsGet, r#"{"name":"add"}"#, invalid),
        (Method::ResourcesRead, r#"{"uri":"b:c"}"#, Some(codes::RESOURCE_NOT_FOUND)),
        (Method::ResourcesRead, r#"{"uri":1}"#, invalid),
        (Method::CompletionComplete, complete, Some(codes::METHOD_NOT_FOUND)),
        (Method::ToolsList, "{}", Some(codes::METHOD_NOT_FOUND)),
        // Only what can be read can be watched.
        (Method::ResourcesSubscribe, r#"{"uri":"a:c"}"#, None),
        (Method::ResourcesSubscribe, r#"{"uri":"b:c"}"#, Some(codes::RESOURCE_NOT_FOUND)),
        (Method::ResourcesUnsubscribe, r#"{"uri":"a:b"}"#, None),
    ] {
        let reply = found(&handlers, &method, params).expect_err(params);
        assert_eq!(code(&reply), expected, "{method:?} {params} {reply:?}");
    }
    handlers.complete = Some("completes");
    assert_eq!(found(&handlers, &Method::CompletionComplete, complete).as_deref(), Ok("completes a=v"));
    let flawed = found(&handlers, &Method::CompletionComplete, "{}").expect_err("it says nothing");
    assert_eq!(code(&flawed), invalid);
}

#[test]
fn an_unknown_tool_is_refused_as_the_configuration_says() {
    let mut assembly = assembly();
    assembly.config.unknown_tool = UnknownTool::ToolError;
    let handlers = assembly.build().expect("all is well").handlers;
    let reply = found(&handlers, &Method::ToolsCall, r#"{"name":"sub"}"#);
    assert_eq!(reply, Err(Reply::tool_error("unknown tool: sub")));
}

#[test]
fn what_is_added_later_takes_the_place_of_its_name_and_a_template_is_tried_last() {
    let (mut handlers, mut catalog) = (handlers(), Catalog::new());
    let put = |handlers: &mut NamedHandlers, catalog: &mut Catalog, offer: Offer<String, String>| {
        handlers.put(&offer);
        offer.list(catalog);
        assert!(catalog.find(offer.kind(), offer.key()).is_some(), "{offer:?}");
    };
    let (tool, read) = (Method::ToolsCall, Method::ResourcesRead);
    let other = Offer::tool("add", Tool::new("Adds"), "other".into());
    put(&mut handlers, &mut catalog, other.expect("usable"));
    assert_eq!(found(&handlers, &tool, r#"{"name":"add"}"#).as_deref(), Ok("other {}"));
    put(&mut handlers, &mut catalog, template("a:{x}/{y}", "again").expect("usable"));
    assert_eq!(found(&handlers, &read, r#"{"uri":"a:b/c"}"#).as_deref(), Ok("third  a:b/c x= y=b"));
    handlers.remove(ListKind::Templates, "a:{y}/c");
    assert_eq!(found(&handlers, &read, r#"{"uri":"a:b/c"}"#).as_deref(), Ok("again  a:b/c x=b y=c"));
    handlers.remove(ListKind::Tools, "add");
    assert!(found(&handlers, &tool, r#"{"name":"add"}"#).is_err());
    handlers.remove(ListKind::Resources, "a:b");
    assert_eq!(found(&handlers, &read, r#"{"uri":"a:b"}"#).as_deref(), Ok("first  a:b x=b y="));
}

#[test]
fn nothing_is_offered_twice_and_every_fault_is_told() {
    let mut assembly = assembly();
    assembly.add(Offer::tool("add", Tool::new("Adds"), "other".into()));
    assembly.add(template("a:{x", "t"));
    assembly.config.page_size = 0;
    let error = assembly.refused("what else: is wrong");
    let faults = error.faults();
    let expected = [
        r#"tool "add": it is defined twice"#,
        r#"resource template "a:{x": "#,
        "the configuration: ",
        "what else",
    ];
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    assert!(faults.iter().zip(expected).all(|(fault, begin)| fault.starts_with(begin)), "{faults:#?}");
}

#[test]
fn a_failure_is_told_to_whom_it_concerns() {
    let (tool, read, prompt) = (Method::ToolsCall, Method::ResourcesRead, Method::PromptsGet);
    let params = raw(r#"{"uri":"a:b"}"#);
    let protocol = ErrorObject::new(1, "own");
    let error = |code, text: &str| Reply::Error(ErrorObject::new(code, text.to_string()));
    let failed = || ToolError::new("no");
    let unfit = || ToolError::Arguments("no".into());
    let table: Vec<(&Method, ToolError, Reply)> = Vec::from([
        (&tool, failed(), Reply::tool_error("no")),
        (&tool, unfit(), Reply::tool_error("no")),
        (&tool, ToolError::not_found(), Reply::tool_error("there is no such resource")),
        (&tool, ToolError::Protocol(protocol.clone()), Reply::Error(protocol.clone())),
        (&tool, ToolError::Suspended, Reply::text("suspended")),
        (&read, failed(), error(codes::INTERNAL_ERROR, "no")),
        (&read, unfit(), error(codes::INVALID_PARAMS, "no")),
        (&read, ToolError::not_found(), Reply::resource_not_found("a:b")),
        (&prompt, failed(), error(codes::INTERNAL_ERROR, "no")),
        (&prompt, unfit(), error(codes::INVALID_PARAMS, "no")),
        (&prompt, ToolError::not_found(), error(codes::INVALID_PARAMS, "not found")),
        (&prompt, ToolError::Protocol(protocol.clone()), Reply::Error(protocol)),
        (&prompt, ToolError::Suspended, Reply::text("suspended")),
    ]);
    for (method, why, expected) in table {
        let said = format!("{method:?} {why:?}");
        assert_eq!(conclude(method, &params, Err(why), || Reply::text("suspended")), expected, "{said}");
    }
    let fine = conclude(&tool, &params, Ok(Reply::text("a")), || Reply::text("suspended"));
    assert_eq!(fine, Reply::text("a"));
}

#[test]
fn a_completion_gives_the_first_hundred_and_counts_all() {
    let values: Vec<String> = (0..=MAX_VALUES).map(|n| n.to_string()).collect();
    for (given, shown, more) in
        [(0, 0, false), (MAX_VALUES, MAX_VALUES, false), (MAX_VALUES + 1, MAX_VALUES, true)]
    {
        let Reply::Complete(result) = completion(values.get(..given).expect("enough")) else { panic!() };
        let completion = result.view().get("completion").expect("completion");
        let listed = completion.get("values").expect("values").elements().count();
        let total = completion.get("total").and_then(JsonRef::as_u64);
        let has_more = completion.get("hasMore").and_then(JsonRef::as_bool);
        assert_eq!((listed, total, has_more), (shown, Some(given as u64), Some(more)));
    }
}

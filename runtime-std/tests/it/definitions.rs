//! Servers that cannot be built: what is wrong with their definitions is told, all of it.

use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::{BuildError, Prompt, Resource, Server, Tool, ToolError};

use crate::common::trials;

trials!(all_that_is_wrong_is_told_at_once, a_definition_of_another_kind_is_told, what_is_no_json_is_shown,);

/// These faults and no other, in this order: what each is about, and what it says.
fn tells(error: &BuildError, expected: &[(&str, &str)]) {
    assert_eq!(error.faults().len(), expected.len(), "{:#?}", error.faults());
    for (fault, (about, why)) in error.faults().iter().zip(expected) {
        assert!(fault.starts_with(about) && fault.contains(why), "{fault} is not about {about}, {why}");
        assert!(error.to_string().contains(fault));
    }
}

fn all_that_is_wrong_is_told_at_once() {
    let fine = || Ok::<_, ToolError>("");
    let error: BuildError = Server::builder("wrong", "1")
        .tool("json", r#"{"description":"#, move |(), _| fine())
        .tool("two words", "{}", move |(), _| fine())
        .tool("schema", r#"{"inputSchema":[]}"#, move |(), _| fine())
        .tool("far", r#"{"inputSchema":{"type":"object","$ref":"https://x.example/s"}}"#, move |(), _| fine())
        .tool("other", r#"{"name":"another"}"#, move |(), _| fine())
        .tool("fine", r#"{"name":"fine"}"#, move |(), _| fine())
        .tool("fine", "{}", move |(), _| fine())
        .tool("list", "[]", move |(), _| fine())
        .resource("no address", Resource::new("n"), |_, _| Ok(""))
        .resource("a:b", "{}", |_, _| Ok(""))
        .resource("a:c", Resource::new(""), |_, _| Ok(""))
        .resource_template("a:{+x}", Resource::new("n"), |_, _| Ok(""))
        .prompt("twice", Prompt::new("").argument("a", "").argument("a", ""), |(), _| Ok(""))
        .prompt("", "{}", |(), _| Ok(""))
        .config(|config| config.page_size = 0)
        .build()
        .unwrap_err();
    let expected = [
        (r#"tool "json""#, "not JSON"),
        (r#"tool "two words""#, "1 to 128"),
        (r#"tool "schema""#, "inputSchema is an array"),
        (r#"tool "far""#, "https://x.example/s"),
        (r#"tool "other""#, "its name is another"),
        (r#"tool "fine""#, "twice"),
        (r#"tool "list""#, "an array, not an object"),
        (r#"resource "no address""#, "address"),
        (r#"resource "a:b""#, "no name"),
        (r#"resource "a:c""#, "name is empty"),
        (r#"resource template "a:{+x}""#, "{+x}"),
        (r#"prompt "twice""#, "a stands twice"),
        (r#"prompt """#, "name is empty"),
        ("the configuration", "page_size"),
    ];
    tells(&error, &expected);
}

fn a_definition_of_another_kind_is_told() {
    let tool = || Tool::new("").string("a", "");
    let error = Server::builder("wrong", "1")
        .tool("prompt", Prompt::new("").argument("a", ""), |(), _| Ok(()))
        .tool("snake", r#"{"input_schema":{"type":"object"},"output_schema":{}}"#, |(), _| Ok(()))
        .tool("typed", r#"{"mimeType":"a/b"}"#, |(), _| Ok(()))
        .resource("a:b", tool().with("name", RawJson::serialize("n").unwrap()), |_, _| Ok(""))
        .resource("a:c", r#"{"name":"n","mime_type":"a/b"}"#, |_, _| Ok(""))
        .resource_template("a:{b}", r#"{"name":"n","arguments":[]}"#, |_, _| Ok(""))
        .prompt("tool", tool(), |(), _| Ok(""))
        .build()
        .unwrap_err();
    let expected = [
        (r#"tool "prompt""#, "it has arguments; a tool says in its inputSchema"),
        (r#"tool "snake""#, "it has input_schema; the member is spelt inputSchema"),
        (r#"tool "snake""#, "it has output_schema; the member is spelt outputSchema"),
        (r#"tool "typed""#, "it has mimeType; only a resource has that"),
        (r#"resource "a:b""#, "it has inputSchema; only a tool has that: offer it by Builder::tool"),
        (r#"resource "a:c""#, "it has mime_type; the member is spelt mimeType"),
        (r#"resource template "a:{b}""#, "it has arguments; only a prompt has that"),
        (r#"prompt "tool""#, "it has inputSchema; only a tool has that"),
    ];
    tells(&error, &expected);
}

fn what_is_no_json_is_shown() {
    let fault = |definition: &str| {
        let error = Server::builder("wrong", "1").tool("t", definition, |(), _| Ok(())).build().unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(error.faults().len(), 1);
        error.faults()[0].clone()
    };
    let words = fault("Adds two numbers");
    assert!(words.contains(r#"near "Adds two numbers""#) && words.contains("Tool::new(…)"), "{words}");
    let long = fault(&format!(r#"{{"description":"{}é" "é{}"}}"#, "x".repeat(1000), "y".repeat(1000)));
    assert!(long.contains(r#"xxxé\" \"éyyy"#) && long.len() < 150 && !long.contains("Tool::new"), "{long}");
    assert!(fault("{\n").ends_with(r#"at byte 2, near "{\n""#), "{}", fault("{\n"));
}

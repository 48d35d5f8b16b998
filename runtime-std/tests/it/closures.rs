//! Servers made of closures, asked by a client over pipes, in both eras.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sanswire_std::sanswire::client::{Outcome, Start};
use sanswire_std::sanswire::jsonrpc::{ErrorObject, JsonRef, RawJson};
use sanswire_std::sanswire::mcp::types::content::Role;
use sanswire_std::sanswire::mcp::{Method, Revision, codes};
use sanswire_std::{
    Client, Content, Contents, Json, Messages, Prompt, Resource, Schema, Server, Tool, ToolError,
};

use crate::common::{LONG, child, eventually, no_options, options, raw, tool, trials};

trials!(
    p_247_arguments_that_do_not_fit_are_told_to_the_model_by_name,
    tools_give_what_their_closures_give,
    a_failure_is_the_models_to_see,
    a_result_that_cannot_be_sent_says_why,
    a_tool_without_arguments_takes_none_and_empty_ones,
    resources_are_read_by_address_and_by_template,
    p_343_a_resource_that_is_not_there_has_the_code_of_the_revision,
    what_can_be_read_can_be_watched,
    prompts_need_their_arguments,
    completions_are_a_hundred_at_most,
    a_tool_added_while_serving_is_told_and_called,
    resources_and_prompts_come_and_go_as_well,
    what_is_listed_is_what_was_given,
);

/// Answers on standard input and output.
pub(crate) fn serve() {
    static READS: AtomicU32 = AtomicU32::new(0);
    let numbers = Tool::new("Sums up").number("a", "One").number("b", "Another").optional();
    let server = Server::builder("closures", "1")
        .title("Closures")
        .instructions("For tests.")
        .tool("sum", numbers, |args: BTreeMap<String, f64>, _| {
            Ok(Json(BTreeMap::from([("sum", args.values().sum::<f64>())])))
        })
        .tool(
            "first",
            Tool::new("The first of several").argument("of", Schema::array(&Schema::string())),
            |(), call| {
                let of: Vec<String> = call.argument("of")?;
                of.into_iter().next().ok_or_else(|| ToolError::new("there is none"))
            },
        )
        .tool("nothing", "{}", |(), _| Ok(()))
        .tool("number", "{}", |(), _| Ok(Json(5)))
        .tool("ready", "{}", |(), _| Ok(RawJson::parse_str(r#"{"a":[1]}"#)?))
        .tool("parse", "{}", |(), call| Ok(call.argument::<String>("text")?.parse::<u8>()?.to_string()))
        .tool("untrue", promising(), |(), _| Ok(Json(BTreeMap::from([("sum", "secret")]))))
        .tool("wordy", promising(), |(), _| Ok("secret"))
        .tool("refuse", "{}", |(), _| Err::<(), _>(ToolError::protocol(1234, "on purpose")))
        .tool("panic", "{}", |(), _| -> Result<(), _> { panic!("on purpose") })
        .tool("blocks", "{}", |(), _| {
            Ok(Content::new()
                .text("t")
                .image("image/png", b"foobar")
                .audio("audio/ogg", b"f")
                .link("a:b", "n")
                .resource_text("a:c", "text/plain", "r")
                .resource_bytes("a:d", "a/b", &[0xff])
                .structured(&BTreeMap::from([("k", 1)]))
                .failed())
        })
        .tool("grow", "{}", |(), call| {
            call.server().add_tool("grown", "{}", |(), call| {
                Ok(if call.server().remove_tool("grown") { "gone" } else { "was gone" })
            })?;
            Ok("grown")
        })
        .tool("more", "{}", |(), call| {
            let server = call.server();
            server.add_resource("new://one", Resource::new("one"), |_, _| Ok("one"))?;
            server.add_resource_template("new://{n}", Resource::new("n"), |uri, _| {
                Ok(uri.variable("n").to_owned())
            })?;
            server.add_prompt("new", "{}", |(), _| Ok("new"))?;
            Ok(())
        })
        .tool("less", "{}", |(), call| {
            let server = call.server();
            let gone = [
                server.remove_resource("new://one"),
                server.remove_resource_template("new://{n}"),
                server.remove_prompt("new"),
                server.remove_prompt("never"),
            ];
            Ok(format!("{gone:?}"))
        })
        .tool("touch", "{}", |(), call| {
            call.server().resource_updated("test://count");
            Ok(())
        })
        .resource("test://text", r#"{"name":"text","mimeType":"text/plain"}"#, |uri, _| Ok(uri.to_string()))
        .resource("test://bytes", Resource::new("bytes").mime_type("a/b"), |_, _| Ok(b"foo"))
        .resource("test://json", Resource::new("json"), |_, _| Ok(Json([1, 2])))
        .resource("test://broken", Resource::new("broken"), |_, _| Err::<&str, _>(ToolError::new("it broke")))
        .resource("test://several", Resource::new("several"), |_, _| {
            Ok(Contents::new().text("a:1", "text/plain", "one").bytes("a:2", "a/b", b"two").cache(5, true))
        })
        .resource("test://count", Resource::new("count"), |_, _| {
            Ok(READS.fetch_add(1, Ordering::Relaxed).to_string())
        })
        .resource("test://of/fixed", Resource::new("fixed"), |_, _| Ok("fixed"))
        .resource_template("test://of/{thing}", Resource::new("of"), |uri, _| match uri.variable("thing") {
            "nobody" => Err(ToolError::not_found()),
            thing => Ok(format!("of {thing}{}", uri.variable("other"))),
        })
        .resource_template("test://of/{other}-{thing}", Resource::new("later"), |_, _| Ok("never"))
        .subscribable()
        .prompt(
            "greet",
            Prompt::new("Greets").argument("name", "Whom").argument("tone", "How").optional(),
            |(), call| {
                let (name, tone): (String, Option<String>) = (call.argument("name")?, call.argument("tone")?);
                Ok(format!("{} {name}", tone.unwrap_or_else(|| "Hello".into())))
            },
        )
        .prompt("talk", "{}", |args: BTreeMap<String, String>, _| {
            let shown = Content::new().text("see").image("image/png", b"foo");
            Ok(Messages::new().user("a").assistant(&format!("{args:?}")).content(Role::User, &shown))
        })
        .prompt("strict", "{}", |(), call| call.argument::<String>("needed"))
        .complete(|asked, _| {
            let many = if asked.argument == "name" { 250 } else { 3 };
            Ok((0..many).map(|n| format!("{}{n}", asked.value)).collect())
        })
        .build()
        .unwrap();
    server.serve_stdio().unwrap();
}

/// A tool whose results are to have a number, `sum`.
fn promising() -> Tool {
    Tool::new("Promises a sum").output(&Schema::object().property("sum", Schema::number()))
}

fn connect(revision: Revision) -> Client {
    let mut options = options();
    options.config.start = Start::Pinned(revision);
    Client::connect(&child(&["closures"]), options).unwrap()
}

/// A session of each kind of client.
fn both(test: impl Fn(&Client, Revision)) {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        test(&connect(revision), revision);
    }
}

fn ask(client: &Client, method: Method, params: &str) -> Result<RawJson, ErrorObject> {
    match client.start(method, Some(raw(params)), &no_options()).unwrap().wait() {
        Outcome::Complete(result) => Ok(result),
        Outcome::Error(error) => Err(error),
        other => panic!("{other:?}"),
    }
}

fn call(client: &Client, tool: &str, arguments: &str) -> RawJson {
    ask(client, Method::ToolsCall, &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)).unwrap()
}

fn read(client: &Client, uri: &str) -> Result<String, ErrorObject> {
    let result = ask(client, Method::ResourcesRead, &format!(r#"{{"uri":"{uri}"}}"#))?;
    Ok(part(&result, "contents"))
}

/// A member of a result, as its text.
fn part(result: &RawJson, name: &str) -> String {
    let found = result.view().get(name).map(JsonRef::as_bytes).unwrap_or_default();
    String::from_utf8(found.to_vec()).unwrap()
}

fn failed(result: &RawJson) -> bool {
    part(result, "isError") == "true"
}

fn p_247_arguments_that_do_not_fit_are_told_to_the_model_by_name() {
    both(|client, _| {
        for (name, arguments, said) in [
            ("sum", r#"{"a":"secret"}"#, "a must be a number, not a string"),
            ("first", "{}", "of is missing"),
            ("first", r#"{"of":null}"#, "of must be an array, not null"),
            ("first", r#"{"of":["a",7]}"#, "of[1] must be a string, not a number"),
        ] {
            let result = call(client, name, arguments);
            assert!(failed(&result), "{arguments}");
            let text = part(&result, "content");
            assert!(text.contains(said) && !text.contains("secret"), "{text}");
        }
    });
}

fn tools_give_what_their_closures_give() {
    both(|client, revision| {
        let modern = revision == Revision::V2026_07_28;
        let sum = call(client, "sum", r#"{"a":1,"b":2.5}"#);
        assert_eq!(part(&sum, "structuredContent"), r#"{"sum":3.5}"#);
        assert_eq!(part(&sum, "content"), r#"[{"type":"text","text":"{\"sum\":3.5}"}]"#);
        assert_eq!(part(&call(client, "ready", "{}"), "structuredContent"), r#"{"a":[1]}"#);
        assert_eq!(tool(client, "first", r#"{"of":["x","y"]}"#), "x");
        assert_eq!(part(&call(client, "nothing", "{}"), "content"), "[]");
        // Only the newest revision has structured results that are no objects.
        let number = call(client, "number", "{}");
        assert_eq!(part(&number, "content"), r#"[{"type":"text","text":"5"}]"#);
        assert_eq!(part(&number, "structuredContent"), if modern { "5" } else { "" });
        let blocks = call(client, "blocks", "{}");
        let expected = concat!(
            r#"[{"type":"text","text":"t"},{"type":"image","mimeType":"image/png","data":"Zm9vYmFy"},"#,
            r#"{"type":"audio","mimeType":"audio/ogg","data":"Zg=="},"#,
            r#"{"type":"resource_link","uri":"a:b","name":"n"},"#,
            r#"{"type":"resource","resource":{"uri":"a:c","mimeType":"text/plain","text":"r"}},"#,
            r#"{"type":"resource","resource":{"uri":"a:d","mimeType":"a/b","blob":"/w=="}}]"#
        );
        assert_eq!(part(&blocks, "content"), expected);
        assert_eq!(part(&blocks, "structuredContent"), r#"{"k":1}"#);
        assert!(failed(&blocks));
    });
}

fn a_failure_is_the_models_to_see() {
    both(|client, _| {
        let parsed = call(client, "parse", r#"{"text":"nope"}"#);
        assert!(failed(&parsed) && part(&parsed, "content").contains("invalid digit"), "{parsed:?}");
        assert!(failed(&call(client, "first", r#"{"of":[]}"#)));
        let refused = ask(client, Method::ToolsCall, r#"{"name":"refuse"}"#).unwrap_err();
        assert_eq!((refused.code, &*refused.message), (1234, "on purpose"));
        let panicked = ask(client, Method::ToolsCall, r#"{"name":"panic"}"#).unwrap_err();
        assert_eq!(panicked.code, codes::INTERNAL_ERROR);
        assert!(!panicked.message.contains("on purpose"));
        assert_eq!(tool(client, "first", r#"{"of":["x"]}"#), "x", "others go on");
    });
}

fn a_tool_without_arguments_takes_none_and_empty_ones() {
    both(|client, _| {
        for params in [
            r#"{"name":"nothing"}"#,
            r#"{"name":"nothing","arguments":{}}"#,
            r#"{"name":"nothing","arguments":null}"#,
            r#"{"arguments":{"extra":[1]},"name":"no\u0074hing"}"#,
        ] {
            assert!(!failed(&ask(client, Method::ToolsCall, params).unwrap()), "{params}");
        }
    });
}

fn resources_are_read_by_address_and_by_template() {
    both(|client, revision| {
        for (uri, contents) in [
            ("test://text", r#"[{"uri":"test://text","mimeType":"text/plain","text":"test://text"}]"#),
            ("test://bytes", r#"[{"uri":"test://bytes","mimeType":"a/b","blob":"Zm9v"}]"#),
            ("test://json", r#"[{"uri":"test://json","mimeType":"application/json","text":"[1,2]"}]"#),
            (
                "test://several",
                r#"[{"uri":"a:1","mimeType":"text/plain","text":"one"},{"uri":"a:2","mimeType":"a/b","blob":"dHdv"}]"#,
            ),
            ("test://of/fixed", r#"[{"uri":"test://of/fixed","text":"fixed"}]"#),
            ("test://of/a-b%20c", r#"[{"uri":"test://of/a-b%20c","text":"of a-b c"}]"#),
        ] {
            assert_eq!(read(client, uri).unwrap(), contents, "{uri}");
        }
        let several = ask(client, Method::ResourcesRead, r#"{"uri":"test://several"}"#).unwrap();
        if revision == Revision::V2026_07_28 {
            assert_eq!((&*part(&several, "ttlMs"), &*part(&several, "cacheScope")), ("5", r#""public""#));
        }
        let broken = read(client, "test://broken").unwrap_err();
        assert_eq!((broken.code, &*broken.message), (codes::INTERNAL_ERROR, "it broke"));
    });
}

fn p_343_a_resource_that_is_not_there_has_the_code_of_the_revision() {
    both(|client, revision| {
        let modern = revision == Revision::V2026_07_28;
        let code = if modern { codes::INVALID_PARAMS } else { codes::RESOURCE_NOT_FOUND };
        for uri in ["test://nothing", "test://of/a/b", "test://of/nobody", "other:x"] {
            let error = read(client, uri).unwrap_err();
            assert_eq!(error.code, code, "{uri}");
            assert_eq!(error.data.unwrap().as_str(), format!(r#"{{"uri":"{uri}"}}"#));
        }
    });
}

fn what_can_be_read_can_be_watched() {
    let client = connect(Revision::V2025_11_25);
    let subscribe = |uri| ask(&client, Method::ResourcesSubscribe, &format!(r#"{{"uri":"{uri}"}}"#));
    assert_eq!(subscribe("test://of/x").unwrap().as_str(), "{}");
    assert_eq!(subscribe("test://nothing").unwrap_err().code, codes::RESOURCE_NOT_FOUND);
    assert_eq!(subscribe("test://count").unwrap().as_str(), "{}");
    tool(&client, "touch", "{}");
    let changed = client.next_notification(LONG).expect("told of the change");
    assert_eq!(changed.method, Method::ResourcesUpdated);
    assert_eq!(part(&changed.params.unwrap(), "uri"), r#""test://count""#);
}

fn prompts_need_their_arguments() {
    // P-359
    both(|client, _| {
        let get = |params: &str| ask(client, Method::PromptsGet, params);
        let greeted = get(r#"{"name":"greet","arguments":{"name":"Ada","tone":"Hi"}}"#).unwrap();
        assert_eq!(part(&greeted, "description"), r#""Greets""#);
        assert_eq!(
            part(&greeted, "messages"),
            r#"[{"role":"user","content":{"type":"text","text":"Hi Ada"}}]"#
        );
        let talked = get(r#"{"name":"talk"}"#).unwrap();
        let messages = talked.view().get("messages").unwrap().elements().count();
        assert_eq!((messages, &*part(&talked, "description")), (4, ""));
        for (params, named) in [
            (r#"{"name":"greet","arguments":{"tone":"Hi"}}"#, "name"),
            (r#"{"name":"strict"}"#, "needed"),
            (r#"{"name":"unknown"}"#, "prompt"),
        ] {
            let error = get(params).unwrap_err();
            assert_eq!(error.code, codes::INVALID_PARAMS, "{params}");
            assert!(error.message.contains(named), "{error:?}");
        }
    });
}

fn a_result_that_cannot_be_sent_says_why() {
    both(|client, _| {
        for (tool, why) in [
            ("untrue", "a member of structuredContent is not of the type"),
            ("wordy", "this tool has an outputSchema, so its result needs structuredContent"),
        ] {
            let error = ask(client, Method::ToolsCall, &format!(r#"{{"name":"{tool}"}}"#)).unwrap_err();
            assert_eq!(error.code, codes::INTERNAL_ERROR, "{tool}");
            assert!(error.message.starts_with(&format!("the answer could not be sent: {why}")), "{error:?}");
            assert!(!error.message.contains("secret"), "{error:?}");
        }
    });
}

fn completions_are_a_hundred_at_most() {
    both(|client, _| {
        let complete = |argument: &str| {
            let asked = format!(
                r#"{{"ref":{{"type":"ref/prompt","name":"greet"}},"argument":{{"name":"{argument}","value":"v"}}}}"#
            );
            let result = ask(client, Method::CompletionComplete, &asked).unwrap();
            result.view().get("completion").and_then(|completion| result.slice_of(completion)).unwrap()
        };
        assert_eq!(complete("tone").as_str(), r#"{"values":["v0","v1","v2"],"total":3,"hasMore":false}"#);
        let many = complete("name");
        assert_eq!(many.view().get("values").unwrap().elements().count(), 100);
        assert_eq!((&*part(&many, "total"), &*part(&many, "hasMore")), ("250", "true"));
    });
}

fn a_tool_added_while_serving_is_told_and_called() {
    let client = connect(Revision::V2025_11_25);
    assert!(ask(&client, Method::ToolsCall, r#"{"name":"grown"}"#).is_err());
    let told = |what| {
        eventually(what, || {
            // Whatever else comes, it is said once what is being changed has settled.
            tool(&client, "nothing", "{}");
            let told = client.next_notification(Duration::from_millis(10)).map(|told| told.method);
            told == Some(Method::ToolsListChanged)
        });
        part(&ask(&client, Method::ToolsList, "{}").unwrap(), "tools")
    };
    assert_eq!(tool(&client, "grow", "{}"), "grown");
    assert!(told("one tool more").contains(r#""grown""#));
    assert_eq!(tool(&client, "grown", "{}"), "gone");
    assert!(!told("one tool less").contains(r#""grown""#));
    assert!(ask(&client, Method::ToolsCall, r#"{"name":"grown"}"#).is_err());
}

fn resources_and_prompts_come_and_go_as_well() {
    both(|client, _| {
        let prompt = || ask(client, Method::PromptsGet, r#"{"name":"new"}"#);
        for _ in 0..2 {
            tool(client, "more", "{}");
            assert!(read(client, "new://one").unwrap().contains(r#""text":"one""#));
            assert!(read(client, "new://two").unwrap().contains(r#""text":"two""#));
            assert!(part(&prompt().unwrap(), "messages").contains(r#""text":"new""#));
            let templates = ask(client, Method::ResourcesTemplatesList, "{}").unwrap();
            assert_eq!(part(&templates, "resourceTemplates").matches("new://{n}").count(), 1);
        }
        assert_eq!(tool(client, "less", "{}"), "[true, true, true, false]");
        assert!(read(client, "new://one").is_err() && read(client, "new://two").is_err());
        assert!(prompt().is_err());
    });
}

fn what_is_listed_is_what_was_given() {
    both(|client, _| {
        let tools = ask(client, Method::ToolsList, "{}").unwrap();
        let sum = tools.view().get("tools").unwrap().elements().next().unwrap();
        assert_eq!(
            std::str::from_utf8(sum.as_bytes()).unwrap(),
            concat!(
                r#"{"name":"sum","description":"Sums up","inputSchema":{"type":"object","properties":{"#,
                r#""a":{"type":"number","description":"One"},"b":{"type":"number","description":"Another"}},"#,
                r#""required":["a"],"additionalProperties":false}}"#
            )
        );
        let prompts = ask(client, Method::PromptsList, "{}").unwrap();
        let greet = prompts.view().get("prompts").unwrap().elements().next().unwrap();
        assert_eq!(
            std::str::from_utf8(greet.as_bytes()).unwrap(),
            concat!(
                r#"{"name":"greet","description":"Greets","arguments":[{"name":"name","description":"Whom","#,
                r#""required":true},{"name":"tone","description":"How","required":false}]}"#
            )
        );
        let templates = ask(client, Method::ResourcesTemplatesList, "{}").unwrap();
        assert!(part(&templates, "resourceTemplates").starts_with(
            r#"[{"uriTemplate":"test://of/{thing}","name":"of"},{"uriTemplate":"test://of/{other}-{thing}""#
        ));
    });
}

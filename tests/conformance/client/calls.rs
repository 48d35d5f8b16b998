//! What each scenario wants to see.

use std::env;

use sanswire::client::{InputAnswers, Outcome, RequestOptions, params};
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::tool::{Tool, tools};
use sanswire_std::{Client, Responder as _};
use serde_json::{Value, json};

use crate::Done;
use crate::answers::Filler;

type Run = fn(&Client) -> Done;

/// What to do in a scenario.
pub(crate) fn of(scenario: &str) -> Option<Run> {
    Some(match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => |client| list(client).map(drop),
        "tools_call" => |client| {
            list(client)?;
            call(client, "add_numbers", &json!({"a": 5, "b": 3}))
        },
        "elicitation-sep1034-client-defaults" => {
            |client| call(client, "test_client_elicitation_defaults", &json!({}))
        }
        "sse-retry" => |client| {
            list(client)?;
            call(client, "test_reconnection", &json!({}))
        },
        "sep-2322-client-request-state" => rounds,
        "http-standard-headers" => everything,
        "http-custom-headers" => given,
        "http-invalid-tool-headers" => usable,
        "json-schema-2020-12-preservation" => echoed,
        name if name.starts_with("auth/") => |client| {
            list(client)?;
            call(client, "test-tool", &json!({}))
        },
        _ => return None,
    })
}

/// The tools that can be called.
fn list(client: &Client) -> Result<Vec<Tool>, Box<dyn std::error::Error>> {
    let listed = client.list(Method::ToolsList, &RequestOptions::default())?;
    if let Some(cut) = listed.cut {
        return Err(format!("the listing ended: {cut:?}").into());
    }
    Ok(listed.pages.iter().flat_map(|page| tools(page).items).collect())
}

fn call(client: &Client, tool: &str, arguments: &Value) -> Done {
    let arguments = RawJson::serialize(arguments)?;
    complete(client.call_tool(tool, Some(&arguments), &RequestOptions::default())?).map(drop)
}

fn complete(outcome: Outcome) -> Result<RawJson, Box<dyn std::error::Error>> {
    let Outcome::Complete(result) = outcome else {
        return Err(format!("no result: {outcome:?}").into());
    };
    Ok(result)
}

/// The state of one call goes back with that call alone, though another is made while it waits.
fn rounds(client: &Client) -> Done {
    list(client)?;
    let options = RequestOptions::default();
    let params = params::call_tool("test_mrtr_echo_state", Some(&RawJson::empty_object()));
    let Outcome::InputRequired(asked) = client.call(Method::ToolsCall, Some(params), &options)? else {
        return Err("the call asks for nothing".into());
    };
    call(client, "test_mrtr_unrelated", &json!({}))?;
    let answers = InputAnswers::collect(&asked, |request| Filler.respond(request));
    complete(client.resume(&asked, &answers, &options)?)?;
    call(client, "test_mrtr_no_state", &json!({}))?;
    call(client, "test_mrtr_no_result_type", &json!({}))
}

/// Each method that has a name of its own in the header.
fn everything(client: &Client) -> Done {
    for tool in list(client)? {
        call(client, tool.name(), &json!({}))?;
    }
    let options = RequestOptions::default();
    let resources = complete(client.call(Method::ResourcesList, None, &options)?)?;
    for uri in texts(&resources, "resources", "uri") {
        complete(client.call(Method::ResourcesRead, Some(params::uri(&uri)), &options)?)?;
    }
    let prompts = complete(client.call(Method::PromptsList, None, &options)?)?;
    for name in texts(&prompts, "prompts", "name") {
        complete(client.call(Method::PromptsGet, Some(params::get_prompt(&name, &[])), &options)?)?;
    }
    Ok(())
}

/// A member of each element of a list.
fn texts(result: &RawJson, list: &str, member: &str) -> Vec<String> {
    let elements = result.view().get(list).into_iter().flat_map(JsonRef::elements);
    elements.filter_map(|element| Some(element.get(member)?.str()?.decode().into_owned())).collect()
}

/// The calls that the scenario lists.
fn given(client: &Client) -> Done {
    list(client)?;
    let context: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    let calls = context["toolCalls"].as_array().ok_or("the scenario lists no calls")?;
    for one in calls {
        call(client, one["name"].as_str().ok_or("a call of no tool")?, &one["arguments"])?;
    }
    Ok(())
}

/// All tools but those that the library sets aside.
fn usable(client: &Client) -> Done {
    for tool in list(client)? {
        call(client, tool.name(), &json!({"region": "us-west1"}))?;
    }
    Ok(())
}

/// The schema of one tool as the argument of another.
fn echoed(client: &Client) -> Done {
    let tools = list(client)?;
    let tool = tools.iter().find(|tool| tool.name() == "json_schema_2020_12_tool");
    let schema = tool.and_then(Tool::input_schema).ok_or("the tool with the schema is not listed")?;
    let arguments = RawJson::object(|w| {
        w.raw("schema", schema);
    });
    complete(client.call_tool("json_schema_echo", Some(&arguments), &RequestOptions::default())?).map(drop)
}

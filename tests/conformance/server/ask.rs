//! Tools that ask their client, in either era.

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::elicited::Elicited;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire_std::{Builder, Call, Schema, Tool, ToolError};
use serde_json::{Value, json};

pub(crate) fn offer(builder: Builder) -> Builder {
    let sampling = Tool::new("Asks the client's model").string("prompt", "What to ask");
    let elicitation = Tool::new("Asks the client's user").string("message", "What to ask");
    builder
        .tool("test_sampling", sampling, |(), call| {
            let answer = call.ask("answer", &sample(&call.argument::<String>("prompt")?, 100)?)?;
            Ok(format!("LLM response: {}", said(&answer)?))
        })
        .tool("test_elicitation", elicitation, |(), call| {
            let form = Schema::object()
                .property("username", Schema::string().description("User's response"))
                .property("email", Schema::string().description("User's email address"));
            let (action, content) = outcome(call, &call.argument::<String>("message")?, &form)?;
            Ok(format!("User response: action: {action}, content: {content}"))
        })
        .tool("test_elicitation_sep1034_defaults", Tool::new("Asks with defaults"), |(), call| {
            completed(call, &defaults()?)
        })
        .tool("test_elicitation_sep1330_enums", Tool::new("Asks for choices"), |(), call| {
            completed(call, &choices()?)
        })
        .tool("test_missing_capability", Tool::new("Cannot do without a model"), |(), call| {
            call.ask("answer", &sample("Are you there?", 10)?)?;
            Ok("It is there.")
        })
        .tool("test_streaming_elicitation", Tool::new("Asks while it works"), |(), call| {
            completed(call, &Schema::object().property("name", Schema::string()))
        })
}

/// A question to the client's model.
pub(crate) fn sample(prompt: &str, max_tokens: u32) -> Result<InputRequest, ToolError> {
    let params = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": max_tokens,
    });
    Ok(InputRequest { kind: InputKind::Sample, params: Some(RawJson::serialize(&params)?) })
}

/// The text of a model's answer.
pub(crate) fn said(answer: &RawJson) -> Result<String, ToolError> {
    let answer: Value = answer.decode()?;
    Ok(answer["content"]["text"].as_str().unwrap_or("(no text)").to_owned())
}

fn completed(call: &Call<'_>, form: &Schema) -> Result<String, ToolError> {
    let (action, content) = outcome(call, "Please fill this in", form)?;
    Ok(format!("Elicitation completed: action={action}, content={content}"))
}

/// What the user did with the form, and how they filled it in.
fn outcome(call: &Call<'_>, message: &str, form: &Schema) -> Result<(&'static str, String), ToolError> {
    Ok(match call.elicit("form", message, form)? {
        Elicited::Accepted(content) => ("accept", content.as_str().to_owned()),
        Elicited::Declined => ("decline", "{}".into()),
        Elicited::Cancelled => ("cancel", "{}".into()),
    })
}

/// One of each kind, with what to begin with.
fn defaults() -> Result<Schema, ToolError> {
    let with = |schema: Schema, value: Value| -> Result<Schema, ToolError> {
        Ok(schema.with("default", RawJson::serialize(&value)?))
    };
    let status = Schema::one_of(&["active", "inactive", "pending"]);
    Ok(Schema::object()
        .optional("name", with(Schema::string(), json!("John Doe"))?)
        .optional("age", with(Schema::integer(), json!(30))?)
        .optional("score", with(Schema::number(), json!(95.5))?)
        .optional("status", with(status, json!("active"))?)
        .optional("verified", with(Schema::boolean(), json!(true))?))
}

/// The five ways in which a form offers a choice.
fn choices() -> Result<Schema, ToolError> {
    let json = |value: Value| RawJson::serialize(&value);
    let titled = |noun: &str| {
        let ordinals = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
        ordinals.map(|(value, ordinal)| json!({"const": value, "title": format!("{ordinal} {noun}")}))
    };
    let plain = Schema::one_of(&["option1", "option2", "option3"]);
    let names = json(json!(["Option One", "Option Two", "Option Three"]))?;
    Ok(Schema::object()
        .optional("untitledSingle", plain.clone())
        .optional("titledSingle", Schema::string().with("oneOf", json(json!(titled("Option")))?))
        .optional("legacyEnum", Schema::one_of(&["opt1", "opt2", "opt3"]).with("enumNames", names))
        .optional("untitledMulti", Schema::array(&plain.clone()))
        .optional(
            "titledMulti",
            Schema::array(&plain).with("items", json(json!({"anyOf": titled("Choice")}))?),
        ))
}

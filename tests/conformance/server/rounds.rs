//! Calls of 2026-07-28 that take several rounds.

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::codes::INVALID_PARAMS;
use sanswire::mcp::types::elicited::Elicited;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::server::Reply;
use sanswire_std::{Builder, Call, Prompt, Schema, Tool, ToolError};
use serde_json::Value;

use crate::ask::{said, sample};

pub(crate) fn offer(builder: Builder) -> Builder {
    builder
        .tool("test_input_required_result_elicitation", Tool::new("Greets"), |(), call| stateless(call))
        .tool("test_input_required_result_sampling", Tool::new("Asks a model"), |(), call| {
            let answer = call.ask("capital_question", &sample("What is the capital of France?", 100)?)?;
            said(&answer)
        })
        .tool("test_input_required_result_list_roots", Tool::new("Names the roots"), |(), call| {
            named(&call.ask("client_roots", &roots())?)
        })
        .tool("test_input_required_result_request_state", Tool::new("Keeps a state"), |(), call| {
            let ok = Schema::object().property("ok", Schema::boolean());
            let answer = call.elicit("confirm", "Please confirm", &ok)?;
            Ok(format!("state-ok: {}", field(&answer, "ok")?))
        })
        .tool("test_input_required_result_tampered_state", Tool::new("Keeps a state"), |(), call| {
            let ok = Schema::object().property("ok", Schema::boolean());
            let answer = call.elicit("confirm", "Please confirm", &ok)?;
            Ok(format!("confirmed: {}", field(&answer, "ok")?))
        })
        .tool("test_input_required_result_multiple_inputs", Tool::new("Asks three at once"), |(), call| {
            let (name, greeting, roots) =
                (name("What is your name?"), sample("Generate a greeting", 50)?, roots());
            let questions = [("user_name", &name), ("greeting", &greeting), ("client_roots", &roots)];
            let answers = call.ask_all(&questions)?;
            Ok(answers.iter().map(RawJson::as_str).collect::<Vec<_>>().join("\n"))
        })
        .tool("test_input_required_result_multi_round", Tool::new("Asks twice"), |(), call| {
            let name = Schema::object().property("name", Schema::string());
            let name = call.elicit("step1", "Step 1: What is your name?", &name)?;
            let color = Schema::object().property("color", Schema::string());
            let color = call.elicit("step2", "Step 2: What is your favorite color?", &color)?;
            Ok(format!("{} likes {}.", field(&name, "name")?, field(&color, "color")?))
        })
        .tool("test_input_required_result_capabilities", Tool::new("Asks whoever is there"), |(), call| {
            let (name, greeting) = (name("What is your name?"), sample("Generate a greeting", 50)?);
            let declared = &call.context().capabilities;
            let mut questions = Vec::new();
            if declared.elicitation_form {
                questions.push(("user_name", &name));
            }
            if declared.sampling {
                questions.push(("greeting", &greeting));
            }
            let answers = call.ask_all(&questions)?;
            Ok(answers.iter().map(RawJson::as_str).collect::<Vec<_>>().join("\n"))
        })
        .prompt("test_input_required_result_prompt", Prompt::new("Asks for its context"), |(), call| {
            let context = Schema::object().property("context", Schema::string());
            let answer = call.elicit("user_context", "What context should the prompt use?", &context)?;
            Ok(format!("Use this context: {}", field(&answer, "context")?))
        })
}

/// Rounds without a state, by hand: what the client brings is all that is known, so an answer is as good in the first
/// round as in the second, and what was not asked for is not looked at.
fn stateless(call: &Call<'_>) -> Result<Reply, ToolError> {
    let question = name("What is your name?");
    let Some(answer) = call.context().round.as_ref().and_then(|round| round.response("user_name")) else {
        let requests = vec![KeyedInput { key: "user_name".into(), request: question }];
        return Ok(Reply::InputRequired { requests, state: None });
    };
    let unfit = |fault| ToolError::protocol(INVALID_PARAMS, &format!("the answer under user_name: {fault}"));
    let answer = question.elicited(&answer).map_err(unfit)?;
    Ok(Reply::text(&format!("Hello, {}!", field(&answer, "name")?)))
}

/// A form that asks for a name.
fn name(message: &str) -> InputRequest {
    Schema::object().property("name", Schema::string()).form(message)
}

fn roots() -> InputRequest {
    InputRequest { kind: InputKind::ListRoots, params: Some(RawJson::empty_object()) }
}

fn named(roots: &RawJson) -> Result<String, ToolError> {
    let roots: Value = roots.decode()?;
    let uris = roots["roots"].as_array().into_iter().flatten().filter_map(|root| root["uri"].as_str());
    Ok(format!("Roots: {}", uris.collect::<Vec<_>>().join(", ")))
}

/// What was filled in there.
fn field(answer: &Elicited, name: &str) -> Result<String, ToolError> {
    Ok(match answer {
        Elicited::Accepted(content) => content.decode::<Value>()?[name].to_string(),
        Elicited::Declined | Elicited::Cancelled => "(not said)".into(),
    })
}

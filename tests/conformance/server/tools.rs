//! Tools that ask nothing.

use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::log::LogLevel;
use sanswire_std::{Builder, Call, Content, Prompt, Schema, Tool, ToolError};

use crate::offer::{DOT_PNG, SILENCE_WAV};

/// What the suite looks for in the listing, keyword by keyword.
const JSON_SCHEMA_TOOL: &str = r##"{
    "description": "Its schema has keywords of JSON Schema 2020-12",
    "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    }
}"##;

/// Between two notifications of one call.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn offer(builder: Builder) -> Builder {
    let region = Schema::string().description("Where").with("x-mcp-header", json("Region"));
    builder
        .tool("test_simple_text", Tool::new("Gives a text"), |(), _| {
            Ok("This is a simple text response for testing.")
        })
        .tool("test_image_content", Tool::new("Gives an image"), |(), _| {
            Ok(Content::new().image("image/png", DOT_PNG))
        })
        .tool("test_audio_content", Tool::new("Gives a sound"), |(), _| {
            Ok(Content::new().audio("audio/wav", SILENCE_WAV))
        })
        .tool("test_embedded_resource", Tool::new("Gives a resource"), |(), _| {
            let text = "This is an embedded resource content.";
            Ok(Content::new().resource_text("test://embedded-resource", "text/plain", text))
        })
        .tool("test_multiple_content_types", Tool::new("Gives one of each"), |(), _| {
            let uri = "test://mixed-content-resource";
            Ok(Content::new().text("Multiple content types test:").image("image/png", DOT_PNG).resource_text(
                uri,
                "application/json",
                r#"{"test":"data","value":123}"#,
            ))
        })
        .tool("test_error_handling", Tool::new("Fails"), |(), _| {
            Err::<(), _>(ToolError::new("This tool intentionally returns an error for testing"))
        })
        .tool("test_tool_with_logging", Tool::new("Logs three times"), |(), call| {
            log(call, "Tool execution started")?;
            call.sleep(PAUSE);
            log(call, "Tool processing data")?;
            call.sleep(PAUSE);
            log(call, "Tool execution completed")?;
            Ok("Logged three times.")
        })
        .tool("test_logging_tool", Tool::new("Logs, if that is wanted"), |(), call| {
            log(call, "Only who asked for it hears this")?;
            Ok("Logged.")
        })
        .tool("test_tool_with_progress", Tool::new("Reports progress"), progress)
        .tool("test_reconnection", Tool::new("Answers who comes back for it"), |(), call| {
            call.close_stream();
            call.sleep(2 * PAUSE);
            Ok("You came back.")
        })
        .tool("json_schema_2020_12_tool", JSON_SCHEMA_TOOL, |(), _| Ok("Called."))
        .tool("test_header_argument", Tool::new("Says where").argument("region", region), |(), call| {
            call.argument::<String>("region")
        })
        .tool("test_trigger_tool_change", Tool::new("Adds a tool, or takes it away"), |(), call| {
            let server = call.server();
            if !server.remove_tool("test_fleeting_tool") {
                server.add_tool("test_fleeting_tool", Tool::new("Comes and goes"), |(), _| Ok("Here."))?;
            }
            Ok("The tools changed.")
        })
        .tool("test_trigger_prompt_change", Tool::new("Adds a prompt, or takes it away"), |(), call| {
            let server = call.server();
            if !server.remove_prompt("test_fleeting_prompt") {
                let prompt = Prompt::new("Comes and goes");
                server.add_prompt("test_fleeting_prompt", prompt, |(), _| Ok("Here."))?;
            }
            Ok("The prompts changed.")
        })
}

fn progress((): (), call: &Call<'_>) -> Result<&'static str, ToolError> {
    for done in [0.0, 50.0, 100.0] {
        call.progress(done, Some(100.0), None);
        if done < 100.0 {
            call.sleep(PAUSE);
        }
    }
    Ok("All done.")
}

fn log(call: &Call<'_>, message: &str) -> Result<(), ToolError> {
    call.log(LogLevel::Info, None, &RawJson::serialize(message)?);
    Ok(())
}

/// A text as JSON.
fn json(text: &str) -> RawJson {
    RawJson::serialize(text).unwrap_or_else(|_| RawJson::null())
}

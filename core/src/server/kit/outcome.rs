//! What a handler came to, as the client gets to hear it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::codes::{self, ErrorCode};
use crate::mcp::types::completion::MAX_VALUES;
use crate::mcp::types::request::resource_uri;
use crate::mcp::{Method, types::flaw::Flaw};
use crate::server::Reply;
use crate::server::kit::reply::ToolError;

/// The answer to a request whose handler came to `result`. `suspend` makes that of a run which ended with
/// [`ToolError::Suspended`].
///
/// A tool's failure is told to the model, as a result with `isError`; any other is an error.
///
/// Spec: MCP server/tools, "Error Handling"; server/resources, "Error Handling".
pub fn conclude(
    method: &Method,
    params: &RawJson,
    result: Result<Reply, ToolError>,
    suspend: impl FnOnce() -> Reply,
) -> Reply {
    let why = match result {
        Ok(reply) => return reply,
        Err(ToolError::Protocol(error)) => return Reply::Error(error),
        Err(ToolError::Suspended) => return suspend(),
        Err(why) => why,
    };
    failed(method, params, why)
}

#[cold]
fn failed(method: &Method, params: &RawJson, why: ToolError) -> Reply {
    let is_tool = *method == Method::ToolsCall;
    let (code, text) = match why {
        ToolError::NotFound if is_tool => return Reply::tool_error("there is no such resource"),
        ToolError::NotFound if *method == Method::ResourcesRead => {
            return Reply::resource_not_found(&resource_uri(params).unwrap_or_default());
        }
        ToolError::Failed(text) => (codes::INTERNAL_ERROR, text),
        ToolError::Arguments(text) => (codes::INVALID_PARAMS, text),
        _ => (codes::INVALID_PARAMS, "not found".into()),
    };
    if is_tool { Reply::tool_error(&text) } else { error(code, &text) }
}

/// The answer to a request whose handler broke down. What a panic says is for the log of whoever runs the server, and not
/// for the client.
#[must_use]
pub fn broken_down() -> Reply {
    error(codes::INTERNAL_ERROR, "the handler failed")
}

/// What completes an argument, best first: the first hundred, and how many there are.
///
/// Spec: MCP server/utilities/completion, "Completion Results".
#[must_use]
pub fn completion(values: &[String]) -> Reply {
    Reply::Complete(RawJson::object(|w| {
        w.object("completion", |w| {
            w.array_of_strings("values", values.iter().take(MAX_VALUES).map(String::as_str));
            w.u64("total", values.len() as u64).bool("hasMore", values.len() > MAX_VALUES);
        });
    }))
}

/// Why an answer that the session refused does not come. Such errors hold reasons and sizes, nothing of the answer.
#[must_use]
pub fn unsendable(error: &ApiError) -> String {
    let why = match error {
        ApiError::BadParams(why) => (*why).to_owned(),
        error => error.to_string(),
    };
    format!("the answer could not be sent: {why}")
}

pub(super) fn flawed(flaw: &Flaw) -> Reply {
    error(codes::INVALID_PARAMS, &format!("the parameters are unusable: {flaw}"))
}

pub(super) fn error(code: ErrorCode, message: &str) -> Reply {
    Reply::Error(ErrorObject::new(code, message))
}

//! What a model is told of how a call ended.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::event::{CallOutcome, ProtocolFault, ToolResult};
use super::mask::Mask;
use super::policy::DENIED_KIND;
use crate::error::Violation;

/// The most characters of a server's error that are told.
const MAX_ERROR: usize = 1024;

impl CallOutcome {
    /// How it ended, for a model: the result's text, with a line on how the rest can be had if there is one, or else
    /// the kind of end and what to do about it. What a server says in an error is masked and cut to 1,024 characters.
    #[must_use]
    pub fn message(&self, mask: &Mask) -> String {
        const UNSURE: &str = "it may or may not have run: verify the state before you call it again";
        match self {
            Self::Completed(result) | Self::ToolError(result) => result.message(),
            Self::Denied(why) => format!("{DENIED_KIND}: the call was not made: {why}"),
            Self::TimedOut(limit) => format!("timeout: no result within {limit:?}; {UNSURE}"),
            Self::Cancelled => {
                String::from("cancelled: the call was given up; if it was running, verify the state")
            }
            Self::Disconnected { maybe_ran: true } => {
                format!("disconnected: the connection to the server was lost; {UNSURE}")
            }
            Self::Disconnected { maybe_ran: false } => String::from(
                "disconnected: the connection to the server, or its session, was lost before; the call did not run",
            ),
            Self::Unavailable { status, error } if error.is_empty() => {
                format!("unavailable: the server is {status}; the call was not made")
            }
            Self::Unavailable { status, error } => {
                format!("unavailable: the server is {status}; the call was not made: {error}")
            }
            Self::ProtocolError(ProtocolFault::Error(error)) => {
                let said = mask.line_within(&error.message, MAX_ERROR);
                format!("protocol_error: the server answered with error {}: {said}", error.code)
            }
            Self::ProtocolError(fault @ ProtocolFault::Invalid(Violation::Http(_))) => {
                format!("protocol_error: {fault}; {UNSURE}")
            }
            Self::ProtocolError(fault) => format!("protocol_error: {fault}"),
        }
    }
}

impl ToolResult {
    fn message(&self) -> String {
        let presented = &self.presented;
        match presented.rest {
            Some(rest) => {
                let (text, shown) = (&presented.text, presented.shown);
                format!("{text}\n<rest: mcp_more handle={rest} offset={shown}>")
            }
            None => presented.text.clone(),
        }
    }
}

impl fmt::Display for ProtocolFault {
    /// Without what the server says in its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => write!(f, "the server answered with error {}", error.code),
            Self::Invalid(violation) => write!(f, "the server's answer cannot be used: {violation}"),
            Self::TooLarge { len, limit } => {
                write!(f, "the server's answer has {len} bytes, the limit is {limit} (max_message_bytes)")
            }
            Self::InputTooLarge { limit } => {
                write!(
                    f,
                    "the server asks for input: open calls may hold {limit} bytes of that (max_call_bytes)"
                )
            }
            Self::Refused(refusal) => write!(f, "the server refused the request: {refusal}"),
            Self::Challenged(_) => f.write_str("the server wants other credentials; log in to it first"),
            Self::NotSent(error) => write!(f, "the call was not sent: {error}"),
        }
    }
}

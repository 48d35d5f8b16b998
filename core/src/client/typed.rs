//! Requests by name: thin helpers that build parameters and pass everything else through.

use crate::client::config::{LogLevel, RequestOptions};
use crate::client::encode::Body;
use crate::client::event::RequestHandle;
use crate::client::session::Session;
use crate::error::ApiError;
use crate::jsonrpc::{Kind, RawJson};
use crate::mcp::Method;
use crate::time::Instant;

/// Builds the parameters of requests.
pub mod params {
    use alloc::vec::Vec;

    use crate::jsonrpc::{ObjectWriter, RawJson, write_raw, write_string};

    fn strings(w: &mut ObjectWriter<'_>, name: &str, members: &[(&str, &str)]) {
        w.object(name, |w| {
            for (name, value) in members {
                w.string(name, value);
            }
        });
    }

    /// Of a list request: the cursor of the page wanted, `None` for the first.
    #[must_use]
    pub fn list(cursor: Option<&str>) -> Option<RawJson> {
        cursor.map(|cursor| {
            RawJson::object(|w| {
                w.string("cursor", cursor);
            })
        })
    }

    /// Of `tools/call`. `arguments` is an object.
    #[must_use]
    pub fn call_tool(name: &str, arguments: Option<&RawJson>) -> RawJson {
        let mut out = Vec::with_capacity(name.len() + arguments.map_or(0, RawJson::len) + 32);
        out.extend_from_slice(br#"{"name":"#);
        write_string(&mut out, name);
        if let Some(arguments) = arguments {
            out.extend_from_slice(br#","arguments":"#);
            write_raw(&mut out, arguments.view());
        }
        out.push(b'}');
        let len = out.len();
        RawJson::trusted(out.into(), 0, len)
    }

    /// Of `resources/read`, `resources/subscribe` and `resources/unsubscribe`.
    #[must_use]
    pub fn uri(uri: &str) -> RawJson {
        RawJson::object(|w| {
            w.string("uri", uri);
        })
    }

    /// Of `prompts/get`.
    #[must_use]
    pub fn get_prompt(name: &str, arguments: &[(&str, &str)]) -> RawJson {
        RawJson::object(|w| {
            w.string("name", name);
            if !arguments.is_empty() {
                strings(w, "arguments", arguments);
            }
        })
    }

    /// What is being completed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reference<'a> {
        /// An argument of the prompt of this name.
        Prompt(&'a str),
        /// A variable of the resource template of this URI.
        Resource(&'a str),
    }

    /// Of `completion/complete`: the argument `name`, of which `value` was typed, with the `others` already
    /// known (2025-06-18 and later).
    #[must_use]
    pub fn complete(of: Reference<'_>, name: &str, value: &str, others: &[(&str, &str)]) -> RawJson {
        RawJson::object(|w| {
            w.object("ref", |w| match of {
                Reference::Prompt(name) => {
                    w.string("type", "ref/prompt");
                    w.string("name", name);
                }
                Reference::Resource(uri) => {
                    w.string("type", "ref/resource");
                    w.string("uri", uri);
                }
            });
            w.object("argument", |w| {
                w.string("name", name);
                w.string("value", value);
            });
            if !others.is_empty() {
                w.object("context", |w| {
                    strings(w, "arguments", others);
                });
            }
        })
    }

    /// Of `logging/setLevel`.
    #[must_use]
    pub fn level(level: super::LogLevel) -> RawJson {
        RawJson::object(|w| {
            w.string("level", level.as_str());
        })
    }

    /// Of `subscriptions/listen`; `filter` is the `notifications` object.
    #[must_use]
    pub fn listen(filter: &RawJson) -> RawJson {
        RawJson::object(|w| {
            w.raw("notifications", filter.view());
        })
    }
}

impl Session {
    /// `tools/call`. `arguments` is an object.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        if arguments.is_some_and(|arguments| arguments.view().kind() != Kind::Object) {
            return Err(ApiError::BadParams("the arguments of a tool are an object"));
        }
        self.send_request(Method::ToolsCall, Body::CallTool(name, arguments), options, 0, now)
    }

    /// `tools/list`: one page. For a whole listing see [`Listing`](crate::client::Listing).
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn list_tools(
        &mut self,
        cursor: Option<&str>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        self.request(Method::ToolsList, params::list(cursor), options, now)
    }
}

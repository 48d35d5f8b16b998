//! `_meta`: the grammar of its keys, which of them are reserved, and the names that the protocol defines.
//!
//! A key is `name` or `prefix/name`. The prefix is made of labels with dots between them. Which prefixes belong to
//! the protocol differs by revision, so [`MetaKey::reserved`] takes one. Nothing is to be assumed about the value
//! under a reserved key beyond what the revision says of it.
//!
//! Spec: MCP 2025-06-18 and later, basic, "`_meta`".

pub mod trace;

use core::fmt;

use crate::mcp::Revision;

/// The member that holds metadata, in parameters, results and most objects.
pub const META: &str = "_meta";

/// Requests: names the request in progress reports. String or integer. All revisions.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// Requests, required: the version of this request. 2026-07-28.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Requests, required: what the client can do for this request. 2026-07-28.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Requests: who asks. Self-reported, for display only. 2026-07-28.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Requests: the least level of log messages; without it there are none. 2026-07-28, deprecated.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Results: who answers. Self-reported, for display only. 2026-07-28.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Everything that belongs to a `subscriptions/listen`: that request's id, of the same JSON type. 2026-07-28.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Messages that belong to a task: `{taskId}`. 2025-11-25.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The result that creates a task: text for the model until the task is done. 2025-11-25, provisional.
pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
/// W3C Trace Context, see [`trace::is_traceparent`]. 2026-07-28.
pub const TRACEPARENT: &str = "traceparent";
/// W3C Trace Context, see [`trace::is_tracestate`]. 2026-07-28.
pub const TRACESTATE: &str = "tracestate";
/// W3C Baggage, see [`trace::is_baggage`]. 2026-07-28.
pub const BAGGAGE: &str = "baggage";

/// A key of `_meta`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MetaKey<'a> {
    prefix: Option<&'a str>,
    name: &'a str,
}

/// What is wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetaKeyFault {
    /// A label of the prefix is empty, does not begin with a letter, does not end with a letter or digit, or holds
    /// something other than letters, digits and hyphens.
    Prefix,
    /// The name does not begin and end with a letter or digit, or holds something other than those, `-`, `_`, `.`.
    Name,
    /// There is no prefix where one is required.
    NoPrefix,
}

impl fmt::Display for MetaKeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prefix => {
                "the prefix is not made of labels (letter first, letter or digit last) with dots between"
            }
            Self::Name => {
                "the name must begin and end with a letter or digit, with only - _ . beside those inside"
            }
            Self::NoPrefix => "a prefix is required, such as com.example/",
        })
    }
}

impl core::error::Error for MetaKeyFault {}

impl<'a> MetaKey<'a> {
    /// Takes a key apart. O(length), no allocation.
    ///
    /// # Errors
    /// What breaks the grammar; use another key. Letters and digits are ASCII. An empty name is allowed.
    ///
    /// Spec: MCP 2025-06-18 and later, basic, "`_meta`", key name format.
    pub fn parse(key: &'a str) -> Result<Self, MetaKeyFault> {
        let (prefix, name) = match key.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, key),
        };
        if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
            return Err(MetaKeyFault::Prefix);
        }
        if !name.is_empty() && !is_name(name) {
            return Err(MetaKeyFault::Name);
        }
        Ok(Self { prefix, name })
    }

    /// The labels before the slash, without it.
    #[must_use]
    pub const fn prefix(&self) -> Option<&'a str> {
        self.prefix
    }

    /// What follows the slash, or the whole key.
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Whether the protocol keeps this key for itself under `revision`; a private key must be another.
    ///
    /// 2025-11-25 and later reserve prefixes whose second label is `modelcontextprotocol` or `mcp`; 2025-06-18 those
    /// whose last label but one is. Older revisions reserve no prefix. Without a prefix only the names that a
    /// revision defines are reserved.
    ///
    /// Spec: MCP basic, "`_meta`" of each revision.
    #[must_use]
    pub fn reserved(&self, revision: Revision) -> bool {
        let Some(prefix) = self.prefix else {
            return match self.name {
                PROGRESS_TOKEN => true,
                TRACEPARENT | TRACESTATE | BAGGAGE => revision >= Revision::V2026_07_28,
                _ => false,
            };
        };
        let mut labels = prefix.split('.');
        let label = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => None,
            Revision::V2025_06_18 => labels.rev().nth(1),
            Revision::V2025_11_25 | Revision::V2026_07_28 => labels.nth(1),
        };
        matches!(label, Some("modelcontextprotocol" | "mcp"))
    }
}

/// Checks the identifier of an extension: a key as in `_meta`, but with a prefix.
///
/// # Errors
/// What breaks the grammar; the extension cannot be declared under that name.
///
/// Spec: MCP 2026-07-28 basic, "Extensions".
pub fn check_extension_id(id: &str) -> Result<(), MetaKeyFault> {
    match MetaKey::parse(id)?.prefix {
        Some(_) => Ok(()),
        None => Err(MetaKeyFault::NoPrefix),
    }
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests;

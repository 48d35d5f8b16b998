//! Error codes of JSON-RPC and of the Model Context Protocol.

/// A code as it stands in an error object.
pub type ErrorCode = i64;

/// The text is not JSON. JSON-RPC 2.0, section 5.1.
pub const PARSE_ERROR: ErrorCode = -32700;
/// Not a JSON-RPC message. JSON-RPC 2.0, section 5.1.
pub const INVALID_REQUEST: ErrorCode = -32600;
/// No such method, or its capability was not declared.
pub const METHOD_NOT_FOUND: ErrorCode = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: ErrorCode = -32602;
/// Anything unexpected on the answering side.
pub const INTERNAL_ERROR: ErrorCode = -32603;
/// Revisions up to 2025-11-25: no such resource. Newer servers use [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: ErrorCode = -32002;
/// 2025-11-25 only: the listed URL elicitations have to be run first.
pub const URL_ELICITATION_REQUIRED: ErrorCode = -32042;
/// 2026-07-28: an HTTP field is missing or differs from the body.
pub const HEADER_MISMATCH: ErrorCode = -32020;
/// 2026-07-28: the request needs a capability that it did not declare.
pub const MISSING_CLIENT_CAPABILITY: ErrorCode = -32021;
/// 2026-07-28: the version is unknown or switched off; `data.supported` lists the others.
pub const UNSUPPORTED_VERSION: ErrorCode = -32022;
/// The user refused a sampling request.
pub const USER_REJECTED: ErrorCode = -1;

/// Whether `code` can only come from a server that speaks a modern revision.
///
/// Only the three defined numbers count; codes that pre-release builds used are not recognised, and an era is
/// never decided by any other single code.
#[must_use]
pub const fn is_modern(code: ErrorCode) -> bool {
    matches!(code, HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION)
}

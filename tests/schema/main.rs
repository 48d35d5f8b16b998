//! Against the published schemas, by a validator that is not ours: what we read, and what we write.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]

mod changes;
mod decodes;
mod encodes;
mod oracle;
mod small;

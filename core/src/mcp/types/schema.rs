//! Enough of JSON Schema to tell whether a schema can be used at all, and what a property of it may be.
//!
//! This is no validator. [`check`] looks at the references of a schema, [`property_types`] at the kinds of value that
//! a property admits. References are followed inside the schema only: nothing here, and nothing built on it, ever
//! fetches one.
//!
//! Spec: MCP 2026-07-28 basic, "JSON Schema Usage"; JSON Schema 2020-12 core, section 8.2.

mod property;
mod refs;
mod resolve;

pub use property::{JsonTypes, property_types};
pub use refs::{MAX_DANGLING, MAX_REFERENCE, MAX_SUBSCHEMAS, SchemaFault, SchemaReport, check};

#[cfg(test)]
mod tests;

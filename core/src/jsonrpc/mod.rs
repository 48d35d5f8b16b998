//! JSON-RPC 2.0 messages: one validating pass over a line, views over what it holds, and the way out.
//!
//! [`parse`] reads a frame once: grammar, UTF-8 and depth are checked for every byte of it, and the members of
//! the message are marked on the way. What comes out is a [`Message`] whose payload is a [`RawJson`]: a view
//! into the frame that is known to be valid, walked with [`JsonRef`] when somebody asks, and never checked
//! again. A message that is not one is a [`Fault`] with a name, and with the id wherever that could be read.
//!
//! The other direction writes straight into a `Vec<u8>`: [`write_request`] and its siblings, [`ObjectWriter`],
//! [`write_string`]. Nothing here keeps state, and nothing builds a tree of values.
//!
//! Sources: JSON-RPC 2.0; RFC 8259.

mod batch;
mod canonical;
mod compact;
mod cursor;
mod encode;
mod envelope;
mod error;
mod fault;
mod grammar;
mod id;
mod json;
mod method;
mod noted;
mod number;
mod plain;
mod reader;
mod text;
mod typed;
mod utf8;
mod words;
mod writer;

pub use batch::{Batch, parse_batch};
pub use canonical::write_canonical;
pub(crate) use canonical::write_members;
pub use compact::{compact_len, write_compact};
pub(crate) use cursor::Cursor;
pub(crate) use encode::{copy_without_breaks, write_u64};
pub use encode::{
    finish_line, splice_meta, write_error, write_notification, write_raw, write_raw_result, write_request,
    write_result, write_string,
};
pub(crate) use envelope::parse_noting;
pub use envelope::{Message, parse};
pub use error::{ErrorFlaw, ErrorObject};
pub use fault::{Fault, FaultKind, JsonFault, JsonFaultKind, Part};
pub use id::{IdFault, MAX_ID_BYTES, RequestId};
pub use json::RawJson;
pub use method::MethodText;
pub(crate) use noted::{Note, Notes, Span, take_notes};
pub(crate) use plain::{PlainRequest, plain_request};
pub(crate) use reader::string_end;
pub use reader::{Elements, JsonRef, Kind, Members};
pub use text::JsonStr;
pub use typed::Misfit;
pub use writer::{ArrayWriter, ObjectWriter, ParamsWriter};

pub use grammar::MAX_DEPTH;

#[cfg(test)]
mod tests;

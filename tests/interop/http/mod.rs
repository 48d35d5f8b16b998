//! The same over HTTP: real servers that can listen, through the library and through the binary; real clients at the
//! demo server; and programs that stand between HTTP and pipes, with one of ours on either side.

pub(crate) mod bridges;
pub(crate) mod clients;
mod listening;
pub(crate) mod servers;

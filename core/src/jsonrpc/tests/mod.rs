//! Vectors; what must hold for any bytes stands in the tests crate, where the fuzz targets use it too.

mod encode;
mod envelope;
mod faults;
mod ids;
mod names;
mod notes;
mod values;
mod walking;

use super::*;
use alloc::vec::Vec;
use bytes::Bytes;

fn read(text: &str) -> Result<Message, Fault> {
    parse(Bytes::copy_from_slice(text.as_bytes()), MAX_DEPTH)
}

fn fault(text: &str) -> Fault {
    match read(text) {
        Ok(message) => panic!("{text} was read as {message:?}"),
        Err(fault) => fault,
    }
}

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> alloc::string::String {
    let mut out = Vec::new();
    write(&mut out);
    alloc::string::String::from_utf8(out).unwrap()
}

//! The chunked coding, as it is read.

use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

use super::input::Input;
use super::{Fault, Limits};
use crate::octets::{is_control, is_token};

/// The longest size of a chunk, in hexadecimal digits: no body has 2^60 bytes.
const MAX_DIGITS: u8 = 15;
/// The longest extension of a chunk, in bytes. Nobody sends any; what comes is passed over.
const MAX_EXTENSION: u16 = 256;
/// Data at least this long is no short piece.
const SHORT: usize = 1024;

/// Where in a chunked body the next byte stands.
///
/// Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the size of a chunk, after so many digits.
    Size { digits: u8, value: u64 },
    /// In what may stand behind the size, after so many bytes of it.
    Extension { len: u16, value: u64 },
    /// At the LF of a size.
    SizeEnd { value: u64 },
    /// In the data, so many bytes before their end.
    Data { left: u64 },
    /// At the CR behind the data.
    DataCr,
    /// At the LF behind the data.
    DataLf,
    /// In the trailers.
    Trailer(Trailer),
    /// At the LF of a trailer. `last`: of the empty line.
    TrailerLf { last: bool },
    /// Behind the last LF.
    End,
}

/// Where in a line of the trailers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trailer {
    /// At its first byte.
    Start,
    /// In the name.
    Name,
    /// Behind the colon.
    Value,
}

/// A chunked body being read. No byte is looked at twice, and nothing but data is kept.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    at: At,
    trailer_bytes: usize,
    max_trailer_bytes: usize,
}

impl Chunks {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self {
            at: At::Size { digits: 0, value: 0 },
            trailer_bytes: 0,
            max_trailer_bytes: limits.max_head_bytes,
        }
    }

    /// Whether all was read.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.at, At::End)
    }

    /// Takes all of the body that came. Its data goes to `data`, short pieces joined, long ones as they are.
    pub(super) fn read(&mut self, input: &mut Input, data: &mut impl FnMut(Bytes)) -> Result<(), Fault> {
        // Short chunks of one read become one piece: a piece costs more than its bytes.
        let mut joined = Vec::new();
        while !self.is_over() {
            let unread = input.unread();
            let Some(first) = unread.first() else { break };
            if let At::Data { left } = self.at {
                let len = usize::try_from(left).unwrap_or(usize::MAX).min(unread.len());
                let all = len == unread.len() && joined.is_empty();
                if all || len >= SHORT {
                    flush(&mut joined, data);
                    data(input.take(len));
                } else {
                    joined.extend_from_slice(unread.get(..len).unwrap_or_default());
                    input.skip(len);
                }
                let left = left - len as u64;
                self.at = if left == 0 { At::DataCr } else { At::Data { left } };
                continue;
            }
            let byte = *first;
            input.skip(1);
            if let Err(fault) = self.step(byte) {
                // What stood before the fault was fine.
                flush(&mut joined, data);
                return Err(fault);
            }
        }
        flush(&mut joined, data);
        Ok(())
    }

    /// Takes one byte that is no data.
    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        const SIZE: Fault = Fault::Framing("a chunk's size is hexadecimal digits and ends with CR LF");
        const DATA: Fault = Fault::Framing("a chunk is longer than its size");
        const LONG: Fault = Fault::Framing("a chunk's extension is too long");
        const TRAILER: Fault = Fault::Framing("a trailer is no field");
        self.at = match (self.at, byte) {
            (At::Size { digits, value }, _) if byte.is_ascii_hexdigit() && digits < MAX_DIGITS => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                At::Size { digits: digits + 1, value: value * 16 + digit }
            }
            (At::Size { digits: 1.., value }, b'\r') => At::SizeEnd { value },
            (At::Size { digits: 1.., value }, b';') => At::Extension { len: 0, value },
            (At::Extension { value, .. }, b'\r') => At::SizeEnd { value },
            (At::Extension { len, .. }, _) if len >= MAX_EXTENSION => return Err(LONG),
            (At::Extension { len, value }, _) if !is_control(byte) => At::Extension { len: len + 1, value },
            (At::SizeEnd { value: 0 }, b'\n') => At::Trailer(Trailer::Start),
            (At::SizeEnd { value }, b'\n') => At::Data { left: value },
            (At::Size { .. } | At::Extension { .. } | At::SizeEnd { .. }, _) => return Err(SIZE),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size { digits: 0, value: 0 },
            (At::DataCr | At::DataLf, _) => return Err(DATA),
            (At::Trailer(Trailer::Start), b'\r') => At::TrailerLf { last: true },
            (At::Trailer(Trailer::Start | Trailer::Name), _) if is_token(byte) => At::Trailer(Trailer::Name),
            (At::Trailer(Trailer::Name), b':') => At::Trailer(Trailer::Value),
            (At::Trailer(Trailer::Value), b'\r') => At::TrailerLf { last: false },
            (At::Trailer(Trailer::Value), _) if !is_control(byte) => At::Trailer(Trailer::Value),
            (At::TrailerLf { last: true }, b'\n') => At::End,
            (At::TrailerLf { last: false }, b'\n') => At::Trailer(Trailer::Start),
            (At::Trailer(_) | At::TrailerLf { .. }, _) => return Err(TRAILER),
            (at @ (At::Data { .. } | At::End), _) => at,
        };
        if matches!(self.at, At::Trailer(_) | At::TrailerLf { .. }) {
            self.trailer_bytes += 1;
            if self.trailer_bytes > self.max_trailer_bytes {
                return Err(Fault::Framing("the trailers are too long"));
            }
        }
        Ok(())
    }
}

fn flush(joined: &mut Vec<u8>, data: &mut impl FnMut(Bytes)) {
    if !joined.is_empty() {
        data(Bytes::from(mem::take(joined)));
    }
}

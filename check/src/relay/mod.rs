//! The program that a client takes for the server: a relay of bytes between its standard input and output and the check,
//! which plays the server in another process.
//!
//! Both ways go frames: a kind, a length of four bytes, and so many bytes.

mod ends;
mod program;

use std::io::{self, Read, Write};

pub(crate) use ends::{End, Listener, connect};
pub use program::relay;

/// What the relay tells: bytes of its standard input.
pub(crate) const INPUT: u8 = b'i';
/// Its standard input has ended.
pub(crate) const INPUT_END: u8 = b'e';
/// It got a signal, whose number is the one byte.
pub(crate) const SIGNAL: u8 = b's';
/// What the relay is told: to write these bytes to standard output.
pub(crate) const OUTPUT: u8 = b'o';
/// To write these to standard error.
pub(crate) const COMPLAINT: u8 = b'c';
/// To close its standard output.
pub(crate) const OUTPUT_END: u8 = b'd';
/// To exit with the status that is the one byte.
pub(crate) const EXIT: u8 = b'x';

/// The longest frame: nobody reads more at once.
const MOST: usize = 64 << 20;

pub(crate) fn write_frame(to: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(5 + bytes.len());
    frame.push(kind);
    frame.extend_from_slice(&len.to_be_bytes());
    frame.extend_from_slice(bytes);
    to.write_all(&frame)
}

pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if len > MOST {
        return Err(io::Error::other("a frame that is longer than any may be"));
    }
    let mut bytes = Vec::new();
    let got = from.take(len as u64).read_to_end(&mut bytes)?;
    if got < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok((head[0], bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_framed_comes_back_and_what_is_cut_does_not() {
        let mut wire = Vec::new();
        write_frame(&mut wire, INPUT, b"a line\n").unwrap();
        write_frame(&mut wire, INPUT_END, b"").unwrap();
        let mut from = &wire[..];
        assert_eq!(read_frame(&mut from).unwrap(), (INPUT, b"a line\n".to_vec()));
        assert_eq!(read_frame(&mut from).unwrap(), (INPUT_END, Vec::new()));
        for len in 0..12 {
            assert!(read_frame(&mut &wire[..len]).is_err(), "{len}");
        }
        assert!(read_frame(&mut &[INPUT, 0xff, 0xff, 0xff, 0xff][..]).is_err());
    }
}

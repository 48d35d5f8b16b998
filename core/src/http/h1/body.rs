//! A body being read, whatever frames it.

use bytes::Bytes;

use super::Fault;
use super::chunks::Chunks;
use super::input::Input;

/// What is left of a body.
#[derive(Clone, Debug)]
pub(super) enum Incoming {
    /// So many bytes.
    Length(u64),
    /// In chunks.
    Chunks(Chunks),
    /// All that comes until the connection ends.
    ToEnd,
}

impl Incoming {
    /// Takes all of the body that came. Its data goes to `data`.
    pub(super) fn read(&mut self, input: &mut Input, mut data: impl FnMut(Bytes)) -> Result<(), Fault> {
        let len = match self {
            Self::Length(left) => {
                let len = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= len as u64;
                len
            }
            Self::Chunks(chunks) => return chunks.read(input, &mut data),
            Self::ToEnd => input.len(),
        };
        if len > 0 {
            data(input.take(len));
        }
        Ok(())
    }

    /// Whether nothing is left.
    pub(super) const fn is_over(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunks(chunks) => chunks.is_over(),
            Self::ToEnd => false,
        }
    }
}

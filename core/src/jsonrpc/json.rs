//! A JSON value that owns its text.

use super::{JsonFault, JsonRef, grammar};
use bytes::Bytes;
use core::fmt;

/// One valid JSON value, as a view into the buffer it came in.
///
/// Valid JSON, valid UTF-8, no white space around it: checked once, when the line was read. The buffer is moved
/// along and stays alive as a whole ([`retained_len`](Self::retained_len)); a small value that outlives a big
/// frame should be copied ([`to_compact`](Self::to_compact)). Cloning shares the buffer.
///
/// `Debug` prints the length only: what a peer sends may be secret. Equality is that of the bytes: `1.0` and
/// `1` differ.
#[derive(Clone)]
pub struct RawJson {
    // Not a `Bytes::slice`: slicing a buffer that was a `Vec` a moment ago costs an allocation and two atomics.
    frame: Bytes,
    start: usize,
    end: usize,
}

impl RawJson {
    /// Checks a text and keeps it, without copying.
    ///
    /// `max_depth` levels of arrays and objects are accepted ([`MAX_DEPTH`](super::MAX_DEPTH) at most). About
    /// 1.7 instructions a byte for long texts, 5 for structured ones.
    ///
    /// # Errors
    /// [`JsonFault`] if it is not exactly one value: the text cannot be sent as JSON.
    pub fn parse(text: Bytes, max_depth: u16) -> Result<Self, JsonFault> {
        let (start, end) = grammar::document(&text, max_depth)?;
        Ok(Self { frame: text, start, end })
    }

    /// As [`parse`](Self::parse), from a copy of `text`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_slice(text: &[u8], max_depth: u16) -> Result<Self, JsonFault> {
        let (start, end) = grammar::document(text, max_depth)?;
        Ok(Self::whole(Bytes::copy_from_slice(text.get(start..end).unwrap_or_default())))
    }

    /// As [`from_slice`](Self::from_slice), with the greatest depth.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_str(text: &str) -> Result<Self, JsonFault> {
        Self::from_slice(text.as_bytes(), grammar::MAX_DEPTH)
    }

    /// As [`parse`](Self::parse), from a text that is part of the program. Allocates nothing.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_static(text: &'static str) -> Result<Self, JsonFault> {
        Self::parse(Bytes::from_static(text.as_bytes()), grammar::MAX_DEPTH)
    }

    /// `null`. Allocates nothing.
    #[must_use]
    pub fn null() -> Self {
        Self::whole(Bytes::from_static(b"null"))
    }

    /// `{}`. Allocates nothing.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::whole(Bytes::from_static(b"{}"))
    }

    /// Writes any serde value as JSON.
    ///
    /// # Errors
    /// serde_json's, where the value has no JSON form (a map whose keys are not strings), or where its
    /// `Serialize` fails.
    pub fn serialize<T: serde::Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Self::whole(text.into()))
    }

    /// Reads the value into any serde type. serde_json checks the text once more.
    ///
    /// # Errors
    /// serde_json's, where the value is not of that type. The value stays as it was.
    pub fn decode<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.as_bytes())
    }

    /// The text.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.frame.get(self.start..self.end).unwrap_or_default()
    }

    /// The text. Checks UTF-8 again: about 0.4 instructions a byte for ASCII, up to 11 for other scripts.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The value, to be walked.
    #[inline]
    #[must_use]
    pub fn view(&self) -> JsonRef<'_> {
        JsonRef::trusted(self.as_bytes())
    }

    /// Length of the text in bytes.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a JSON text is never empty")]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// A value inside this one that shares the buffer. `None` if `part` is not inside.
    #[must_use]
    pub fn slice_of(&self, part: JsonRef<'_>) -> Option<Self> {
        let part = part.as_bytes();
        let offset = part.as_ptr().addr().checked_sub(self.frame.as_ptr().addr())?;
        let end = offset.checked_add(part.len())?;
        (offset >= self.start && end <= self.end).then(|| Self {
            frame: self.frame.clone(),
            start: offset,
            end,
        })
    }

    /// A copy of its own, exactly as long as the text: lets go of a big frame.
    #[must_use]
    pub fn to_compact(&self) -> Self {
        Self::whole(Bytes::copy_from_slice(self.as_bytes()))
    }

    /// How many bytes of its frame this view keeps alive.
    #[must_use]
    pub fn retained_len(&self) -> usize {
        self.frame.len()
    }

    /// Gives the buffer back, for [`LineDecoder::recycle`](crate::frame::LineDecoder::recycle).
    #[must_use]
    pub fn into_frame(self) -> Bytes {
        self.frame
    }

    /// The caller has checked that this part of `frame` is one value.
    #[inline]
    pub(crate) const fn trusted(frame: Bytes, start: usize, end: usize) -> Self {
        Self { frame, start, end }
    }

    /// The whole buffer, and where in it the text begins.
    #[inline]
    pub(crate) fn place(&self) -> (&[u8], usize) {
        (&self.frame, self.start)
    }

    /// The text, which goes on sharing its buffer.
    pub(crate) fn bytes(&self) -> Bytes {
        self.frame.slice(self.start..self.end)
    }

    /// A copy of a value inside another.
    pub(crate) fn copied(value: JsonRef<'_>) -> Self {
        Self::whole(Bytes::copy_from_slice(value.as_bytes()))
    }

    /// The object that `write` fills: well formed by construction, not checked again. One allocation, doubled while it
    /// does not fit.
    pub fn object(write: impl FnOnce(&mut super::ObjectWriter<'_>)) -> Self {
        // Most are a name and a few arguments: one allocation, and none to shrink it.
        let mut out = alloc::vec::Vec::with_capacity(128);
        super::ObjectWriter::object_into(&mut out, write);
        Self::whole(out.into())
    }

    /// A value of our own making.
    pub(crate) fn written(text: alloc::vec::Vec<u8>) -> Self {
        Self::whole(text.into())
    }

    fn whole(text: Bytes) -> Self {
        Self { start: 0, end: text.len(), frame: text }
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.len())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for RawJson {}

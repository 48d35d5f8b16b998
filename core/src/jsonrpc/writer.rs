//! Objects and arrays written member by member.

use super::JsonRef;
use super::encode::{splice_meta, write_i64, write_raw, write_string, write_u64};
use alloc::vec::Vec;
use core::fmt::Write as _;

/// The place of a message's `params`: write them once, or leave them out.
#[derive(Debug)]
pub struct ParamsWriter<'a> {
    out: &'a mut Vec<u8>,
    written: bool,
}

impl<'a> ParamsWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, written: false }
    }

    /// Parameters that `write` writes.
    pub fn object(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        if self.begin() {
            ObjectWriter::object_into(self.out, write);
        }
    }

    /// Parameters that are ready: an object.
    pub fn raw(&mut self, params: JsonRef<'_>) {
        if self.begin() {
            write_raw(self.out, params);
        }
    }

    /// Parameters that are ready, with a `_meta` in front: see [`splice_meta`].
    pub fn spliced(&mut self, params: Option<JsonRef<'_>>, write_meta: impl FnOnce(&mut ObjectWriter<'_>)) {
        if self.begin() {
            splice_meta(self.out, params, write_meta);
        }
    }

    /// Only the first parameters count: two would be a duplicate member.
    fn begin(&mut self) -> bool {
        debug_assert!(!self.written, "params are written once");
        if self.written {
            return false;
        }
        self.written = true;
        self.out.extend_from_slice(br#","params":"#);
        true
    }
}

/// Writes the members of one object. Names are the caller's to keep unique.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Begins an object at the end of `out`; [`end`](Self::end) closes it.
    #[inline]
    #[must_use]
    pub fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Goes on with an object whose first members, if any, stand at the end of `out`.
    #[inline]
    pub(crate) fn resume(out: &'a mut Vec<u8>) -> Self {
        let empty = out.last() == Some(&b'{');
        Self { out, empty }
    }

    /// Closes the object.
    #[inline]
    pub fn end(self) {
        self.out.push(b'}');
    }

    #[inline]
    pub(super) fn object_into(out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        let mut object = ObjectWriter::begin(out);
        write(&mut object);
        object.end();
    }

    #[inline]
    fn name(&mut self, name: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(self.out, name);
        self.out.push(b':');
    }

    /// A string.
    #[inline]
    pub fn string(&mut self, name: &str, value: &str) -> &mut Self {
        self.name(name);
        write_string(self.out, value);
        self
    }

    /// An integer.
    #[inline]
    pub fn u64(&mut self, name: &str, value: u64) -> &mut Self {
        self.name(name);
        write_u64(self.out, value);
        self
    }

    /// An integer.
    #[inline]
    pub fn i64(&mut self, name: &str, value: i64) -> &mut Self {
        self.name(name);
        write_i64(self.out, value);
        self
    }

    /// A number, without a fraction where it has none; `null` where it is not finite, which JSON cannot say.
    pub fn f64(&mut self, name: &str, value: f64) -> &mut Self {
        self.name(name);
        write_f64(self.out, value);
        self
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, name: &str, value: bool) -> &mut Self {
        self.name(name);
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// `null`.
    pub fn null(&mut self, name: &str) -> &mut Self {
        self.name(name);
        self.out.extend_from_slice(b"null");
        self
    }

    /// A value that is ready: see [`write_raw`].
    #[inline]
    pub fn raw(&mut self, name: &str, value: JsonRef<'_>) -> &mut Self {
        self.name(name);
        write_raw(self.out, value);
        self
    }

    /// A request id, as a progress token or a subscription's name.
    pub fn id(&mut self, name: &str, id: &super::RequestId) -> &mut Self {
        self.name(name);
        id.write_json(self.out);
        self
    }

    /// An object.
    #[inline]
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) -> &mut Self {
        self.name(name);
        ObjectWriter::object_into(self.out, write);
        self
    }

    /// The members of `params` with a `_meta` in front: see [`splice_meta`].
    #[inline]
    pub fn spliced(
        &mut self,
        name: &str,
        params: Option<JsonRef<'_>>,
        write_meta: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> &mut Self {
        self.name(name);
        splice_meta(self.out, params, write_meta);
        self
    }

    /// An array.
    #[inline]
    pub fn array(&mut self, name: &str, write: impl FnOnce(&mut ArrayWriter<'_>)) -> &mut Self {
        self.name(name);
        ArrayWriter::array_into(self.out, write);
        self
    }

    /// An array of strings.
    pub fn array_of_strings<'s>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = &'s str>,
    ) -> &mut Self {
        self.array(name, |array| {
            for value in values {
                array.string(value);
            }
        })
    }
}

/// Writes the elements of one array.
#[derive(Debug)]
pub struct ArrayWriter<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl ArrayWriter<'_> {
    #[inline]
    pub(super) fn array_into(out: &mut Vec<u8>, write: impl FnOnce(&mut ArrayWriter<'_>)) {
        out.push(b'[');
        let mut array = ArrayWriter { out, empty: true };
        write(&mut array);
        array.out.push(b']');
    }

    #[inline]
    fn next(&mut self) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
    }

    /// A string.
    #[inline]
    pub fn string(&mut self, value: &str) -> &mut Self {
        self.next();
        write_string(self.out, value);
        self
    }

    /// An integer.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.next();
        write_u64(self.out, value);
        self
    }

    /// An integer.
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.next();
        write_i64(self.out, value);
        self
    }

    /// A value that is ready: see [`write_raw`].
    #[inline]
    pub fn raw(&mut self, value: JsonRef<'_>) -> &mut Self {
        self.next();
        write_raw(self.out, value);
        self
    }

    /// An object.
    #[inline]
    pub fn object(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) -> &mut Self {
        self.next();
        ObjectWriter::object_into(self.out, write);
        self
    }

    /// An array.
    #[inline]
    pub fn array(&mut self, write: impl FnOnce(&mut ArrayWriter<'_>)) -> &mut Self {
        self.next();
        ArrayWriter::array_into(self.out, write);
        self
    }
}

/// Up to here a whole number is exact in an `f64`.
const MAX_WHOLE: u64 = 1 << 53;

fn write_f64(out: &mut Vec<u8>, value: f64) {
    struct Text<'a>(&'a mut Vec<u8>);
    impl core::fmt::Write for Text<'_> {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "what is cut off is compared")]
    let whole = value as i64;
    #[expect(clippy::cast_precision_loss, reason = "what is lost is compared")]
    let same = whole as f64 == value && whole.unsigned_abs() <= MAX_WHOLE;
    if same {
        // Some readers take an integer for an integer only where it is written as one.
        write_i64(out, whole);
    } else if value.is_finite() {
        // `Debug` writes the shortest digits that read back the same, with an exponent where that is shorter.
        let _ = write!(Text(out), "{value:?}");
    } else {
        out.extend_from_slice(b"null");
    }
}

//! Values as they stand in a recording.

use std::time::Duration;

use sanswire::jsonrpc::{ErrorObject, JsonRef, MAX_DEPTH, ObjectWriter, RawJson};

use super::blot::{blot, blotted};
use crate::secrets::Secrets;

/// What is taken in as JSON nests less deep than this, so that a line around it can still be read.
const MAX_NESTED: u16 = MAX_DEPTH - 8;

/// Writes what comes from elsewhere: with its secrets blotted where it is recorded, as it is where it is replayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen<'a>(pub(super) Option<&'a Secrets>);

impl Pen<'_> {
    pub(super) fn text(self, w: &mut ObjectWriter<'_>, name: &str, text: &str) {
        match self.0 {
            Some(secrets) => w.string(name, &blotted(text, secrets)),
            None => w.string(name, text),
        };
    }

    /// The name of a member that comes from elsewhere.
    pub(super) fn name(self, name: &str) -> String {
        self.0.map_or_else(|| name.to_owned(), |secrets| blotted(name, secrets))
    }

    /// A JSON value. One that nests too deep is written as a string of its text.
    pub(super) fn raw(self, w: &mut ObjectWriter<'_>, name: &str, value: JsonRef<'_>) {
        let mut text = value.as_bytes().to_vec();
        if let Some(secrets) = self.0 {
            blot(&mut text, secrets, true);
        }
        match RawJson::from_slice(&text, MAX_NESTED) {
            Ok(value) => w.raw(name, value.view()),
            Err(_) => w.string(name, &String::from_utf8_lossy(&text)),
        };
    }

    pub(super) fn raw_or_null(self, w: &mut ObjectWriter<'_>, name: &str, value: Option<&RawJson>) {
        match value {
            Some(value) => self.raw(w, name, value.view()),
            None => {
                w.null(name);
            }
        }
    }

    pub(super) fn error(self, w: &mut ObjectWriter<'_>, name: &str, error: &ErrorObject) {
        w.object(name, |w| {
            w.i64("code", error.code);
            self.text(w, "message", &error.message);
            if let Some(data) = &error.data {
                self.raw(w, "data", data.view());
            }
        });
    }

    /// Bytes as they went over a stream: as text where they are one.
    pub(super) fn bytes(w: &mut ObjectWriter<'_>, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => w.string("text", text),
            Err(_) => w.string("base64", &sanswire::base64::encode(bytes)),
        };
    }
}

/// What is wrong with a line of a recording: the member that is.
pub(super) type Flaw = &'static str;

/// A member that has to be there.
pub(super) fn needed<'a>(object: JsonRef<'a>, name: Flaw) -> Result<JsonRef<'a>, Flaw> {
    object.get(name).ok_or(name)
}

pub(super) fn number(object: JsonRef<'_>, name: Flaw) -> Result<u64, Flaw> {
    object.get(name).and_then(JsonRef::as_u64).ok_or(name)
}

pub(super) fn size(object: JsonRef<'_>, name: Flaw) -> Result<usize, Flaw> {
    usize::try_from(number(object, name)?).map_err(|_| name)
}

pub(super) fn flag(object: JsonRef<'_>, name: Flaw) -> Result<bool, Flaw> {
    object.get(name).and_then(JsonRef::as_bool).ok_or(name)
}

pub(super) fn text(object: JsonRef<'_>, name: Flaw) -> Result<String, Flaw> {
    let text = object.get(name).and_then(JsonRef::str).ok_or(name)?;
    Ok(text.decode().into_owned())
}

pub(super) fn text_or_none(object: JsonRef<'_>, name: &str) -> Option<String> {
    Some(object.get(name)?.str()?.decode().into_owned())
}

/// A JSON value, or the text of one.
pub(super) fn raw(object: JsonRef<'_>, name: Flaw) -> Result<Option<RawJson>, Flaw> {
    let Some(value) = object.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.str().map(|text| text.decode().into_owned());
    let text = text.as_ref().map_or(value.as_bytes(), String::as_bytes);
    RawJson::from_slice(text, MAX_DEPTH).map(Some).map_err(|_| name)
}

/// What a stream brought or took.
pub(super) fn bytes(object: JsonRef<'_>) -> Result<Vec<u8>, Flaw> {
    if let Some(text) = object.get("text").and_then(JsonRef::str) {
        return Ok(text.decode().into_owned().into_bytes());
    }
    let encoded = text(object, "base64")?;
    sanswire::base64::decode(encoded.as_bytes()).ok_or("base64")
}

pub(super) fn write_nanos(w: &mut ObjectWriter<'_>, name: &str, time: Duration) {
    w.u64(name, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

pub(super) fn nanos(object: JsonRef<'_>, name: Flaw) -> Result<Duration, Flaw> {
    number(object, name).map(Duration::from_nanos)
}

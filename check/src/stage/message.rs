//! What the client says.

use sanswire::jsonrpc::{JsonRef, RawJson};

use crate::finding::shown;

/// A line of the client's.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// Whether a line feed ended it.
    pub(crate) ended: bool,
}

/// A message of the client's: an object.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// To which start of the server.
    pub(crate) launch: usize,
    raw: RawJson,
}

impl Message {
    pub(crate) const fn new(launch: usize, raw: RawJson) -> Self {
        Self { launch, raw }
    }

    pub(crate) fn view(&self) -> JsonRef<'_> {
        self.raw.view()
    }

    pub(crate) fn get(&self, name: &str) -> Option<JsonRef<'_>> {
        self.view().get(name)
    }

    /// Its method; empty where there is none.
    pub(crate) fn method(&self) -> String {
        self.get("method").and_then(JsonRef::str).map(|it| it.decode().into_owned()).unwrap_or_default()
    }

    /// Its id, as it stands in JSON; empty where there is none.
    pub(crate) fn id(&self) -> &str {
        self.get("id").and_then(|id| std::str::from_utf8(id.as_bytes()).ok()).unwrap_or_default()
    }

    pub(crate) fn is_request(&self) -> bool {
        self.get("method").is_some() && self.get("id").is_some()
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.get("method").and_then(JsonRef::str).is_some_and(|it| it.eq_str(method))
    }

    /// Whether it answers a request of ours.
    pub(crate) fn is_answer(&self) -> bool {
        self.get("method").is_none()
    }

    /// A member of its parameters.
    pub(crate) fn param(&self, name: &str) -> Option<JsonRef<'_>> {
        self.get("params")?.get(name)
    }

    /// A member of the metadata that go with it.
    pub(crate) fn meta(&self, name: &str) -> Option<JsonRef<'_>> {
        self.param("_meta")?.get(name)
    }

    pub(crate) fn text(&self) -> String {
        shown(self.raw.as_bytes())
    }

    pub(crate) fn error_code(&self) -> Option<i64> {
        self.get("error")?.get("code")?.as_i64()
    }
}

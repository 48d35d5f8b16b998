//! Who is talking, and what each side can do.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::jsonrpc::{JsonRef, Kind, ObjectWriter, RawJson};
use crate::mcp::Era;

/// A program's name and version. Self-reported: for display only, never for decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
}

impl Implementation {
    /// A name and a version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self { name: name.to_owned(), title: None, version: version.to_owned() }
    }

    /// Reads an `Implementation`; missing members are empty.
    #[must_use]
    pub fn read(value: JsonRef<'_>) -> Self {
        let text = |name| value.get(name).and_then(JsonRef::str).map(|text| text.decode().into_owned());
        Self {
            name: text("name").unwrap_or_default(),
            title: text("title"),
            version: text("version").unwrap_or_default(),
        }
    }

    pub(crate) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.string("name", &self.name);
        if let Some(title) = &self.title {
            w.string("title", title);
        }
        w.string("version", &self.version);
    }
}

/// What a client can do when a server asks. Declare only what has a handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// Answers `elicitation/create` with a form.
    pub elicitation_form: bool,
    /// Answers `elicitation/create` with a URL.
    pub elicitation_url: bool,
    /// Answers `sampling/createMessage`.
    pub sampling: bool,
    /// ... with tools.
    pub sampling_tools: bool,
    /// ... with what this server, or all servers, know (`includeContext`).
    pub sampling_context: bool,
    /// Answers `roots/list`.
    pub roots: bool,
    /// ... and says so when they change (`notifications/roots/list_changed`; only revisions with a handshake
    /// have it).
    pub roots_list_changed: bool,
    /// Extensions with their settings: `{"com.example/thing": {…}}`.
    pub extensions: Option<RawCapabilities>,
}

/// A JSON object of capabilities, passed on as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCapabilities(pub RawJson);

impl Eq for RawCapabilities {}

impl ClientCapabilities {
    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a capabilities object; anything else declares nothing. A member that is there and not null declares,
    /// an empty `elicitation` declares forms. The extensions are a copy.
    ///
    /// Spec: MCP schema, `ClientCapabilities`; 2025-11-25 client/elicitation, "Capabilities".
    #[must_use]
    pub fn read(value: JsonRef<'_>) -> Self {
        let mut read = Self::default();
        for (name, value) in value.members().filter(|(_, value)| !value.is_null()) {
            let has = |name| value.get(name).is_some_and(|value| !value.is_null());
            if name.eq_str("roots") {
                read.roots = true;
                read.roots_list_changed = value.get("listChanged").and_then(JsonRef::as_bool) == Some(true);
            } else if name.eq_str("sampling") {
                read.sampling = true;
                read.sampling_tools = has("tools");
                read.sampling_context = has("context");
            } else if name.eq_str("elicitation") {
                read.elicitation_url = has("url");
                read.elicitation_form = has("form") || !read.elicitation_url;
            } else if name.eq_str("extensions") && value.kind() == Kind::Object {
                read.extensions = Some(RawCapabilities(RawJson::copied(value)));
            }
        }
        read
    }

    /// Writes the members of a capabilities object; `era` leaves out what only sessions have.
    pub(crate) fn write(&self, w: &mut ObjectWriter<'_>, era: Era) {
        if self.roots {
            w.object("roots", |w| {
                if self.roots_list_changed && era == Era::Legacy {
                    w.bool("listChanged", true);
                }
            });
        }
        if self.sampling {
            w.object("sampling", |w| {
                if self.sampling_tools {
                    w.object("tools", |_| {});
                }
                if self.sampling_context {
                    w.object("context", |_| {});
                }
            });
        }
        if self.elicitation_form || self.elicitation_url {
            w.object("elicitation", |w| {
                if self.elicitation_form {
                    w.object("form", |_| {});
                }
                if self.elicitation_url {
                    w.object("url", |_| {});
                }
            });
        }
        if let Some(RawCapabilities(raw)) = &self.extensions {
            w.raw("extensions", raw.view());
        }
    }
}

/// What a server declared. A view: unknown members stay readable.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerCapabilities(Option<RawJson>);

impl ServerCapabilities {
    /// Wraps a capabilities object; `None` or anything else declares nothing.
    #[must_use]
    pub fn new(raw: Option<RawJson>) -> Self {
        Self(raw.filter(|raw| raw.view().kind() == Kind::Object))
    }

    /// The object as the server sent it.
    #[must_use]
    pub const fn raw(&self) -> Option<&RawJson> {
        self.0.as_ref()
    }

    /// Whether `name` (`tools`, `resources`, `prompts`, `completions`, `logging`, …) is declared: present and not
    /// null. An empty array counts, since some languages cannot tell it from an empty object.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// Whether `name.flag` is true, for instance `resources.subscribe`.
    #[must_use]
    pub fn flag(&self, name: &str, flag: &str) -> bool {
        self.member(name).and_then(|value| value.get(flag)).and_then(JsonRef::as_bool) == Some(true)
    }

    fn member(&self, name: &str) -> Option<JsonRef<'_>> {
        self.0.as_ref()?.view().get(name).filter(|value| matches!(value.kind(), Kind::Object | Kind::Array))
    }
}

/// How long a result may be kept, and for whom (2026-07-28).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Fresh for so many milliseconds from receipt; 0: stale at once. Absent, negative or unusable counts as 0.
    pub ttl_ms: u64,
    /// Whether it may be shown to other users. Absent or unknown counts as no.
    pub public: bool,
}

impl CacheHint {
    /// Reads `ttlMs` and `cacheScope` of a result.
    #[must_use]
    pub fn read(result: JsonRef<'_>) -> Self {
        Self::of(result.get("ttlMs"), result.get("cacheScope"))
    }

    /// The hint of these two members, where they are there.
    pub(crate) fn of(ttl_ms: Option<JsonRef<'_>>, scope: Option<JsonRef<'_>>) -> Self {
        Self {
            ttl_ms: ttl_ms.and_then(JsonRef::as_u64).unwrap_or(0),
            public: scope.and_then(JsonRef::str).is_some_and(|scope| scope.eq_str("public")),
        }
    }
}

/// The strings of an array of versions, or one version: at most 32 of at most 32 bytes each.
pub(crate) fn read_versions(array: Option<JsonRef<'_>>, one: Option<&str>) -> Vec<String> {
    let cut = |text: &str| {
        let mut end = text.len().min(32);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.get(..end).unwrap_or_default().to_owned()
    };
    let listed = array.into_iter().flat_map(|array| array.elements().take(32)).filter_map(JsonRef::str);
    listed.map(|text| cut(&text.decode())).chain(one.map(cut)).collect()
}

//! The parameters of a request, as far as the session looks at them: found in one pass.

use alloc::vec::Vec;

use crate::jsonrpc::{Cursor, JsonRef, JsonStr};
use crate::mcp::meta;

/// Members of `params`. A `null` counts as absent; of members that stand twice the first counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Params<'a> {
    pub(super) meta: Meta<'a>,
    pub(super) name: Option<JsonRef<'a>>,
    pub(super) arguments: Option<JsonRef<'a>>,
    pub(super) uri: Option<JsonRef<'a>>,
    pub(super) cursor: Option<JsonRef<'a>>,
    pub(super) level: Option<JsonRef<'a>>,
    pub(super) input_responses: Option<JsonRef<'a>>,
    pub(super) request_state: Option<JsonRef<'a>>,
    pub(super) protocol_version: Option<JsonRef<'a>>,
    pub(super) capabilities: Option<JsonRef<'a>>,
    pub(super) client_info: Option<JsonRef<'a>>,
}

/// Members of `_meta`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meta<'a> {
    pub(super) progress_token: Option<JsonRef<'a>>,
    pub(super) protocol_version: Option<JsonRef<'a>>,
    pub(super) capabilities: Option<JsonRef<'a>>,
    pub(super) client_info: Option<JsonRef<'a>>,
    pub(super) log_level: Option<JsonRef<'a>>,
}

impl<'a> Params<'a> {
    pub(super) fn read(params: JsonRef<'a>) -> Self {
        let mut read = Self::default();
        let mut at = Cursor::new(params);
        let mut has_meta = false;
        if !at.enter(b'{') {
            return read;
        }
        while let Some(name) = at.member() {
            let known = Known::of(name.raw()).or_else(|| escaped(name).and_then(|name| Known::of(&name)));
            if known == Some(Known::Meta) && !has_meta {
                has_meta = true;
                read.meta = Meta::read(&mut at);
                continue;
            }
            let value = at.value();
            let slot = match known {
                None | Some(Known::Meta) => continue,
                Some(Known::Name) => &mut read.name,
                Some(Known::Arguments) => &mut read.arguments,
                Some(Known::Uri) => &mut read.uri,
                Some(Known::Cursor) => &mut read.cursor,
                Some(Known::Level) => &mut read.level,
                Some(Known::InputResponses) => &mut read.input_responses,
                Some(Known::RequestState) => &mut read.request_state,
                Some(Known::ProtocolVersion) => &mut read.protocol_version,
                Some(Known::Capabilities) => &mut read.capabilities,
                Some(Known::ClientInfo) => &mut read.client_info,
            };
            slot.get_or_insert(value);
        }
        for slot in [
            &mut read.name,
            &mut read.arguments,
            &mut read.uri,
            &mut read.cursor,
            &mut read.level,
            &mut read.input_responses,
            &mut read.request_state,
            &mut read.protocol_version,
            &mut read.capabilities,
            &mut read.client_info,
        ] {
            drop_null(slot);
        }
        read
    }
}

/// What the protocol's own names in `_meta` begin with.
const PREFIX: &[u8] = b"io.modelcontextprotocol/";

impl<'a> Meta<'a> {
    /// Reads the value at `at`, and goes behind it.
    fn read(at: &mut Cursor<'a>) -> Self {
        let mut read = Self::default();
        if !at.enter(b'{') {
            at.value();
            return read;
        }
        while let Some(name) = at.member() {
            let value = at.value();
            if let Some(slot) = read.slot(name.raw()) {
                slot.get_or_insert(value);
            } else if let Some(slot) = escaped(name).and_then(|name| read.slot(&name)) {
                slot.get_or_insert(value);
            }
        }
        for slot in [
            &mut read.progress_token,
            &mut read.protocol_version,
            &mut read.capabilities,
            &mut read.client_info,
            &mut read.log_level,
        ] {
            drop_null(slot);
        }
        read
    }

    #[inline]
    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<JsonRef<'a>>> {
        Some(match name.strip_prefix(PREFIX) {
            Some(b"protocolVersion") => &mut self.protocol_version,
            Some(b"clientCapabilities") => &mut self.capabilities,
            Some(b"clientInfo") => &mut self.client_info,
            Some(b"logLevel") => &mut self.log_level,
            None if name == meta::PROGRESS_TOKEN.as_bytes() => &mut self.progress_token,
            _ => return None,
        })
    }
}

/// Members of `params` by name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Meta,
    Name,
    Arguments,
    Uri,
    Cursor,
    Level,
    InputResponses,
    RequestState,
    ProtocolVersion,
    Capabilities,
    ClientInfo,
}

impl Known {
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"_meta" => Self::Meta,
            b"name" => Self::Name,
            b"arguments" => Self::Arguments,
            b"uri" => Self::Uri,
            b"cursor" => Self::Cursor,
            b"level" => Self::Level,
            b"inputResponses" => Self::InputResponses,
            b"requestState" => Self::RequestState,
            b"protocolVersion" => Self::ProtocolVersion,
            b"capabilities" => Self::Capabilities,
            b"clientInfo" => Self::ClientInfo,
            _ => return None,
        })
    }
}

#[inline]
fn drop_null(slot: &mut Option<JsonRef<'_>>) {
    if slot.is_some_and(JsonRef::is_null) {
        *slot = None;
    }
}

/// What a name means that was written with escapes.
#[inline]
fn escaped(name: JsonStr<'_>) -> Option<Vec<u8>> {
    name.is_escaped().then(|| name.decode().into_owned().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;

    #[test]
    fn members_are_found_whatever_their_spelling_and_null_is_absent() {
        let text = r#"{"cursor":null,"cursor":"a","level":"x","na\u006de":"n","_meta":{"progressToken":null,
            "io.modelcontextprotocol\/protocolVersion":"v"},"name":"second"}"#;
        let raw = RawJson::parse_str(text).expect(text);
        let read = Params::read(raw.view());
        assert!(read.cursor.is_none(), "the first counts, and is null");
        assert_eq!(read.level.map(JsonRef::as_bytes), Some(&br#""x""#[..]));
        assert_eq!(read.name.map(JsonRef::as_bytes), Some(&br#""n""#[..]));
        assert!(read.meta.progress_token.is_none());
        assert_eq!(read.meta.protocol_version.map(JsonRef::as_bytes), Some(&br#""v""#[..]));
        assert!(Params::read(RawJson::null().view()).name.is_none());
        let ours = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO, meta::LOG_LEVEL];
        let text = alloc::format!(
            r#"{{"_meta":{{"{}":1,"{}":2,"{}":3,"{}":4,"{}":5}},"uri":6}}"#,
            ours[0],
            ours[1],
            ours[2],
            ours[3],
            meta::PROGRESS_TOKEN
        );
        let raw = RawJson::parse_str(&text).expect(&text);
        let Params { meta, uri, .. } = Params::read(raw.view());
        let read = [
            meta.protocol_version,
            meta.capabilities,
            meta.client_info,
            meta.log_level,
            meta.progress_token,
            uri,
        ];
        assert!(
            read.iter()
                .enumerate()
                .all(|(n, value)| value.and_then(|value| value.as_u64()) == Some(n as u64 + 1))
        );
    }
}

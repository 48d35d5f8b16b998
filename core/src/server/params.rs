//! The parameters of a request, as far as the session looks at them: found in one pass.

use crate::jsonrpc::{JsonRef, JsonStr};
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
        let mut meta = None;
        each(params, |name, value| {
            let slot = match name {
                b"_meta" => &mut meta,
                b"name" => &mut read.name,
                b"arguments" => &mut read.arguments,
                b"uri" => &mut read.uri,
                b"cursor" => &mut read.cursor,
                b"level" => &mut read.level,
                b"inputResponses" => &mut read.input_responses,
                b"requestState" => &mut read.request_state,
                b"protocolVersion" => &mut read.protocol_version,
                b"capabilities" => &mut read.capabilities,
                b"clientInfo" => &mut read.client_info,
                _ => return,
            };
            slot.get_or_insert(value);
        });
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
        if let Some(meta) = meta {
            read.meta = Meta::read(meta);
        }
        read
    }
}

impl<'a> Meta<'a> {
    fn read(meta: JsonRef<'a>) -> Self {
        let mut read = Self::default();
        each(meta, |name, value| {
            let slot = if name == meta::PROGRESS_TOKEN.as_bytes() {
                &mut read.progress_token
            } else if name == meta::PROTOCOL_VERSION.as_bytes() {
                &mut read.protocol_version
            } else if name == meta::CLIENT_CAPABILITIES.as_bytes() {
                &mut read.capabilities
            } else if name == meta::CLIENT_INFO.as_bytes() {
                &mut read.client_info
            } else if name == meta::LOG_LEVEL.as_bytes() {
                &mut read.log_level
            } else {
                return;
            };
            slot.get_or_insert(value);
        });
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
}

#[inline]
fn drop_null(slot: &mut Option<JsonRef<'_>>) {
    if slot.is_some_and(JsonRef::is_null) {
        *slot = None;
    }
}

/// Goes over the members; names are what they mean, however they were escaped.
#[inline]
fn each<'a>(object: JsonRef<'a>, mut take: impl FnMut(&[u8], JsonRef<'a>)) {
    for (name, value) in object.members() {
        if name.raw().contains(&b'\\') {
            escaped(name, value, &mut take);
        } else {
            take(name.raw(), value);
        }
    }
}

#[cold]
fn escaped<'a>(name: JsonStr<'a>, value: JsonRef<'a>, take: &mut impl FnMut(&[u8], JsonRef<'a>)) {
    take(name.decode().as_bytes(), value);
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
    }
}

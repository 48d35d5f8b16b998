//! The parameters of a request, as far as the session looks at them: found while the message was checked.

use crate::jsonrpc::{JsonRef, Note, Notes, RawJson, Span, take_notes};
use crate::mcp::meta;

/// Where members of `params` stand in their frame. Of members that stand twice the first counts.
#[derive(Debug, Default)]
pub(crate) struct Places {
    has_meta: bool,
    meta: Meta,
    name: Span,
    arguments: Span,
    uri: Span,
    cursor: Span,
    level: Span,
    input_responses: Span,
    request_state: Span,
    protocol_version: Span,
    capabilities: Span,
    client_info: Span,
}

/// Where members of `_meta` stand.
#[derive(Debug, Default)]
struct Meta {
    progress_token: Span,
    protocol_version: Span,
    capabilities: Span,
    client_info: Span,
    log_level: Span,
}

impl Places {
    /// Finds them in parameters of which no notes were taken.
    pub(super) fn of(params: &RawJson) -> Self {
        let mut places = Self::default();
        take_notes(params, &mut places);
        places
    }

    /// Whether a request with these parameters stands alone: it says which revision it is made in.
    pub(crate) fn has_version(&self, params: &RawJson) -> bool {
        Params::new(params, self).meta_version().is_some()
    }
}

/// What the protocol's own names in `_meta` begin with.
const PREFIX: &[u8] = b"io.modelcontextprotocol/";
const QUOTED_PREFIX: &[u8; 25] = b"\"io.modelcontextprotocol/";

impl Notes for Places {
    const TAKEN: bool = true;

    #[inline(always)]
    fn note_at_once(&mut self, inside: bool, text: &[u8]) -> Option<(usize, Note<'_>)> {
        // Compared as words: a pattern would be compared byte by byte.
        let word = |text: &[u8]| text.first_chunk().map(|word| u64::from_le_bytes(*word));
        let is = |word: u64, name: &[u8; 8]| word == u64::from_le_bytes(*name);
        let first = word(text)?;
        let (len, span) = if inside && text.starts_with(QUOTED_PREFIX) {
            let rest = text.get(QUOTED_PREFIX.len()..)?;
            let next = word(rest)?;
            let rest = rest.get(8..)?;
            let (len, span) = if is(next, b"protocol") && rest.starts_with(b"Version\":") {
                (17, &mut self.meta.protocol_version)
            } else if is(next, b"clientIn") && rest.starts_with(b"fo\":") {
                (12, &mut self.meta.client_info)
            } else if is(next, b"clientCa") && rest.starts_with(b"pabilities\":") {
                (20, &mut self.meta.capabilities)
            } else {
                return None;
            };
            (QUOTED_PREFIX.len() + len, span)
        } else if inside {
            if !text.starts_with(b"\"progressToken\":") {
                return None;
            }
            (16, &mut self.meta.progress_token)
        } else if is(first & u64::MAX >> 8, b"\"name\":\0") {
            (7, &mut self.name)
        } else if is(first, b"\"argumen") && text.get(8..)?.starts_with(b"ts\":") {
            (12, &mut self.arguments)
        } else if is(first, b"\"_meta\":") && !self.has_meta {
            self.has_meta = true;
            return Some((8, Note::Inside));
        } else {
            return None;
        };
        Some((len, if span.is_some() { Note::Pass } else { Note::Value(span) }))
    }

    #[inline]
    fn note(&mut self, inside: bool, name: &[u8]) -> Note<'_> {
        let span = if inside {
            match name.strip_prefix(PREFIX) {
                Some(b"protocolVersion") => &mut self.meta.protocol_version,
                Some(b"clientCapabilities") => &mut self.meta.capabilities,
                Some(b"clientInfo") => &mut self.meta.client_info,
                Some(b"logLevel") => &mut self.meta.log_level,
                _ if name == meta::PROGRESS_TOKEN.as_bytes() => &mut self.meta.progress_token,
                _ => return Note::Pass,
            }
        } else {
            match name {
                b"name" => &mut self.name,
                b"arguments" => &mut self.arguments,
                b"_meta" if self.has_meta => return Note::Pass,
                b"_meta" => {
                    self.has_meta = true;
                    return Note::Inside;
                }
                b"uri" => &mut self.uri,
                b"cursor" => &mut self.cursor,
                b"level" => &mut self.level,
                b"inputResponses" => &mut self.input_responses,
                b"requestState" => &mut self.request_state,
                b"protocolVersion" => &mut self.protocol_version,
                b"capabilities" => &mut self.capabilities,
                b"clientInfo" => &mut self.client_info,
                _ => return Note::Pass,
            }
        };
        if span.is_some() { Note::Pass } else { Note::Value(span) }
    }
}

/// Members of `params`. A `null` counts as absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'a> {
    frame: &'a [u8],
    places: &'a Places,
}

macro_rules! members {
    ($($(#[$doc:meta])* $name:ident: $($place:ident).+,)+) => {
        impl<'a> Params<'a> {
            $($(#[$doc])* #[inline]
            pub(super) fn $name(self) -> Option<JsonRef<'a>> {
                self.places.$($place).+.of(self.frame).filter(|value| !value.is_null())
            })+
        }
    };
}

members! {
    name: name,
    arguments: arguments,
    uri: uri,
    cursor: cursor,
    level: level,
    input_responses: input_responses,
    request_state: request_state,
    protocol_version: protocol_version,
    capabilities: capabilities,
    client_info: client_info,
    /// The progress token in `_meta`.
    progress_token: meta.progress_token,
    /// The version in `_meta`.
    meta_version: meta.protocol_version,
    /// The capabilities in `_meta`.
    meta_capabilities: meta.capabilities,
    /// The client's name in `_meta`.
    meta_client: meta.client_info,
    /// The level of log messages in `_meta`.
    meta_log_level: meta.log_level,
}

impl<'a> Params<'a> {
    pub(super) fn new(params: &'a RawJson, places: &'a Places) -> Self {
        Self { frame: params.place().0, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Message, parse_noting, plain_request};
    use alloc::format;
    use bytes::Bytes;

    /// What was noted while a message with these parameters was checked; and it is what is found later.
    fn noted(params: &str) -> (RawJson, Places) {
        let line = format!(r#"{{"id":1,"params":{params},"jsonrpc":"2.0","method":"m"}}"#);
        let mut places = Places::default();
        let message = parse_noting(Bytes::from(line), 128, &mut places).expect(params);
        let Message::Request { params: Some(params), .. } = message else { panic!("{params}") };
        assert_eq!(format!("{:?}", Places::of(&params)), format!("{places:?}"));
        let plain = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}}}"#,
            params.as_str().replace('\n', " ")
        );
        let mut straight = Places::default();
        let read = plain_request(plain.as_bytes(), 128, &mut straight).expect(&plain).params;
        let straight_params = read.raw(Bytes::from(plain.clone()));
        assert_eq!(format!("{:?}", Places::of(&straight_params)), format!("{straight:?}"));
        (params, places)
    }

    #[test]
    fn members_are_found_whatever_their_spelling_and_null_is_absent() {
        let text = r#"{"cursor":null,"cursor":"a","level":"x","na\u006de":"n","_meta" : {"progressToken":null,
            "io.modelcontextprotocol\/protocolVersion" : "v", "other":{"progressToken":1}},"name":"second",
            "_meta":{"progressToken":2},"arguments":{"uri":1,"_meta":{"progressToken":3}}}"#;
        let (raw, places) = noted(text);
        let read = Params::new(&raw, &places);
        assert!(read.cursor().is_none(), "the first counts, and is null");
        assert_eq!(read.level().map(JsonRef::as_bytes), Some(&br#""x""#[..]));
        assert_eq!(read.name().map(JsonRef::as_bytes), Some(&br#""n""#[..]));
        assert!(read.progress_token().is_none() && read.uri().is_none());
        assert_eq!(read.meta_version().map(JsonRef::as_bytes), Some(&br#""v""#[..]));
        for other in
            [r#"{"_meta":null,"_meta":{"progressToken":2}}"#, r#"{"_meta":[{"progressToken":2}]}"#, "{}"]
        {
            let (raw, places) = noted(other);
            assert!(Params::new(&raw, &places).progress_token().is_none(), "{other}");
        }
    }

    #[test]
    fn every_name_has_its_place() {
        let ours = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO, meta::LOG_LEVEL];
        let [version, capabilities, client, level] = ours;
        let text = format!(
            r#"{{"_meta":{{"{version}":0,"{capabilities}":1,"{client}":2,"{level}":3,"{}":4}},"uri":5,"name":6,
            "arguments":7,"cursor":8,"level":9,"inputResponses":10,"requestState":11,"protocolVersion":12,
            "capabilities":13,"clientInfo":14}}"#,
            meta::PROGRESS_TOKEN
        );
        let (raw, places) = noted(&text);
        let read = Params::new(&raw, &places);
        let read = [
            read.meta_version(),
            read.meta_capabilities(),
            read.meta_client(),
            read.meta_log_level(),
            read.progress_token(),
            read.uri(),
            read.name(),
            read.arguments(),
            read.cursor(),
            read.level(),
            read.input_responses(),
            read.request_state(),
            read.protocol_version(),
            read.capabilities(),
            read.client_info(),
        ];
        for (n, value) in read.into_iter().enumerate() {
            assert_eq!(value.and_then(JsonRef::as_u64), Some(n as u64));
        }
    }
}

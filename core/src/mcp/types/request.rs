//! What a client asks, read from the parameters of its request: the other half of the result types.

use alloc::string::String;
use alloc::vec::Vec;

use super::flaw::{Flaw, member, required};
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// The parameters of `tools/call`.
///
/// Spec: MCP server/tools; schema, `CallToolRequestParams`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallTool {
    /// Which tool.
    pub name: String,
    /// With what: an object, empty if the client sent none. Shares the frame.
    pub arguments: RawJson,
}

impl CallTool {
    /// Reads the parameters. A server session hands out only such as can be read.
    ///
    /// # Errors
    /// What is missing, or of the wrong kind.
    pub fn read(params: &RawJson) -> Result<Self, Flaw> {
        let (name, arguments) = Self::view(params)?;
        Ok(Self {
            name: name.decode().into_owned(),
            arguments: arguments
                .and_then(|arguments| params.slice_of(arguments))
                .unwrap_or_else(RawJson::empty_object),
        })
    }

    /// The name and the arguments as they stand in the parameters: allocates nothing. `None`: the client sent no
    /// arguments.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn view(params: &RawJson) -> Result<(JsonStr<'_>, Option<JsonRef<'_>>), Flaw> {
        let (start, next) = (br#"{"name":""#, br#","arguments":"#);
        let [name, arguments] = params.view().text_and_object(["name", "arguments"], start, next);
        let arguments = of_kind_object(arguments, "arguments")?;
        Ok((required(name, "name")?, arguments))
    }
}

/// The parameters of `prompts/get`.
///
/// Spec: MCP server/prompts; schema, `GetPromptRequestParams`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetPrompt {
    /// Which prompt.
    pub name: String,
    /// The values of its arguments, in the order they were sent.
    pub arguments: Vec<(String, String)>,
}

impl GetPrompt {
    /// Reads the parameters.
    ///
    /// # Errors
    /// What is missing, or of the wrong kind.
    pub fn read(params: &RawJson) -> Result<Self, Flaw> {
        let (name, arguments) = Self::parts(params.view())?;
        Ok(Self { name: name.decode().into_owned(), arguments: copied(arguments) })
    }

    /// The name and the arguments, checked and not copied: a copy of many small ones is many times their length.
    pub(crate) fn parts(params: JsonRef<'_>) -> Result<(JsonStr<'_>, Option<JsonRef<'_>>), Flaw> {
        Ok((required(params.get("name"), "name")?, texts(object(params, "arguments")?)?))
    }
}

/// What is to be completed: an argument of a prompt, or of a resource template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionRef {
    /// A prompt, by name.
    Prompt(String),
    /// A resource or template, by address.
    Resource(String),
}

/// The parameters of `completion/complete`.
///
/// Spec: MCP server/utilities/completion; schema, `CompleteRequestParams`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complete {
    /// Of what.
    pub reference: CompletionRef,
    /// Which argument.
    pub argument: String,
    /// What was typed so far.
    pub value: String,
    /// The arguments that have values already (2025-06-18 and later).
    pub context: Vec<(String, String)>,
}

impl Complete {
    /// Reads the parameters.
    ///
    /// # Errors
    /// What is missing, or of the wrong kind.
    pub fn read(params: &RawJson) -> Result<Self, Flaw> {
        let (reference, argument, value, context) = Self::parts(params.view())?;
        Ok(Self {
            reference,
            argument: argument.decode().into_owned(),
            value: value.decode().into_owned(),
            context: copied(context),
        })
    }

    /// All parts, checked; only the reference is copied.
    pub(crate) fn parts(
        view: JsonRef<'_>,
    ) -> Result<(CompletionRef, JsonStr<'_>, JsonStr<'_>, Option<JsonRef<'_>>), Flaw> {
        let reference = object(view, "ref")?.ok_or(Flaw::Missing("ref"))?;
        let kind = required(reference.get("type"), "type")?;
        let reference = if kind.eq_str("ref/prompt") {
            CompletionRef::Prompt(required(reference.get("name"), "name")?.decode().into_owned())
        } else if kind.eq_str("ref/resource") {
            CompletionRef::Resource(required(reference.get("uri"), "uri")?.decode().into_owned())
        } else {
            return Err(Flaw::WrongKind { member: "type", found: Kind::String });
        };
        let argument = object(view, "argument")?.ok_or(Flaw::Missing("argument"))?;
        let context = match object(view, "context")? {
            Some(context) => texts(object(context, "arguments")?)?,
            None => None,
        };
        let name = required(argument.get("name"), "name")?;
        Ok((reference, name, required(argument.get("value"), "value")?, context))
    }
}

/// The address in the parameters of `resources/read`, `resources/subscribe` and `resources/unsubscribe`.
///
/// # Errors
/// It is missing, or no text.
///
/// Spec: MCP server/resources; schema, `ResourceRequestParams`.
pub fn resource_uri(params: &RawJson) -> Result<String, Flaw> {
    Ok(required(params.view().get("uri"), "uri")?.decode().into_owned())
}

/// Whether a text begins as an address does (`scheme:`) and holds no white space or control characters.
///
/// Spec: RFC 3986, section 3.1.
#[must_use]
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let mut bytes = scheme.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && text.bytes().all(|byte| byte > b' ' && byte != 0x7f)
}

/// Whether a `file:` address leads upwards: a segment of its path is `..`, spelled out or percent-encoded, with either
/// kind of slash. Other schemes have no folders that are known here.
///
/// Spec: MCP 2026-07-28 server/resources, "Security Considerations"; RFC 3986, sections 2.1 and 5.2.4.
#[must_use]
pub fn climbs(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    if !scheme.eq_ignore_ascii_case("file") {
        return false;
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let mut rest = path.as_bytes();
    // Dots since the last slash; more than two, or anything else, is a name.
    let mut dots = Some(0_u8);
    while let Some((byte, after)) = decoded(rest) {
        rest = after;
        dots = match byte {
            b'/' | b'\\' if dots == Some(2) => return true,
            b'/' | b'\\' => Some(0),
            b'.' => dots.filter(|dots| *dots < 2).map(|dots| dots + 1),
            _ => None,
        };
    }
    dots == Some(2)
}

/// The next byte, percent-decoded, and what follows it.
fn decoded(text: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if let [b'%', high, low, rest @ ..] = text
        && let (Some(high), Some(low)) = (digit(*high), digit(*low))
    {
        return Some((high << 4 | low, rest));
    }
    text.split_first().map(|(byte, rest)| (*byte, rest))
}

/// An optional object.
fn object<'a>(value: JsonRef<'a>, name: &'static str) -> Result<Option<JsonRef<'a>>, Flaw> {
    of_kind_object(member(value, name), name)
}

fn of_kind_object<'a>(found: Option<JsonRef<'a>>, name: &'static str) -> Result<Option<JsonRef<'a>>, Flaw> {
    match found.filter(|found| !found.is_null()) {
        Some(found) if found.kind() != Kind::Object => {
            Err(Flaw::WrongKind { member: name, found: found.kind() })
        }
        found => Ok(found),
    }
}

/// An optional object all of whose members are texts.
fn texts(object: Option<JsonRef<'_>>) -> Result<Option<JsonRef<'_>>, Flaw> {
    match object.into_iter().flat_map(JsonRef::members).find(|(_, value)| value.kind() != Kind::String) {
        Some((_, value)) => Err(Flaw::WrongKind { member: "arguments", found: value.kind() }),
        None => Ok(object),
    }
}

fn copied(texts: Option<JsonRef<'_>>) -> Vec<(String, String)> {
    let members = texts.into_iter().flat_map(JsonRef::members);
    let texts = members.filter_map(|(name, value)| Some((name, value.str()?)));
    texts.map(|(name, value)| (name.decode().into_owned(), value.decode().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    #[test]
    fn a_call_without_arguments_has_empty_ones() {
        for text in [r#"{"name":"a"}"#, r#"{"name":"a","arguments":null}"#, r#"{"arguments":{},"name":"a"}"#]
        {
            let call = CallTool::read(&raw(text)).expect(text);
            assert_eq!((call.name.as_str(), call.arguments.as_bytes()), ("a", &b"{}"[..]), "{text}");
        }
        for text in ["{}", r#"{"name":5}"#, r#"{"name":"a","arguments":[]}"#, r#"{"name":null}"#] {
            assert!(CallTool::read(&raw(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_order_and_the_spelling_of_members_change_nothing() {
        let values =
            ["\"a\"", "\"a\\\"b\"", "\"\"", "null", "{}", r#"{"name":"x","b":[{}]}"#, "[1]", "\"name\":"];
        let names = ["name", "arguments", "_meta", "n\\u0061me"];
        for (n, first) in values.iter().enumerate() {
            for (k, second) in values.iter().enumerate() {
                let (one, other) = (names[n % 4], names[(n + k) % 4]);
                for text in [
                    format!(r#"{{"name":{first},"arguments":{second}}}"#),
                    format!(r#"{{"name":{first},"arguments":{second},"name":1,"arguments":2}}"#),
                    format!(r#"{{"name":{first} ,"arguments":{second}}}"#),
                    format!(r#"{{"{one}":{first},"{other}":{second},"name":"last"}}"#),
                ] {
                    let Ok(params) = RawJson::parse_str(&text) else { continue };
                    let view = params.view();
                    let expected = object(view, "arguments")
                        .and_then(|arguments| Ok((required(view.get("name"), "name")?.raw(), arguments)))
                        .map(|(name, arguments)| (name, arguments.map(JsonRef::as_bytes)));
                    let read = CallTool::view(&params)
                        .map(|(name, arguments)| (name.raw(), arguments.map(JsonRef::as_bytes)));
                    assert_eq!(read, expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn arguments_of_prompts_are_texts() {
        let get = GetPrompt::read(&raw(r#"{"name":"p","arguments":{"a":"1","b":"\u0032"}}"#)).expect("read");
        let expected = [("a".into(), "1".into()), ("b".into(), "2".into())];
        assert_eq!((get.name.as_str(), get.arguments.as_slice()), ("p", &expected[..]));
        assert!(GetPrompt::read(&raw(r#"{"name":"p","arguments":{"a":1}}"#)).is_err());
    }

    #[test]
    fn completions_name_what_they_complete() {
        let text = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"x"},
                       "context":{"arguments":{"b":"y"}}}"#;
        let read = Complete::read(&raw(text)).expect("read");
        assert_eq!(read.reference, CompletionRef::Prompt("p".into()));
        assert_eq!((read.argument.as_str(), read.value.as_str()), ("a", "x"));
        assert_eq!(read.context, [("b".into(), "y".into())]);
        for text in [
            r#"{"ref":{"type":"ref/other","name":"p"},"argument":{"name":"a","value":"x"}}"#,
            r#"{"ref":{"type":"ref/prompt"},"argument":{"name":"a","value":"x"}}"#,
            r#"{"ref":{"type":"ref/resource","uri":"a:b"}}"#,
            r#"{"ref":{"type":"ref/resource","uri":"a:b"},"argument":{"name":"a"}}"#,
        ] {
            assert!(Complete::read(&raw(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn what_leads_upwards_is_seen_however_it_is_written() {
        // P-352
        for bad in [
            "file:///a/../b",
            "file:///..",
            "file:///a/%2e%2E/b",
            "FILE:///a/.%2e",
            "file:///a%2f..%2fb",
            "file:///a\\..\\b",
            "file:..",
            "file:///a%5C%2e.%5cb",
            "file:///../?q",
        ] {
            assert!(climbs(bad), "{bad}");
        }
        for good in [
            "file:///a/b",
            "file:///a/...",
            "file:///a/..b/c..",
            "file:///a/.",
            "file:///a?x/../y",
            "file:///a#/../",
            "file:///a/%2e%2",
            "x:/../y",
            "file",
        ] {
            assert!(!climbs(good), "{good}");
        }
    }

    #[test]
    fn addresses_have_a_scheme() {
        for good in ["file:///a", "x:", "custom+v1.0-a:thing"] {
            assert!(is_uri(good), "{good}");
        }
        for bad in ["", "no scheme", "/a/b", "1x:y", ":a", "a b:c", "a:b c", "a:\u{7f}"] {
            assert!(!is_uri(bad), "{bad}");
        }
    }
}

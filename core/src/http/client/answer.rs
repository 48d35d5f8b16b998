//! What the head of an answer says of its content.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;

use crate::exchange::{Challenge, HttpRefusal, RefusedFor};
use crate::http::fields::Fields;
use crate::http::head::ResponseHead;
use crate::http::url::Url;

/// How much of the `WWW-Authenticate` fields is kept.
const CHALLENGE_BYTES: usize = 8192;
/// How much of a name out of a head is shown.
const NAME_BYTES: usize = 64;
/// How much of a path out of a head is shown.
const PATH_BYTES: usize = 256;
/// A session's id is sent with every request: so long it may be.
const SESSION_ID_BYTES: usize = 1024;

/// The type of content.
#[derive(Debug, PartialEq)]
pub(super) enum Media {
    Json,
    Events,
    /// Its name, cut; empty if none is given.
    Other(Box<str>),
}

/// Parameters and case are passed over.
pub(super) fn media(fields: &Fields) -> Media {
    let named = fields.text("content-type").unwrap_or_default();
    let name = named.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        Media::Json
    } else if name.eq_ignore_ascii_case("text/event-stream") {
        Media::Events
    } else {
        Media::Other(cut(name, NAME_BYTES).into())
    }
}

/// A coding of the content other than `identity`.
pub(super) fn coding(fields: &Fields) -> Option<Box<str>> {
    let all = fields.all("content-encoding").map(String::from_utf8_lossy);
    for value in all {
        let mut names = value.split(',').map(str::trim);
        if let Some(name) = names.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity")) {
            return Some(cut(name, NAME_BYTES).into());
        }
    }
    None
}

/// The id that a server gives to a session. `Some(None)`: one that cannot be sent back.
pub(super) fn session_id(fields: &Fields) -> Option<Option<Box<str>>> {
    fields.get("mcp-session-id")?;
    let id = fields.text("mcp-session-id").filter(|id| {
        !id.is_empty() && id.len() <= SESSION_ID_BYTES && id.bytes().all(|byte| matches!(byte, 0x21..=0x7e))
    });
    Some(id.map(Into::into))
}

pub(super) fn challenge(head: &ResponseHead) -> Challenge {
    let mut all = String::new();
    for value in head.fields.all("www-authenticate") {
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(&String::from_utf8_lossy(value));
        if all.len() > CHALLENGE_BYTES {
            break;
        }
    }
    let cut = String::from(cut(&all, CHALLENGE_BYTES));
    Challenge::new(head.status, (!cut.is_empty()).then_some(cut))
}

/// Where a redirect leads: within the origin of `from` only, with method and content as they are.
///
/// Source: RFC 9110, section 15.4.
pub(super) fn redirect(from: &Url, head: &ResponseHead) -> Result<Url, HttpRefusal> {
    let refused = |why| HttpRefusal { status: head.status, why };
    let to = head.fields.text("location").and_then(|location| from.join(location).ok());
    let to = to.ok_or_else(|| refused(RefusedFor::Redirect))?;
    // Whatever the status is: who is sent from http to https wants to know that.
    if to.authority() != from.authority() {
        return Err(refused(RefusedFor::OtherOrigin(alloc::format!("{}", to.authority()).into())));
    }
    if matches!(head.status, 307 | 308) {
        return Ok(to);
    }
    let path = to.target().split('?').next().unwrap_or_default();
    Err(refused(RefusedFor::Moved(cut(path, PATH_BYTES).into())))
}

/// At most so many bytes.
pub(super) fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Text of the peer's, at most so many bytes of it. `None`: there is none.
pub(super) fn bounded_text(bytes: &[u8], max: usize) -> Option<Box<str>> {
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes.get(..bytes.len().min(max)).unwrap_or_default());
    let text = text.trim();
    (!text.is_empty()).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(all: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::new();
        for (name, value) in all {
            fields.push(name, value.as_bytes()).unwrap();
        }
        fields
    }

    #[test]
    fn types_are_read_without_parameters_and_case() {
        for (value, expected) in [
            ("application/json", Media::Json),
            ("Application/JSON; charset=utf-8", Media::Json),
            ("application/json;charset=\"UTF-8\"", Media::Json),
            ("text/event-stream; x", Media::Events),
            ("text/html", Media::Other("text/html".into())),
            ("application/jsonp", Media::Other("application/jsonp".into())),
        ] {
            assert_eq!(media(&fields(&[("content-TYPE", value)])), expected, "{value}");
        }
        assert_eq!(media(&Fields::new()), Media::Other("".into()));
    }

    #[test]
    fn codings_are_named() {
        assert_eq!(coding(&Fields::new()), None);
        assert_eq!(coding(&fields(&[("Content-Encoding", "Identity")])), None);
        assert_eq!(coding(&fields(&[("Content-Encoding", "identity, gzip")])).as_deref(), Some("gzip"));
    }

    #[test]
    fn a_session_id_is_one_visible_word() {
        // P-211
        let id = |all: &[(&str, &str)]| session_id(&fields(all));
        assert_eq!(id(&[]), None);
        assert_eq!(id(&[("mcp-session-id", "abc~!")]), Some(Some("abc~!".into())));
        for wrong in ["", "a b", "ä", &"a".repeat(SESSION_ID_BYTES + 1)] {
            assert_eq!(id(&[("Mcp-Session-Id", wrong)]), Some(None), "{wrong}");
        }
        assert_eq!(id(&[("Mcp-Session-Id", "a"), ("MCP-Session-Id", "b")]), Some(None));
    }

    // H-155
    #[test]
    fn a_redirect_stays_within_its_origin() {
        let from = Url::parse("https://x.example/mcp").unwrap();
        let to = |status: u16, location: &str| {
            let fields = fields(&[("Location", location)]);
            redirect(&from, &ResponseHead { status, fields })
        };
        assert_eq!(to(308, "/mcp/#top"), Ok(Url::parse("https://x.example/mcp/").unwrap()));
        assert_eq!(to(307, "https://X.example:443/b"), Ok(Url::parse("https://x.example/b").unwrap()));
        for (location, origin) in [
            ("https://y.example/", "https://y.example"),
            ("http://x.example/mcp", "http://x.example"),
            ("//x.example:8443/mcp", "https://x.example:8443"),
        ] {
            for status in [301, 302, 303, 307, 308] {
                let why = RefusedFor::OtherOrigin(origin.into());
                assert_eq!(to(status, location), Err(HttpRefusal { status, why }), "{status} {location}");
            }
        }
        let long = alloc::format!("/{}", "a".repeat(PATH_BYTES));
        for (location, path) in [
            ("/a", "/a"),
            ("?token=1", "/mcp"),
            ("https://x.example/a/?token=1#b", "/a/"),
            (&*long, &long[..PATH_BYTES]),
        ] {
            for status in [301, 302, 303] {
                let why = RefusedFor::Moved(path.into());
                assert_eq!(to(status, location), Err(HttpRefusal { status, why }), "{status} {location}");
            }
        }
        let secret = "https://user:word@x.example/a";
        for (status, location) in [(301, "ftp://x"), (308, "ftp://x"), (308, "/a b"), (302, secret)] {
            let why = RefusedFor::Redirect;
            assert_eq!(to(status, location), Err(HttpRefusal { status, why }), "{status} {location}");
        }
    }
}

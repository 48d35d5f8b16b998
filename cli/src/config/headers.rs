//! Headers of a server on the web, as a person writes them.

/// Headers that the transport writes itself.
const OWNED: [&str; 16] = [
    "host",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "expect",
    "accept",
    "mcp-protocol-version",
    "mcp-session-id",
    "last-event-id",
    "mcp-method",
    "mcp-name",
];

/// Headers that the transport writes itself begin like this.
const OWNED_PREFIX: &str = "mcp-param-";

/// Whether a header may stand in a configuration, and its value without line breaks.
pub(crate) fn check(name: &str, value: &str) -> Result<String, String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("{name:?} is no name of a header"));
    }
    let lower = name.to_ascii_lowercase();
    if OWNED.contains(&lower.as_str()) || lower.starts_with(OWNED_PREFIX) {
        return Err(format!(
            "the header {name} belongs to the transport, which writes it itself; leave it out"
        ));
    }
    let value = value.replace(['\r', '\n'], "");
    if value.chars().any(|c| c.is_ascii_control() && c != '\t') {
        return Err(format!("the value of the header {name} holds control characters; take them out"));
    }
    Ok(value)
}

/// Whether a header of this name says who asks.
pub(crate) fn is_authorization(name: &str) -> bool {
    name.eq_ignore_ascii_case("authorization")
}

/// A value as it is sent, with everything put in: no white space around it, and `Bearer ` before an authorization
/// that is one word. Line breaks around it are what files and commands end with; one inside is refused.
pub(crate) fn finish(name: &str, value: &str) -> Result<String, String> {
    let value = value.trim();
    if value.contains(['\r', '\n', '\0']) {
        return Err(format!("the value of the header {name} has a line break in it"));
    }
    let lone = is_authorization(name) && !value.is_empty() && !value.contains(char::is_whitespace);
    if lone && ["bearer", "basic"].iter().any(|scheme| value.eq_ignore_ascii_case(scheme)) {
        return Err(format!(
            "the header {name} is {value:?} and nothing behind it; is the variable empty that belongs there?"
        ));
    }
    Ok(if lone { format!("Bearer {value}") } else { value.to_owned() })
}

/// `Name: value`; `None` if it is not.
pub(crate) fn one(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// Headers on one line, and the parts of it that are none.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// Each name once; the last value of it.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) dropped: Vec<String>,
}

/// Reads `Name: value, Name: value`. A comma always ends a value: what cannot be read is handed back, to be told.
pub(crate) fn line(text: &str) -> Line {
    let mut out = Line::default();
    for part in text.split(',') {
        match one(part) {
            Some((name, value)) => {
                out.headers.retain(|(other, _)| *other != name);
                out.headers.push((name, value));
            }
            None if part.trim().is_empty() => {}
            None => out.dropped.push(part.trim().to_owned()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_transport_are_refused() {
        // H-152
        for name in [
            "Content-Type",
            "accept",
            "MCP-Protocol-Version",
            "mcp-session-id",
            "Last-Event-ID",
            "Mcp-Method",
            "mcp-name",
            "Mcp-Param-Region",
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
        ] {
            let why = check(name, "x").expect_err(name);
            assert!(why.contains(name) && why.contains("leave it out"), "{why}");
        }
        for name in ["Authorization", "X-Api-Key", "Mcp-Parameter", "accept-language"] {
            assert_eq!(check(name, "x"), Ok("x".into()), "{name}");
        }
        for name in ["", "a b", "a:b", "ä", "a\n"] {
            assert!(check(name, "x").is_err(), "{name:?}");
        }
        assert_eq!(check("A", "a\tb ä"), Ok("a\tb ä".into()));
        assert!(check("A", "a\u{1b}[2J").is_err_and(|why| why.contains("take them out")));
    }

    #[test]
    fn b_109_no_line_break_gets_into_a_header_and_a_lone_token_gets_its_scheme() {
        assert_eq!(check("A", "a\r\nEvil: b"), Ok("aEvil: b".into()));
        assert_eq!(finish("A", "token\r\n"), Ok("token".into()));
        assert!(finish("A", "a\r\nEvil: b").is_err());
        for (name, value, sent) in [
            ("Authorization", "sk-1", "Bearer sk-1"),
            ("authorization", "Basic abc", "Basic abc"),
            ("Authorization", "", ""),
            ("X-Authorization", "sk-1", "sk-1"),
            ("X-Scheme", "Bearer", "Bearer"),
        ] {
            assert_eq!(finish(name, value), Ok(sent.into()), "{name}");
        }
        for value in ["Bearer", "bearer ", "Basic"] {
            assert!(
                finish("Authorization", value).is_err_and(|why| why.contains("nothing behind it")),
                "{value}"
            );
        }
    }

    /// Line, headers, parts that were dropped.
    type Row = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

    #[test]
    fn a_line_of_headers_is_read_up_to_what_it_cannot_say_and_that_is_told() {
        // H-168, H-169
        let table: [Row; 10] = [
            ("", &[], &[]),
            ("   ", &[], &[]),
            ("Authorization: Bearer sk-123", &[("Authorization", "Bearer sk-123")], &[]),
            ("A: 1, B: 2", &[("A", "1"), ("B", "2")], &[]),
            ("X-Url: https://example.com", &[("X-Url", "https://example.com")], &[]),
            ("malformed", &[], &["malformed"]),
            (": v", &[], &[": v"]),
            ("K:", &[("K", "")], &[]),
            ("A: 1, A: 2", &[("A", "2")], &[]),
            ("Accept: text/html, text/plain", &[("Accept", "text/html")], &["text/plain"]),
        ];
        for (text, headers, dropped) in table {
            let read = line(text);
            let pairs: Vec<_> =
                read.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(
                (pairs.as_slice(), read.dropped),
                (headers, dropped.iter().map(|part| (*part).to_owned()).collect()),
                "{text}"
            );
        }
    }
}

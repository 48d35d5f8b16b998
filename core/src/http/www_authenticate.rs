//! What a server says of how to show oneself: the challenges of `WWW-Authenticate`.
//!
//! Several may stand in one field, and their parameters are separated by the same comma as they are. What cannot be
//! read is passed over: a challenge is a hint to a person or to a login, and decides nothing.
//!
//! Source: RFC 9110, section 11; RFC 6750, section 3; RFC 9728, section 5.1.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::octets::is_token;

/// So many challenges of a field are read.
const MAX_CHALLENGES: usize = 16;
/// So many parameters of each.
const MAX_PARAMS: usize = 32;

/// One way in which a server wants a client to show itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthChallenge {
    scheme: Box<str>,
    params: Vec<(Box<str>, String)>,
}

impl AuthChallenge {
    /// Reads all challenges of a field's value; fields that were joined by commas may be read at once. At most 16 are
    /// read, with 32 parameters each.
    #[must_use]
    pub fn read(field: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut rest = field;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            if rest.is_empty() {
                return all;
            }
            let (name, behind) = token(rest);
            if name.is_empty() {
                rest = rest.split_once(',').map_or("", |(_, rest)| rest);
                continue;
            }
            if let (Some(said), Some(current)) = (behind.trim_start().strip_prefix('='), all.last_mut()) {
                let (value, behind) = value(said.trim_start());
                if current.params.len() < MAX_PARAMS {
                    current.params.push((name.into(), value));
                }
                rest = behind;
            } else if all.len() < MAX_CHALLENGES {
                all.push(Self { scheme: name.into(), params: Vec::new() });
                rest = without_token68(behind);
            } else {
                return all;
            }
        }
    }

    /// The name of the way: `Bearer`. Compare without case.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The first parameter of this name, in whatever case, unescaped: `realm`, `scope`, `error`, `error_description`,
    /// `resource_metadata`. The server's own words.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(is, _)| is.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A token and what follows.
fn token(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// A parameter's value, quoted or not, and what follows.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        // Not allowed unquoted, and seen all the same: an address, a list of scopes with colons.
        let odd = rest.find([',', ' ', '\t']).unwrap_or(rest.len());
        let (more, rest) = rest.split_at_checked(odd).unwrap_or((rest, ""));
        return ([value, more].concat(), rest);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    (value, chars.as_str())
}

/// What follows the credentials that may stand behind a scheme instead of parameters.
fn without_token68(text: &str) -> &str {
    let inside = text.trim_start();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c);
    let rest = inside.trim_start_matches(plain).trim_start_matches('=').trim_start();
    let is_one = inside.len() < text.len() && inside.starts_with(plain);
    if is_one && (rest.is_empty() || rest.starts_with(',')) { rest } else { text }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    /// Scheme and parameters.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)]);

    fn told(field: &str, rows: &[Row<'_>]) {
        let read = AuthChallenge::read(field);
        let read: Vec<(&str, Vec<(&str, &str)>)> = read
            .iter()
            .map(|one| {
                (one.scheme(), one.params.iter().map(|(name, value)| (&**name, value.as_str())).collect())
            })
            .collect();
        let rows: Vec<_> = rows.iter().map(|(scheme, params)| (*scheme, params.to_vec())).collect();
        assert_eq!(read, rows, "{field}");
    }

    #[test]
    fn challenges_are_told_apart_from_parameters() {
        let bearer = [("resource_metadata", "https://a.example/.well-known/oauth-protected-resource/mcp")];
        told(
            r#"Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource/mcp""#,
            &[("Bearer", &bearer)],
        );
        told(
            r#"Bearer realm="a \"b\", c", error = invalid_token , scope="x y",Basic realm=d, Negotiate, NTLM TlR=="#,
            &[
                ("Bearer", &[("realm", "a \"b\", c"), ("error", "invalid_token"), ("scope", "x y")]),
                ("Basic", &[("realm", "d")]),
                ("Negotiate", &[]),
                ("NTLM", &[]),
            ],
        );
        told("Bearer", &[("Bearer", &[])]);
        told("DPoP algs=\"ES256\", Bearer", &[("DPoP", &[("algs", "ES256")]), ("Bearer", &[])]);
        told("Bearer,realm=x", &[("Bearer", &[("realm", "x")])]);
        told("Negotiate YWJj, Basic realm=\"x\"", &[("Negotiate", &[]), ("Basic", &[("realm", "x")])]);
        // What some servers write.
        told(
            "Bearer resource_metadata=https://h/x, scope=a:b",
            &[("Bearer", &[("resource_metadata", "https://h/x"), ("scope", "a:b")])],
        );
        told("Bearer realm=\"never closed, a=b", &[("Bearer", &[("realm", "never closed, a=b")])]);
        for nothing in ["", " , ,", "\"x\"", "=a"] {
            told(nothing, &[]);
        }
        told("@@, Bearer", &[("Bearer", &[])]);
    }

    #[test]
    fn the_first_parameter_of_a_name_counts_in_whatever_case() {
        let read = AuthChallenge::read("Bearer Scope=a, scope=b");
        assert_eq!(read.first().and_then(|one| one.get("SCOPE")), Some("a"));
        assert_eq!(read.first().and_then(|one| one.get("realm")), None);
    }

    #[test]
    fn no_field_makes_more_than_so_many() {
        let many: String = (0..100).map(|n| format!("S{n}, ")).collect();
        assert_eq!(AuthChallenge::read(&many).len(), MAX_CHALLENGES);
        let many: String = (0..100).map(|n| format!(", p{n}=v")).collect();
        assert_eq!(
            AuthChallenge::read(&format!("Bearer {many}")).first().map(|one| one.params.len()),
            Some(MAX_PARAMS)
        );
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_to_its_end(field in "[a-zA \t,=\"\\\\@ü-]{0,40}") {
            let read = AuthChallenge::read(&field);
            let held: usize = read
                .iter()
                .map(|one| one.scheme.len() + one.params.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>())
                .sum();
            prop_assert!(held <= field.len());
        }

        #[test]
        fn what_is_quoted_comes_out_as_it_was(value in "[ -~]{0,20}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let read = AuthChallenge::read(&format!("Bearer a=\"{quoted}\", b=c"));
            let read = read.first().map(|one| (one.get("a"), one.get("b")));
            prop_assert_eq!(read, Some((Some(value.as_str()), Some("c"))));
        }
    }
}

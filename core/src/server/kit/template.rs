//! Addresses of resources, and the templates that many of them share.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The address that a resource is read by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUri {
    uri: String,
    variables: Vec<(Box<str>, String)>,
}

impl ResourceUri {
    pub(super) const fn new(uri: String, variables: Vec<(Box<str>, String)>) -> Self {
        Self { uri, variables }
    }

    /// The whole address, as it was asked for. Untrusted.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.uri
    }

    /// What stands where the template has `{name}`, percent-decoded; empty if the template has no such variable.
    /// Untrusted: it may hold `..` or `/` (from `%2F`).
    #[must_use]
    pub fn variable(&self, name: &str) -> &str {
        self.variables.iter().find(|(known, _)| **known == *name).map_or("", |(_, value)| value)
    }
}

impl AsRef<str> for ResourceUri {
    fn as_ref(&self) -> &str {
        &self.uri
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uri)
    }
}

/// A template of addresses: literal text and `{name}`s, each of which stands for one segment that is not empty.
///
/// Source: RFC 6570, level 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// What stands before each variable.
    parts: Vec<(Box<str>, Box<str>)>,
    /// What stands behind the last.
    rest: Box<str>,
}

impl Template {
    /// Reads a template. `Err`: why it is none that addresses could be matched with.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.split(['{', '}']).next().is_none_or(|front| !front.contains(':')) {
            return Err("its template must begin with a scheme, such as file:".into());
        }
        let mut parts: Vec<(Box<str>, Box<str>)> = Vec::new();
        let mut rest = text;
        while let Some((literal, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').ok_or("its template has a { without a }")?;
            let usable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
            if name.is_empty() || !name.bytes().all(usable) {
                return Err(format!(
                    "its template has {{{name}}}; only plain {{name}}s of A-Z a-z 0-9 _ . can be matched"
                ));
            }
            if parts.iter().any(|(_, known)| **known == *name) {
                return Err(format!("its template has {{{name}}} twice"));
            }
            if literal.is_empty() && !parts.is_empty() {
                return Err(format!("nothing stands between {{{name}}} and the variable before it"));
            }
            if literal.contains('}') {
                return Err("its template has a } without a {".into());
            }
            parts.push((literal.into(), name.into()));
            rest = behind;
        }
        if rest.contains('}') {
            return Err("its template has a } without a {".into());
        }
        Ok(Self { parts, rest: rest.into() })
    }

    /// The values of the variables, if the address is made from this template.
    pub(super) fn matches(&self, uri: &str) -> Option<Vec<(Box<str>, String)>> {
        let mut values = Vec::with_capacity(self.parts.len());
        let mut left = uri;
        for (n, (literal, name)) in self.parts.iter().enumerate() {
            left = left.strip_prefix(&**literal)?;
            let end = match self.parts.get(n + 1) {
                None => left.strip_suffix(&*self.rest)?.len(),
                // The first character always belongs to the value.
                Some((next, _)) => {
                    let from = left.chars().next().map_or(0, char::len_utf8);
                    from + left.get(from..)?.find(&**next)?
                }
            };
            let (value, behind) = left.split_at_checked(end)?;
            if value.is_empty() || value.contains(['/', '?', '#']) {
                return None;
            }
            values.push((name.clone(), decode(value)?));
            left = behind;
        }
        (left == &*self.rest).then_some(values)
    }
}

/// Percent-decoded; `None` if a `%` does not begin an escape, or what comes out is not UTF-8.
///
/// Source: RFC 3986, section 2.1.
fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
            let (high, low) = (digit()?, digit()?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn matched(template: &str, uri: &str) -> Option<Vec<String>> {
        let values = Template::parse(template).expect(template).matches(uri)?;
        Some(values.into_iter().map(|(_, value)| value).collect())
    }

    #[test]
    fn a_variable_is_one_segment_percent_decoded() {
        let table: &[(&str, &str, Option<&[&str]>)] = &[
            ("demo://g/{name}", "demo://g/Ada", Some(&["Ada"])),
            ("demo://g/{name}", "demo://g/A%20%C3%A9%2F", Some(&["A é/"])),
            ("demo://g/{name}", "demo://g/", None),
            ("demo://g/{name}", "demo://g/a/b", None),
            ("demo://g/{name}", "demo://g/a?x", None),
            ("demo://g/{name}", "demo://g/%4", None),
            ("demo://g/{name}", "demo://g/%ff", None),
            ("demo://g/{name}", "demo://x/a", None),
            ("a:{x}-{y}.txt", "a:1-2-3.txt", Some(&["1", "2-3"])),
            ("a:{x}-{y}.txt", "a:--2.txt", Some(&["-", "2"])),
            ("a:{x}-{y}.txt", "a:1-b.txt.txt", Some(&["1", "b.txt"])),
            ("a:{x}-{y}.txt", "a:1-.txt", None),
            ("a:{x}-{y}.txt", "a:1/2-3.txt", None),
            ("a:{x}/{y}", "a:é/ü", Some(&["é", "ü"])),
            ("a:b", "a:b", Some(&[])),
            ("a:b", "a:bc", None),
        ];
        for (template, uri, expected) in table {
            let expected = expected.map(|values| values.iter().map(ToString::to_string).collect());
            assert_eq!(matched(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn what_cannot_be_matched_is_no_template() {
        for (template, why) in [
            ("g/{name}", "scheme"),
            ("{scheme}:x", "scheme"),
            ("a:{+path}", "{+path}"),
            ("a:{x,y}", "{x,y}"),
            ("a:{}", "{}"),
            ("a:{x", "without a }"),
            ("a:x}", "without a {"),
            ("a:}{x}", "without a {"),
            ("a:{x}{y}", "between {y}"),
            ("a:{x}/{x}", "{x} twice"),
        ] {
            let said = Template::parse(template).expect_err(template);
            assert!(said.contains(why), "{template}: {said}");
        }
    }
}

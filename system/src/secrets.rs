//! Keeping secrets out of what is shown and written.

use std::borrow::Cow;
use std::fmt;

/// What stands in for a secret.
const MASK: &str = "***";

/// From how many bytes on a part of a secret gives it away.
const MIN_PART: usize = 8;

/// The values that must not be seen, in every spelling that is known.
///
/// `Debug` prints how many spellings there are, and nothing else.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} spellings)", self.0.len())
    }
}

impl Secrets {
    /// These values and each line of them, their spellings inside JSON and addresses, and their Base64.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut all = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            if secret.contains('\n') {
                secret
                    .lines()
                    .filter(|line| line.len() >= MIN_PART)
                    .for_each(|line| add_spellings(&mut all, line));
            }
            add_spellings(&mut all, &secret);
        }
        Self::of_spellings(all)
    }

    fn of_spellings(mut all: Vec<String>) -> Self {
        // Longest first, so that what contains another one goes whole.
        all.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Self(all)
    }

    /// These, and more.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = String>) -> Self {
        let mut all = Self::new(more).0;
        all.extend_from_slice(&self.0);
        Self::of_spellings(all)
    }

    /// Whether a name says that its value is secret: of a variable, a header, a member of an object.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        ["TOKEN", "KEY", "SECRET", "PASS", "PWD", "AUTH", "CREDENTIAL", "COOKIE", "BEARER", "DSN"]
            .iter()
            .any(|part| name.contains(part))
    }

    /// All spellings, the longest first.
    pub(crate) fn spellings(&self) -> &[String] {
        &self.0
    }

    /// The text without secrets: three stars stand for each.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for secret in &self.0 {
            if out.contains(secret.as_str()) {
                out = Cow::Owned(out.replace(secret.as_str(), MASK));
            }
        }
        let cut = |line: &str| self.0.iter().find_map(|secret| without_part(line, secret));
        if out.lines().any(|line| cut(line).is_some()) {
            let lines: Vec<Cow<'_, str>> =
                out.split('\n').map(|line| cut(line).map_or(Cow::Borrowed(line), Cow::Owned)).collect();
            out = Cow::Owned(lines.join("\n"));
        }
        out
    }
}

/// A secret as it is, and as it may be written elsewhere.
fn add_spellings(all: &mut Vec<String>, secret: &str) {
    let mut json = Vec::new();
    sanswire::jsonrpc::write_string(&mut json, secret);
    let json = String::from_utf8_lossy(&json);
    let json = json.get(1..json.len() - 1).unwrap_or_default();
    // As some languages write it: with slashes, with what means something in HTML, with all but ASCII escaped.
    let html = |c: char| matches!(c, '&' | '<' | '>');
    for json in [json.to_owned(), json.replace('/', "\\/")] {
        all.push(escaped(&json, html));
        all.push(escaped(&json, |c| !c.is_ascii()));
        all.push(escaped(&json, |c| html(c) || !c.is_ascii()));
        all.push(json);
    }
    let mut address = String::new();
    for byte in secret.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => address.push(byte.into()),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    all.push(address);
    // As Rust shows a text.
    let shown = format!("{secret:?}");
    all.push(shown.get(1..shown.len() - 1).unwrap_or_default().to_owned());
    let encoded = sanswire::base64::encode(secret.as_bytes());
    all.push(encoded.trim_end_matches('=').to_owned());
    all.push(secret.to_owned());
}

fn escaped(json: &str, so: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if so(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The line without the part of `secret` that was left at an end of it, where it was cut; `None` if there is none.
fn without_part(line: &str, secret: &str) -> Option<String> {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len())?;
    let cuts = || secret.char_indices().map(|(at, _)| at);
    let front = |at: &usize| secret.get(..*at).is_some_and(|part| text.ends_with(part));
    if let Some(at) = cuts().rev().take_while(|at| *at >= MIN_PART).find(front) {
        return Some(format!("{indent}{}{MASK}", text.get(..text.len() - at)?));
    }
    let back = |at: &usize| secret.get(*at..).is_some_and(|part| text.starts_with(part));
    let at = cuts().skip(1).take_while(|at| secret.len() - at >= MIN_PART).find(back)?;
    Some(format!("{indent}{MASK}{}", text.get(secret.len() - at..)?))
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn b_99_a_secret_goes_in_every_spelling() {
        let mask = Secrets::new(["pa\"ss\nword".to_owned(), "pa".to_owned()]);
        assert_eq!(mask.apply("x pa\"ss\nword y"), "x *** y");
        assert_eq!(mask.apply(r#"{"k":"pa\"ss\nword"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.apply("cGEic3MKd29yZA=="), "***==");
        assert_eq!(mask.apply("nothing"), "nothing");
        let mask = Secrets::new(["s3cr3t/value\"".to_owned()]);
        assert_eq!(mask.apply(r#"{"k":"s3cr3t\/value\""}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.apply("cut off: s3cr3t/v"), "cut off: ***");
        assert_eq!(mask.apply("so:\n  3t/value\" was cut off\n"), "so:\n  *** was cut off\n");
        assert_eq!(mask.apply("s3cr3t/"), "s3cr3t/");
        let mask = Secrets::new(["p&ss/<wört>".to_owned(), "first line\nsecond line\n".to_owned()]);
        for spelled in [
            r"p\u0026ss/\u003cwört\u003e",
            r"p&ss\/<w\u00f6rt>",
            r"p\u0026ss\/\u003cw\u00f6rt\u003e",
            "p%26ss%2F%3Cw%C3%B6rt%3E",
        ] {
            assert_eq!(mask.apply(&format!("\"{spelled}\"")), "\"***\"");
        }
        assert_eq!(mask.apply("| second line |"), "| *** |");
    }
}

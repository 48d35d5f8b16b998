//! Keeping secrets out of what is shown and written.

use std::borrow::Cow;

/// What stands in for a secret.
const MASK: &str = "***";

/// From how many bytes on a part of a secret gives it away.
const MIN_PART: usize = 6;

/// The values that must not be seen, in every spelling that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    /// Masks these values, their spelling inside JSON, and their Base64.
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut all = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            let mut json = Vec::new();
            sanswire::jsonrpc::write_string(&mut json, &secret);
            let json = String::from_utf8_lossy(&json);
            let json = json.get(1..json.len() - 1).unwrap_or_default();
            all.push(json.to_owned());
            // As some languages write it.
            all.push(json.replace('/', "\\/"));
            let encoded = data_encoding::BASE64.encode(secret.as_bytes());
            all.push(encoded.trim_end_matches('=').to_owned());
            all.push(secret);
        }
        // Longest first, so that what contains another one goes whole.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all.dedup();
        Self(all)
    }

    /// The text without secrets.
    pub(crate) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for secret in &self.0 {
            if out.contains(secret.as_str()) {
                out = Cow::Owned(out.replace(secret.as_str(), MASK));
            }
        }
        for secret in &self.0 {
            if let Some(kept) = without_part(&out, secret) {
                out = Cow::Owned(kept);
            }
        }
        out
    }
}

/// The text without the part of `secret` that was left at an end of it, where it was cut.
fn without_part(text: &str, secret: &str) -> Option<String> {
    let cuts = || secret.char_indices().map(|(at, _)| at);
    let front = cuts()
        .rev()
        .take_while(|at| *at >= MIN_PART)
        .find(|at| secret.get(..*at).is_some_and(|part| text.ends_with(part)));
    if let Some(at) = front {
        return Some(format!("{}{MASK}", text.get(..text.len() - at)?));
    }
    let back = cuts()
        .skip(1)
        .take_while(|at| secret.len() - at >= MIN_PART)
        .find(|at| secret.get(*at..).is_some_and(|part| text.starts_with(part)));
    back.and_then(|at| Some(format!("{MASK}{}", text.get(secret.len() - at..)?)))
}

#[cfg(test)]
mod tests {
    use super::Mask;

    #[test]
    fn b_99_a_secret_goes_in_every_spelling() {
        let mask = Mask::new(["pa\"ss\nword".to_owned(), "pa".to_owned()]);
        assert_eq!(mask.apply("x pa\"ss\nword y"), "x *** y");
        assert_eq!(mask.apply(r#"{"k":"pa\"ss\nword"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.apply("cGEic3MKd29yZA=="), "***==");
        assert_eq!(mask.apply("nothing"), "nothing");
        let mask = Mask::new(["s3cr3t/value\"".to_owned()]);
        assert_eq!(mask.apply(r#"{"k":"s3cr3t\/value\""}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.apply("cut off: s3cr3t/v"), "cut off: ***");
        assert_eq!(mask.apply("3t/value\" was cut off"), "*** was cut off");
        assert_eq!(mask.apply("s3cr3"), "s3cr3");
    }
}

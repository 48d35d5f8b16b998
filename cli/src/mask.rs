//! Keeping secrets out of what is shown and written.

use std::borrow::Cow;

/// What stands in for a secret.
const MASK: &str = "***";

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
            all.push(json.trim_matches('"').to_owned());
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
        out
    }
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
    }
}

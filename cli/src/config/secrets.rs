//! Secrets inside of a longer text: in addresses, headers, and objects of JSON.

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};

use super::launch::is_secret_name;

/// From how many bytes on something that stands where a secret would is one.
const MIN: usize = 3;
/// From how many bytes on something is one whose name does not say so.
const MIN_PLAIN: usize = 8;
/// From how many bytes on a user in an address is a token.
const MIN_USER: usize = 8;

/// Adds what `text` holds of secrets.
pub(super) fn within(text: &str, found: &mut Vec<String>) {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = RawJson::parse_str(text)
    {
        return members(value.view(), found);
    }
    header(text, found);
    if let Some((_, rest)) = text.split_once("://") {
        address(rest, found);
    }
}

/// What is secret in a header that is sent: its value, and what stands behind the name of its scheme, with the password
/// that this may be.
pub(super) fn sent(name: &str, value: &str, found: &mut Vec<String>) {
    if !is_secret_name(name) {
        let parts = [Some(value), value.split_once(' ').map(|(_, rest)| rest.trim())];
        found.extend(parts.into_iter().flatten().filter(|part| part.len() >= MIN_PLAIN).map(str::to_owned));
    }
    named(name, value, found);
}

/// What looks secret in a header: its value where its name says so, and a password where that says what it is itself.
pub(super) fn named(name: &str, value: &str, found: &mut Vec<String>) {
    if is_secret_name(name) {
        credential(value, found);
    }
    let pair = value.split_once(' ').and_then(|(_, rest)| sanswire::base64::decode(rest.trim().as_bytes()));
    if let Some((_, password)) =
        pair.and_then(|pair| String::from_utf8(pair).ok()).as_deref().and_then(|pair| pair.split_once(':'))
        && password.len() >= MIN
    {
        found.push(password.to_owned());
    }
}

/// The password in the address of a proxy, with the name as it is sent.
pub(super) fn user(proxy: &str, found: &mut Vec<String>) {
    let rest = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let Some((user, _)) = rest.split('/').next().unwrap_or_default().rsplit_once('@') else { return };
    let plain = unescaped(user);
    for user in [Some(user), plain.as_deref()].into_iter().flatten() {
        found.push(user.to_owned());
        let password = user.split_once(':').map(|(_, password)| password);
        found.extend(password.filter(|password| password.len() >= MIN).map(str::to_owned));
    }
}

/// The values in the query of an address of a server, as they stand and as they are meant. Short ones that do not look
/// secret would make every text unreadable.
pub(super) fn query(url: &str, found: &mut Vec<String>) {
    let Some((_, query)) = url.split_once('?') else { return };
    for (name, value) in query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('=')) {
        if value.len() >= if is_secret_name(name) { MIN } else { MIN_PLAIN } {
            found.push(value.to_owned());
            found.extend(unescaped(value));
        }
    }
}

/// `Authorization: Bearer x`, `X-Api-Key:x`.
fn header(text: &str, found: &mut Vec<String>) {
    // Behind a flag too: `--header=Authorization: Bearer x`.
    let Some((name, value)) = text.split_once(':') else { return };
    let name = name.rsplit('=').next().unwrap_or(name).trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(plain) && is_secret_name(name) && !value.starts_with("//") {
        credential(value, found);
    }
}

/// A value, and what stands behind the name of its scheme.
fn credential(value: &str, found: &mut Vec<String>) {
    let value = value.trim();
    let parts = [Some(value), value.split_once(' ').map(|(_, rest)| rest.trim())];
    found.extend(parts.into_iter().flatten().filter(|part| part.len() >= MIN).map(str::to_owned));
}

/// `user:password@host/path?key=x`, as it stands and as it is meant.
fn address(rest: &str, found: &mut Vec<String>) {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let secret = match user.map(|user| (user, user.split_once(':'))) {
        Some((_, Some((_, password)))) => Some(password),
        Some((user, None)) => Some(user).filter(|user| user.len() >= MIN_USER),
        None => None,
    };
    let query = rest.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let values = query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('='));
    let values = values.filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value);
    for value in secret.into_iter().chain(values).filter(|value| value.len() >= MIN) {
        found.push(value.to_owned());
        found.extend(unescaped(value));
    }
}

/// What percent signs stand for; `None` if there are none.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    if rest.len() == text.len() { None } else { String::from_utf8(bytes).ok() }
}

/// Every string under a name that says that it is secret.
fn members(value: JsonRef<'_>, found: &mut Vec<String>) {
    for element in value.elements() {
        members(element, found);
    }
    for (name, value) in value.members() {
        match value.str() {
            Some(text) if is_secret_name(&name.decode()) => credential(&text.decode(), found),
            Some(text) => within(&text.decode(), found),
            None if matches!(value.kind(), Kind::Array | Kind::Object) => members(value, found),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{query, sent, user, within};

    #[test]
    fn b_99_secrets_inside_of_words_are_found() {
        for (text, secrets) in [
            ("postgres://user:s3cr%26t@host/db", &["s3cr%26t", "s3cr&t"][..]),
            ("https://host/@scope/x?a=b&api_key=s3cret#top", &["s3cret"]),
            ("https://u:p@ss@host", &["p@ss"]),
            ("https://ghp_0123456789@host/x", &["ghp_0123456789"]),
            ("ssh://git@host/x", &[]),
            ("Authorization: Bearer s3cret==", &["Bearer s3cret==", "s3cret=="]),
            ("--header=X-Api-Key:s3cret", &["s3cret"]),
            (r#"{"a":[{"apiKey":"s3cret"}],"b":"http://u:pw1@h","c":5}"#, &["s3cret", "pw1"]),
            ("{not json", &[]),
            ("key://x", &[]),
            ("100%", &[]),
        ] {
            let mut found = Vec::new();
            within(text, &mut found);
            assert_eq!(found, secrets, "{text}");
        }
    }

    #[test]
    fn b_99_secrets_of_a_server_on_the_web_are_found() {
        for (name, value, secrets) in [
            ("Authorization", "Bearer s3cret", &["Bearer s3cret", "s3cret"][..]),
            ("Authorization", "Basic dTpwdzEyMw==", &["Basic dTpwdzEyMw==", "dTpwdzEyMw==", "pw123"]),
            ("X-Api-Key", "abc", &["abc"]),
            ("X-Region", "eu", &[]),
            ("X-Account", "12345678", &["12345678"]),
            ("X-Basic", "Basic 12345678", &["Basic 12345678", "12345678"]),
        ] {
            let mut found = Vec::new();
            sent(name, value, &mut found);
            assert_eq!(found, secrets, "{name}");
        }
        let mut found = Vec::new();
        user("me:p%40ss@proxy:3128", &mut found);
        assert_eq!(found, ["me:p%40ss", "p%40ss", "me:p@ss", "p@ss"]);
        found.clear();
        user("http://proxy:3128/", &mut found);
        assert_eq!(found, [""; 0]);
        query("https://x/?v=2&profile=some%20one%21&key=abc#x=12345678", &mut found);
        assert_eq!(found, ["some%20one%21", "some one!", "abc", "12345678"]);
    }
}

//! What texts have to look like: URIs, templates of them, MIME types.

/// Whether it is a URI with a scheme, as RFC 3986 has it: by its characters, and its escapes.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.chars();
    let named = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    named && rest.chars().all(is_of_uri) && escapes_are_whole(rest)
}

fn is_of_uri(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)
}

fn escapes_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|behind| {
        let digits = behind.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Whether it is a template as RFC 6570 has it: whatever stands outside of braces may stand in a URI or is beyond ASCII,
/// and in braces stand names.
pub(super) fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    loop {
        let outside = rest.find('{').unwrap_or(rest.len());
        let literal = &rest[..outside];
        let forbidden = |c: char| c.is_control() || " \"<>\\^`{|}".contains(c);
        if literal.contains(forbidden) || !escapes_are_whole(literal) {
            return false;
        }
        let Some(inside) = rest.get(outside + 1..) else { return true };
        let Some((expression, behind)) = inside.split_once('}') else { return false };
        let names = expression.strip_prefix(|c| "+#./;?&=,!@|".contains(c)).unwrap_or(expression);
        if !names.split(',').all(is_variable) {
            return false;
        }
        rest = behind;
    }
}

/// A name, that may be cut or taken apart: `name`, `name:3`, `name*`.
fn is_variable(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, len)) => {
            let fits = (1..=4).contains(&len.len()) && len.bytes().all(|byte| byte.is_ascii_digit());
            if !fits || len.starts_with('0') {
                return false;
            }
            name
        }
        None => text.strip_suffix('*').unwrap_or(text),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%');
    name.split('.').all(|part| !part.is_empty() && part.chars().all(allowed)) && escapes_are_whole(name)
}

/// Whether it is a MIME type: `type/subtype`, and perhaps parameters.
pub(super) fn is_mime_type(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    let kind = text.split(';').next().unwrap_or_default().trim();
    kind.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_told_from_what_is_none() {
        for uri in ["file:///a%20b", "memo:x", "git+ssh://h/p?q=1#f", "http://[::1]:80/", "a:"] {
            assert!(is_uri(uri), "{uri}");
        }
        for other in
            ["", "a", "/a/b", "1a:b", "a b:c", "file:///a b", "file:///\u{e9}", "a:%2", "a:%zz", "a:{b}"]
        {
            assert!(!is_uri(other), "{other}");
        }
    }

    #[test]
    fn templates_are_told_from_what_is_none() {
        for template in
            ["file:///{path}", "a:{+b,c*}{?d:3,e}", "{x.y}", "plain:text", "a:{/b%20c}", "caf\u{e9}:{a}"]
        {
            assert!(is_uri_template(template), "{template}");
        }
        for other in
            ["a:{", "a:}", "a:{}", "a:{b c}", "a:{b:0}", "a:{b:12345}", "a:{..}", "a b", "a:{b}{c", "a:%2{b}"]
        {
            assert!(!is_uri_template(other), "{other}");
        }
    }

    #[test]
    fn mime_types_are_told_from_what_is_none() {
        for mime in ["text/plain", "text/html; charset=utf-8", "application/vnd.a+json", "inode/directory"] {
            assert!(is_mime_type(mime), "{mime}");
        }
        for other in ["", "text", "text/", "/plain", "text/a/b", "te xt/plain"] {
            assert!(!is_mime_type(other), "{other}");
        }
    }
}

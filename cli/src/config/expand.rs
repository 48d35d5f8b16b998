//! Variables in configuration files, each file by the rules of the program that it belongs to.

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// `${NAME}`, `${NAME:-default}`, and `$${` for a `${` that is meant as it stands. The default also stands in
    /// for an empty variable.
    Own,
    /// `${NAME}` and `${NAME:-default}`; what is not set stays as it is.
    ClaudeCode,
    /// `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}`, `${/}`.
    Cursor,
    /// Nothing is expanded.
    None,
}

/// Where values come from.
pub(crate) trait Lookup {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The folder that the file's project is in.
    fn workspace(&self) -> Option<String>;
}

/// A text after expansion.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    /// Variables that have no value; their references stand in the text as they were.
    pub(crate) unset: Vec<String>,
    /// The variables that were put in, with their values.
    pub(crate) values: Vec<(String, String)>,
}

/// Expands every reference of `text` once. What is put in is neither expanded again nor split.
pub(crate) fn expand(text: &str, rules: Rules, lookup: &dyn Lookup) -> Expanded {
    let mut out = Expanded::default();
    let mut rest = text;
    if rules == Rules::None {
        out.text.push_str(text);
        return out;
    }
    while let Some(at) = rest.find("${") {
        let (before, reference) = rest.split_at(at);
        if rules == Rules::Own && before.ends_with('$') {
            // `$${`: one dollar less, and no reference.
            out.text.push_str(before);
            out.text.push('{');
            rest = reference.get(2..).unwrap_or_default();
            continue;
        }
        out.text.push_str(before);
        let Some((inside, after)) = reference.get(2..).and_then(|inside| inside.split_once('}')) else {
            out.text.push_str(reference);
            return out;
        };
        let whole = reference.get(..inside.len() + 3).unwrap_or_default();
        match resolve(inside, rules, lookup) {
            Resolved::Value(value) => {
                out.text.push_str(&value);
                let name = inside.strip_prefix("env:").unwrap_or(inside);
                out.values.push((name.split(":-").next().unwrap_or_default().to_owned(), value));
            }
            Resolved::Unset(name) => {
                out.text.push_str(whole);
                out.unset.push(name);
            }
            Resolved::NoReference => {
                // Only the opening is passed over: another reference may stand inside.
                out.text.push_str("${");
                rest = reference.get(2..).unwrap_or_default();
                continue;
            }
        }
        rest = after;
    }
    out.text.push_str(rest);
    out
}

enum Resolved {
    Value(String),
    Unset(String),
    NoReference,
}

fn resolve(inside: &str, rules: Rules, lookup: &dyn Lookup) -> Resolved {
    if rules == Rules::Cursor {
        let value = match inside {
            "userHome" => lookup.variable("HOME"),
            "workspaceFolder" => lookup.workspace(),
            "workspaceFolderBasename" => {
                lookup.workspace().and_then(|path| Some(path.rsplit('/').next()?.to_owned()))
            }
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
            _ => match inside.strip_prefix("env:").filter(|name| is_name(name)) {
                Some(name) => lookup.variable(name),
                None => return Resolved::NoReference,
            },
        };
        return value.map_or_else(|| Resolved::Unset(inside.into()), Resolved::Value);
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if !is_name(name) {
        return Resolved::NoReference;
    }
    match (lookup.variable(name), default) {
        (Some(value), Some(default)) if value.is_empty() => Resolved::Value(default.into()),
        (Some(value), _) => Resolved::Value(value),
        (None, Some(default)) => Resolved::Value(default.into()),
        (None, None) => Resolved::Unset(name.into()),
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Lookup for Fixed {
        fn variable(&self, name: &str) -> Option<String> {
            match name {
                "VAR" => Some("a b\"'${OTHER}\n$x".into()),
                "EMPTY" => Some(String::new()),
                "HOME" => Some("/home/me".into()),
                _ => None,
            }
        }

        fn workspace(&self) -> Option<String> {
            Some("/work/thing".into())
        }
    }

    fn own(text: &str) -> String {
        let out = expand(text, Rules::Own, &Fixed);
        assert_eq!(out.unset, Vec::<String>::new(), "{text}");
        out.text
    }

    #[test]
    fn b_109_references_are_expanded_once_and_only_in_the_documented_forms() {
        assert_eq!(own("-${VAR}-"), "-a b\"'${OTHER}\n$x-");
        assert_eq!(own("${VAR:-d}"), "a b\"'${OTHER}\n$x");
        assert_eq!(own("${NOPE:-d e}${EMPTY:-f}${EMPTY}${NOPE:-}"), "d ef");
        for literal in ["$VAR", "$", "${", "${VAR", "${}", "${1}", "${a b}", "{VAR}", "%VAR%", "${env:VAR}"] {
            assert_eq!(own(literal), literal);
        }
        assert_eq!(own("$${VAR}"), "${VAR}");
        assert_eq!(own("$$${VAR}"), "$${VAR}");
        assert_eq!(own("a$$b"), "a$$b");
        assert_eq!(own("${a ${EMPTY:-x}"), "${a x");
    }

    #[test]
    fn b_109_what_is_not_set_is_named_and_stays() {
        let out = expand("x${NOPE}y${GONE}", Rules::Own, &Fixed);
        assert_eq!(
            (out.text.as_str(), out.unset.as_slice()),
            ("x${NOPE}y${GONE}", ["NOPE".into(), "GONE".into()].as_slice())
        );
    }

    #[test]
    fn other_programs_rules_are_theirs() {
        let claude = expand("$${HOME}${NOPE:-d}", Rules::ClaudeCode, &Fixed);
        assert_eq!(claude.text, "$/home/med");
        let cursor = expand(
            "${env:HOME}|${userHome}|${workspaceFolder}|${workspaceFolderBasename}|${/}|${HOME}|${env:NOPE}",
            Rules::Cursor,
            &Fixed,
        );
        assert_eq!(cursor.text, "/home/me|/home/me|/work/thing|thing|/|${HOME}|${env:NOPE}");
        assert_eq!(cursor.unset, ["env:NOPE"]);
        assert_eq!(expand("${HOME}", Rules::None, &Fixed).text, "${HOME}");
    }
}

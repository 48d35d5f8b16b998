//! Variables in configuration files, each file by the rules of the program that it belongs to.

use std::borrow::Cow;

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// `${NAME}`, `${NAME:-default}`, and `$${` for a `${` that is meant as it stands. The default also stands in
    /// for an empty variable.
    Own,
    /// `${NAME}` and `${NAME:-default}`; what is not set stays as it is.
    ClaudeCode,
    /// As Claude Code's, but what is not set is an error.
    Portable,
    /// `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}`, `${/}`;
    /// and `${input:ID}`, which VS Code asks for.
    Editor,
    /// `${env:NAME}` and `${file:/path}`.
    Windsurf,
    /// `$NAME` and `${NAME}`.
    Gemini,
    /// `{env:NAME}` and `{file:path}`.
    Opencode,
    /// `${NAME}`, `${NAME:-default}`, `$env:NAME` as a whole text, and `\${` for a `${` that is meant as it stands.
    Mcporter,
    /// `${NAME}`.
    Braced,
    /// Our own, as the reader of a file wrote it that has none.
    Translated,
    /// Nothing is expanded.
    None,
}

impl Rules {
    /// Whether references count in the command, its folder and an address too.
    pub(crate) const fn everywhere(self) -> bool {
        !matches!(self, Self::Own | Self::Translated | Self::None)
    }

    /// Whether what is not set stays as it is written, and is no error.
    pub(crate) const fn unset_stays(self) -> bool {
        matches!(self, Self::ClaudeCode)
    }
}

/// Where values come from.
pub(crate) trait Lookup {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The folder that the file's project is in.
    fn workspace(&self) -> Option<String>;
    /// What stands in a file.
    fn file(&self, path: &str) -> Option<String>;
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

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece<'t> {
    /// As it stands, or as an escape means it.
    Text(&'t str),
    /// A reference, with the text that it is.
    Reference(Reference<'t>, &'t str),
}

/// What is put in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reference<'t> {
    Variable {
        name: &'t str,
        default: Option<&'t str>,
    },
    Home,
    Workspace,
    WorkspaceName,
    Separator,
    /// Something that a person is asked for.
    Input(&'t str),
    File(&'t str),
}

/// Cuts a text at its references.
pub(super) fn pieces(text: &str, rules: Rules) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    if rules == Rules::Mcporter
        && let Some(name) = text.strip_prefix("$env:").filter(|name| is_name(name))
    {
        return vec![Piece::Reference(Reference::Variable { name, default: None }, text)];
    }
    let mut from = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((piece, len)) = piece_at(rest, rules) else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if let Some(before) = text.get(from..at).filter(|before| !before.is_empty()) {
            out.push(Piece::Text(before));
        }
        out.push(piece);
        at += len;
        from = at;
    }
    if let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
        out.push(Piece::Text(rest));
    }
    out
}

/// What begins here that is not just text, and how long it is.
fn piece_at(rest: &str, rules: Rules) -> Option<(Piece<'_>, usize)> {
    if rules == Rules::None || !rest.starts_with(['$', '{', '\\']) {
        return None;
    }
    let escape = match rules {
        Rules::Own | Rules::Translated => "$${",
        Rules::Mcporter => "\\${",
        _ => "",
    };
    if !escape.is_empty() && rest.starts_with(escape) {
        return Some((Piece::Text("${"), escape.len()));
    }
    let found = |reference, len: usize| {
        let whole = rest.get(..len).unwrap_or(rest);
        Some((Piece::Reference(reference, whole), len))
    };
    if rules == Rules::Opencode {
        let (inside, _) = rest.strip_prefix('{')?.split_once('}')?;
        let reference = match inside.split_once(':')? {
            ("env", name) if is_name(name) => Reference::Variable { name, default: None },
            ("file", path) if !path.is_empty() => Reference::File(path),
            _ => return None,
        };
        return found(reference, inside.len() + 2);
    }
    if let Some((inside, _)) = rest.strip_prefix("${").and_then(|inside| inside.split_once('}')) {
        return found(braced(inside, rules)?, inside.len() + 3);
    }
    if rules == Rules::Gemini {
        let name = rest.strip_prefix('$')?;
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        let name = name.get(..end).filter(|name| is_name(name))?;
        return found(Reference::Variable { name, default: None }, name.len() + 1);
    }
    None
}

fn braced(inside: &str, rules: Rules) -> Option<Reference<'_>> {
    let variable = |name| is_name(name).then_some(Reference::Variable { name, default: None });
    match rules {
        Rules::Editor => match inside {
            "userHome" => Some(Reference::Home),
            "workspaceFolder" => Some(Reference::Workspace),
            "workspaceFolderBasename" => Some(Reference::WorkspaceName),
            "pathSeparator" | "/" => Some(Reference::Separator),
            _ => match inside.split_once(':')? {
                ("env", name) => variable(name),
                ("input", id) => Some(Reference::Input(id)),
                _ => None,
            },
        },
        Rules::Windsurf => match inside.split_once(':')? {
            ("env", name) => variable(name),
            ("file", path) if !path.is_empty() => Some(Reference::File(path)),
            _ => None,
        },
        Rules::Gemini | Rules::Braced => variable(inside),
        _ => {
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            is_name(name).then_some(Reference::Variable { name, default })
        }
    }
}

/// Expands every reference of `text` once. What is put in is neither expanded again nor split.
pub(crate) fn expand(text: &str, rules: Rules, lookup: &dyn Lookup) -> Expanded {
    let mut out = Expanded::default();
    for piece in pieces(text, rules) {
        let (reference, whole) = match piece {
            Piece::Text(text) => {
                out.text.push_str(text);
                continue;
            }
            Piece::Reference(reference, whole) => (reference, whole),
        };
        let (name, value) = resolve(reference, lookup);
        match value {
            Some(value) => {
                out.text.push_str(&value);
                out.values.push((name.into_owned(), value));
            }
            None => {
                out.text.push_str(whole);
                out.unset.push(name.into_owned());
            }
        }
    }
    out
}

/// What is put in for a reference, under the name of it.
fn resolve<'t>(reference: Reference<'t>, lookup: &dyn Lookup) -> (Cow<'t, str>, Option<String>) {
    let (name, value) = match reference {
        Reference::Variable { name, default } => {
            let value = match (lookup.variable(name), default) {
                (Some(value), Some(default)) if value.is_empty() => Some(default.into()),
                (None, Some(default)) => Some(default.into()),
                (value, _) => value,
            };
            (name, value)
        }
        Reference::Home => ("userHome", lookup.variable("HOME")),
        Reference::Workspace => ("workspaceFolder", lookup.workspace()),
        Reference::WorkspaceName => {
            let name = lookup.workspace().and_then(|path| Some(path.rsplit('/').next()?.to_owned()));
            ("workspaceFolderBasename", name)
        }
        Reference::Separator => ("pathSeparator", Some(std::path::MAIN_SEPARATOR.to_string())),
        Reference::Input(id) => return (format!("input:{id}").into(), None),
        Reference::File(path) => return (format!("file:{path}").into(), lookup.file(path)),
    };
    (name.into(), value)
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

        fn file(&self, path: &str) -> Option<String> {
            (path == "/secret").then(|| "kept".into())
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
            Rules::Editor,
            &Fixed,
        );
        assert_eq!(cursor.text, "/home/me|/home/me|/work/thing|thing|/|${HOME}|${env:NOPE}");
        assert_eq!(cursor.unset, ["NOPE"]);
        let asked = expand("a${input:key}", Rules::Editor, &Fixed);
        assert_eq!((asked.text.as_str(), asked.unset[0].as_str()), ("a${input:key}", "input:key"));
        for (rules, text, expected) in [
            (Rules::Portable, "${HOME}${NOPE:-d}$HOME", "/home/med$HOME"),
            (
                Rules::Windsurf,
                "${env:HOME}|${file:/secret}|${HOME}|${userHome}",
                "/home/me|kept|${HOME}|${userHome}",
            ),
            (Rules::Gemini, "$HOME/x${HOME}$$HOME.$1${HOME:-d}", "/home/me/x/home/me$/home/me.$1${HOME:-d}"),
            (
                Rules::Opencode,
                "{env:HOME}{file:/secret}{HOME}${HOME}{env:}",
                "/home/mekept{HOME}${HOME}{env:}",
            ),
            (Rules::Mcporter, "${HOME}${NOPE:-d}\\${HOME}x$env:HOME", "/home/med${HOME}x$env:HOME"),
            (Rules::Mcporter, "$env:HOME", "/home/me"),
            (Rules::Braced, "${HOME}$HOME${NOPE:-d}", "/home/me$HOME${NOPE:-d}"),
            (Rules::Translated, "${HOME}$${HOME}", "/home/me${HOME}"),
        ] {
            let out = expand(text, rules, &Fixed);
            assert_eq!((out.text.as_str(), out.unset.len()), (expected, 0), "{rules:?} {text}");
        }
        for (rules, text, name) in [
            (Rules::Gemini, "a $NOPE", "NOPE"),
            (Rules::Opencode, "{file:gone}", "file:gone"),
            (Rules::Mcporter, "$env:NOPE", "NOPE"),
        ] {
            let out = expand(text, rules, &Fixed);
            assert_eq!((out.text.as_str(), out.unset[0].as_str()), (text, name), "{rules:?}");
        }
        assert_eq!(expand("${HOME}", Rules::None, &Fixed).text, "${HOME}");
    }
}

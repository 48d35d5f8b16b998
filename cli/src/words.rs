//! What a person types on one line: the words of a command, and the name of a server.

/// The words of a line, and what of it says something else than it seems to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Words {
    pub(crate) words: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Splits at white space. A run in `"` or `'` at the start of a word is one word, without its quotes; nothing is an
/// escape, and no shell is asked: `|`, `*`, `~` and `$` are plain text.
///
/// Quotes elsewhere group nothing. One at an end of a word is dropped, and that is told.
pub(crate) fn split(line: &str) -> Words {
    let mut out = Words::default();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if matches!(first, '"' | '\'')
            && let Some((run, after)) = rest.get(1..).and_then(|inside| inside.split_once(first))
        {
            out.words.push(run.to_owned());
            if !after.is_empty() && !after.starts_with(char::is_whitespace) {
                out.notes.push(format!("what stands right behind {first}{run}{first} is a word of its own"));
            }
            rest = after.trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        let begun = word.strip_prefix(['"', '\'']);
        let bare = begun.unwrap_or(word);
        let bare = bare.strip_suffix(['"', '\'']).unwrap_or(bare);
        if begun.is_some() {
            out.notes.push(format!("the quote that {word} begins with is not closed, and was dropped"));
        } else if bare.len() < word.len() {
            out.notes.push(format!("the quote that {word} ends with was dropped"));
        } else if bare.contains('"') {
            out.notes.push(format!("the quotes in {word} are part of it, and group nothing"));
        }
        if bare.ends_with('\\') && !rest.is_empty() {
            out.notes.push(format!(
                "the backslash that {word} ends with is part of it; put quotes around all of the word"
            ));
        }
        out.words.push(bare.to_owned());
    }
    out
}

/// Why a name cannot be given to a new server: it must begin with a letter or digit, and hold nothing else but
/// hyphens. `Ok`: the name without white space around it.
pub(crate) fn check_name(name: &str) -> Result<&str, &'static str> {
    let name = name.trim();
    let mut characters = name.bytes();
    match characters.next() {
        None => Err("a name is needed"),
        Some(first) if !first.is_ascii_alphanumeric() => Err(CHARACTERS),
        _ if !characters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => Err(CHARACTERS),
        _ => Ok(name),
    }
}

const CHARACTERS: &str =
    "a name begins with a letter or a digit, and holds letters, digits and hyphens only (a-z, A-Z, 0-9, -)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_the_documentation_says() {
        // H-165, H-166
        let table: [(&str, &[&str]); 15] = [
            ("", &[]),
            (
                "-y @modelcontextprotocol/server-filesystem .",
                &["-y", "@modelcontextprotocol/server-filesystem", "."],
            ),
            ("--root \"/home/my folder\"", &["--root", "/home/my folder"]),
            ("--root '/home/my folder'", &["--root", "/home/my folder"]),
            ("  a   b  ", &["a", "b"]),
            ("\"\"", &[""]),
            ("\"unclosed run", &["unclosed", "run"]),
            ("--root=\"/my dir\"", &["--root=\"/my", "dir"]),
            ("'\"x\"'", &["\"x\""]),
            ("\"a\"\"b\"", &["a", "b"]),
            ("a\\ b", &["a\\", "b"]),
            ("5\"", &["5"]),
            ("it's", &["it's"]),
            (
                "\"/opt/MCP Servers/server\" \"--config=dev env.json\" ''",
                &["/opt/MCP Servers/server", "--config=dev env.json", ""],
            ),
            ("a\tb | * ~ $X", &["a", "b", "|", "*", "~", "$X"]),
        ];
        for (line, words) in table {
            assert_eq!(split(line).words, words, "{line}");
        }
    }

    #[test]
    fn b_111_whatever_a_line_cannot_say_is_told() {
        for (line, told) in [
            ("\"unclosed run", 1),
            ("--root=\"/my dir\"", 2),
            ("\"a\"\"b\"", 1),
            ("a\\ b", 1),
            ("5\"", 1),
            ("it's", 0),
            ("a \"b c\" 'd' '' | * ~", 0),
        ] {
            let notes = split(line).notes;
            assert_eq!(notes.len(), told, "{line}: {notes:?}");
        }
    }

    #[test]
    fn a_new_name_is_of_letters_digits_and_hyphens() {
        // H-158, H-159
        for name in ["filesystem", "my-server", "server2", "My-Server", "2fast", "trail-", " padded "] {
            assert_eq!(check_name(name), Ok(name.trim()), "{name:?}");
        }
        for name in ["", "   "] {
            assert_eq!(check_name(name), Err("a name is needed"), "{name:?}");
        }
        for name in ["my server", "my__server", "my_server", "files/local", "-lead", "süd", "a.b"] {
            assert_eq!(check_name(name), Err(CHARACTERS), "{name:?}");
        }
    }
}

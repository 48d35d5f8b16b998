//! Patterns of names.

/// Whether `name` is of the form that `pattern` says: `*` stands for any run of characters, `?` for one, everything
/// else for itself, to the case.
///
/// Compares characters, never more than the product of both lengths; most patterns cost one pass.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // Where to go on if the run of the last star has to be one character longer.
    let mut again = None;
    loop {
        let (mut next_pattern, mut next_name) = (pattern.clone(), name.clone());
        match (next_pattern.next(), next_name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                again = Some((next_pattern.clone(), name.clone()));
                pattern = next_pattern;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                (pattern, name) = (next_pattern, next_name);
            }
            _ => {
                let Some((behind, run)) = &mut again else { return false };
                if run.next().is_none() {
                    return false;
                }
                (pattern, name) = (behind.clone(), run.clone());
            }
        }
    }
}

/// What a pattern is like, so that the usual ones are compared without going through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Any name: `*`.
    Any,
    /// One name.
    Name,
    /// A beginning, and any run behind it.
    Beginning,
    /// Anything else.
    Other,
}

impl Form {
    pub(crate) fn of(pattern: &str) -> Self {
        let mut stars = pattern.bytes().enumerate().filter(|(_, b)| matches!(b, b'*' | b'?'));
        match (stars.next(), pattern.len()) {
            (None, _) => Self::Name,
            (Some((0, b'*')), 1) => Self::Any,
            (Some((at, b'*')), len) if at + 1 == len => Self::Beginning,
            _ => Self::Other,
        }
    }

    /// The same as [`matches`], of a pattern of this form.
    pub(crate) fn matches(self, pattern: &str, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name => pattern == name,
            Self::Beginning => pattern.strip_suffix('*').is_some_and(|beginning| name.starts_with(beginning)),
            Self::Other => matches(pattern, name),
        }
    }
}

/// Whether a pattern is more than one name.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_is_any_run_and_a_question_mark_one_character() {
        let table = [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "A", false),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "a/b c", true),
            ("get_*", "get_", true),
            ("get_*", "get_x", true),
            ("get_*", "forget_x", false),
            ("*_x", "get_x_x", true),
            ("*_x", "get_x_", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "acb", false),
            ("?", "日", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("[ab]", "a", false),
            ("a.c", "abc", false),
            ("\\*", "*", false),
            ("**", "ab", true),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        let (long, almost) = ("*a".repeat(200), "a".repeat(1000));
        assert!(!matches(&(long + "b"), &almost));
    }

    /// The same by the definition, one character at a time.
    fn by_definition(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                by_definition(rest, name) || (!name.is_empty() && by_definition(pattern, &name[1..]))
            }
            ([wanted, rest @ ..], [found, left @ ..]) => {
                (*wanted == '?' || wanted == found) && by_definition(rest, left)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_what_their_definition_says(pattern in "[ab*?]{0,7}", name in "[ab]{0,8}") {
            let chars = |text: &String| text.chars().collect::<Vec<_>>();
            let expected = by_definition(&chars(&pattern), &chars(&name));
            prop_assert_eq!(matches(&pattern, &name), expected);
            prop_assert_eq!(Form::of(&pattern).matches(&pattern, &name), expected);
        }
    }
}

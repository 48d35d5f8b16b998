//! The name under which a tool of one of many servers is offered.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

/// The longest name that is offered, in bytes: what the services of language models take.
pub const MAX_EXPOSED_BYTES: usize = 64;

/// What is kept of a server's name in front of a hash.
const SERVER_SHARE: usize = 23;

/// What is kept of a tool's name in front of a hash.
const TOOL_SHARE: usize = 24;

/// How tools are named.
///
/// A name is `mcp__SERVER__TOOL`, where every character but ASCII letters, digits, `_` and `-` has become one `_`. If
/// that changed anything, or the whole has more than [`MAX_EXPOSED_BYTES`], the first 23 characters of the server's
/// name and the first 24 of the tool's are kept, and `__` and eight hexadecimal digits of a hash over both as they
/// were follow.
///
/// A name depends on nothing but its own server and tool, so it stays the same whoever else is configured. Two pairs
/// may come to one name: [`Names`](super::Names) finds that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Naming {
    /// Whether a pair is hashed as well where the name does not show where the server ends: where a segment holds
    /// `__`, or touches the joint with a `_`. Then only pairs whose hashes are equal come to one name. Default: no.
    pub hash_ambiguous: bool,
}

/// A name under which a tool can be offered: 1 to 64 characters of `A-Z a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExposedName {
    text: Arc<str>,
    hashed: bool,
}

impl Naming {
    /// The name of `tool` on `server`; either may be any text, an empty one too. Hashes both where it must.
    #[must_use]
    pub fn name(self, server: &str, tool: &str) -> ExposedName {
        let whole = server.len().saturating_add(tool.len()).saturating_add("mcp____".len());
        let plain = whole <= MAX_EXPOSED_BYTES
            && is_clean(server)
            && is_clean(tool)
            && !(self.hash_ambiguous && is_ambiguous(server, tool));
        let mut text = String::with_capacity(MAX_EXPOSED_BYTES);
        text.push_str("mcp__");
        if plain {
            text.push_str(server);
            text.push_str("__");
            text.push_str(tool);
        } else {
            text.extend(server.chars().take(SERVER_SHARE).map(clean));
            text.push_str("__");
            text.extend(tool.chars().take(TOOL_SHARE).map(clean));
            text.push_str("__");
            let hash = Sha256::new().chain_update(server).chain_update([0]).chain_update(tool).finalize();
            for byte in hash.iter().take(4) {
                let _ = write!(text, "{byte:02x}");
            }
        }
        ExposedName { text: text.into(), hashed: !plain }
    }
}

impl ExposedName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it ends in a hash, so that it says less than all of what it stands for.
    #[must_use]
    pub const fn is_hashed(&self) -> bool {
        self.hashed
    }

    pub(super) fn into_text(self) -> Arc<str> {
        self.text
    }
}

impl fmt::Display for ExposedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const fn clean(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }
}

fn is_clean(segment: &str) -> bool {
    segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Whether the joint could be read in more than one place.
fn is_ambiguous(server: &str, tool: &str) -> bool {
    server.contains("__") || tool.contains("__") || server.ends_with('_') || tool.starts_with('_')
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    const A40: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B56: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    /// Note, server, tool, name, whether it is hashed.
    #[test]
    fn names_are_joined_and_only_hashed_where_something_would_be_lost() {
        // H-001, H-002, H-003, H-004, H-005, H-007
        let (a23, a50, b34, b35) = (&A40[..23], format!("{A40}aaaaaaaaaa"), &B56[..34], &B56[..35]);
        let (b40, b57) = (&B56[..40], format!("{B56}b"));
        let table = [
            ("clean", "github", "create_issue", "mcp__github__create_issue", false),
            ("hyphen", "sqlite-notes", "read_query", "mcp__sqlite-notes__read_query", false),
            ("short", "fs", "read_file", "mcp__fs__read_file", false),
            ("tool changed", "server", "tool.name", "mcp__server__tool_name__d6d126fd", true),
            ("server changed", "my.server!one", "tool", "mcp__my_server_one__tool__bc0d26db", true),
            ("both changed", "a.b", "c d", "mcp__a_b__c_d__822d6a82", true),
            ("one code point", "srv", "café", "mcp__srv__caf___6e9d11df", true),
            ("three code points", "srv", "日本語", "mcp__srv_______524f5e89", true),
            ("combining mark", "srv", "e\u{301}clair", "mcp__srv__e_clair__1c551d10", true),
            ("astral", "srv", "🎉party", "mcp__srv___party__53f190a2", true),
            ("empty server", "", "tool", "mcp____tool", false),
            ("empty tool", "server", "", "mcp__server__", false),
            ("both empty", "", "", "mcp____", false),
            ("64 bytes", "a", B56, &format!("mcp__a__{B56}"), false),
            ("65 bytes", "a", &b57, "mcp__a__bbbbbbbbbbbbbbbbbbbbbbbb__f21797aa", true),
            ("both cut", A40, b40, &format!("mcp__{a23}__{}__0365e0f6", &B56[..24]), true),
            ("64 bytes, full share", a23, b34, &format!("mcp__{a23}__{b34}"), false),
            ("65 bytes, full share", a23, b35, &format!("mcp__{a23}__{}__0cb9f523", &B56[..24]), true),
            ("long server, short whole", &a50, "t", &format!("mcp__{a50}__t"), false),
            ("clean server cut for its tool", &a50, "t.x", &format!("mcp__{a23}__t_x__a2da086b"), true),
            ("hash tells apart", "s", "a.b", "mcp__s__a_b__407e8e5c", true),
            ("hash tells apart", "s", "a!b", "mcp__s__a_b__9daa747d", true),
            ("clean neighbour", "s", "a-b", "mcp__s__a-b", false),
            ("blanks", "with space", "with space", "mcp__with_space__with_space__c1c8d18d", true),
            ("ambiguous", "a", "b__c", "mcp__a__b__c", false),
            ("ambiguous", "a__b", "c", "mcp__a__b__c", false),
            ("NUL", "srv", "a\0b", "mcp__srv__a_b__bc5fc078", true),
        ];
        for (note, server, tool, expected, hashed) in table {
            let name = Naming::default().name(server, tool);
            assert_eq!((name.as_str(), name.is_hashed()), (expected, hashed), "{note}");
            assert_eq!(name.to_string(), expected);
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_hashed_on_request() {
        let naming = Naming { hash_ambiguous: true };
        let table = [
            ("a", "b__c", true),
            ("a__b", "c", true),
            ("a_", "b", true),
            ("a", "_b", true),
            ("_a", "b_", false),
            ("a_b", "c_d", false),
            ("", "", false),
            ("github", "create_issue", false),
        ];
        for (server, tool, hashed) in table {
            assert_eq!(naming.name(server, tool).is_hashed(), hashed, "{server} {tool}");
        }
        assert_eq!(naming.name("a.b", "c d"), Naming::default().name("a.b", "c d"));
        assert_ne!(naming.name("a", "b__c"), naming.name("a__b", "c"));
    }

    fn segment() -> impl Strategy<Value = String> {
        prop_oneof!["[a_.]{0,4}", "[ab_-]{20,60}", ".{0,30}"]
    }

    proptest! {
        #[test]
        fn any_pair_gives_a_name_that_can_be_offered(server in segment(), tool in segment(), hash in any::<bool>()) {
            // H-007
            let name = Naming { hash_ambiguous: hash }.name(&server, &tool);
            prop_assert!((1..=MAX_EXPOSED_BYTES).contains(&name.as_str().len()), "{name}");
            prop_assert!(is_clean(name.as_str()), "{name}");
        }

        #[test]
        fn with_ambiguous_pairs_hashed_no_two_have_one_name(
            one in ("[a_]{0,4}", "[a_.]{0,4}"), other in ("[a_]{0,4}", "[a_.]{0,4}"),
        ) {
            let naming = Naming { hash_ambiguous: true };
            prop_assert_eq!(one == other, naming.name(&one.0, &one.1) == naming.name(&other.0, &other.1));
        }
    }
}

//! What was allowed for a session, and how often the same was called in a turn.

use alloc::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::binding::{ArgumentsHash, DefinitionHash};
use super::saved::SavedGrants;
use crate::host::Provenance;
use crate::jsonrpc::JsonRef;

/// The most tools that are remembered as allowed.
pub(in crate::host) const MAX_GRANTS: usize = 10_000;

/// The most different calls that are told apart in one turn.
pub(in crate::host) const MAX_CALLS: usize = 4096;

/// The tools that were allowed for one session: each as it was defined then. Beside them, what was allowed for longer.
///
/// Kept in memory only; whoever keeps [`SavedGrants`] puts them in when the session begins. A grant says nothing
/// against a denial, see [`decide`](super::decide). Holds at most 10,000.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    allowed: BTreeMap<Provenance, DefinitionHash>,
    saved: SavedGrants,
}

impl Grants {
    /// Remembers that a tool, as it is defined, was allowed for the session. False: too many are remembered, so it
    /// will be asked about again.
    pub fn allow(&mut self, tool: &Provenance, definition: DefinitionHash) -> bool {
        if self.allowed.len() >= MAX_GRANTS && !self.allowed.contains_key(tool) {
            return false;
        }
        self.allowed.insert(tool.clone(), definition);
        true
    }

    /// Whether a call of a tool, as it is defined now, was allowed, for the session or for longer: what
    /// [`CallContext::granted`](super::CallContext::granted) says.
    pub fn holds_for(
        &mut self,
        tool: &Provenance,
        definition: DefinitionHash,
        arguments: Option<JsonRef<'_>>,
    ) -> bool {
        self.holds(tool, definition) || self.saved.holds(tool, definition, arguments)
    }

    /// What was allowed for longer than the session.
    #[must_use]
    pub const fn saved(&self) -> &SavedGrants {
        &self.saved
    }

    /// The same, to be put in or changed; keeping it is up to whoever does.
    pub const fn saved_mut(&mut self) -> &mut SavedGrants {
        &mut self.saved
    }

    /// Whether a tool, as it is defined now, was allowed for the session. One that is defined otherwise loses its grant.
    pub fn holds(&mut self, tool: &Provenance, definition: DefinitionHash) -> bool {
        match self.allowed.get(tool) {
            Some(allowed) if *allowed == definition => true,
            Some(_) => {
                self.allowed.remove(tool);
                false
            }
            None => false,
        }
    }

    /// The definition under which a tool was allowed, also if it is defined otherwise now.
    #[must_use]
    pub fn definition(&self, tool: &Provenance) -> Option<DefinitionHash> {
        self.allowed.get(tool).copied()
    }

    /// Takes a grant for the session back. False: there was none.
    pub fn revoke(&mut self, tool: &Provenance) -> bool {
        self.allowed.remove(tool).is_some()
    }

    /// Takes all grants for the session back.
    pub fn clear(&mut self) {
        self.allowed.clear();
    }

    /// What is allowed for the session, sorted by server and tool.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Provenance, DefinitionHash)> {
        self.allowed.iter().map(|(tool, definition)| (tool, *definition))
    }
}

/// The calls of one turn, to find those that are made again and again.
///
/// Tells apart 4,096 different calls; any further one counts as made too often.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    calls: BTreeMap<[u8; 32], u32>,
}

impl Turn {
    /// Counts a call: which one of this tool with these arguments it is, for
    /// [`CallContext::nth_in_turn`](super::CallContext::nth_in_turn).
    pub fn count(&mut self, tool: &Provenance, arguments: ArgumentsHash) -> u32 {
        let mut hash = Sha256::new();
        for name in [&tool.server, &tool.tool] {
            // With its length in front no name can pass for a part of another.
            hash.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(name.as_bytes());
        }
        let key: [u8; 32] = hash.chain_update(arguments.0).finalize().into();
        if self.calls.len() >= MAX_CALLS && !self.calls.contains_key(&key) {
            return u32::MAX;
        }
        let calls = self.calls.entry(key).or_default();
        *calls = calls.saturating_add(1);
        *calls
    }

    /// Begins the next turn: nothing was called yet.
    pub fn begin(&mut self) {
        self.calls.clear();
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::jsonrpc::RawJson;

    const ONE: DefinitionHash = DefinitionHash([1; 32]);
    const TWO: DefinitionHash = DefinitionHash([2; 32]);

    fn tool(server: &str, tool: &str) -> Provenance {
        Provenance::new(server, tool)
    }

    #[test]
    fn a_grant_is_for_one_tool_of_one_server() {
        // H-060, H-063, H-067
        let mut grants = Grants::default();
        assert!(grants.allow(&tool("a", "b\0c"), ONE));
        assert!(grants.holds(&tool("a", "b\0c"), ONE));
        assert_eq!(grants.definition(&tool("a", "b\0c")), Some(ONE));
        for (server, name) in [("a\0b", "c"), ("a", "b"), ("x", "b\0c"), ("a", "mcp_call"), ("", "mcp__a__b")]
        {
            assert!(!grants.holds(&tool(server, name), ONE), "{server:?} {name:?}");
        }
        assert!(grants.revoke(&tool("a", "b\0c")));
        assert!(!grants.holds(&tool("a", "b\0c"), ONE));
        assert!(!grants.revoke(&tool("a", "b\0c")));
    }

    #[test]
    fn a_changed_definition_loses_its_grant_for_good() {
        // H-068
        let mut grants = Grants::default();
        let (one, other) = (tool("s", "t"), tool("s", "u"));
        assert!(grants.allow(&one, ONE) && grants.allow(&other, ONE));
        assert!(!grants.holds(&one, TWO));
        assert!(!grants.holds(&one, ONE), "also when it changes back");
        assert!(grants.holds(&other, ONE));
        assert!(grants.allow(&other, TWO) && !grants.holds(&other, ONE));
    }

    #[test]
    fn what_was_allowed_for_longer_counts_beside_the_session() {
        let mut grants = Grants::default();
        let (saved, dropped) = SavedGrants::read("s/t(a)\n").unwrap();
        assert_eq!(dropped, []);
        *grants.saved_mut() = saved;
        let (tool, with) = (tool("s", "t"), RawJson::parse_str(r#"{"p":"a"}"#).unwrap());
        assert!(grants.holds_for(&tool, ONE, Some(with.view())));
        assert!(!grants.holds_for(&tool, ONE, None) && !grants.holds(&tool, ONE));
        assert!(grants.allow(&tool, ONE) && grants.holds_for(&tool, ONE, None));
        grants.clear();
        assert!(!grants.holds_for(&tool, ONE, None));
        assert!(grants.holds_for(&tool, TWO, Some(with.view())), "what is saved stays");
    }

    #[test]
    fn grants_have_a_bound() {
        let mut grants = Grants::default();
        for n in 0..MAX_GRANTS {
            assert!(grants.allow(&tool("s", &format!("t{n}")), ONE));
        }
        assert!(!grants.allow(&tool("s", "more"), ONE));
        assert!(grants.allow(&tool("s", "t0"), TWO));
        assert_eq!(grants.iter().len(), MAX_GRANTS);
        grants.clear();
        assert_eq!(grants.iter().len(), 0);
    }

    #[test]
    fn the_same_call_is_counted_within_a_turn() {
        // H-045
        let mut turn = Turn::default();
        let with = |text: &str| ArgumentsHash::of(Some(RawJson::parse_str(text).unwrap().view()));
        let mut count = |server: &str, name: &str, text: &str| turn.count(&tool(server, name), with(text));
        let counts: Vec<_> = (0..3).map(|_| count("s", "t", r#"{"a":1,"b":2}"#)).collect();
        assert_eq!(counts, [1, 2, 3]);
        assert_eq!(count("s", "t", r#"{"b":2, "a":1}"#), 4, "says the same");
        for (server, name, text) in
            [("s", "t", "{}"), ("s", "u", r#"{"a":1,"b":2}"#), ("st", "", r#"{"a":1,"b":2}"#)]
        {
            assert_eq!(count(server, name, text), 1, "{server} {name} {text}");
        }
        turn.begin();
        assert_eq!(turn.count(&tool("s", "t"), with(r#"{"a":1,"b":2}"#)), 1);
        for n in 1..MAX_CALLS {
            turn.count(&tool("s", &format!("t{n}")), with("{}"));
        }
        assert_eq!(turn.count(&tool("s", "more"), with("{}")), u32::MAX, "fails closed");
        assert_eq!(turn.count(&tool("s", "t1"), with("{}")), 2);
    }
}

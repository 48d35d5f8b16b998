//! A call as the waist sees it, and what it came to.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::jsonrpc::{JsonRef, write_canonical};
use crate::waist::MAX_NAME_BYTES;
use crate::waist::brakes::Spend;
use crate::waist::capability::Grant;
use crate::waist::containment::{Tier, Trust};
use crate::waist::record::{ErrorClass, Scope};

/// A call that asks to be let through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// What is to be done, as grants name it.
    pub action: Arc<str>,
    /// What it is done to, as a hash: two calls are the same if action and subject are. None: the action alone
    /// says.
    pub subject: Option<[u8; 32]>,
    /// What it belongs to. What it lacks is taken from [`Bindings::scope`](crate::waist::Bindings::scope).
    pub scope: Scope,
    /// What asks for it: an agent, a connection, a part of the program.
    pub actor: Option<Arc<str>>,
    /// For whom it is done, as far as that was established. A name, never a secret.
    pub principal: Option<Arc<str>>,
    /// How far the work is trusted. Default: not at all.
    pub trust: Trust,
    /// The boundary that the work is done behind, if it was declared.
    pub tier: Option<Tier>,
    /// A grant that binds this call besides the waist's.
    pub grant: Option<Arc<Grant>>,
}

impl Call {
    /// A call of `action` with nothing declared or bound.
    pub fn new(action: impl Into<Arc<str>>) -> Self {
        let (scope, trust) = (Scope::default(), Trust::default());
        let (actor, principal) = (None, None);
        Self { action: action.into(), subject: None, scope, actor, principal, trust, tier: None, grant: None }
    }

    /// A call of the tool `name` with these arguments, which become its [`subject`](Self::subject): no arguments are
    /// the same as empty ones. Hashes them in canonical form, O(n log n).
    #[must_use]
    pub fn tool(name: impl Into<Arc<str>>, arguments: Option<JsonRef<'_>>) -> Self {
        let mut text = Vec::new();
        match arguments.filter(|arguments| !arguments.is_null()) {
            Some(arguments) => write_canonical(&mut text, arguments),
            None => text.extend_from_slice(b"{}"),
        }
        Self { subject: Some(Sha256::digest(&text).into()), ..Self::new(name) }
    }

    /// The first name that is too long, in bytes.
    pub(super) fn too_long(&self) -> Option<usize> {
        let Scope { run, goal } = &self.scope;
        let names = [run, goal, &self.actor, &self.principal].map(Option::as_ref);
        let names = [Some(&self.action)].into_iter().chain(names);
        names.flatten().map(|name| name.len()).find(|len| *len > MAX_NAME_BYTES)
    }
}

/// What a call came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The class of its failure; none if it went well. A failure that nobody can name is
    /// [`ErrorClass::Terminal`].
    pub error: Option<ErrorClass>,
    /// What it used up.
    pub spent: Spend,
}

impl End {
    /// It went well and cost nothing.
    #[must_use]
    pub const fn ok() -> Self {
        Self { error: None, spent: Spend { tokens: 0, cost: 0 } }
    }

    /// It failed and cost nothing.
    #[must_use]
    pub const fn failed(class: ErrorClass) -> Self {
        Self { error: Some(class), ..Self::ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;

    #[test]
    fn two_calls_of_a_tool_are_the_same_if_their_arguments_say_the_same() {
        // H-190
        let subject = |arguments: &str| {
            let arguments = RawJson::parse_str(arguments).expect(arguments);
            Call::tool("t", Some(arguments.view())).subject.expect("a tool has one")
        };
        let none = Call::tool("t", None);
        assert_eq!(none.subject, Some(subject("{}")));
        assert_eq!(none.subject, Some(subject("null")));
        assert_eq!((&*none.action, none.trust, none.tier), ("t", Trust::Untrusted, None));
        assert_eq!(subject(r#"{"a":1,"b":"\u0063"}"#), subject(r#" { "b" : "c", "a" : 1 } "#));
        assert_ne!(subject(r#"{"a":1}"#), subject(r#"{"a":2}"#));
        assert_ne!(subject(r#"{"a":1}"#), subject("{}"));
    }
}

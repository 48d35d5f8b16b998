//! Grants: which actions may be done.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

/// The actions that may be done, by name; nothing else may.
///
/// The default is the zero grant, which denies every action. That no grant is bound at all, which admits every
/// action, is `None` where a grant is asked for. Names are compared byte for byte: there are no patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    names: BTreeSet<Arc<str>>,
}

impl Grant {
    /// A grant of these actions.
    pub fn of<N: Into<Arc<str>>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }

    /// Whether `action` may be done.
    #[must_use]
    pub fn admits(&self, action: &str) -> bool {
        self.names.contains(action)
    }

    /// What both this grant and `request` admit. Never more than either.
    #[must_use]
    pub fn narrow(&self, request: &Self) -> Self {
        Self { names: self.names.intersection(&request.names).cloned().collect() }
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }
}

/// The grant of a child: what its parent has of what it asks for.
///
/// A child that asks for nothing in particular gets its parent's grant; a parent without one is bound by what was
/// asked for.
#[must_use]
pub fn narrow(parent: Option<&Grant>, request: Option<&Grant>) -> Option<Grant> {
    match (parent, request) {
        (Some(parent), Some(request)) => Some(parent.narrow(request)),
        (one, other) => one.or(other).cloned(),
    }
}

/// Whether `grant` lets `action` pass; none bound lets all pass.
pub(super) fn admits(grant: Option<&Grant>, action: &str) -> bool {
    grant.is_none_or(|grant| grant.admits(action))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_listed_names_pass_and_the_zero_grant_passes_none() {
        // H-183
        let some = Grant::of(["a", "b"]);
        let table = [
            ("no grant", None, "a", true),
            ("no grant, empty name", None, "", true),
            ("listed", Some(&some), "a", true),
            ("not listed", Some(&some), "c", false),
            ("prefix of a listed name", Some(&some), "", false),
            ("longer than a listed name", Some(&some), "ab", false),
            ("other case", Some(&some), "A", false),
            ("zero grant", Some(&Grant::default()), "a", false),
        ];
        for (name, grant, action, expected) in table {
            assert_eq!(admits(grant, action), expected, "{name}");
        }
    }

    #[test]
    fn a_child_without_a_request_has_its_parents_grant() {
        // H-138
        let (parent, zero) = (Grant::of(["a"]), Grant::default());
        assert_eq!(narrow(None, None), None);
        assert_eq!(narrow(Some(&parent), None), Some(parent.clone()));
        assert_eq!(narrow(None, Some(&parent)), Some(parent.clone()));
        assert_eq!(narrow(Some(&zero), Some(&parent)), Some(zero.clone()));
        assert_eq!(narrow(Some(&parent), Some(&zero)), Some(zero));
        let (asked, both) = (Grant::of(["a", "c", "b"]), Grant::of(["a", "b"]));
        assert_eq!(narrow(Some(&Grant::of(["d", "b", "a"])), Some(&asked)), Some(both));
    }

    fn any_grant() -> impl Strategy<Value = Option<Grant>> {
        let names = proptest::collection::vec("[a-e]{1,2}", 0..8);
        proptest::option::of(names.prop_map(Grant::of::<String>))
    }

    proptest! {
        #[test]
        fn narrowing_never_widens(grants in proptest::collection::vec(any_grant(), 1..5), action in "[a-e]{1,2}") {
            // H-138, H-183: what a line of descent admits at its end, each of its members admits
            let last = grants[1..].iter().fold(grants[0].clone(), |held, next| narrow(held.as_ref(), next.as_ref()));
            let all = grants.iter().all(|grant| admits(grant.as_ref(), &action));
            prop_assert_eq!(admits(last.as_ref(), &action), all);
            if let Some(last) = &last {
                let names: Vec<_> = last.names().collect();
                prop_assert!(names.is_sorted());
            }
        }
    }
}

//! What a `subscriptions/listen` asks for, and what the server agreed to (2026-07-28).

use alloc::string::String;
use alloc::vec::Vec;

use super::flaw::{Flaw, flag, member};
use crate::jsonrpc::{JsonRef, JsonStr, Kind, ObjectWriter, RawJson};

/// Kinds of notification, each asked for on its own. Both what is asked for and what is agreed to.
///
/// Spec: MCP 2026-07-28 basic/patterns/subscriptions; schema, `SubscriptionFilter`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    pub resources_list_changed: bool,
    /// Changes of these resources, by address.
    pub resource_subscriptions: Vec<String>,
}

/// How an acknowledged filter differs from the one that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterDifference {
    /// Asked for, but not agreed to: these notifications will not come.
    pub refused: SubscriptionFilter,
    /// Agreed to, but never asked for.
    pub unasked: SubscriptionFilter,
}

impl FilterDifference {
    /// Whether the server agreed to exactly what it was asked for.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.refused.is_empty() && self.unasked.is_empty()
    }
}

impl SubscriptionFilter {
    /// Asks for nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for changes of the list of tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Asks for changes of the list of prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Asks for changes of the list of resources.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Asks for changes of one more resource.
    #[must_use]
    pub fn resource(mut self, uri: &str) -> Self {
        if !self.resource_subscriptions.iter().any(|known| known == uri) {
            self.resource_subscriptions.push(uri.into());
        }
        self
    }

    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the filter in the parameters of a listen request or of its acknowledgement. Members that are absent,
    /// `null` or of another kind ask for nothing.
    ///
    /// # Errors
    /// There is no `notifications` object, which both need.
    pub fn read(params: JsonRef<'_>) -> Result<Self, Flaw> {
        Self::read_where(params, |_| true)
    }

    /// As [`read`](Self::read), with the addresses that `keeps` keeps: the others are not copied.
    pub(crate) fn read_where(params: JsonRef<'_>, mut keeps: impl FnMut(&str) -> bool) -> Result<Self, Flaw> {
        let filter = member(params, "notifications").ok_or(Flaw::Missing("notifications"))?;
        if filter.kind() != Kind::Object {
            return Err(Flaw::WrongKind { member: "notifications", found: filter.kind() });
        }
        let resources = filter.get("resourceSubscriptions").into_iter().flat_map(JsonRef::elements);
        Ok(Self {
            tools_list_changed: flag(Some(filter), "toolsListChanged", false),
            prompts_list_changed: flag(Some(filter), "promptsListChanged", false),
            resources_list_changed: flag(Some(filter), "resourcesListChanged", false),
            resource_subscriptions: resources
                .filter_map(JsonRef::str)
                .map(JsonStr::decode)
                .filter(|uri| keeps(uri))
                .map(|uri| uri.into_owned())
                .collect(),
        })
    }

    /// Writes the members of the `notifications` object. What is not asked for is left out.
    pub fn write(&self, w: &mut ObjectWriter<'_>) {
        let flags = [
            ("toolsListChanged", self.tools_list_changed),
            ("promptsListChanged", self.prompts_list_changed),
            ("resourcesListChanged", self.resources_list_changed),
        ];
        for (name, _) in flags.into_iter().filter(|(_, asked)| *asked) {
            w.bool(name, true);
        }
        if !self.resource_subscriptions.is_empty() {
            let uris = self.resource_subscriptions.iter().map(String::as_str);
            w.array_of_strings("resourceSubscriptions", uris);
        }
    }

    /// The `notifications` object.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| self.write(w))
    }

    /// Compares what was asked for with what the server acknowledged.
    ///
    /// Spec: MCP 2026-07-28 basic/patterns/subscriptions, "Acknowledgement".
    #[must_use]
    pub fn compare(&self, acknowledged: &Self) -> FilterDifference {
        FilterDifference { refused: self.without(acknowledged), unasked: acknowledged.without(self) }
    }

    fn without(&self, other: &Self) -> Self {
        let missing = |uri: &&String| !other.resource_subscriptions.contains(*uri);
        Self {
            tools_list_changed: self.tools_list_changed && !other.tools_list_changed,
            prompts_list_changed: self.prompts_list_changed && !other.prompts_list_changed,
            resources_list_changed: self.resources_list_changed && !other.resources_list_changed,
            resource_subscriptions: self.resource_subscriptions.iter().filter(missing).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests;

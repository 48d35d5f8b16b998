//! What the head of a message repeats of its body, where a transport has heads: it has to agree.

use crate::exchange::HeadFacts;
use crate::jsonrpc::{JsonRef, JsonStr};
use crate::mcp::{Era, Method, Revision};

/// What the head of a message says of it.
pub(crate) trait Head {
    /// Whether it names a revision without sessions.
    fn is_modern(&self) -> bool;

    /// What a request of 2026-07-28 needs in its head, and is not there, or not as it must be.
    fn lacks(&self, method: &Method) -> Option<&'static str>;

    /// What it says otherwise than the body, the arguments aside. `name` is what the body is about: the name of a tool or
    /// a prompt, the address of a resource.
    fn differs(
        &self,
        version: JsonStr<'_>,
        method: &Method,
        name: Option<JsonStr<'_>>,
    ) -> Option<&'static str>;

    /// Which of the arguments that this tool wants repeated it does not repeat.
    fn differs_in_arguments(&self, tool: JsonStr<'_>, arguments: Option<JsonRef<'_>>)
    -> Option<&'static str>;
}

impl Head for HeadFacts {
    fn is_modern(&self) -> bool {
        self.revision.map(Revision::era) == Some(Era::Modern)
    }

    fn lacks(&self, _: &Method) -> Option<&'static str> {
        None
    }

    fn differs(&self, version: JsonStr<'_>, method: &Method, _: Option<JsonStr<'_>>) -> Option<&'static str> {
        let other = self.revision.is_some_and(|revision| !version.eq_str(revision.as_str()))
            || self.method.as_ref().is_some_and(|said| said != method);
        other.then_some("the head of the message says something else than its body")
    }

    fn differs_in_arguments(&self, _: JsonStr<'_>, _: Option<JsonRef<'_>>) -> Option<&'static str> {
        None
    }
}

//! A check, as data.

use sanswire::mcp::{Era, Revision};

use crate::finding::Finding;
use crate::stage::Stage;
use crate::talk::Talk;

/// One rule, and what shows that it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// What it is called for ever: `framing-split-lines`.
    pub id: &'static str,
    /// What a peer has to do, in one sentence.
    pub title: &'static str,
    /// Where that is said.
    pub source: Source,
    /// How much it weighs.
    pub strength: Strength,
    /// In which revisions it holds.
    pub speaks: Speaks,
    /// What it needs of the other side: the capabilities that a server has to declare, `tools`; the methods that a client has
    /// to use when all is well, `tools/call`.
    pub needs: &'static [&'static str],
    /// Whether its process serves other checks as well.
    pub company: Company,
    /// What a correct peer does, and why it matters: for whoever has to mend one.
    pub explain: &'static str,
    /// What it does.
    pub script: Script,
}

impl Check {
    /// A check that shares a connection, tries the newest revision of each era, and needs nothing declared.
    pub(crate) const fn new(
        strength: Strength,
        id: &'static str,
        source: Source,
        title: &'static str,
        explain: &'static str,
        script: fn(&mut Talk) -> Result<(), Finding>,
    ) -> Self {
        Self {
            id,
            title,
            source,
            strength,
            speaks: Speaks::EachEra,
            needs: &[],
            company: Company::Shared,
            explain,
            script: Script::Server(script),
        }
    }

    /// In these revisions.
    pub(crate) const fn speaking(self, speaks: Speaks) -> Self {
        Self { speaks, ..self }
    }

    /// With a process of its own.
    pub(crate) const fn alone(self) -> Self {
        Self { company: Company::Alone, ..self }
    }
}

/// What a check does, and of which side of a connection it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Script {
    /// It plays a client, and checks a server.
    Server(fn(&mut Talk) -> Result<(), Finding>),
    /// It plays a server, and checks a client.
    Client(fn(&mut Stage) -> Result<(), Finding>),
}

/// What a program is in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// It is asked.
    Server,
    /// It starts servers, and asks.
    Client,
}

impl Script {
    /// Of whom it is.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::Server(_) => Role::Server,
            Self::Client(_) => Role::Client,
        }
    }
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A page of the specification and a heading on it: `basic/transports#stdio`.
    Spec(&'static str),
    /// The same where the eras have pages of their own: with a handshake, and without.
    Eras(&'static str, &'static str),
    /// A page of another revision than the one that is spoken.
    In(Revision, &'static str),
    /// A section of the JSON-RPC 2.0 specification.
    JsonRpc(&'static str),
    /// An RFC and its section.
    Rfc(u16, &'static str),
    /// What peers were seen to stumble over: advice of this program.
    Practice,
}

impl Source {
    /// The address of it, for a revision.
    #[must_use]
    pub fn url(self, revision: Revision) -> Option<String> {
        match self {
            Self::Spec(page) => {
                Some(format!("https://modelcontextprotocol.io/specification/{revision}/{page}"))
            }
            Self::Eras(legacy, modern) => {
                let page = if revision.era() == Era::Modern { modern } else { legacy };
                Self::Spec(page).url(revision)
            }
            Self::In(revision, page) => Self::Spec(page).url(revision),
            Self::JsonRpc(section) => Some(format!("https://www.jsonrpc.org/specification#{section}")),
            Self::Rfc(number, section) => {
                Some(format!("https://www.rfc-editor.org/rfc/rfc{number}#section-{section}"))
            }
            Self::Practice => None,
        }
    }
}

/// How much a rule weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Strength {
    /// Our own advice: it informs.
    Advice,
    /// SHOULD: it warns.
    Should,
    /// MUST: it fails.
    Must,
}

/// In which revisions a check is tried, of those that the peer speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Speaks {
    /// The newest of each era: what does not change between revisions.
    EachEra,
    /// Each of them between these, both included.
    Between(Revision, Revision),
    /// The newest that opens with a handshake.
    Legacy,
    /// The one without a handshake.
    Modern,
    /// One only, with a handshake where there is one: what has to do with the process and not with what is said.
    Once,
}

/// Whether a process serves one check or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// It gets a process of its own, and may leave it in any state.
    Alone,
    /// Of a server: it shares an opened connection with others. A connection that it leaves unusable is not used again, and
    /// that is a finding. Of a client: it looks at what was said in a run where all was well.
    Shared,
}

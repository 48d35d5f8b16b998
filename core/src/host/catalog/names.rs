//! Which tool of which server a name stands for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::naming::Naming;
use crate::host::Provenance;
use crate::mcp::types::flaw::cut;
use crate::waist::MAX_NAME_BYTES;

/// The most bytes of a refused name that are kept to show it.
const MAX_SHOWN: usize = 256;

/// All names and what each stands for.
///
/// A table made from all servers' tools at once, so that it does not depend on which server was there first; never
/// changed, only made anew. A name is never taken apart to find its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    by_name: BTreeMap<Arc<str>, Provenance>,
    by_pair: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<str>>>,
}

/// A tool that got no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameRefused {
    /// Its server.
    pub server: Arc<str>,
    /// Its place among those of its server that were given, from 0.
    pub index: usize,
    /// Its name, cut to 256 bytes; untrusted text.
    pub tool: String,
    /// Why.
    pub fault: NameFault,
}

/// Why a tool got no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameFault {
    /// Its own is empty or white space.
    Blank,
    /// Its own holds control characters.
    Control,
    /// Its own is longer than [`MAX_NAME_BYTES`], which is more than a governed call may name.
    TooLong {
        /// Its bytes.
        len: usize,
    },
    /// The server has an earlier tool of the same name.
    Duplicate,
    /// Another tool comes to the same exposed name and was first: by the server's name, then in the order listed.
    Taken {
        /// The other tool.
        by: Provenance,
    },
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("its name is blank"),
            Self::Control => f.write_str("its name holds control characters"),
            Self::TooLong { len } => write!(f, "its name has {len} bytes, the limit is {MAX_NAME_BYTES}"),
            Self::Duplicate => f.write_str("an earlier tool of the server has the same name"),
            Self::Taken { by } => {
                write!(
                    f,
                    "{:?} of {:?} comes to the same name; rename a server, or set hash_ambiguous",
                    by.tool, by.server
                )
            }
        }
    }
}

impl core::error::Error for NameFault {}

/// Whether a tool of this name can be offered at all.
///
/// # Errors
/// Why not: leave the tool out and say so.
pub(super) fn check(tool: &str) -> Result<(), NameFault> {
    if tool.trim().is_empty() {
        Err(NameFault::Blank)
    } else if tool.len() > MAX_NAME_BYTES {
        Err(NameFault::TooLong { len: tool.len() })
    } else if tool.contains(char::is_control) {
        Err(NameFault::Control)
    } else {
        Ok(())
    }
}

impl Names {
    /// Names the tools of all servers: each server with its tools, in the order it lists them.
    ///
    /// White space around a tool's name does not get into the exposed one. Servers go by their names, whatever order
    /// they are given in; of two tools that come to one name the first keeps it. What got no name is told with the
    /// reason, in the same order. O(n log n).
    pub fn assign<'a, T>(
        naming: Naming,
        servers: impl IntoIterator<Item = (&'a str, T)>,
    ) -> (Self, Vec<NameRefused>)
    where
        T: IntoIterator<Item = &'a str>,
    {
        let mut servers: Vec<_> = servers.into_iter().collect();
        servers.sort_by_key(|(server, _)| *server);
        let (mut names, mut refused) = (Self::default(), Vec::new());
        for (server, tools) in servers {
            let server: Arc<str> = server.into();
            for (index, tool) in tools.into_iter().enumerate() {
                if let Err(fault) = names.add(naming, &server, tool) {
                    let tool = cut(tool, MAX_SHOWN).into();
                    refused.push(NameRefused { server: server.clone(), index, tool, fault });
                }
            }
        }
        (names, refused)
    }

    fn add(&mut self, naming: Naming, server: &Arc<str>, tool: &str) -> Result<(), NameFault> {
        check(tool)?;
        let of_server = self.by_pair.get(server);
        if of_server.is_some_and(|tools| tools.contains_key(tool)) {
            return Err(NameFault::Duplicate);
        }
        let name = naming.name(server, tool.trim()).into_text();
        if let Some(by) = self.by_name.get(&name) {
            return Err(NameFault::Taken { by: by.clone() });
        }
        let tool: Arc<str> = tool.into();
        self.by_pair.entry(server.clone()).or_default().insert(tool.clone(), name.clone());
        self.by_name.insert(name, Provenance { server: server.clone(), tool });
        Ok(())
    }

    /// What a name stands for. Names are compared byte for byte.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Provenance> {
        self.by_name.get(name)
    }

    /// The name of a server's tool, both as they are called in [`Provenance`].
    #[must_use]
    pub fn name_of(&self, server: &str, tool: &str) -> Option<&Arc<str>> {
        self.by_pair.get(server)?.get(tool)
    }

    /// All names, sorted, with what they stand for.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Provenance)> {
        self.by_name.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

#[cfg(test)]
mod tests;

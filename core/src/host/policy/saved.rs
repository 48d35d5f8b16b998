//! What was allowed for longer than a session, and the text that it is kept as.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::binding::DefinitionHash;
use super::glob::{Texts, Token};
use super::grant_line::{GrantFault, SavedGrant};
use crate::host::Provenance;
use crate::jsonrpc::JsonRef;
use crate::mcp::types::flaw::cut;

/// The most lines, and the most bytes of them.
const MAX_LINES: usize = 10_000;
const MAX_BYTES: usize = 4 << 20;

/// The most bytes that all of it takes: of each byte of a line itself, the name that it is part of, or what it says in a
/// pattern; of each line its entries. While it is changed, the old and the new.
pub(in crate::host) const MAX_SAVED: usize = 2 * (MAX_BYTES * (2 + size_of::<Token>()) + MAX_LINES * LINE);

/// A line without its text, with its share of spare room.
const LINE: usize = 2 * (size_of::<Line>() + size_of::<usize>()) + 128;

/// What was allowed for longer than a session: the lines of a file, for people to read and to write as well.
///
/// ```text
/// # A tool as it was defined when it was allowed. A changed one is asked about again.
/// files/read_file sha256:5d41…
/// # However the tool is defined, but with these arguments only (ArgumentGlob).
/// files/write_file({"content":"**","path":"/tmp/**"})
/// # Every tool of a server, those that it will have as well.
/// notes/*
/// ```
///
/// Each line is a [`SavedGrant`], a comment or empty. What cannot be read allows nothing, is told, and stays as it is,
/// like comments do: what is written differs from what was read by what was changed, and by CRs at ends of lines.
/// Like a grant of a session it says nothing against a denial, and nothing where there is nobody to ask: see
/// [`decide`](super::decide).
///
/// Holds at most 10,000 lines and 4 MiB. Reads and writes no file itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedGrants {
    lines: Vec<Line>,
    bytes: usize,
    /// Places of each server's lines.
    servers: BTreeMap<Arc<str>, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    grant: Option<SavedGrant>,
}

impl Line {
    fn is_of(&self, server: &str) -> bool {
        self.grant.as_ref().is_some_and(|grant| **grant.server() == *server)
    }
}

impl From<SavedGrant> for Line {
    fn from(grant: SavedGrant) -> Self {
        Self { text: alloc::format!("{grant}"), grant: Some(grant) }
    }
}

/// A line that allows nothing, since it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedGrant {
    /// Which, from 1.
    pub line: usize,
    /// It, cut to 256 bytes.
    pub text: String,
    /// What is wrong with it.
    pub why: GrantFault,
}

impl fmt::Display for DroppedGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} ({:?}) allows nothing: {}", self.line, self.text, self.why)
    }
}

impl SavedGrants {
    /// Reads all lines. Those that cannot be read are told, in order.
    ///
    /// # Errors
    /// [`GrantFault::TooMany`]: there is more than is held; nothing is read.
    pub fn read(text: &str) -> Result<(Self, Vec<DroppedGrant>), GrantFault> {
        if text.len() > MAX_BYTES || text.lines().nth(MAX_LINES).is_some() {
            return Err(GrantFault::TooMany);
        }
        let (mut lines, mut dropped) = (Vec::new(), Vec::new());
        for (index, text) in text.lines().map(|line| line.trim_end_matches('\r')).enumerate() {
            let content = text.trim_start();
            let grant = match SavedGrant::read(content) {
                _ if content.is_empty() || content.starts_with('#') => None,
                Ok(grant) => Some(grant),
                Err(why) => {
                    dropped.push(DroppedGrant { line: index + 1, text: cut(text, 256).into(), why });
                    None
                }
            };
            lines.push(Line { text: text.into(), grant });
        }
        let all = Self::of(lines);
        // A last line without a line feed is written with one: what is held can be read again.
        if all.bytes > MAX_BYTES {
            return Err(GrantFault::TooMany);
        }
        Ok((all, dropped))
    }

    fn of(lines: Vec<Line>) -> Self {
        let bytes = lines.iter().map(|line| line.text.len() + 1).sum();
        let mut servers: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (place, grant) in
            lines.iter().enumerate().filter_map(|(place, line)| Some((place, line.grant.as_ref()?)))
        {
            servers.entry(grant.server().clone()).or_default().push(place);
        }
        Self { lines, bytes, servers }
    }

    /// Whether a call of a tool, as it is defined now, was allowed. O(lines about its server).
    #[must_use]
    pub fn holds(
        &self,
        tool: &Provenance,
        definition: DefinitionHash,
        arguments: Option<JsonRef<'_>>,
    ) -> bool {
        let texts = Texts::of(arguments);
        self.about(&tool.server).any(|grant| grant.allows(tool, definition, &texts))
    }

    /// How a tool was defined when it was allowed, if that was otherwise than now and nothing else allows it as it is:
    /// what to tell somebody who is asked about it again.
    #[must_use]
    pub fn changed(&self, tool: &Provenance, definition: DefinitionHash) -> Option<DefinitionHash> {
        let mut was = None;
        for grant in self.about(&tool.server).filter(|grant| grant.is_about(tool)) {
            was = match grant.definition() {
                Some(then) if then != definition => Some(then),
                _ => return None,
            };
        }
        was
    }

    /// Allows a tool as it is defined, with any arguments. Takes the place of what was allowed of it as it was defined
    /// before.
    ///
    /// # Errors
    /// [`GrantFault`]: it cannot be kept, and nothing changed.
    pub fn allow(&mut self, tool: &Provenance, definition: DefinitionHash) -> Result<(), GrantFault> {
        let grant = SavedGrant::new(tool, definition)?;
        let old = |line: &Line| {
            line.grant.as_ref().is_some_and(|grant| {
                grant.is_of_one(tool) && grant.definition().is_some() && grant.arguments().is_none()
            })
        };
        self.replace_lines(old, alloc::vec![grant])
    }

    /// Takes back what was allowed of one tool, with whatever arguments. False: nothing was. It may be allowed all the
    /// same, with all tools of its server.
    pub fn revoke(&mut self, tool: &Provenance) -> bool {
        let before = self.lines.len();
        self.lines.retain(|line| !line.grant.as_ref().is_some_and(|grant| grant.is_of_one(tool)));
        *self = Self::of(core::mem::take(&mut self.lines));
        self.lines.len() < before
    }

    /// Puts these in the place of all that was allowed of one server, and leaves the rest as it is. Where every tool of
    /// it is allowed with any arguments, one line says so.
    ///
    /// # Errors
    /// [`GrantFault::OtherServer`]: one is about another server; [`GrantFault::TooMany`]. Nothing changed.
    pub fn replace(
        &mut self,
        server: &str,
        grants: impl IntoIterator<Item = SavedGrant>,
    ) -> Result<(), GrantFault> {
        let mut grants: Vec<_> = grants.into_iter().collect();
        if grants.iter().any(|grant| **grant.server() != *server) {
            return Err(GrantFault::OtherServer);
        }
        if let Some(all) = grants.iter().position(SavedGrant::is_of_all) {
            grants = alloc::vec![grants.swap_remove(all)];
        }
        self.replace_lines(|line| line.is_of(server), grants)
    }

    /// Puts `new` where the first of the old ones stood, or at the end.
    fn replace_lines(&mut self, old: impl Fn(&Line) -> bool, new: Vec<SavedGrant>) -> Result<(), GrantFault> {
        let place = self.lines.iter().position(&old).unwrap_or(self.lines.len());
        let kept = |lines: &[Line]| lines.iter().filter(|line| !old(line)).cloned().collect::<Vec<_>>();
        let (before, behind) = self.lines.split_at_checked(place).unwrap_or((&self.lines, &[]));
        let mut lines = kept(before);
        lines.extend(new.into_iter().map(Line::from));
        lines.extend(kept(behind));
        let all = Self::of(lines);
        if all.lines.len() > MAX_LINES || all.bytes > MAX_BYTES {
            return Err(GrantFault::TooMany);
        }
        *self = all;
        Ok(())
    }

    fn about(&self, server: &str) -> impl Iterator<Item = &SavedGrant> {
        let places = self.servers.get(server).into_iter().flatten();
        places.filter_map(|place| self.lines.get(*place)?.grant.as_ref())
    }

    /// All that is allowed, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SavedGrant> {
        self.lines.iter().filter_map(|line| line.grant.as_ref())
    }

    /// How many bytes its text has.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Display for SavedGrants {
    /// The text to keep: every line ends in a line feed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{}", line.text))
    }
}

#[cfg(test)]
mod tests;

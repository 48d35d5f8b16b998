//! Another process of the same server, beside the one that is spoken to.

use std::time::Duration;

use super::Talk;
use crate::finding::Finding;
use crate::transcript::From;

impl Talk {
    /// The same server in another process, opened.
    pub(crate) fn another(&mut self) -> Result<Self, Finding> {
        self.transcript.push(From::Event, b"the server is started once more");
        let started = Self::start(&self.plan, self.revision, self.facts.clone());
        let mut other =
            started.map_err(|error| Finding::new("a program that can be started again", error))?;
        other.open()?;
        Ok(other)
    }

    /// Ends another process, and puts what was said with it into the proof.
    pub(crate) fn tell_of(&mut self, mut other: Self) {
        other.leave(Duration::from_secs(1));
        for entry in other.into_transcript().entries() {
            self.transcript.push(entry.from, &entry.bytes);
        }
    }
}

//! What a run is given: options, terminal, trace.

use std::io::IsTerminal as _;

use sanswire_std::recording::Recording;

use crate::config::Configuration;
use crate::failure::Failure;
use crate::options::Common;
use crate::output::{complain, indented};
use crate::state::State;
use crate::trace::TraceFile;

/// One run of the program.
pub(crate) struct Context {
    pub(crate) common: Common,
    /// Whether there is a person to ask.
    pub(crate) interactive: bool,
    /// Whether there is a person to keep amused.
    pub(crate) animated: bool,
    pub(crate) trace: Option<TraceFile>,
    pub(crate) recording: Option<Recording>,
    /// What earlier runs left.
    pub(crate) state: State,
}

impl Context {
    /// Looks around.
    pub(crate) fn new(common: Common) -> Result<Self, Failure> {
        let stderr = std::io::stderr().is_terminal();
        Ok(Self {
            interactive: stderr && std::io::stdin().is_terminal(),
            animated: stderr && !common.quiet,
            trace: common.trace.as_deref().map(TraceFile::create).transpose()?,
            recording: common.record.as_deref().map(crate::record::create).transpose()?,
            state: State::of_user(!common.quiet && !common.json),
            common,
        })
    }

    /// Reads the configuration, and says what is odd about it. With `--no-mcp` there is none, not even the built-in
    /// server, and no file is read.
    pub(crate) fn configuration(&self) -> Result<Configuration, Failure> {
        if self.common.no_mcp {
            return Ok(Configuration::default());
        }
        let found = Configuration::load(self.common.config.as_ref())?;
        for warning in &found.warnings {
            self.warn(warning);
        }
        Ok(found)
    }

    /// Says something that is worth knowing and stops nothing.
    pub(crate) fn warn(&self, text: &str) {
        if !self.common.quiet && !self.common.json {
            complain(&format!("warning: {}", indented(text)));
        }
    }
}

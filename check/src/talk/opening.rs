//! Handshakes that a check writes itself.

use super::{Answer, Talk};
use crate::finding::Finding;

impl Talk {
    /// Asks `initialize` with these capabilities, as JSON.
    pub(crate) fn initialize(&mut self, capabilities: &str) -> Result<Answer, Finding> {
        let version = self.revision;
        let client = r#""clientInfo":{"name":"sanswire check","version":"1"}"#;
        let members = format!(r#""protocolVersion":"{version}","capabilities":{capabilities},{client}"#);
        self.request("initialize", &members)
    }

    /// Says that the handshake is done.
    pub(crate) fn initialized(&mut self) {
        self.say_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// The handshake, with these capabilities; an error of the server is a finding.
    pub(crate) fn open_as(&mut self, capabilities: &str) -> Result<(), Finding> {
        let answer = self.initialize(capabilities)?;
        if answer.result().is_none() {
            return Err(Finding::new("a result of initialize", answer.text()));
        }
        self.initialized();
        Ok(())
    }
}

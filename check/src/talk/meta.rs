//! What a request says of itself where there is no handshake.

use sanswire::mcp::Revision;

use super::{Answer, Talk};
use crate::finding::Finding;

/// The metadata of one request, as JSON: what is `None` is left out.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    pub(crate) version: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) capabilities: Option<String>,
    /// More members, without braces.
    pub(crate) more: String,
}

impl Meta {
    /// What a client without capabilities says.
    pub(crate) fn of(revision: Revision) -> Self {
        Self {
            version: Some(format!("\"{revision}\"")),
            client: Some(r#"{"name":"sanswire check","version":"1"}"#.into()),
            capabilities: Some("{}".into()),
            more: String::new(),
        }
    }

    /// Parameters that hold it, in front of `members`.
    pub(crate) fn params(&self, members: &str) -> String {
        let named = [
            ("protocolVersion", &self.version),
            ("clientInfo", &self.client),
            ("clientCapabilities", &self.capabilities),
        ];
        let mut meta: Vec<String> = named
            .into_iter()
            .filter_map(|(name, value)| {
                Some(format!(r#""io.modelcontextprotocol/{name}":{}"#, value.as_deref()?))
            })
            .collect();
        meta.extend((!self.more.is_empty()).then(|| self.more.clone()));
        let comma = if members.is_empty() { "" } else { "," };
        format!(r#"{{"_meta":{{{}}}{comma}{members}}}"#, meta.join(","))
    }
}

impl Talk {
    /// Asks with these metadata, and gives the id.
    pub(crate) fn ask_with(&mut self, method: &str, meta: &Meta, members: &str) -> String {
        let id = self.id().to_string();
        let params = meta.params(members);
        self.say_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        id
    }

    /// Asks with these metadata and waits for the answer.
    pub(crate) fn request_with(
        &mut self,
        method: &str,
        meta: &Meta,
        members: &str,
    ) -> Result<Answer, Finding> {
        let id = self.ask_with(method, meta, members);
        self.answer_to(&id)
    }

    /// The metadata of a plain request.
    pub(crate) fn meta(&self) -> Meta {
        Meta::of(self.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_leaves_no_trace() {
        let mut meta = Meta { client: None, ..Meta::of(Revision::V2026_07_28) };
        let start = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#;
        let rest = r#""io.modelcontextprotocol/clientCapabilities":{}}}"#;
        assert_eq!(meta.params(""), format!("{start}{rest}"));
        (meta.version, meta.capabilities, meta.more) = (None, None, r#""a":1"#.into());
        assert_eq!(meta.params(r#""b":2"#), r#"{"_meta":{"a":1},"b":2}"#);
    }
}

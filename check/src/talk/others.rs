//! What comes unasked: notifications, and requests of the server.

use std::time::Instant;

use sanswire::jsonrpc::{JsonRef, RawJson};

use super::{GRACE, Talk};
use crate::finding::Finding;

/// How requests of the server are answered. A `ping` always gets its answer, and without a handshake nothing does: there,
/// clients do not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    /// With an error, as clients do that have not declared it.
    #[default]
    Refuse,
    /// Not at all.
    Ignore,
}

impl Talk {
    /// Answers the server's requests in this manner from now on.
    pub(crate) const fn answer_requests(&mut self, manner: Manner) {
        self.manner = manner;
    }

    /// The notifications that came since the last time.
    pub(crate) fn notices(&mut self) -> Vec<RawJson> {
        self.notices.drain(..).collect()
    }

    /// The requests of the server that came since the last time.
    pub(crate) fn asked(&mut self) -> Vec<RawJson> {
        std::mem::take(&mut self.asked)
    }

    /// Waits until the server has answered something that is asked now, and a moment longer: what it owes has come then.
    pub(crate) fn settle(&mut self) -> Result<(), Finding> {
        self.request(self.harmless(), "")?;
        let until = Instant::now() + GRACE;
        while self.hear(until) {}
        Ok(())
    }

    /// The next notification that is meant; others are dropped. `None`: the patience for an answer is over, or one came to
    /// the request with this id.
    pub(crate) fn notice(&mut self, id: &str, meant: impl Fn(JsonRef<'_>) -> bool) -> Option<RawJson> {
        let until = Instant::now() + self.plan.answer;
        loop {
            while let Some(notice) = self.notices.pop_front() {
                if meant(notice.view()) {
                    return Some(notice);
                }
            }
            let answered =
                |it: &RawJson| it.view().get("id").is_some_and(|it| it.as_bytes() == id.as_bytes());
            if self.answers.iter().any(answered) || !self.hear(until) {
                return None;
            }
        }
    }

    /// What is answered to a request of the server.
    pub(super) fn answer_of_ours(&self, request: JsonRef<'_>, id: JsonRef<'_>) -> Option<String> {
        let id = String::from_utf8_lossy(id.as_bytes());
        if self.is_modern() {
            return None;
        }
        if request.get("method").and_then(JsonRef::str).is_some_and(|method| method.eq_str("ping")) {
            return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
        let refusal = r#"{"code":-32601,"message":"this client does not answer that"}"#;
        (self.manner == Manner::Refuse).then(|| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{refusal}}}"#))
    }
}

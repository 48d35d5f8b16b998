//! What comes back for something that is no request.

use std::time::{Duration, Instant};

use sanswire::jsonrpc::{JsonRef, RawJson};

use super::{Answer, Talk};
use crate::finding::{Finding, shown};

/// How long an answer that nobody is owed may come behind one to something later.
const SOON: Duration = Duration::from_millis(50);

impl Talk {
    /// The answers that came to nothing that this conversation has asked, before something that is asked now was answered
    /// or soon after.
    pub(crate) fn unasked(&mut self) -> Result<Vec<Answer>, Finding> {
        self.request(self.harmless(), "")?;
        let until = Instant::now() + SOON;
        while self.hear(until) {}
        let asked = 1..=i64::try_from(self.ids).unwrap_or(i64::MAX);
        let ours = |it: &RawJson| {
            it.view().get("id").and_then(JsonRef::as_i64).is_some_and(|id| asked.contains(&id))
        };
        Ok(self.strays().into_iter().filter(|it| !ours(it)).map(Answer).collect())
    }

    /// Says what is no message that a server has to take. It may say nothing to that, or refuse it once with one of these
    /// codes, and goes on. `id`: as it stands in the message, if it has one.
    pub(crate) fn refused(&mut self, line: &[u8], id: Option<&str>, codes: &[i64]) -> Result<usize, Finding> {
        self.say(&[line, b"\n"].concat());
        let came = self.unasked()?;
        let mut words: Vec<_> = codes.iter().map(i64::to_string).collect();
        words.sort();
        let expected = format!("nothing, or one error {}, to {}", words.join(" or "), shown(line));
        for answer in &came {
            let given = answer.message().get("id").filter(|id| !id.is_null());
            let known = given.is_none_or(|given| id.is_some_and(|id| id.as_bytes() == given.as_bytes()));
            if !known || !answer.code().is_some_and(|code| codes.contains(&code)) {
                return Err(Finding::new(expected, answer.text()));
            }
        }
        if came.len() > 1 {
            return Err(Finding::new(expected, format!("{} answers", came.len())));
        }
        Ok(came.len())
    }
}

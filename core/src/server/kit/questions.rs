//! What one call asks its client, whichever era it is of.

use alloc::boxed::Box;
use alloc::string::ToString;
use core::time::Duration;

use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::types::elicited::Elicited;
use crate::mcp::types::input::{InputKind, InputRequest};
use crate::mcp::{Era, Method, codes};
use crate::server::asking::{Asked, Asking};
use crate::server::event::{Context, PeerOutcome, Reply};
use crate::server::kit::ask::AskError;
use crate::server::state::Seal;

/// How the calls of a server ask.
#[derive(Debug)]
pub struct AskTerms {
    /// Seals what a call has learnt between two rounds (2026-07-28).
    pub seal: Seal,
    /// How long a client may take for one round (2026-07-28), in whole seconds.
    pub lifetime: Duration,
    /// How many questions one call may ask, over all its rounds.
    pub limit: usize,
}

/// The call that asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// What is known of who made it.
    pub context: &'a Context,
    /// Its method.
    pub method: &'a Method,
    /// Its parameters.
    pub params: &'a RawJson,
    /// Whether nobody waits for its answer any more.
    pub is_cancelled: bool,
}

/// The questions of one run of a handler: [`Asking`], begun when the first one is put. A runtime keeps one a call, and
/// holds its lock for these calls only.
#[derive(Debug, Default)]
pub struct Questions {
    /// None: it has asked nothing yet. Boxed, for most calls ask nothing.
    asking: Option<Box<Asking>>,
}

impl Questions {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { asking: None }
    }

    /// Asks `request` under `key`, or finds what was answered. None: up to 2025-11-25, the question has to be sent now
    /// ([`request_input`](crate::server::Session::request_input)), and what becomes of it goes to
    /// [`answered`](Self::answered). `now` gives the seconds of the wall clock.
    ///
    /// To ask several in one round of 2026-07-28, put all of them before [`AskError::Suspended`] is passed up.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn ask(
        &mut self,
        terms: &AskTerms,
        asker: Asker<'_>,
        key: &str,
        request: &InputRequest,
        now: impl FnOnce() -> u64,
    ) -> Result<Option<RawJson>, AskError> {
        let Asker { context, method, params, is_cancelled } = asker;
        let asking = match &mut self.asking {
            Some(asking) => asking,
            none => {
                let begun = Asking::new(context, method, params, &terms.seal, terms.limit, now());
                none.insert(Box::new(begun.map_err(AskError::State)?))
            }
        };
        match asking.ask(key, request).map_err(|fault| AskError::new(fault, context.era()))? {
            Asked::Answered(answer) => Ok(Some(answer)),
            Asked::Put if is_cancelled => Err(AskError::Failed(PeerOutcome::Cancelled)),
            Asked::Put if context.era() == Era::Modern => Err(AskError::Suspended),
            Asked::Put => Ok(None),
        }
    }

    /// What became of a question that was sent: its answer, if it fits.
    ///
    /// # Errors
    /// As [`AskError`] says. It may be asked again.
    pub fn answered(
        &mut self,
        asker: Asker<'_>,
        key: &str,
        outcome: Result<PeerOutcome, ApiError>,
    ) -> Result<RawJson, AskError> {
        let Some(asking) = &mut self.asking else { return Err(AskError::Suspended) };
        match outcome {
            // It may have been stopped by hand, of which the client knows nothing.
            Ok(_) if asker.is_cancelled => Err(AskError::Failed(PeerOutcome::Cancelled)),
            Ok(PeerOutcome::Result(answer)) => {
                asking.answer(key, answer).map_err(|fault| AskError::new(fault, asker.context.era()))
            }
            Ok(other) => {
                asking.give_up(key);
                Err(AskError::Failed(other))
            }
            Err(error) => {
                asking.give_up(key);
                Err(AskError::Refused(error))
            }
        }
    }

    /// The answer of a run that ended with [`AskError::Suspended`]: the questions that it put. `now` is in seconds of the
    /// wall clock.
    #[must_use]
    pub fn suspend(&self, terms: &AskTerms, now: u64) -> Reply {
        let expires_at = now.saturating_add(terms.lifetime.as_secs());
        let reply = self.asking.as_ref().and_then(|asking| asking.suspend(&terms.seal, expires_at));
        reply.unwrap_or_else(|| {
            let message = "the handler waits for an answer, but has asked nothing";
            Reply::Error(ErrorObject::new(codes::INTERNAL_ERROR, message))
        })
    }
}

/// A question to a person: to open an address, where they give what no client should see. `id` names it for its end,
/// which revision 2025-11-25 tells of.
///
/// Spec: MCP 2025-11-25 and later, client/elicitation, "URL Mode".
#[must_use]
pub fn elicit_url(era: Era, message: &str, url: &str, id: &str) -> InputRequest {
    let params = RawJson::object(|w| {
        w.string("mode", "url").string("message", message).string("url", url);
        if era == Era::Legacy {
            w.string("elicitationId", id);
        }
    });
    InputRequest { kind: InputKind::ElicitUrl, params: Some(params) }
}

/// What a person did, by the answer to a question that was asked of them under `key`.
///
/// # Errors
/// [`AskError::Unfit`]: it is none.
pub fn elicited(era: Era, key: &str, request: &InputRequest, answer: &RawJson) -> Result<Elicited, AskError> {
    let read = request.elicited(answer);
    read.map_err(|fault| AskError::Unfit { key: key.into(), why: fault.to_string(), era })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::jsonrpc::JsonRef;
    use crate::mcp::Revision;
    use crate::mcp::types::lifecycle::ClientCapabilities;
    use crate::server::event::{Principal, Who};
    use crate::server::kit::Schema;

    const PERSON: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    fn context(revision: Revision) -> Context {
        let capabilities = ClientCapabilities { elicitation_form: true, ..ClientCapabilities::default() };
        Context {
            revision,
            principal: Principal::anonymous(),
            capabilities,
            log_level: None,
            wants_progress: false,
            round: None,
            client: Who::Unsaid,
        }
    }

    fn terms() -> AskTerms {
        AskTerms { seal: Seal::new([7; 32]), lifetime: Duration::from_secs(600), limit: 4 }
    }

    fn form() -> InputRequest {
        Schema::object().property("name", Schema::string()).form("who?")
    }

    #[test]
    fn an_older_client_is_sent_the_question_and_its_answer_is_known_from_then_on() {
        let (context, params) = (context(Revision::V2025_11_25), raw(r#"{"name":"t"}"#));
        let asker =
            Asker { context: &context, method: &Method::ToolsCall, params: &params, is_cancelled: false };
        let mut questions = Questions::new();
        let ask = |questions: &mut Questions| questions.ask(&terms(), asker, "who", &form(), || 0);
        assert_eq!(ask(&mut questions), Ok(None));
        let lost = questions.answered(asker, "who", Ok(PeerOutcome::Lost));
        assert_eq!(lost, Err(AskError::Failed(PeerOutcome::Lost)));
        assert_eq!(ask(&mut questions), Ok(None), "it may be asked again");
        let wrong = questions.answered(asker, "who", Ok(PeerOutcome::Result(raw("{}"))));
        assert!(matches!(&wrong, Err(AskError::Unfit { key, .. }) if &**key == "who"), "{wrong:?}");
        assert_eq!(ask(&mut questions), Ok(None));
        let answer = questions.answered(asker, "who", Ok(PeerOutcome::Result(raw(PERSON))));
        assert_eq!(answer, Ok(raw(PERSON)));
        assert_eq!(ask(&mut questions), Ok(Some(raw(PERSON))));
        let Ok(Elicited::Accepted(name)) = elicited(Era::Legacy, "who", &form(), &raw(PERSON)) else {
            panic!()
        };
        assert_eq!(name.as_str(), r#"{"name":"Ada"}"#);
    }

    #[test]
    fn a_modern_call_ends_with_all_that_it_put() {
        let (context, params) = (context(Revision::V2026_07_28), raw(r#"{"name":"t"}"#));
        let asker =
            Asker { context: &context, method: &Method::ToolsCall, params: &params, is_cancelled: false };
        let mut questions = Questions::new();
        for key in ["a", "b"] {
            let asked = questions.ask(&terms(), asker, key, &form(), || 1_000);
            assert_eq!(asked, Err(AskError::Suspended));
        }
        let Reply::InputRequired { requests, state } = questions.suspend(&terms(), 1_000) else { panic!() };
        assert_eq!(requests.iter().map(|asked| &*asked.key).collect::<alloc::vec::Vec<_>>(), ["a", "b"]);
        // It holds for as long as it was said to, and no second longer.
        let binding = crate::server::state::Binding::new(&context.principal, &Method::ToolsCall, &params);
        let state = state.expect("sealed");
        assert!(terms().seal.open(&binding, &state, 1_599).is_ok());
        assert!(terms().seal.open(&binding, &state, 1_600).is_err());
    }

    #[test]
    fn who_waits_no_more_is_not_asked_and_who_asked_nothing_cannot_wait() {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let (context, params) = (context(revision), raw("{}"));
            let asker =
                Asker { context: &context, method: &Method::ToolsCall, params: &params, is_cancelled: true };
            let mut questions = Questions::new();
            let asked = questions.ask(&terms(), asker, "who", &form(), || 0);
            assert_eq!(asked, Err(AskError::Failed(PeerOutcome::Cancelled)), "{revision:?}");
        }
        let Reply::Error(error) = Questions::new().suspend(&terms(), 0) else { panic!() };
        assert_eq!(error.code, codes::INTERNAL_ERROR);
    }

    #[test]
    fn an_elicitation_by_address_has_an_id_where_its_end_is_told() {
        for (era, id) in [(Era::Legacy, Some("e1")), (Era::Modern, None)] {
            let params = elicit_url(era, "sign in", "https://x.example/s", "e1").params.expect("parameters");
            let found = params
                .view()
                .get("elicitationId")
                .and_then(JsonRef::str)
                .map(|id| format!("{}", id.decode()));
            assert_eq!(found.as_deref(), id);
        }
    }
}

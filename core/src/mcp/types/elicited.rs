//! What became of an elicitation, read by the server that asked.

use alloc::vec::Vec;
use core::fmt;

use super::form::{AnswerFault, Form, FormFault};
use super::input::{InputKind, InputRequest};
use crate::jsonrpc::{JsonRef, Kind, RawJson};

/// What a person did with an elicitation.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicited {
    /// Filled the form in; it fits what was asked. Empty where a URL was to be opened: that was agreed to, no more.
    Accepted(RawJson),
    /// Said no.
    Declined,
    /// Said neither yes nor no.
    Cancelled,
}

/// Why an answer to an elicitation cannot be used. Ask again, or do without.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitedFault {
    /// It is not the answer to an elicitation.
    NotAnAnswer,
    /// What was asked is no form, so nothing fits it.
    NoForm(FormFault),
    /// The form is filled in wrongly.
    Content(Vec<AnswerFault>),
}

impl fmt::Display for ElicitedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnAnswer => {
                f.write_str("it is no answer to an elicitation: action is missing or unknown")
            }
            Self::NoForm(fault) => fault.fmt(f),
            Self::Content(faults) => {
                f.write_str("the form is filled in wrongly")?;
                faults.iter().try_for_each(|fault| write!(f, "; {fault}"))
            }
        }
    }
}

impl core::error::Error for ElicitedFault {}

impl InputRequest {
    /// Reads the client's answer to this elicitation, and checks what was filled in against what was asked.
    ///
    /// # Errors
    /// It is no answer, or does not fit; all of it is the client's word.
    ///
    /// Spec: MCP 2025-06-18 and later, client/elicitation, "Response Actions".
    pub fn elicited(&self, answer: &RawJson) -> Result<Elicited, ElicitedFault> {
        if !matches!(self.kind, InputKind::ElicitForm | InputKind::ElicitUrl) {
            return Err(ElicitedFault::NotAnAnswer);
        }
        let action = answer.view().get("action").and_then(JsonRef::str).ok_or(ElicitedFault::NotAnAnswer)?;
        if action.eq_str("decline") {
            return Ok(Elicited::Declined);
        }
        if action.eq_str("cancel") {
            return Ok(Elicited::Cancelled);
        }
        if !action.eq_str("accept") {
            return Err(ElicitedFault::NotAnAnswer);
        }
        if self.kind == InputKind::ElicitUrl {
            return Ok(Elicited::Accepted(RawJson::empty_object()));
        }
        let params = self.params.clone().unwrap_or_else(RawJson::empty_object);
        let form = Form::read(params.view()).map_err(ElicitedFault::NoForm)?;
        let content = answer.view().get("content").filter(|content| content.kind() != Kind::Null);
        let content =
            content.and_then(|content| answer.slice_of(content)).unwrap_or_else(RawJson::empty_object);
        form.check(content.view()).map_err(ElicitedFault::Content)?;
        Ok(Elicited::Accepted(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    fn asked(kind: InputKind) -> InputRequest {
        let params = r#"{"message":"m","requestedSchema":{"type":"object","required":["n"],
            "properties":{"n":{"type":"integer","minimum":1},"t":{"type":"string"}}}}"#;
        InputRequest { kind, params: Some(raw(params)) }
    }

    #[test]
    fn an_answer_is_one_of_three_and_fits_what_was_asked() {
        // P-378 P-379
        let form = asked(InputKind::ElicitForm);
        let accepted = form.elicited(&raw(r#"{"action":"accept","content":{"n":2}}"#));
        assert_eq!(accepted, Ok(Elicited::Accepted(raw(r#"{"n":2}"#))));
        assert_eq!(form.elicited(&raw(r#"{"action":"decline"}"#)), Ok(Elicited::Declined));
        assert_eq!(form.elicited(&raw(r#"{"action":"cancel","content":{}}"#)), Ok(Elicited::Cancelled));
        for bad in [
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":[]}"#,
            r#"{"action":"accept","content":{"n":0}}"#,
            r#"{"action":"accept","content":{"n":1.5}}"#,
            r#"{"action":"accept","content":{"n":1,"t":5}}"#,
        ] {
            let fault = form.elicited(&raw(bad)).expect_err(bad);
            assert!(matches!(fault, ElicitedFault::Content(_)), "{bad}: {fault}");
            assert!(fault.to_string().starts_with("the form is filled in wrongly; "), "{fault}");
        }
        for bad in ["{}", "[]", "null", r#"{"action":"maybe"}"#, r#"{"action":5}"#, r#"{"content":{"n":1}}"#]
        {
            assert_eq!(form.elicited(&raw(bad)), Err(ElicitedFault::NotAnAnswer), "{bad}");
        }
    }

    #[test]
    fn a_url_is_agreed_to_and_brings_nothing_back() {
        let url = asked(InputKind::ElicitUrl);
        let accepted = url.elicited(&raw(r#"{"action":"accept","content":{"token":"t"}}"#));
        assert_eq!(accepted, Ok(Elicited::Accepted(RawJson::empty_object())));
        let other = asked(InputKind::Sample).elicited(&raw(r#"{"action":"accept"}"#));
        assert_eq!(other, Err(ElicitedFault::NotAnAnswer));
        let formless = InputRequest { kind: InputKind::ElicitForm, params: None };
        let fault = formless.elicited(&raw(r#"{"action":"accept"}"#));
        assert!(matches!(fault, Err(ElicitedFault::NoForm(_))), "{fault:?}");
    }
}

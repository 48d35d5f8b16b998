//! What a server may ask of a client: whether it may, and what the request must hold.

use alloc::string::String;

use crate::error::ApiError;
use crate::jsonrpc::{JsonRef, Kind, RawJson};
use crate::mcp::types::input::{InputKind, InputRequest};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::request::is_uri;
use crate::mcp::{Method, Revision, legality};

/// The method that asks for input of this kind.
pub(super) const fn method(kind: InputKind) -> Method {
    match kind {
        InputKind::ElicitForm | InputKind::ElicitUrl => Method::ElicitationCreate,
        InputKind::Sample => Method::SamplingCreateMessage,
        InputKind::ListRoots => Method::RootsList,
    }
}

/// What the client would have to declare for `request`, if it did not: nothing to do if that is empty.
pub(super) fn undeclared(request: &InputRequest, declared: &ClientCapabilities) -> ClientCapabilities {
    let asks = |name| {
        let params = request.params.as_ref().map(RawJson::view);
        params.and_then(|params| params.get(name)).is_some_and(|value| !value.is_null())
    };
    let mut missing = ClientCapabilities::default();
    match request.kind {
        InputKind::ElicitForm => missing.elicitation_form = !declared.elicitation_form,
        InputKind::ElicitUrl => missing.elicitation_url = !declared.elicitation_url,
        InputKind::ListRoots => missing.roots = !declared.roots,
        InputKind::Sample => {
            missing.sampling_tools = !declared.sampling_tools && (asks("tools") || asks("toolChoice"));
            missing.sampling = !declared.sampling || missing.sampling_tools;
        }
    }
    missing
}

/// Adds what `more` lacks to what is lacking.
pub(super) fn add(to: &mut ClientCapabilities, more: &ClientCapabilities) {
    to.elicitation_form |= more.elicitation_form;
    to.elicitation_url |= more.elicitation_url;
    to.sampling |= more.sampling;
    to.sampling_tools |= more.sampling_tools;
    to.roots |= more.roots;
}

/// Whether `revision` has this request, and it holds what it must.
///
/// # Errors
/// [`ApiError::WrongEra`], [`ApiError::BadParams`].
///
/// Spec: MCP 2025-11-25 client/elicitation, client/sampling; 2026-07-28 schema, `InputRequest`.
pub(super) fn check(request: &InputRequest, revision: Revision) -> Result<(), ApiError> {
    let method = method(request.kind);
    let has = if revision.era() == crate::mcp::Era::Modern {
        legality::embeddable(revision, &method)
    } else {
        legality::legal(revision, legality::Sender::Server, &method)
    };
    if !has || request.kind == InputKind::ElicitUrl && revision < Revision::V2025_11_25 {
        return Err(ApiError::WrongEra { method, revision });
    }
    if let Some(params) = &request.params
        && params.view().kind() != Kind::Object
    {
        return Err(ApiError::BadParams("the parameters of a request for input are no object"));
    }
    if InputRequest::new(&method, request.params.clone()).is_none_or(|read| read.kind != request.kind) {
        return Err(ApiError::BadParams("an elicitation's mode is not the kind that was said"));
    }
    let member = |name| request.params.as_ref().and_then(|params| params.view().get(name));
    let text = |name| member(name).and_then(JsonRef::str).map(|text| text.decode().into_owned());
    let why = match request.kind {
        InputKind::ListRoots => None,
        InputKind::Sample => {
            let messages = member("messages").is_some_and(|messages| messages.kind() == Kind::Array);
            let bounded = member("maxTokens").is_some_and(|most| most.kind() == Kind::Number);
            (!messages || !bounded).then_some("a sampling request needs messages and maxTokens")
        }
        InputKind::ElicitForm | InputKind::ElicitUrl if text("message").is_none() => {
            Some("an elicitation needs a message")
        }
        InputKind::ElicitForm => {
            let schema = member("requestedSchema").is_some_and(|schema| schema.kind() == Kind::Object);
            (!schema).then_some("a form needs a requestedSchema")
        }
        InputKind::ElicitUrl if !text("url").is_some_and(|url: String| is_uri(&url)) => {
            Some("an elicitation by URL needs a url")
        }
        // 2026-07-28 has no such id.
        InputKind::ElicitUrl => (revision == Revision::V2025_11_25 && text("elicitationId").is_none())
            .then_some("an elicitation by URL needs an elicitationId"),
    };
    why.map_or(Ok(()), |why| Err(ApiError::BadParams(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: InputKind, params: &str) -> InputRequest {
        InputRequest { kind, params: Some(RawJson::parse_str(params).expect(params)) }
    }

    #[test]
    fn a_request_for_input_holds_what_it_must() {
        // P-368, P-369
        use InputKind::{ElicitForm, ElicitUrl, ListRoots, Sample};
        let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
        let url = r#"{"mode":"url","message":"m","url":"https://a/","elicitationId":"e"}"#;
        let no_id = r#"{"mode":"url","message":"m","url":"https://a/"}"#;
        let sample = r#"{"messages":[],"maxTokens":5}"#;
        let (c, b, m) = (Revision::V2025_11_25, Revision::V2025_06_18, Revision::V2026_07_28);
        let table = [
            (ElicitForm, form, c, true),
            (ElicitForm, form, b, true),
            (ElicitForm, form, m, true),
            (ElicitForm, form, Revision::V2025_03_26, false),
            (ElicitForm, r#"{"requestedSchema":{}}"#, m, false),
            (ElicitForm, r#"{"message":"m"}"#, m, false),
            (ElicitForm, url, m, false),
            (ElicitUrl, form, m, false),
            (ElicitUrl, url, c, true),
            (ElicitUrl, url, b, false),
            (ElicitUrl, no_id, c, false),
            (ElicitUrl, no_id, m, true),
            (ElicitUrl, r#"{"mode":"url","message":"m","url":"no address"}"#, m, false),
            (Sample, sample, Revision::V2024_11_05, true),
            (Sample, r#"{"messages":[]}"#, m, false),
            (ListRoots, "{}", m, true),
            (ListRoots, "[]", m, false),
        ];
        for (kind, params, revision, good) in table {
            assert_eq!(check(&request(kind, params), revision).is_ok(), good, "{kind:?} {params} {revision}");
        }
    }

    #[test]
    fn what_was_not_declared_is_named() {
        let none = ClientCapabilities::default();
        let tools = request(InputKind::Sample, r#"{"tools":[]}"#);
        let missing = undeclared(&tools, &ClientCapabilities { sampling: true, ..none.clone() });
        assert!(missing.sampling_tools);
        let all = ClientCapabilities {
            elicitation_form: true,
            elicitation_url: true,
            sampling: true,
            sampling_tools: true,
            roots: true,
            ..ClientCapabilities::default()
        };
        for kind in [InputKind::ElicitForm, InputKind::ElicitUrl, InputKind::Sample, InputKind::ListRoots] {
            assert!(undeclared(&request(kind, "{}"), &all).is_empty(), "{kind:?}");
            assert!(!undeclared(&request(kind, "{}"), &none).is_empty(), "{kind:?}");
        }
        let form_only = ClientCapabilities { elicitation_form: true, ..none };
        assert!(undeclared(&request(InputKind::ElicitUrl, "{}"), &form_only).elicitation_url);
    }
}

//! What a server may ask of a client: whether it may, and what the request must hold.

use alloc::string::String;

use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, JsonRef, Kind, RawJson};
use crate::mcp::types::form::{Field, FieldKind, Form};
use crate::mcp::types::input::{InputKind, InputRequest};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::request::is_uri;
use crate::mcp::types::sampling::{MessagesFault, check_messages};
use crate::mcp::{Era, Method, Revision, codes, legality};

/// The method that asks for input of this kind.
pub(super) const fn method(kind: InputKind) -> Method {
    match kind {
        InputKind::ElicitForm | InputKind::ElicitUrl => Method::ElicitationCreate,
        InputKind::Sample => Method::SamplingCreateMessage,
        InputKind::ListRoots => Method::RootsList,
    }
}

/// What the client would have to declare for `request`, if it did not: nothing to do if that is empty.
pub(super) fn undeclared(
    request: &InputRequest,
    revision: Revision,
    declared: &ClientCapabilities,
) -> ClientCapabilities {
    let params = request.params.as_ref().map(RawJson::view);
    let member = |name| params.and_then(|params| params.get(name)).filter(|value| !value.is_null());
    let asks = |name| member(name).is_some();
    let mut missing = ClientCapabilities::default();
    match request.kind {
        InputKind::ElicitForm => missing.elicitation_form = !declared.elicitation_form,
        InputKind::ElicitUrl => missing.elicitation_url = !declared.elicitation_url,
        InputKind::ListRoots => missing.roots = !declared.roots,
        InputKind::Sample => {
            missing.sampling_tools = !declared.sampling_tools && (asks("tools") || asks("toolChoice"));
            // Older revisions have these values as well, and no capability for them.
            let context = member("includeContext").and_then(JsonRef::str);
            missing.sampling_context = !declared.sampling_context
                && revision >= Revision::V2025_11_25
                && context.is_some_and(|context| !context.eq_str("none"));
            missing.sampling = !declared.sampling || missing.sampling_tools || missing.sampling_context;
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
    to.sampling_context |= more.sampling_context;
    to.roots |= more.roots;
}

/// -32021, with what was missing.
///
/// Spec: MCP 2026-07-28 basic, "Error Codes".
pub(super) fn missing_capability(missing: &ClientCapabilities) -> ErrorObject {
    let data = RawJson::object(|w| {
        w.object("requiredCapabilities", |w| missing.write(w, Era::Modern));
    });
    let message = "this needs a capability that the request did not declare";
    ErrorObject { data: Some(data), ..ErrorObject::new(codes::MISSING_CLIENT_CAPABILITY, message) }
}

/// Whether `revision` has this request, and it holds what it must.
///
/// # Errors
/// [`ApiError::WrongEra`], [`ApiError::BadParams`].
///
/// Spec: MCP 2025-11-25 client/elicitation, client/sampling; 2026-07-28 schema, `InputRequest`.
pub(super) fn check(request: &InputRequest, revision: Revision) -> Result<(), ApiError> {
    let method = method(request.kind);
    let has = if revision.era() == Era::Modern {
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
            let messages = member("messages").ok_or(MessagesFault::NotAnArray).and_then(check_messages);
            let bounded = member("maxTokens").is_some_and(|most| most.kind() == Kind::Number);
            let unbounded = (!bounded).then_some("a sampling request needs maxTokens");
            messages.err().map(MessagesFault::as_str).or(unbounded)
        }
        InputKind::ElicitForm | InputKind::ElicitUrl if text("message").is_none() => {
            Some("an elicitation needs a message")
        }
        InputKind::ElicitForm => request.params.as_ref().and_then(|params| form(params.view())),
        InputKind::ElicitUrl if !text("url").is_some_and(|url: String| is_safe_to_open(&url)) => {
            Some("an elicitation by URL needs a url: https, or http on this machine")
        }
        // 2026-07-28 has no such id.
        InputKind::ElicitUrl => (revision == Revision::V2025_11_25 && text("elicitationId").is_none())
            .then_some("an elicitation by URL needs an elicitationId"),
    };
    why.map_or(Ok(()), |why| Err(ApiError::BadParams(why)))
}

/// Why this is no form that clients can show. What says of itself that it is secret has no place in one: a URL is
/// for that.
///
/// Spec: MCP 2025-06-18 and later, client/elicitation, "Requested Schema"; schema, `PrimitiveSchemaDefinition`.
fn form(params: JsonRef<'_>) -> Option<&'static str> {
    let Ok(form) = Form::read(params) else {
        return Some("a form needs a requestedSchema with properties, 256 at most");
    };
    let properties = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
    let member =
        |field: &Field, name| properties.and_then(|all| all.get(&field.name)).and_then(|one| one.get(name));
    form.fields.iter().find_map(|field| {
        let format = member(field, "format").is_some_and(|format| !format.is_null());
        let known = !matches!(field.kind, FieldKind::Text { format: None, .. });
        if format && !known {
            return Some("the format of a form's field is email, uri, date or date-time");
        }
        if member(field, "writeOnly").and_then(JsonRef::as_bool) == Some(true) {
            return Some("a form asks for no secrets; ask for those by a URL");
        }
        let unsupported = field.kind == FieldKind::Unsupported;
        unsupported.then_some("a form's fields are text, numbers, yes or no, or choices")
    })
}

/// Whether `data` of -32042 lists what has to be done first, all of it by URL, each with an id.
///
/// # Errors
/// [`ApiError::MissingCapability`], [`ApiError::BadParams`].
///
/// Spec: MCP 2025-11-25 client/elicitation, "URL Elicitation Required Error".
pub(super) fn check_required(data: Option<&RawJson>, declared: &ClientCapabilities) -> Result<(), ApiError> {
    let kind = InputKind::ElicitUrl;
    if !declared.elicitation_url {
        return Err(ApiError::MissingCapability { kind });
    }
    let why = "-32042 lists elicitations: each with mode url, message, url and elicitationId";
    let list = data.and_then(|data| Some((data, data.view().get("elicitations")?)));
    let (data, list) = list.ok_or(ApiError::BadParams(why))?;
    if list.elements().next().is_none() {
        return Err(ApiError::BadParams(why));
    }
    for asked in list.elements() {
        if asked.kind() != Kind::Object {
            return Err(ApiError::BadParams(why));
        }
        check(&InputRequest { kind, params: data.slice_of(asked) }, Revision::V2025_11_25)?;
    }
    Ok(())
}

/// Whether a person may be sent to this address: secure, or on the machine of whoever develops the server.
///
/// Spec: MCP 2025-11-25 and later, client/elicitation, "Safe URL Handling".
fn is_safe_to_open(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let host = rest.get(..end).unwrap_or_default();
    let name = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    // Whom an address with a user in it leads to is not seen at a glance.
    let plain = is_uri(url) && !name.is_empty() && !host.contains('@');
    let local = name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "::1");
    plain && (scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") && local)
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
            (ElicitForm, r#"{"message":"m","requestedSchema":{"type":"object"}}"#, m, false),
            (ElicitForm, url, m, false),
            (ElicitUrl, form, m, false),
            (ElicitUrl, url, c, true),
            (ElicitUrl, url, b, false),
            (ElicitUrl, no_id, c, false),
            (ElicitUrl, no_id, m, true),
            (ElicitUrl, r#"{"mode":"url","message":"m","url":"no address"}"#, m, false),
            (ElicitUrl, r#"{"mode":"url","message":"m","url":"javascript:x"}"#, m, false),
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
    fn a_form_has_fields_that_can_be_filled_in_and_none_for_secrets() {
        // P-367
        let asks = |property: &str| {
            let params = alloc::format!(
                r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"f":{property}}}}}}}"#
            );
            check(&request(InputKind::ElicitForm, &params), Revision::V2026_07_28)
        };
        for good in [
            r#"{"type":"string"}"#,
            r#"{"type":"string","format":"email"}"#,
            r#"{"type":"string","format":null,"writeOnly":false}"#,
            r#"{"type":"integer"}"#,
            r#"{"type":"string","enum":["a"]}"#,
        ] {
            assert_eq!(asks(good), Ok(()), "{good}");
        }
        for bad in [
            r#"{"type":"string","format":"password"}"#,
            r#"{"type":"string","writeOnly":true}"#,
            r#"{"type":"object"}"#,
            r#"{"type":"array","items":{"type":"object"}}"#,
        ] {
            assert!(matches!(asks(bad), Err(ApiError::BadParams(_))), "{bad}");
        }
    }

    #[test]
    fn people_are_sent_to_safe_addresses_only() {
        // P-381 P-483
        for good in [
            "https://a.example/x?y#z",
            "HTTPS://a:8443",
            "http://localhost:3000/",
            "http://127.0.0.1",
            "http://[::1]:80/x",
        ] {
            assert!(is_safe_to_open(good), "{good}");
        }
        for bad in [
            "http://a.example/",
            "http://localhost.a.example/",
            "http://localhost@a.example/",
            "http://a.example\\@localhost/",
            "https://user:pass@a.example/",
            "https:///x",
            "https:a.example",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://a b/",
            "",
        ] {
            assert!(!is_safe_to_open(bad), "{bad}");
        }
    }

    #[test]
    fn what_was_not_declared_is_named() {
        let none = ClientCapabilities::default();
        let tools = request(InputKind::Sample, r#"{"tools":[]}"#);
        let modern = Revision::V2026_07_28;
        let sampling = ClientCapabilities { sampling: true, ..none.clone() };
        assert!(undeclared(&tools, modern, &sampling).sampling_tools);
        for (context, revision, wanted) in [
            ("thisServer", modern, true),
            ("allServers", Revision::V2025_11_25, true),
            ("none", modern, false),
            ("thisServer", Revision::V2025_06_18, false),
        ] {
            // P-386
            let params = alloc::format!(r#"{{"includeContext":"{context}"}}"#);
            let missing = undeclared(&request(InputKind::Sample, &params), revision, &sampling);
            assert_eq!(missing.sampling_context, wanted, "{context} {revision}");
            assert_eq!(missing.is_empty(), !wanted);
        }
        let all = ClientCapabilities {
            elicitation_form: true,
            elicitation_url: true,
            sampling: true,
            sampling_tools: true,
            roots: true,
            ..ClientCapabilities::default()
        };
        for kind in [InputKind::ElicitForm, InputKind::ElicitUrl, InputKind::Sample, InputKind::ListRoots] {
            assert!(undeclared(&request(kind, "{}"), modern, &all).is_empty(), "{kind:?}");
            assert!(!undeclared(&request(kind, "{}"), modern, &none).is_empty(), "{kind:?}");
        }
        let form_only = ClientCapabilities { elicitation_form: true, ..none };
        assert!(undeclared(&request(InputKind::ElicitUrl, "{}"), modern, &form_only).elicitation_url);
    }
}

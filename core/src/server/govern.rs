//! How a served request passes the [waist](crate::waist): which action it is, what a refusal looks like to the client,
//! and what an answer says of how the work went.
//!
//! A grant names tools. What else a client may ask for (resources, prompts, completions) has no effect beyond its
//! answer, so by default it passes by: granting one tool does not lock the reading of resources.

mod gate;

use alloc::format;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::jsonrpc::{ErrorObject, JsonRef, RawJson, write_members};
use crate::mcp::{Method, codes};
use crate::server::event::{Principal, Reply};
use crate::waist::{Call, ErrorClass, Rejection};

pub use gate::{Declared, Gate, Told};

/// Which requests pass the waist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Governed {
    /// Calls of tools: the action is the tool's name.
    #[default]
    Tools,
    /// All that the application answers. What is no call of a tool is an action under its method's name, such as
    /// `resources/read`, which a grant has to name as well.
    All,
}

impl Governed {
    /// The call that a request of `principal` is; none: it passes by. Nothing is declared of it yet.
    ///
    /// With `subject`, what is asked for is hashed, so that brakes can tell whether it is the same again. A later round
    /// of one call (2026-07-28) has another subject than the first: it goes on, it does not repeat.
    #[must_use]
    pub fn call(
        self,
        method: &Method,
        params: &RawJson,
        principal: &Principal,
        subject: bool,
    ) -> Option<Call> {
        let view = params.view();
        let mut call = match method {
            Method::ToolsCall => {
                // A session reports no call without a name; if one came, no grant would name it.
                let name =
                    view.get("name").and_then(JsonRef::str).map(|name| name.decode()).unwrap_or_default();
                match subject {
                    true => Call::tool(&*name, view.get("arguments")),
                    false => Call::new(&*name),
                }
            }
            _ if self == Self::All => {
                let mut call = Call::new(method.as_str());
                call.subject = subject.then(|| {
                    let members = view.members().map(|(name, value)| (name.decode(), value));
                    let mut text = Vec::with_capacity(params.len());
                    let later = ["_meta", "inputResponses", "requestState"];
                    write_members(&mut text, members.filter(|(name, _)| !later.contains(&&**name)).collect());
                    Sha256::digest(&text).into()
                });
                call
            }
            _ => return None,
        };
        if let Some(first) = call.subject
            && let Some(state) = view.get("requestState").filter(|state| !state.is_null())
        {
            call.subject =
                Some(Sha256::new().chain_update(first).chain_update(state.as_bytes()).finalize().into());
        }
        call.principal = principal.shared();
        Some(call)
    }
}

/// The answer to a request that the waist refused: for a tool a result that a model can read, else an error.
///
/// Spec: MCP server/tools, "Error Handling".
#[must_use]
pub fn refused(method: &Method, rejection: &Rejection) -> Reply {
    let text = format!("Refused by the rule \"{}\": {rejection}. {}", rejection.rule(), rejection.advice());
    match method {
        Method::ToolsCall => Reply::tool_error(&text),
        _ => Reply::Error(ErrorObject::new(codes::INTERNAL_ERROR, text)),
    }
}

impl Reply {
    /// What it says of how the work went; none: well.
    ///
    /// A failure is [`ErrorClass::Terminal`], unless whoever did the work knows better. A call that cannot go on without
    /// input has neither failed nor gone well: [`ErrorClass::NeedsApproval`]. Reads a result up to its `isError`.
    #[must_use]
    pub fn error_class(&self, method: &Method) -> Option<ErrorClass> {
        match self {
            Self::InputRequired { .. } => Some(ErrorClass::NeedsApproval),
            Self::Error(_) => Some(ErrorClass::Terminal),
            Self::Complete(result) => {
                let failed = || result.view().get("isError").and_then(JsonRef::as_bool) == Some(true);
                (*method == Method::ToolsCall && failed()).then_some(ErrorClass::Terminal)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::types::request::CallTool;
    use crate::waist::{Bindings, Grant, Waist};

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    fn subject(method: &Method, params: &str) -> [u8; 32] {
        let call = Governed::All.call(method, &raw(params), &Principal::anonymous(), true).expect(params);
        call.subject.expect("it was asked for")
    }

    #[test]
    fn the_action_of_a_call_is_its_tool() {
        let params = raw(r#"{"name":"read\u005ffile","arguments":{"a":1}}"#);
        for governed in [Governed::Tools, Governed::All] {
            let call = governed
                .call(&Method::ToolsCall, &params, &Principal::named("ann"), false)
                .expect("tools are governed");
            assert_eq!((&*call.action, call.subject), ("read_file", None));
            assert_eq!(call.principal.as_deref(), Some("ann"));
        }
        let with = Governed::Tools
            .call(&Method::ToolsCall, &params, &Principal::anonymous(), true)
            .expect("tools are governed");
        assert_eq!(with.subject, Call::tool("t", params.view().get("arguments")).subject);
    }

    #[test]
    fn what_is_admitted_is_what_runs() {
        // Of members of the same name, however it is written, all who look take the same.
        for (params, name, argument) in [
            (r#"{"name":"a","name":"b","arguments":{"x":1},"arguments":{"x":2}}"#, "a", "1"),
            (r#"{"arguments":{"x":1},"arguments":{"x":2},"na\u006de":"a","name":"b"}"#, "a", "1"),
            (r#"{"name":"a","na\u006de":"b","argument\u0073":{"x":1},"arguments":{"x":2}}"#, "a", "1"),
        ] {
            let params = raw(params);
            let call = Governed::Tools.call(&Method::ToolsCall, &params, &Principal::anonymous(), true);
            let call = call.expect("tools are governed");
            let (runs, arguments) = CallTool::view(&params).expect("a call");
            assert_eq!((&*call.action, &*runs.decode()), (name, name), "{}", params.as_str());
            assert_eq!(call.subject, Call::tool(name, arguments).subject, "{}", params.as_str());
            let x = arguments.and_then(|arguments| arguments.get("x")).expect("x");
            assert_eq!(x.as_bytes(), argument.as_bytes(), "{}", params.as_str());
        }
    }

    #[test]
    fn what_is_no_tool_passes_by_unless_all_is_governed() {
        let params = raw(r#"{"uri":"file:///a"}"#);
        for method in [Method::ResourcesRead, Method::PromptsGet, Method::CompletionComplete] {
            assert_eq!(
                Governed::Tools.call(&method, &params, &Principal::anonymous(), true),
                None,
                "{method:?}"
            );
            let call = Governed::All
                .call(&method, &params, &Principal::anonymous(), false)
                .expect("all is governed");
            assert_eq!(&*call.action, method.as_str());
        }
    }

    #[test]
    fn a_later_round_is_another_call_and_a_repeated_one_is_not() {
        let (tool, read) = (Method::ToolsCall, Method::ResourcesRead);
        let first = subject(&tool, r#"{"name":"t","arguments":{}}"#);
        assert_eq!(subject(&tool, r#"{"name":"t","_meta":{"a":1},"requestState":null}"#), first);
        let second = subject(&tool, r#"{"name":"t","requestState":"s","inputResponses":{}}"#);
        assert_ne!(second, first);
        assert_eq!(subject(&tool, r#"{"inputResponses":{"k":{}},"requestState":"s","name":"t"}"#), second);
        assert_eq!(subject(&read, r#"{"uri":"a:b","_meta":{}}"#), subject(&read, r#"{"uri":"a:b"}"#));
        assert_ne!(subject(&read, r#"{"uri":"a:b"}"#), subject(&read, r#"{"uri":"a:c"}"#));
    }

    #[test]
    fn a_refused_tool_gives_a_result_that_a_model_can_read() {
        // H-182
        let mut waist = Waist::new(Bindings { grant: Some(Grant::default().into()), ..Bindings::default() })
            .expect("usable");
        let rejection = waist.begin(&Call::new("t"), crate::Instant::ZERO).expect_err("the zero grant");
        let Reply::Complete(result) = refused(&Method::ToolsCall, &rejection) else { panic!() };
        assert_eq!(result.view().get("isError").and_then(JsonRef::as_bool), Some(true));
        let text = result.as_str();
        assert!(text.contains("grant") && text.contains("whoever runs this server"), "{text}");
        let Reply::Error(error) = refused(&Method::ResourcesRead, &rejection) else { panic!() };
        assert_eq!(error.code, codes::INTERNAL_ERROR);
    }

    #[test]
    fn an_answer_says_how_the_work_went() {
        // H-187
        let complete = |text: &str| Reply::Complete(raw(text));
        let input = Reply::InputRequired { requests: Vec::new(), state: Some("s".into()) };
        let error = Reply::Error(ErrorObject::new(codes::INTERNAL_ERROR, "no"));
        let (tool, read) = (Method::ToolsCall, Method::ResourcesRead);
        let table = [
            (&tool, Reply::text("a"), None),
            (&tool, complete(r#"{"content":[],"isError":false}"#), None),
            (&tool, complete(r#"{"content":[{"isError":true}]}"#), None),
            (&tool, Reply::tool_error("a"), Some(ErrorClass::Terminal)),
            (&read, complete(r#"{"contents":[],"isError":true}"#), None),
            (&tool, error.clone(), Some(ErrorClass::Terminal)),
            (&read, error, Some(ErrorClass::Terminal)),
            (&tool, input, Some(ErrorClass::NeedsApproval)),
        ];
        for (method, reply, class) in table {
            assert_eq!(reply.error_class(method), class, "{method:?} {reply:?}");
        }
    }
}

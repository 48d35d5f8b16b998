//! What a server may ask of a client, in both eras: as a request of its own (legacy), or inside an
//! `input_required` result (2026-07-28). One type for both, so that an embedder writes one responder.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::jsonrpc::{ErrorObject, JsonRef, Kind, RawJson};
use crate::limits::MAX_INPUT_REQUESTS;
use crate::mcp::Method;

/// What kind of input is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputKind {
    /// `elicitation/create`, a form (a missing `mode` means form).
    ElicitForm,
    /// `elicitation/create`, a URL to open.
    ElicitUrl,
    /// `sampling/createMessage`.
    Sample,
    /// `roots/list`.
    ListRoots,
}

/// A server's request for input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequest {
    /// What is asked for.
    pub kind: InputKind,
    /// The request's parameters, as sent.
    pub params: Option<RawJson>,
}

impl InputRequest {
    /// The request of this method with these parameters; `None` if it is none that asks for input, or an
    /// elicitation of an unknown mode.
    #[must_use]
    pub fn new(method: &Method, params: Option<RawJson>) -> Option<Self> {
        let kind = if *method == Method::SamplingCreateMessage {
            InputKind::Sample
        } else if *method == Method::RootsList {
            InputKind::ListRoots
        } else if *method == Method::ElicitationCreate {
            let mode = params.as_ref().and_then(|params| params.view().get("mode"));
            match mode.filter(|mode| !mode.is_null()) {
                None => InputKind::ElicitForm,
                Some(mode) if mode.str().is_some_and(|mode| mode.eq_str("form")) => InputKind::ElicitForm,
                Some(mode) if mode.str().is_some_and(|mode| mode.eq_str("url")) => InputKind::ElicitUrl,
                Some(_) => return None,
            }
        } else {
            return None;
        };
        Some(Self { kind, params })
    }

    /// The text of an elicitation.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let text = self.params.as_ref()?.view().get("message")?.str()?;
        Some(text.decode().into_owned())
    }
}

/// The embedder's answer to an [`InputRequest`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputAnswer {
    /// The result object, as the method asks for it.
    Result(RawJson),
    /// The user said no. An elicitation is answered with `decline`; sampling and roots know no refusal but an
    /// error (legacy), and make a modern call impossible to go on with.
    Decline,
    /// The user said neither yes nor no. Like [`Decline`](Self::Decline), with `cancel`.
    Cancel,
    /// An error (legacy). A modern round has no place for one.
    Error(ErrorObject),
}

impl InputAnswer {
    /// Accepts an elicitation; `content` is the filled-in form, `None` for a URL.
    #[must_use]
    pub fn accept(content: Option<&RawJson>) -> Self {
        Self::Result(RawJson::object(|w| {
            w.string("action", "accept");
            if let Some(content) = content {
                w.raw("content", content.view());
            }
        }))
    }

    /// The result object to send, where one exists.
    pub(crate) fn to_result(&self, kind: InputKind) -> Option<RawJson> {
        let action = match self {
            Self::Result(result) => return Some(result.clone()),
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Error(_) => return None,
        };
        if !matches!(kind, InputKind::ElicitForm | InputKind::ElicitUrl) {
            return None;
        }
        Some(RawJson::object(|w| {
            w.string("action", action);
        }))
    }
}

/// One entry of `inputRequests`.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedInput {
    /// The server's key; the answer goes back under it.
    pub key: String,
    /// What is asked.
    pub request: InputRequest,
}

/// Reads `inputRequests`. `Err` says what is wrong with it.
pub(crate) fn read_input_requests(
    result: &RawJson,
    requests: Option<JsonRef<'_>>,
) -> Result<Vec<KeyedInput>, &'static str> {
    let Some(requests) = requests.filter(|requests| !requests.is_null()) else { return Ok(Vec::new()) };
    if requests.kind() != Kind::Object {
        return Err("inputRequests is no object");
    }
    if requests.members().nth(MAX_INPUT_REQUESTS).is_some() {
        return Err("there are too many input requests");
    }
    let mut out: Vec<KeyedInput> = Vec::new();
    for (key, entry) in requests.members() {
        let method = entry.get("method").and_then(JsonRef::str).ok_or("an input request has no method")?;
        let params = match entry.get("params").filter(|params| !params.is_null()) {
            Some(params) if params.kind() == Kind::Object => result.slice_of(params),
            Some(_) => return Err("an input request's params is no object"),
            None => None,
        };
        let request = InputRequest::new(&Method::from_name(&method.decode()), params)
            .ok_or("an input request is of an unknown kind")?;
        out.push(KeyedInput { key: String::from(&*key.decode()), request });
    }
    let mut keys = BTreeSet::new();
    if !out.iter().all(|asked| keys.insert(asked.key.as_str())) {
        return Err("an input request's key stands twice");
    }
    Ok(out)
}

//! Requests that only the application can answer: checked, entered in the table, and reported.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;

use crate::error::ApiError;
use crate::jsonrpc::{JsonRef, Kind, ObjectWriter, RawJson, RequestId, finish_line, write_notification};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::log::LogLevel;
use crate::mcp::types::prompt::PromptArgument;
use crate::mcp::types::request::{Complete, CompletionRef, GetPrompt, climbs, is_uri};
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::catalog::ListKind;
use crate::server::config::UnknownTool;
use crate::server::dispatch::{Asked, bounded, text};
use crate::server::event::{Context, Event, InputRound, Notice, Principal, RequestHandle, Who};
use crate::server::head::Head;
use crate::server::log;
use crate::server::params::{Params, Places};
use crate::server::plain::text_result;
use crate::server::requests::{Declared, Gone, Open};
use crate::server::session::Session;
use crate::server::subscription::MAX_URI_BYTES;
use crate::time::Instant;

/// Who asks, and in which revision.
#[derive(Debug)]
pub(super) enum Asker {
    /// The client of the one legacy session.
    Session(Revision),
    /// Whoever the request itself names.
    Own { revision: Revision, capabilities: ClientCapabilities, client: Who, log_level: Option<LogLevel> },
}

/// Why a request is refused.
enum Refusal {
    Error(i64, Cow<'static, str>),
    /// No such tool; whether that is an error is a setting.
    NoTool(Box<str>),
}

impl Refusal {
    const fn params(message: &'static str) -> Self {
        Self::Error(codes::INVALID_PARAMS, Cow::Borrowed(message))
    }

    const fn method() -> Self {
        Self::Error(codes::METHOD_NOT_FOUND, Cow::Borrowed("this server has no such method"))
    }
}

/// What the check of a request found.
#[derive(Debug, Default)]
struct Checked {
    /// The address of a subscription.
    uri: Option<Box<str>>,
    /// What the tool's structured results look like.
    output_schema: Option<Arc<RawJson>>,
}

impl Session {
    /// Enters a request that only the application can answer in the table, and reports it; or refuses it.
    pub(super) fn admit(&mut self, head: Option<&dyn Head>, asked: Asked, places: &Places, asker: Asker) {
        let params = Params::new(&asked.params, places);
        let revision = match asker {
            Asker::Session(revision) | Asker::Own { revision, .. } => revision,
        };
        let modern = revision.era() == Era::Modern;
        let checked = match self.check(&asked, &params) {
            Ok(checked) => checked,
            Err(Refusal::Error(code, message)) => {
                let status = if modern && code == codes::METHOD_NOT_FOUND { 404 } else { 200 };
                return self.refuse_with(&asked, code, &message, None, status);
            }
            Err(Refusal::NoTool(name)) => return self.no_tool(&asked, revision, &name),
        };
        if let Some(head) = head.filter(|_| modern && asked.method == Method::ToolsCall)
            && let Some(tool) = params.name().and_then(JsonRef::str)
            && let Some(differing) = head.differs_in_arguments(tool, params.arguments())
        {
            return self.refuse_head(&asked, differing);
        }
        let round = match if modern { input_round(&asked, &params) } else { Ok(None) } {
            Ok(round) => round,
            Err(message) => return self.refuse(&asked, codes::INVALID_PARAMS, message, None),
        };
        if self.requests.len() >= self.config.limits.max_in_flight.min(self.room.requests) {
            return self.refuse(&asked, codes::INTERNAL_ERROR, "too many requests are open", None);
        }
        let progress_token = params.progress_token().and_then(|token| RequestId::parse(token).ok());
        let (capabilities, client, log_level) = match asker {
            Asker::Own { capabilities, client, log_level, .. } => (capabilities, client, log_level),
            Asker::Session(_) => {
                let Some(legacy) = &self.legacy else { return };
                let log_level = self.config.capabilities.logging.then_some(legacy.log_level);
                (legacy.capabilities.clone(), Who::Session(legacy.client.clone()), log_level)
            }
        };
        let Asked { from, principal, id, method, params } = asked;
        let context = Box::new(Context {
            revision,
            principal: principal.clone(),
            capabilities,
            log_level,
            wants_progress: progress_token.is_some(),
            round,
            client,
        });
        let handle = self.requests.insert(Open {
            origin: from,
            id,
            method: method.clone(),
            revision,
            principal,
            declared: Declared::of(&context.capabilities),
            progress_token,
            progress: f64::NEG_INFINITY,
            log_level,
            uri: checked.uri,
            output_schema: checked.output_schema,
            asks: 0,
        });
        let request = RequestHandle(handle);
        self.events.push(Event::Request { request, method, params, context });
    }

    /// Whether the application can answer this.
    fn check(&self, asked: &Asked, params: &Params<'_>) -> Result<Checked, Refusal> {
        let mut checked = Checked::default();
        match asked.method {
            Method::ToolsCall => checked.output_schema = self.check_tool(&asked.principal, params)?,
            Method::PromptsGet => self.check_prompt(&asked.params)?,
            Method::ResourcesRead => {
                if !self.has_resources() {
                    return Err(Refusal::method());
                }
                uri(params)?;
            }
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
                if !self.has_resources() || !self.config.capabilities.subscribe {
                    return Err(Refusal::method());
                }
                let uri = uri(params)?;
                if uri.len() > MAX_URI_BYTES {
                    return Err(Refusal::params("the uri is too long to be watched"));
                }
                // What is under way counts as well, and is kept until it is answered.
                let known = self.legacy.as_ref().is_some_and(|legacy| legacy.watched.contains(uri.as_ref()));
                let more = asked.method == Method::ResourcesSubscribe && !known;
                let held = self.requests.uris() + if more { self.watched() } else { 0 };
                let room = self.config.limits.max_resource_subscriptions.min(self.room.watched);
                if held >= room {
                    return Err(Refusal::Error(
                        codes::INTERNAL_ERROR,
                        "too many resources are watched".into(),
                    ));
                }
                checked.uri = Some(uri.as_ref().into());
            }
            Method::CompletionComplete => self.check_completion(&asked.params)?,
            _ => return Err(Refusal::method()),
        }
        Ok(checked)
    }

    /// The shape of the arguments is checked; what is in them is for the tool to judge. Gives its output schema.
    ///
    /// Spec: MCP server/tools, "Error Handling".
    fn check_tool(
        &self,
        principal: &Principal,
        params: &Params<'_>,
    ) -> Result<Option<Arc<RawJson>>, Refusal> {
        if !self.has_tools() {
            return Err(Refusal::method());
        }
        let name = params.name().and_then(JsonRef::str).ok_or(Refusal::params("name must be a string"))?;
        if params.arguments().is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return Err(Refusal::params("arguments must be an object"));
        }
        let shown = || match &self.config.tool_filter {
            Some(filter) => filter.shows(principal, &name.decode()),
            None => true,
        };
        match self.catalog.list(ListKind::Tools).entry_of(name).filter(|_| shown()) {
            Some(tool) => Ok(tool.output_schema.clone()),
            None => Err(Refusal::NoTool(bounded(&name.decode()))),
        }
    }

    /// No such tool, or not for this principal: the answer is the same.
    fn no_tool(&mut self, asked: &Asked, revision: Revision, name: &str) {
        let message = format!("unknown tool: {name}");
        match self.config.unknown_tool {
            UnknownTool::ProtocolError => self.refuse(asked, codes::INVALID_PARAMS, &message, None),
            UnknownTool::ToolError => {
                let result = text_result(&message, true);
                let mut out = alloc::vec::Vec::with_capacity(self.replies.size(&result));
                match self.replies.complete(&mut out, &asked.id, &asked.method, revision, &result) {
                    Ok(()) => self.answer_own(asked, out),
                    Err(_) => self.refuse(asked, codes::INTERNAL_ERROR, &message, None),
                }
            }
        }
    }

    fn check_prompt(&self, params: &RawJson) -> Result<(), Refusal> {
        if !self.has_prompts() {
            return Err(Refusal::method());
        }
        let Ok((name, given)) = GetPrompt::parts(params.view()) else {
            return Err(Refusal::params("name must be a string, arguments an object of strings"));
        };
        let Some(prompt) = self.catalog.list(ListKind::Prompts).find(&name.decode()) else {
            return Err(Refusal::params("unknown prompt"));
        };
        let arguments = prompt.view().get("arguments");
        let arguments = arguments.into_iter().flat_map(JsonRef::elements);
        let mut needed =
            arguments.filter_map(|raw| PromptArgument::read(raw).ok()).filter(|needed| needed.required);
        let given = given.into_iter().flat_map(JsonRef::members);
        match needed.find(|needed| !given.clone().any(|(name, _)| name.eq_str(&needed.name))) {
            Some(missing) => {
                let message = format!("the required argument {} is missing", bounded(&missing.name));
                Err(Refusal::Error(codes::INVALID_PARAMS, message.into()))
            }
            None => Ok(()),
        }
    }

    fn check_completion(&self, params: &RawJson) -> Result<(), Refusal> {
        if !self.config.capabilities.completions {
            return Err(Refusal::method());
        }
        match Complete::parts(params.view()) {
            Ok((CompletionRef::Prompt(name), ..))
                if !self.catalog.list(ListKind::Prompts).contains(&name) =>
            {
                Err(Refusal::params("unknown prompt"))
            }
            Ok(_) => Ok(()),
            Err(_) => Err(Refusal::params("ref and argument must be as the schema says")),
        }
    }

    /// The application agreed that a resource is watched, or is no longer.
    pub(super) fn note_watched(&mut self, gone: Gone) {
        let (Some((uri, subscribes)), Some(legacy)) = (gone.watch, &mut self.legacy) else { return };
        if subscribes {
            legacy.watched.insert(uri.into());
        } else {
            legacy.watched.remove(uri.as_ref());
        }
    }

    /// Tells the client something about a request that is open. What it did not ask for is dropped: progress without a
    /// token, log messages below its level.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if the request is over; [`ApiError::BadParams`] if progress does not grow, or log
    /// messages were never offered; [`ApiError::TooLarge`] past the limit.
    ///
    /// Spec: MCP basic/utilities/progress; server/utilities/logging.
    pub fn notify(&mut self, request: RequestHandle, notice: &Notice, now: Instant) -> Result<(), ApiError> {
        self.clock.advance(now);
        let limit = self.config.limits.max_message_bytes;
        let open = self.requests.get_mut(request.0).ok_or(ApiError::UnknownRequest)?;
        let message = match notice {
            Notice::Progress { progress, total, message } => {
                if !progress.is_finite() || total.is_some_and(|total| !total.is_finite()) {
                    return Err(ApiError::BadParams("progress must be a finite number"));
                }
                if *progress <= open.progress {
                    return Err(ApiError::BadParams("progress must grow"));
                }
                let Some(token) = &open.progress_token else {
                    self.stats.unwanted_notices += 1;
                    return Ok(());
                };
                let words = message.as_ref().filter(|_| open.revision >= Revision::V2025_03_26);
                notification(&Method::Progress, |w| {
                    w.id("progressToken", token).f64("progress", *progress);
                    if let Some(total) = total {
                        w.f64("total", *total);
                    }
                    if let Some(words) = words {
                        w.string("message", words);
                    }
                })
            }
            Notice::Log { level, logger, data } => {
                if !self.config.capabilities.logging {
                    return Err(ApiError::BadParams("log messages were not offered"));
                }
                let session = self.legacy.as_ref().filter(|_| open.revision.era() == Era::Legacy);
                let least = session.map_or(open.log_level, |legacy| Some(legacy.log_level));
                if least.is_none_or(|least| *level < least) {
                    self.stats.unwanted_notices += 1;
                    return Ok(());
                }
                log::message(*level, logger.as_deref(), data.view())
            }
        };
        if message.len() > limit {
            return Err(ApiError::TooLarge { len: message.len(), limit });
        }
        if let Notice::Progress { progress, .. } = notice {
            open.progress = *progress;
        }
        let to = open.origin;
        self.send(to, message, false);
        Ok(())
    }
}

fn notification(method: &Method, params: impl Fn(&mut ObjectWriter<'_>)) -> alloc::vec::Vec<u8> {
    let mut out = alloc::vec::Vec::with_capacity(192);
    write_notification(&mut out, method.as_str(), |w| w.object(params));
    finish_line(&mut out);
    out
}

/// The address a request is about.
fn uri<'a>(params: &Params<'a>) -> Result<Cow<'a, str>, Refusal> {
    let uri = text(params.uri()).ok_or(Refusal::params("uri must be a string"))?;
    if !is_uri(&uri) {
        return Err(Refusal::params("uri must be an address with a scheme"));
    }
    if climbs(&uri) {
        return Err(Refusal::params("uri must not lead out of its folder"));
    }
    Ok(uri)
}

/// What an earlier round left, where the method has rounds.
///
/// Spec: MCP 2026-07-28, multi-round requests, "Server Requirements".
fn input_round(asked: &Asked, params: &Params<'_>) -> Result<Option<Box<InputRound>>, &'static str> {
    if !asked.method.takes_input_rounds()
        || params.input_responses().is_none() && params.request_state().is_none()
    {
        return Ok(None);
    }
    let state = match params.request_state() {
        None => None,
        Some(state) => Some(text(Some(state)).ok_or("requestState must be a string")?.into_owned()),
    };
    if let Some(responses) = params.input_responses() {
        let objects = responses.members().all(|(_, response)| response.kind() == Kind::Object);
        if responses.kind() != Kind::Object || !objects {
            return Err("inputResponses must be an object of objects");
        }
    }
    let responses = params.input_responses().and_then(|responses| asked.params.slice_of(responses));
    Ok(Some(Box::new(InputRound { responses, state })))
}

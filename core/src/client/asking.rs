//! What the application asks of a session: requests, further rounds of them, notifications, cancels.

use crate::client::config::RequestOptions;
use crate::client::encode::{self, Body};
use crate::client::event::{Event, Outcome, RequestHandle};
use crate::client::input::{InputAnswers, InputRequired};
use crate::client::requests::{Open, Owner, Timer};
use crate::client::session::{Phase, Session};
use crate::error::ApiError;
use crate::exchange::{Effect, Exchange, ExchangeHandle, HeadFacts, Partition, ReplyForm};
use crate::jsonrpc::{Kind, RawJson};
use crate::mcp::legality::{self, Sender};
use crate::mcp::{Era, Method, meta};
use crate::time::Instant;

impl Session {
    /// Makes a request. `params` is an object without `_meta` (see [`RequestOptions::meta`]), or `None`.
    ///
    /// Encodes at once: O(`params`), one allocation and a copy. Gives exactly one [`Event::Finished`].
    ///
    /// # Errors
    /// [`ApiError::NotReady`] before [`Event::Ready`]; [`ApiError::BadParams`] if the parameters cannot be sent;
    /// [`ApiError::WrongEra`] if the negotiated revision has no such request; [`ApiError::TooManyInFlight`],
    /// [`ApiError::TooLarge`] at the limits; [`ApiError::Closed`] at the end. Nothing was sent then.
    ///
    /// Spec: MCP basic, "Requests"; JSON-RPC 2.0, section 4.
    pub fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        if let Some(params) = &params {
            check_params(params)?;
        }
        let body = params.as_ref().map_or(Body::Empty, Body::Object);
        self.send_request(method, body, options, 0, now)
    }

    /// Goes on with a call that asked for input: a new request with the same parameters, the answers, and the
    /// server's state echoed byte for byte.
    ///
    /// # Errors
    /// As [`request`](Self::request); [`ApiError::BadParams`] if a key is unanswered, unknown or answered with
    /// what its kind cannot carry; [`ApiError::TooManyRounds`] past
    /// [`Limits::max_input_rounds`](crate::limits::Limits::max_input_rounds). `from` is yours still.
    ///
    /// Spec: MCP 2026-07-28, multi-round requests.
    pub fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let limit = self.config.limits.max_input_rounds;
        if from.round > limit {
            return Err(ApiError::TooManyRounds { limit });
        }
        if let Some(revision) = self.revision().filter(|revision| revision.era() == Era::Legacy) {
            return Err(ApiError::WrongEra { method: from.method.clone(), revision });
        }
        let params = from.next_params(answers)?;
        let options = RequestOptions { partition: from.partition, ..options.clone() };
        let body = Body::Object(&params);
        let handle = self.send_request(from.method.clone(), body, &options, from.round, now)?;
        // The next round starts from the parameters of the first, not from those of this one.
        self.requests.keep_instead(handle.0, from.params.clone());
        Ok(handle)
    }

    pub(super) fn send_request(
        &mut self,
        method: Method,
        body: Body<'_>,
        options: &RequestOptions,
        round: u32,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let now = self.clock.advance(now);
        let revision = match self.phase {
            Phase::Opening(_) => return Err(ApiError::NotReady),
            Phase::Closed(_) => return Err(ApiError::Closed),
            Phase::Ready(revision) => revision,
        };
        if method.is_notification() {
            return Err(ApiError::BadParams("a notification is no request"));
        }
        let known = !matches!(method, Method::Other(_));
        if known && !legality::legal(revision, Sender::Client, &method)
            || matches!(method, Method::Initialize | Method::ServerDiscover)
                && !(method == Method::ServerDiscover && revision.era() == Era::Modern)
        {
            return Err(ApiError::WrongEra { method, revision });
        }
        if let Some(extra) = &options.meta {
            check_meta(extra)?;
        }
        let limits = &self.config.limits;
        let listens = method == Method::SubscriptionsListen;
        if listens && self.requests.listening() >= limits.max_subscriptions {
            return Err(ApiError::TooManyInFlight { limit: limits.max_subscriptions });
        }
        if !listens && self.requests.in_flight() - self.requests.listening() >= limits.max_in_flight {
            return Err(ApiError::TooManyInFlight { limit: limits.max_in_flight });
        }
        // What may have to be sent again in a later round is kept, within the bound of what may wait to leave.
        let keeps = revision.era() == Era::Modern && method.takes_input_rounds();
        if keeps && self.requests.kept_bytes() >= limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        let id = self.requests.next_id();
        let modern = revision.era() == Era::Modern;
        let special = modern
            && (options.client.is_some() || options.capabilities.is_some() || options.log_level.is_some());
        let own;
        let prefix = if special {
            own = encode::modern_prefix(revision, &self.config, options);
            &own
        } else {
            &self.meta_prefix
        };
        let (message, params_at) = encode::request(id, &method, body, prefix, options.meta.as_ref());
        if message.len() > limits.max_message_bytes {
            return Err(ApiError::TooLarge { len: message.len(), limit: limits.max_message_bytes });
        }
        let params = keeps.then(|| RawJson::trusted(message.clone(), params_at.start, params_at.end));
        let (idle, absolute) = if listens {
            (None, None)
        } else {
            (
                Some(Timer::start(options.idle.unwrap_or(limits.request_idle), now)),
                Some(Timer::start(options.absolute.unwrap_or(limits.request_absolute), now)),
            )
        };
        let handle = RequestHandle(id);
        let exchange = ExchangeHandle::of_request(id);
        self.requests.insert(
            id,
            Open {
                owner: Owner::Application(handle),
                exchange,
                // A name of the application's may be as long as a message.
                method: method.clone().bounded(),
                partition: options.partition,
                params,
                round,
                sent: false,
                idle,
                absolute,
                progress: f64::NEG_INFINITY,
                mistyped_reply: false,
            },
        );
        self.effects.push_back(Effect::Send(Exchange {
            handle: exchange,
            message,
            facts: HeadFacts { revision: Some(revision), method: Some(method) },
            reply: if listens { ReplyForm::Stream } else { ReplyForm::One },
            partition: options.partition,
            params_at,
        }));
        Ok(handle)
    }

    /// Sends a notification. `params` is an object, or `None`.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn notify(&mut self, method: Method, params: Option<RawJson>, now: Instant) -> Result<(), ApiError> {
        self.clock.advance(now);
        let revision = match self.phase {
            Phase::Opening(_) => return Err(ApiError::NotReady),
            Phase::Closed(_) => return Err(ApiError::Closed),
            Phase::Ready(revision) => revision,
        };
        if params.as_ref().is_some_and(|params| params.view().kind() != Kind::Object) {
            return Err(ApiError::BadParams("params is no object"));
        }
        if matches!(method, Method::Cancelled | Method::Initialized) {
            return Err(ApiError::BadParams("the session sends this notification itself"));
        }
        if !method.is_notification() {
            return Err(ApiError::BadParams("a request is no notification"));
        }
        let known = !matches!(method, Method::Other(_));
        if known && !legality::legal(revision, Sender::Client, &method) {
            return Err(ApiError::WrongEra { method, revision });
        }
        let declared = &self.config.capabilities;
        if method == Method::RootsListChanged && !(declared.roots && declared.roots_list_changed) {
            return Err(ApiError::BadParams("changes of roots were not declared"));
        }
        let message = encode::notification(&method, params.as_ref());
        let limit = self.config.limits.max_message_bytes;
        if message.len() > limit {
            return Err(ApiError::TooLarge { len: message.len(), limit });
        }
        self.push_message(message, Some(method), Partition::default());
        Ok(())
    }

    /// Gives a request up: the server is told, and the request finishes as [`Outcome::Cancelled`] at once. An
    /// answer that still comes is dropped.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if it is over.
    ///
    /// Spec: MCP 2026-07-28, basic/patterns/cancellation.
    pub fn cancel(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.clock.advance(now);
        let id = self.requests.id_of(request).ok_or(ApiError::UnknownRequest)?;
        self.abort(id, reason);
        self.events.push(Event::Finished { request, outcome: Outcome::Cancelled });
        Ok(())
    }
}

fn check_params(params: &RawJson) -> Result<(), ApiError> {
    let view = params.view();
    if view.kind() != Kind::Object {
        return Err(ApiError::BadParams("params is no object"));
    }
    for (name, _) in view.members() {
        if name.eq_str("_meta") {
            return Err(ApiError::BadParams("_meta goes in by the request's options"));
        }
        if name.eq_str("inputResponses") || name.eq_str("requestState") {
            return Err(ApiError::BadParams("rounds of input are resumed, not requested"));
        }
    }
    Ok(())
}

fn check_meta(extra: &RawJson) -> Result<(), ApiError> {
    if extra.view().kind() != Kind::Object {
        return Err(ApiError::BadParams("the options' _meta is no object"));
    }
    let ours = [
        meta::PROGRESS_TOKEN,
        meta::PROTOCOL_VERSION,
        meta::CLIENT_INFO,
        meta::CLIENT_CAPABILITIES,
        meta::LOG_LEVEL,
    ];
    for (name, _) in extra.view().members() {
        if ours.iter().any(|ours| name.eq_str(ours)) {
            return Err(ApiError::BadParams("the options' _meta names what the session itself sets"));
        }
    }
    Ok(())
}

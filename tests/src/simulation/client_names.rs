//! What a client tells, in words for the coverage.

use sanswire::client::{Event, Outcome};
use sanswire::error::{ApiError, CloseReason};
use sanswire::mcp::Method;

pub(super) fn name_of(method: &Method) -> &'static str {
    let known = Method::KNOWN.iter().find(|known| *known == method);
    known.map_or("x/y", |known| match known {
        Method::ToolsCall => "tools/call",
        Method::ToolsList => "tools/list",
        Method::ResourcesList => "resources/list",
        Method::ResourcesRead => "resources/read",
        Method::PromptsList => "prompts/list",
        Method::PromptsGet => "prompts/get",
        Method::Ping => "ping",
        Method::SubscriptionsListen => "subscriptions/listen",
        _ => "another",
    })
}

pub(super) fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Ready(_) => "ready",
        Event::Renewed(_) => "renewed",
        Event::Verdict(_) => "verdict",
        Event::Finished { .. } => "finished",
        Event::Progress { .. } => "progress",
        Event::Notification { .. } => "notification",
        Event::PeerRequest { .. } => "peer request",
        Event::PeerRequestEnded { .. } => "peer request ended",
        Event::Violation(_) => "violation",
        Event::Closed(_) => "closed",
        _ => "another",
    }
}

pub(super) fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Complete(_) => "complete",
        Outcome::InputRequired(_) => "input required",
        Outcome::Error(_) => "error",
        Outcome::TimedOut { .. } => "timed out",
        Outcome::Cancelled => "cancelled",
        Outcome::Lost { maybe_ran: true } => "lost, maybe ran",
        Outcome::Lost { .. } => "lost unsent",
        Outcome::TooLarge { .. } => "too large",
        Outcome::Invalid(_) => "invalid",
        Outcome::SessionGone { .. } => "session gone",
        Outcome::Refused(_) => "refused",
        Outcome::Challenged(_) => "challenged",
        _ => "another",
    }
}

pub(super) fn close_name(reason: &CloseReason) -> &'static str {
    match reason {
        CloseReason::Local => "local",
        CloseReason::Eof => "eof",
        CloseReason::DiedOnProbe => "died on probe",
        CloseReason::ConnectTimeout { .. } => "connect timeout",
        CloseReason::Incompatible { .. } => "incompatible",
        CloseReason::Refused { .. } => "refused",
        CloseReason::Protocol(_) => "protocol",
        CloseReason::SessionGone => "session gone",
        CloseReason::HttpRefused(_) => "refused over HTTP",
        CloseReason::Unreachable => "unreachable",
        CloseReason::NoTransport { .. } => "no transport",
        _ => "another",
    }
}

pub(super) fn error_name(error: &ApiError) -> &'static str {
    match error {
        ApiError::NotReady => "not ready",
        ApiError::UnknownRequest => "unknown request",
        ApiError::BadParams(_) => "bad params",
        ApiError::TooLarge { .. } => "too large",
        ApiError::TooManyInFlight { .. } => "too many in flight",
        ApiError::OutboundFull => "outbound full",
        ApiError::TooManyRounds { .. } => "too many rounds",
        ApiError::WrongEra { .. } => "wrong era",
        ApiError::MissingCapability { .. } => "missing capability",
        ApiError::Closed => "closed",
        _ => "another",
    }
}

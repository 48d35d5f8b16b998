//! A server on the web that wants to know who asks, or refuses: what that means, and what to do about it.

use sanswire::error::CloseReason;
use sanswire::exchange::{Challenge, HttpRefusal};
use sanswire::jsonrpc::ObjectWriter;

use crate::config::host;
use crate::failure::{Failure, status};
use crate::mask::Mask;
use crate::output::escape;

/// How much of each thing that a server says is shown, in characters.
const SHOWN: usize = 300;

/// What of an answer is told to programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The status.
    status: u16,
    /// How it wants to be shown who asks.
    scheme: Option<String>,
    /// What it says of that, by name.
    params: Vec<(&'static str, String)>,
    /// What it says beside that.
    said: Option<String>,
}

/// The parameters that mean something.
const PARAMS: [&str; 5] = ["realm", "scope", "error", "error_description", "resource_metadata"];

impl Answer {
    fn of(challenge: &Challenge) -> Self {
        let all = challenge.challenges();
        let bearer = all.iter().position(|one| one.scheme().eq_ignore_ascii_case("bearer"));
        let chosen = all.get(bearer.unwrap_or(0));
        let param = |name: &&'static str| Some((*name, escape::excerpt(chosen?.get(name)?, SHOWN)));
        let said = challenge.message.as_deref().map(str::trim).filter(|said| !said.is_empty());
        Self {
            status: challenge.status,
            scheme: chosen.map(|chosen| escape::excerpt(chosen.scheme(), SHOWN)),
            params: PARAMS.iter().filter_map(param).collect(),
            said: said.map(|said| escape::excerpt(said, SHOWN)),
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(is, _)| *is == name).map(|(_, value)| value.as_str())
    }

    /// Without secrets.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        let values = self.params.iter_mut().map(|(_, value)| value);
        for text in values.chain(&mut self.scheme).chain(&mut self.said) {
            *text = mask.apply(text).into_owned();
        }
    }

    pub(crate) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.u64("status", self.status.into());
        if let Some(scheme) = &self.scheme {
            w.object("challenge", |w| {
                w.string("scheme", scheme);
                for (name, value) in &self.params {
                    w.string(name, value);
                }
            });
        }
        if let Some(said) = &self.said {
            w.string("said", said);
        }
    }
}

/// The server wants other credentials than it was shown. `what` is what was wanted of it.
pub(crate) fn challenged(what: &str, challenge: &Challenge) -> Failure {
    let answer = Answer::of(challenge);
    let status = answer.status;
    let mut message = match (answer.get("error"), status) {
        (Some("insufficient_scope"), _) => format!("{what}: the token does not allow it (HTTP {status})"),
        (Some("invalid_token"), _) => format!("{what}: the server does not accept the token (HTTP {status})"),
        (_, 403) => format!("{what}: the server forbids it (HTTP {status})"),
        _ => format!("{what}: authorization is needed (HTTP {status})"),
    };
    let mut tell = |name: &str, title: &str| {
        if let Some(value) = answer.get(name) {
            message.push_str(&format!("; {title} {value}"));
        }
    };
    tell("realm", "it guards");
    tell("scope", "it wants the scope");
    if let Some(error) = answer.get("error") {
        let described = answer.get("error_description").map(|text| format!(", {text}")).unwrap_or_default();
        message.push_str(&format!("; it says: {error}{described}"));
    }
    if let Some(metadata) = answer.get("resource_metadata") {
        message.push_str(&format!("; {} tells how to get in", host(metadata)));
    }
    if let Some(said) = &answer.said {
        message.push_str(&format!("\nits own words: {said}"));
    }
    let mut failure = Failure::new(status::AUTHORIZATION, "authorization", message);
    failure.answer = Some(answer);
    failure
}

/// What to do where a server does not let us in. `shown`: it was shown a credential; `place`: where a variable that holds
/// one is named.
pub(crate) fn advise(failure: Failure, shown: bool, place: &str) -> Failure {
    let Some(answer) = &failure.answer else { return failure };
    if failure.code != "authorization" {
        return failure;
    }
    let other = answer.scheme.as_deref().filter(|scheme| !scheme.eq_ignore_ascii_case("bearer"));
    let hint = match (answer.get("error"), other, shown) {
        (Some("insufficient_scope"), ..) => "use a token that has this scope".to_owned(),
        (_, Some(scheme), _) => {
            format!("it takes {scheme}: put what it wants into a variable, and send 'Authorization: {scheme} ${{NAME}}' as a header")
        }
        (_, None, true) => {
            "the token that was sent has expired, belongs to another server, or may not do this: use another one".into()
        }
        // Whoever forbids need not want to know who asks.
        (_, None, false) if answer.status == 403 => format!(
            "what it says may tell why; if it wants a token, put one for it into a variable, and name that with {place}"
        ),
        (_, None, false) => format!(
            "put a token for it into a variable, and name that with {place}; logging in is not there yet"
        ),
    };
    failure.hint(hint)
}

/// What to do where nobody speaks MCP.
pub(crate) const CHECK_PATH: &str =
    "check the path: many servers are at /mcp, those that speak the older way at /sse";

/// The server refused something by its status, or by an answer that cannot be used.
pub(crate) fn refused(what: &str, refusal: &HttpRefusal) -> Failure {
    let (code, hint) = match refusal.status {
        300..=399 => ("redirected", "give the address that is meant"),
        404 | 405 | 406 | 410 | 415 => ("no_endpoint", CHECK_PATH),
        408 | 425 | 429 | 503 | 504 => ("refused", "try again later"),
        500..=599 => ("refused", "whoever runs the server finds more in its log"),
        200..=299 => ("no_endpoint", "is that an MCP server? Check the address"),
        _ => ("refused", "check the address, and what the server wants to be sent"),
    };
    let mut failure = Failure::new(status::UNREACHABLE, code, format!("{what}: {refusal}")).hint(hint);
    failure.answer = Some(Answer { status: refusal.status, ..Answer::default() });
    failure
}

/// Why a conversation over HTTP did not begin, if that is said by its end.
pub(crate) fn closed(what: &str, reason: &CloseReason) -> Option<Failure> {
    match reason {
        CloseReason::Challenged(challenge) => Some(challenged(what, challenge)),
        CloseReason::HttpRefused(refusal) => Some(refused(what, refusal)),
        // Who wants to know who asks is there.
        CloseReason::NoTransport { sse, .. } if matches!(**sse, CloseReason::Challenged(_)) => {
            closed(what, sse)
        }
        CloseReason::NoTransport { streamable, .. } => {
            let mut failure = closed(what, streamable)?;
            failure.message = format!("{what}: {}", escape::excerpt(&reason.to_string(), 2 * SHOWN));
            Some(failure)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, field: Option<&str>) -> Failure {
        challenged("x/t", &Challenge::new(status, field.map(str::to_owned)))
    }

    #[test]
    fn a_challenge_is_told_in_words_with_what_to_do() {
        let metadata = "https://login.example:8/.well-known/oauth-protected-resource/mcp";
        let field = format!(
            "Basic realm=\"no\", Bearer realm=\"x\", scope=\"a b\", resource_metadata=\"{metadata}\""
        );
        for (status, field, says, shown, hint) in [
            (401, None, "authorization is needed (HTTP 401)", false, "--bearer-env NAME"),
            (
                401,
                Some(field.as_str()),
                "needed (HTTP 401); it guards x; it wants the scope a b; login.example:8 tells",
                false,
                "variable",
            ),
            (
                401,
                Some("Bearer error=\"invalid_token\", error_description=\"it \u{1b}[2J expired\""),
                "does not accept the token (HTTP 401); it says: invalid_token, it \\x1b[2J expired",
                true,
                "use another one",
            ),
            (
                403,
                Some("Bearer error=\"insufficient_scope\", scope=\"files:write\""),
                "does not allow it (HTTP 403); it wants the scope files:write; it says: insufficient_scope",
                true,
                "has this scope",
            ),
            (403, None, "forbids it (HTTP 403)", true, "use another one"),
            (403, None, "forbids it (HTTP 403)", false, "may tell why; if it wants a token"),
            (401, Some("Basic realm=\"x\""), "it guards x", false, "'Authorization: Basic ${NAME}'"),
        ] {
            let failure = advise(of(status, field), shown, "--bearer-env NAME");
            assert!(
                failure.message.starts_with("x/t: ") && failure.message.contains(says),
                "{}",
                failure.message
            );
            assert!(failure.hint.as_ref().is_some_and(|told| told.contains(hint)), "{:?}", failure.hint);
            assert_eq!((failure.status, failure.code), (status::AUTHORIZATION, "authorization"));
        }
    }

    #[test]
    fn what_a_server_says_is_bounded() {
        let long = "x".repeat(10_000);
        let mut challenge = Challenge::new(401, Some(format!("Bearer realm=\"{long}\", scope=\"{long}\"")));
        challenge.message = Some(long.into());
        let failure = challenged("x", &challenge);
        assert!(
            failure.message.len() < 4 * SHOWN && failure.to_json().len() < 8 * SHOWN,
            "{}",
            failure.message
        );
    }
}

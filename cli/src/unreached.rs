//! Why a server could not be connected to, and what to do about it.

use sanswire::error::{CloseReason, Violation};
use sanswire::http::Scheme;
use sanswire::jsonrpc::RawJson;
use sanswire_std::{ConnectError, DialFault, PemFault, TlsFault};

use crate::advice::Given;
use crate::failure::{Failure, status};
use crate::mask::Mask;
use crate::refusal;
use crate::server::{Means, Server, is_address};

/// What matters where a server cannot be reached, or wants to know who asks.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Whether it is told who asks.
    shown: bool,
    /// Where a token for it is named.
    place: &'static str,
    /// Whether it is on the web, and spoken to without TLS.
    plain: bool,
}

impl Access {
    pub(crate) fn of(server: &Server) -> Self {
        let place = match &server.given {
            Given::Itself(_) => "--bearer-env NAME",
            Given::Named(_) if server.own => "\"bearer_env\": \"NAME\" in its entry",
            Given::Named(_) => {
                "\"bearer_env\": \"NAME\" in a file of yours, where sanswire import puts the server"
            }
        };
        let plain = match &server.means {
            Means::Http(target, _) => target.target.url.authority().scheme == Scheme::Http,
            _ => false,
        };
        Self { shown: server.shows_itself(), place, plain }
    }

    /// What to do where the server of this failure does not let us in.
    pub(crate) fn advise(&self, failure: Failure) -> Failure {
        refusal::advise(failure, self.shown, self.place)
    }

    /// Why a server could not be connected to, with nothing secret in it.
    pub(crate) fn failure(&self, name: &str, mask: &Mask, error: &ConnectError) -> Failure {
        let mut failure = self.advise(connect_failure(name, error));
        if let ConnectError::Closed { reason, .. } = error
            && self.plain
            && may_want_tls(reason)
        {
            let also = "if it takes TLS only, its address begins with https://";
            failure.hint = Some(match failure.hint.take() {
                Some(hint) => format!("{hint}; {also}"),
                None => also.into(),
            });
        }
        masked(mask, failure)
    }
}

/// Whether a server that wants to be spoken to under TLS ends like this where it is not: it hangs up, sends an alert, or
/// answers that the request is none.
fn may_want_tls(reason: &CloseReason) -> bool {
    match reason {
        CloseReason::Eof | CloseReason::DiedOnProbe | CloseReason::Protocol(Violation::Http(_)) => true,
        CloseReason::HttpRefused(refusal) => refusal.status == 400,
        CloseReason::NoTransport { streamable, .. } => may_want_tls(streamable),
        _ => false,
    }
}

fn connect_failure(name: &str, error: &ConnectError) -> Failure {
    if let ConnectError::Closed { reason, .. } = error
        && let Some(failure) = refusal::closed(name, reason)
    {
        return failure.of(name);
    }
    let (status, code) = match error {
        ConnectError::Config(_) => (status::OTHER, "configuration"),
        ConnectError::Spawn { .. } | ConnectError::Directory { .. } | ConnectError::System(_) => {
            (status::UNREACHABLE, "not_started")
        }
        ConnectError::Dial { .. } => (status::UNREACHABLE, "unreachable"),
        ConnectError::Reach(fault) => match innermost(fault) {
            DialFault::TimedOut { .. } => (status::UNREACHABLE, "timed_out"),
            DialFault::Tls(TlsFault::File { .. } | TlsFault::Key { .. })
            | DialFault::ProxySetting { .. }
            | DialFault::GuardedProxy => (status::OTHER, "configuration"),
            DialFault::Tls(_) => (status::UNREACHABLE, "tls"),
            _ => (status::UNREACHABLE, "unreachable"),
        },
        ConnectError::Closed { reason, .. } => match **reason {
            CloseReason::ConnectTimeout { .. } => (status::UNREACHABLE, "timed_out"),
            CloseReason::Incompatible { .. } => (status::UNREACHABLE, "incompatible"),
            _ => (status::UNREACHABLE, "not_ready"),
        },
        _ => (status::UNREACHABLE, "not_ready"),
    };
    let mut failure = Failure::new(status, code, format!("{name}: {error}")).of(name);
    failure.hint = hint(error, code).map(str::to_owned);
    failure
}

/// What to give instead, where the words of the error do not say it.
fn hint(error: &ConnectError, code: &str) -> Option<&'static str> {
    match error {
        ConnectError::Reach(fault) if way_round(fault).is_some() => way_round(fault),
        ConnectError::Closed { reason, .. } if matches!(**reason, CloseReason::NoTransport { .. }) => {
            Some(refusal::CHECK_PATH)
        }
        _ if code == "timed_out" => Some("give it longer with --timeout SECONDS"),
        ConnectError::Spawn { program, .. } if is_address(program) => {
            Some("an address goes with --url, or stands in the member url")
        }
        ConnectError::Spawn { program, .. } if program.contains(char::is_whitespace) => {
            Some("the program and each of its arguments stand as words of their own")
        }
        _ => None,
    }
}

/// What went wrong, on the way to a proxy as on the way to the server.
fn innermost(fault: &DialFault) -> &DialFault {
    if let DialFault::ProxyUnreached { fault, .. } = fault { fault } else { fault }
}

/// What to give for another way, where one can be given.
fn way_round(fault: &DialFault) -> Option<&'static str> {
    match fault {
        DialFault::ProxyUnreached { .. } | DialFault::Proxy { .. } | DialFault::ProxySetting { .. } => Some(
            "without a proxy: --proxy none, or \"proxy\": \"none\" in its entry; another one: --proxy http://HOST:PORT",
        ),
        DialFault::Tls(TlsFault::File { fault: PemFault::Missing("private key"), .. }) => {
            Some("a key in a file of its own is named by --client-key, or by \"client_key\" in its entry")
        }
        _ => None,
    }
}

/// The failure with nothing secret in it.
pub(crate) fn masked(mask: &Mask, mut failure: Failure) -> Failure {
    failure.message = mask.apply(&failure.message).into_owned();
    if let Some(answer) = &mut failure.answer {
        answer.mask(mask);
    }
    failure.stderr = failure.stderr.take().map(|stderr| mask.apply(&stderr).into_owned());
    if let Some(rpc) = &mut failure.rpc {
        rpc.message = mask.apply(&rpc.message).into_owned();
        rpc.data = rpc.data.take().and_then(|data| RawJson::parse_str(&mask.apply(data.as_str())).ok());
    }
    failure
}

//! A server that was started: requests to it, and its end.

use sanswire::client::listing::{Cut, Listed};
use sanswire::client::{Outcome, RequestOptions};
use sanswire::error::{ApiError, CloseReason};
use sanswire::host::catalog::ToolFilter;
use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::{Era, Method, codes};
use sanswire_std::{Client, Exit, Tap};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, not_legacy, verdict_name};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::json::text;
use crate::mask::Mask;
use crate::options::EraChoice;
use crate::server::{Means, Server};
use crate::signals;
use crate::unreached::{Access, masked};
use crate::wait::Wait;

/// How many lines of standard error go into an error.
const LAST_WORDS: usize = 12;

/// What to do where a server asks and nobody is there. Without a terminal we declare that we cannot be asked.
const ASKS: &str = "it asks a question: run this on a terminal, where you can answer it";

/// An open session.
pub(crate) struct Session<'a> {
    pub(crate) client: Client,
    pub(crate) name: String,
    context: &'a Context,
    mask: Mask,
    timeout: Option<Duration>,
    tool_timeouts: BTreeMap<String, Duration>,
    /// Which of its tools there are.
    pub(crate) filter: ToolFilter,
    /// Under which the era is remembered, if it is.
    key: Option<String>,
    remembered: Option<String>,
    access: Access,
}

impl<'a> Session<'a> {
    /// Starts a server, or dials it, and waits until it is ready.
    pub(crate) fn open(context: &'a Context, server: &Server) -> Result<Self, Failure> {
        Self::open_watched(context, server, |_, trace| trace)
    }

    /// As [`open`](Self::open); `watch` may put something between the connection and the trace.
    pub(crate) fn open_watched(
        context: &'a Context,
        server: &Server,
        watch: impl FnOnce(&Mask, Option<Arc<dyn Tap>>) -> Option<Arc<dyn Tap>>,
    ) -> Result<Self, Failure> {
        let Connection { mut options, mask, remembered } = Connection::of(context, server);
        options.tap = watch(&mask, options.tap.take());
        options.closer = Some(signals::closer());
        let doing = if matches!(server.means, Means::Command(_)) { "starting" } else { "connecting to" };
        let wait = Wait::begin(context.animated, &format!("{doing} {}", server.name));
        let client = match &server.means {
            Means::Command(command) => Client::connect(command, options),
            Means::Tcp(address) => Client::connect_tcp(address.as_str(), options),
            Means::Unix(path) => Client::connect_unix(path, options),
            Means::Http(target, _) => Client::connect_http(target, options),
        };
        drop(wait);
        let client = client.map_err(|error| {
            signals::settle();
            Access::of(server).failure(&server.name, &mask, &error)
        })?;
        let mut this = Self {
            client,
            name: server.name.clone(),
            context,
            mask,
            timeout: server.timeout,
            tool_timeouts: server.tool_timeouts.clone(),
            filter: server.filter.clone(),
            key: (server.era == EraChoice::Auto).then(|| server.key.clone()),
            remembered,
            access: Access::of(server),
        };
        this.remember_era();
        if server.era == EraChoice::Legacy && this.client.peer().era != Era::Legacy {
            let revision = this.client.peer().revision;
            return Err(this.failure(Failure::new(
                status::UNREACHABLE,
                "incompatible",
                format!("{} {}", server.name, not_legacy(revision)),
            )));
        }
        Ok(this)
    }

    /// For a call of `tool`, or for anything else.
    fn options(&self, tool: Option<&str>) -> RequestOptions {
        let own = tool.and_then(|tool| self.tool_timeouts.get(tool)).copied();
        let mut options = RequestOptions::default();
        options.idle = own.or(self.timeout);
        options.absolute = own.or(self.timeout);
        options
    }

    /// Makes a request and waits for its result. `what` names it: `demo/echo`.
    pub(crate) fn ask(
        &self,
        what: &str,
        method: Method,
        params: Option<RawJson>,
    ) -> Result<RawJson, Failure> {
        let tool = (method == Method::ToolsCall).then(|| text(params.as_ref()?.view(), "name")).flatten();
        let options = self.options(tool.as_deref());
        let wait = Wait::begin(self.context.animated, what);
        let outcome = self.client.complete(method, params, &options, &mut |progress| wait.progress(progress));
        drop(wait);
        match outcome {
            Ok(Outcome::Complete(result)) => Ok(result),
            Ok(outcome) => Err(self.ended(Failure::outcome(what, &outcome))),
            Err(error) => Err(self.ended(Failure::refused(what, &error))),
        }
    }

    /// A whole listing. A server that does not declare the thing has none of it, and is not asked: only what was
    /// negotiated is used.
    pub(crate) fn list(&self, what: &str, capability: &str, method: Method) -> Result<Listed, Failure> {
        let nothing =
            Listed { pages: Vec::new(), cut: None, cache: Default::default(), cursor_repeated: false };
        if !self.client.peer().capabilities.has(capability) {
            return Ok(nothing);
        }
        let wait = Wait::begin(self.context.animated, &format!("{}: listing {what}", self.name));
        let listed = self.client.list(method, &self.options(None));
        drop(wait);
        let named = format!("{}: listing {what}", self.name);
        let listed = match listed {
            Ok(listed) => listed,
            Err(ApiError::WrongEra { .. }) => return Ok(nothing),
            Err(error) => return Err(self.ended(Failure::refused(&named, &error))),
        };
        match &listed.cut {
            None => {}
            Some(Cut::Failed(outcome)) => {
                let mut failure = Failure::outcome(&named, outcome);
                if failure.status == status::TOOL {
                    failure.status = status::OTHER;
                }
                if listed.pages.is_empty() {
                    return Err(self.ended(failure));
                }
                let said = self.masked(&failure.message);
                self.context.warn(&format!("{said}; what came before is shown"));
            }
            Some(cut) => {
                let limit = match cut {
                    Cut::Pages(pages) => format!("{pages} pages"),
                    Cut::Items(items) => format!("{items} items"),
                    Cut::Bytes(bytes) => format!("{bytes} bytes"),
                    other => format!("{other:?}"),
                };
                self.context.warn(&format!("{named} was cut at {limit}"));
            }
        }
        Ok(listed)
    }

    /// A failure of this server's, with nothing secret in it.
    pub(crate) fn failure(&self, failure: Failure) -> Failure {
        masked(&self.mask, failure.of(&self.name))
    }

    /// Text without what must not be shown.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.mask.apply(text).into_owned()
    }

    /// As [`failure`](Self::failure), of a request that may have ended because everything did.
    fn ended(&self, mut failure: Failure) -> Failure {
        signals::settle();
        if !self.context.interactive && failure.rpc.as_ref().is_some_and(wants_to_ask) {
            failure = failure.hint(ASKS);
        }
        let lost = failure.code == "connection_lost";
        // A panic or a trace stands nowhere else. What was written is all there when the server has ended.
        let internal = failure.rpc.as_ref().is_some_and(|rpc| rpc.code == codes::INTERNAL_ERROR);
        if lost || internal {
            let exit = self.client.close();
            // What ended the connection before has the first word.
            if lost && let Some(reason) = self.client.is_closed().filter(says_why) {
                failure.message.push_str(&format!("; {reason}"));
            }
            if lost && exit.status.is_some() {
                failure.message.push_str(&format!("; the server {exit}"));
            }
            let lines: Vec<&str> = exit.stderr_tail.trim_end().lines().collect();
            let last = lines.get(lines.len().saturating_sub(LAST_WORDS)..).unwrap_or_default().join("\n");
            failure.stderr = Some(last).filter(|last| !last.is_empty());
        }
        self.failure(self.access.advise(failure))
    }

    /// What was learnt of the era; it may change while the session goes on.
    fn remember_era(&mut self) {
        let verdict = self.client.verdict().as_ref().and_then(verdict_name);
        if let (Some(key), Some(verdict)) = (&self.key, verdict)
            && self.remembered.as_deref() != Some(verdict)
        {
            self.context.state.set_verdict(key, verdict);
            self.remembered = Some(verdict.into());
        }
    }

    /// Ends the session and the server.
    pub(crate) fn close(&mut self) -> Exit {
        self.remember_era();
        self.client.close()
    }
}

/// Whether the end of a connection has another reason than that its peer ended it, or that we did.
const fn says_why(reason: &CloseReason) -> bool {
    !matches!(
        reason,
        CloseReason::Local | CloseReason::Eof | CloseReason::DiedOnProbe | CloseReason::Unreachable
    )
}

/// A server of 2026-07-28 found that it cannot ask. Older ones say so in words of their own, which nothing tells from
/// other words.
fn wants_to_ask(error: &ErrorObject) -> bool {
    let needed = error.data.as_ref().and_then(|data| data.view().get("requiredCapabilities"));
    error.code == codes::MISSING_CLIENT_CAPABILITY
        && needed.is_some_and(|needed| needed.get("elicitation").is_some())
}

//! What an entry of our own files says of access: who is asked, which tools there are, how long things may take.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::host::catalog::ToolFilter;
use sanswire::host::policy::{ServerMode, ServerPolicy};
use sanswire::jsonrpc::{JsonRef, Kind};

use super::kind::strings;
use crate::arguments::suggestion;
use crate::json::member;
use crate::options::duration;

/// What is to happen with the calls of one server, and which of its tools there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub(crate) policy: ServerPolicy,
    pub(crate) filter: ToolFilter,
    /// The kinds of helper that may use its tools.
    pub(crate) sub_agents: Vec<String>,
    /// The longest that starting it may take.
    pub(crate) connect_timeout: Option<Duration>,
    /// The longest that one request may take, and starting it if nothing is said of that.
    pub(crate) timeout: Option<Duration>,
    /// The longest that a call of these tools may take, by the server's own names.
    pub(crate) tool_timeouts: BTreeMap<String, Duration>,
}

/// Members that decide what may be done: a name that looks like one of them is a slip, not a stranger.
const DECIDING: [&str; 8] = [
    "approval",
    "trust_annotations",
    "allowed_tools",
    "blocked_tools",
    "enabled",
    "disabled",
    "inherit_env",
    "public_only",
];

const OTHERS: [&str; 21] = [
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "type",
    "transport",
    "headers",
    "bearer_env",
    "ca_file",
    "client_cert",
    "client_key",
    "proxy",
    "timeout",
    "connect_timeout",
    "tool_timeouts",
    "sub_agents",
    "era",
    "description",
];

/// What of the members' names is odd. Fails where one looks like a mistyped decision.
pub(super) fn odd_members(value: JsonRef<'_>) -> Result<Vec<String>, String> {
    let known: Vec<String> = DECIDING.iter().chain(&OTHERS).map(|name| (*name).to_owned()).collect();
    let mut odd = Vec::new();
    for (name, _) in value.members() {
        let name = name.decode();
        if known.contains(&name.clone().into_owned()) {
            continue;
        }
        match suggestion(&name, &known) {
            Some(meant) if DECIDING.contains(&meant) => {
                return Err(format!("it has {name:?}; did you mean {meant}?"));
            }
            Some(meant) => odd.push(format!("{name:?} has no effect; did you mean {meant}?")),
            None => odd.push(format!("{name:?} has no effect")),
        }
    }
    Ok(odd)
}

impl Access {
    /// Reads what an entry of ours says. From the file of a project nothing is taken that lets more through: that
    /// is told in `odd`.
    pub(super) fn read(value: JsonRef<'_>, of_project: bool, odd: &mut Vec<String>) -> Result<Self, String> {
        let mut this = Self::default();
        if let Some(mode) = member(value, "approval") {
            let mode = mode.str().ok_or_else(|| {
                format!("approval is {}; set it to \"ask\", \"allow\" or \"deny\"", mode.kind())
            })?;
            this.policy.mode = ServerMode::named(&mode.decode()).map_err(|why| why.to_string())?;
        }
        if let Some(trust) = member(value, "trust_annotations") {
            this.policy.trust_annotations = trust
                .as_bool()
                .ok_or_else(|| format!("trust_annotations is {}, not true or false", trust.kind()))?;
        }
        this.filter.allowed_tools = names(value, "allowed_tools")?;
        this.filter.blocked_tools = names(value, "blocked_tools")?.unwrap_or_default();
        this.sub_agents = names(value, "sub_agents")?.unwrap_or_default();
        this.connect_timeout = seconds(value, "connect_timeout")?;
        this.timeout = seconds(value, "timeout")?;
        if let Some(limits) = member(value, "tool_timeouts") {
            if limits.kind() != Kind::Object {
                return Err(format!("tool_timeouts is {}, not an object of tool and seconds", limits.kind()));
            }
            for (tool, limit) in limits.members() {
                let tool = tool.decode().trim().to_owned();
                if tool.is_empty() {
                    return Err("tool_timeouts has a limit for a tool without a name".into());
                }
                let limit = duration(limit.as_f64().unwrap_or(0.0))
                    .map_err(|why| format!("tool_timeouts.{tool} is {why}"))?;
                this.tool_timeouts.insert(tool, limit);
            }
        }
        if of_project {
            this.narrow(odd);
        }
        Ok(this)
    }

    fn narrow(&mut self, odd: &mut Vec<String>) {
        let mut tell = |what: &str| {
            odd.push(format!("{what} does not count in the file of a project; say so in your own file"));
        };
        if self.policy.mode == ServerMode::Allow {
            tell("approval \"allow\"");
            self.policy.mode = ServerMode::Ask;
        }
        if std::mem::take(&mut self.policy.trust_annotations) {
            tell("trust_annotations");
        }
        if !std::mem::take(&mut self.sub_agents).is_empty() {
            tell("sub_agents");
        }
    }
}

fn names(value: JsonRef<'_>, name: &str) -> Result<Option<Vec<String>>, String> {
    member(value, name).map(|names| strings(names, name)).transpose()
}

fn seconds(value: JsonRef<'_>, name: &str) -> Result<Option<Duration>, String> {
    let read = |limit: JsonRef<'_>| duration(limit.as_f64().unwrap_or(0.0));
    member(value, name).map(read).transpose().map_err(|why| format!("{name} is {why}"))
}

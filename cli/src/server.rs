//! A server that is meant: how it is reached, and whether it may be started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::host::catalog::ToolFilter;
use sanswire_std::{Command, HttpTarget, InheritEnv};

use crate::advice::Given;
use crate::config::launch::{secret_words, variable_secrets};
use crate::config::{Entry, Kind, Origin, Remote, address_shown, host, launch, put_shown, shown, web};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::options::{EraChoice, Inherit, Reach};
use crate::output::{escape, put_before};
use crate::prompt::confirm;
use crate::state::hex_hash;

/// A server that may be started.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) means: Means,
    /// For hints.
    pub(crate) given: Given,
    /// Whether what is said of it is ours to change: not in another program's file.
    pub(crate) own: bool,
    /// The longest that starting it may take.
    pub(crate) connect_timeout: Option<Duration>,
    /// The longest that one request may take.
    pub(crate) timeout: Option<Duration>,
    /// The longest that a call of these tools may take.
    pub(crate) tool_timeouts: BTreeMap<String, Duration>,
    pub(crate) era: EraChoice,
    /// What must not be shown.
    pub(crate) secrets: Vec<String>,
    /// Under which its era is remembered.
    pub(crate) key: String,
    /// What runs, or is dialled, as far as it is said: what was allowed of another is not allowed of this one.
    pub(crate) identity: String,
    /// Which of its tools there are.
    pub(crate) filter: ToolFilter,
}

/// How it is reached.
#[derive(Debug)]
pub(crate) enum Means {
    Command(Command),
    Tcp(String),
    Unix(PathBuf),
    /// On the web; beside it its address as it may be shown.
    Http(Box<HttpTarget>, String),
}

impl Server {
    /// A server of a file. One that comes with a project has to be trusted first.
    pub(crate) fn of_entry(context: &Context, entry: &Entry) -> Result<Self, Failure> {
        if entry.disabled {
            return Err(Failure::usage(format!("{} is disabled", entry.place())).of(&entry.name));
        }
        if let Kind::Command { .. } | Kind::Http(_) = entry.kind {
            require_trust(context, entry)?;
        }
        if let Kind::Http(remote) = &entry.kind {
            return Self::on_the_web(context, entry, remote, Given::Named(entry.name.clone()));
        }
        let launch = launch(entry)?;
        for warning in &launch.warnings {
            context.warn(warning);
        }
        let words: Vec<&OsString> = std::iter::once(&launch.program).chain(&launch.args).collect();
        let key = key(&words);
        let mut command = Command::new(launch.program.clone()).args(launch.args.iter().cloned());
        for (name, value) in &launch.env {
            command = command.env(name, value);
        }
        if let Some(cwd) = &launch.cwd {
            command = command.current_dir(cwd);
        }
        let written = match &entry.kind {
            Kind::Command { env, .. } => env.as_slice(),
            _ => &[],
        };
        let identity = identity(context, &key, written, launch.cwd.as_deref());
        let mut secrets = launch.secrets;
        let command = adjust(context, command, launch.inherit, &mut secrets);
        let means = Means::Command(command);
        Ok(Self::new(context, entry, means, Given::Named(entry.name.clone()), key, identity, secrets))
    }

    /// With what its entry and the command line say of all kinds of server.
    fn new(
        context: &Context,
        entry: &Entry,
        means: Means,
        given: Given,
        key: String,
        identity: String,
        secrets: Vec<String>,
    ) -> Self {
        let access = &entry.access;
        let said = context.common.timeout;
        Self {
            name: entry.name.clone(),
            means,
            given,
            own: entry.origin.is_own(),
            connect_timeout: said.or(access.connect_timeout).or(access.timeout),
            timeout: said.or(access.timeout),
            // What the command line says holds for all of them.
            tool_timeouts: if said.is_none() { access.tool_timeouts.clone() } else { BTreeMap::new() },
            era: context.common.era.or(entry.era).unwrap_or(EraChoice::Auto),
            secrets,
            key,
            identity,
            filter: access.filter.clone(),
        }
    }

    /// A server on the web, of a file or of none.
    fn on_the_web(context: &Context, entry: &Entry, remote: &Remote, given: Given) -> Result<Self, Failure> {
        let failed = |why| Failure::usage(format!("{}: {why}", entry.place())).of(&entry.name);
        let web = web(entry)?.ok_or_else(|| failed("it is not on the web".to_owned()))?;
        for warning in &web.warnings {
            context.warn(warning);
        }
        let target = web.target().map_err(failed)?;
        web.check_files().map_err(|why| {
            Failure::new(status::OTHER, "configuration", format!("{}: {why}", entry.place())).of(&entry.name)
        })?;
        let key = key(&[&OsString::from(&web.url)]);
        // As it is written: the values that are put in may change, as secrets do.
        let mut parts = vec![key.as_bytes()];
        for (name, value) in &remote.headers {
            parts.extend([name.as_bytes(), value.as_bytes()]);
        }
        for said in [&remote.bearer_env, &remote.client_cert, &remote.proxy] {
            parts.push(said.as_deref().unwrap_or_default().as_bytes());
        }
        let identity = hex_hash(&parts);
        let means = Means::Http(Box::new(target), shown(&web.url));
        Ok(Self::new(context, entry, means, given, key, identity, web.secrets))
    }

    /// A server that is in no file.
    pub(crate) fn in_no_file(context: &Context, reach: &Reach) -> Result<Self, Failure> {
        if let Some(remote) = Remote::given(&reach.web)? {
            no_environment(context)?;
            let entry = Entry::new(host(&remote.url), Kind::Http(remote.clone()), Origin::Own);
            return Self::on_the_web(context, &entry, &remote, Given::Itself(Box::new(reach.clone())));
        }
        no_addresses(reach)?;
        let mut secrets = Vec::new();
        let (name, means, key) = match (&reach.tcp, &reach.unix, reach.command.split_first()) {
            (Some(address), _, _) => {
                (address.clone(), Means::Tcp(address.clone()), key(&[&OsString::from(address)]))
            }
            (None, Some(path), _) => {
                (path.display().to_string(), Means::Unix(path.clone()), key(&[path.as_os_str()]))
            }
            (None, None, command) => {
                let none = OsString::new();
                let (program, args) = command.unwrap_or((&none, &[]));
                secrets.extend(secret_words(args));
                let name = PathBuf::from(program).file_name().map(|name| name.to_string_lossy().into_owned());
                let command = Command::new(program).args(args.iter().cloned());
                let words: Vec<&OsString> = reach.command.iter().collect();
                let key = key(&words);
                let command = adjust(context, command, Inherit::All, &mut secrets);
                (name.unwrap_or_default(), Means::Command(command), key)
            }
        };
        let entry = Entry::new(name, Kind::Demo, Origin::Own);
        let identity = identity(context, &key, &[], std::env::current_dir().ok().as_deref());
        Ok(Self::new(context, &entry, means, Given::Itself(Box::new(reach.clone())), key, identity, secrets))
    }
}

/// Whether this is the address of a server on the web, and no program, name or path.
pub(crate) fn is_address(word: &str) -> bool {
    let lower = word.trim().get(..8).unwrap_or(word).to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://")
}

/// Addresses where something else is wanted. They may hold secrets, and are not repeated.
fn no_addresses(reach: &Reach) -> Result<(), Failure> {
    let program = reach.command.first().map(|program| program.to_string_lossy());
    let unix = reach.unix.as_ref().map(|path| path.to_string_lossy());
    let wrong = if reach.tcp.as_deref().is_some_and(is_address) {
        "--tcp takes HOST:PORT, where a server speaks without HTTP"
    } else if unix.as_deref().is_some_and(is_address) {
        "--unix takes the path of a socket"
    } else if program.as_deref().is_some_and(is_address) {
        "a program stands behind --, not an address"
    } else {
        return Ok(());
    };
    Err(Failure::usage(wrong).hint(GOES_WITH_URL))
}

/// Where an address belongs.
pub(crate) const GOES_WITH_URL: &str = "a server on the web is given with --url URL, in place of its name";

/// A server on the web is not started here.
pub(crate) fn no_environment(context: &Context) -> Result<(), Failure> {
    let common = &context.common;
    if common.env.is_empty() && common.cwd.is_none() && common.inherit_env.is_none() {
        return Ok(());
    }
    Err(Failure::usage("a server on the web has no environment and no folder of ours"))
}

impl Server {
    /// Whether it is shown who asks.
    pub(crate) fn shows_itself(&self) -> bool {
        let Means::Http(target, _) = &self.means else { return false };
        target.client_certificate.is_some() || target.target.fields().get("authorization").is_some()
    }
}

/// What the command line has to say about environment and folder.
fn adjust(context: &Context, mut command: Command, inherit: Inherit, secrets: &mut Vec<String>) -> Command {
    let common = &context.common;
    for (name, value) in &common.env {
        command = command.env(name, value);
    }
    secrets.extend(variable_secrets(&common.env));
    if let Some(cwd) = &common.cwd {
        command = command.current_dir(cwd);
    }
    command.inherit_env(match common.inherit_env.unwrap_or(inherit) {
        Inherit::All => InheritEnv::All,
        Inherit::List => InheritEnv::AllowList,
    })
}

fn key<W: AsRef<std::ffi::OsStr> + ?Sized>(words: &[&W]) -> String {
    let bytes: Vec<&[u8]> = words.iter().map(|word| (*word).as_ref().as_encoded_bytes()).collect();
    hex_hash(&bytes)
}

/// Names what runs: its words, its folder, and the variables that it is given, as they are written. The value of one
/// that is put in may change, as secrets do.
fn identity(context: &Context, words: &str, written: &[(String, String)], cwd: Option<&Path>) -> String {
    let folder =
        context.common.cwd.as_deref().or(cwd).map(|cwd| std::path::absolute(cwd).unwrap_or_default());
    let folder = folder.unwrap_or_default();
    let mut parts = vec![words.as_bytes(), folder.as_os_str().as_encoded_bytes()];
    for (name, value) in written.iter().chain(&context.common.env) {
        parts.extend([name.as_bytes(), value.as_bytes()]);
    }
    hex_hash(&parts)
}

/// A file inside the project may come from anybody: what it starts is shown once, and asked for.
pub(crate) fn require_trust(context: &Context, entry: &Entry) -> Result<(), Failure> {
    if !entry.origin.is_project() || context.common.trust {
        return Ok(());
    }
    let key = trust_key(entry);
    let file = file_shown(entry);
    if context.state.is_trusted(&key, &file) {
        return Ok(());
    }
    let untrusted = Failure::new(
        status::OTHER,
        "not_trusted",
        format!("{file} comes with this project, and has not been allowed to start {}", entry.name),
    )
    .hint("look at the file, then run this on a terminal, or with --trust")
    .of(&entry.name);
    if !context.interactive {
        return Err(untrusted);
    }
    let name = escape::line(&entry.name);
    let would = if matches!(entry.kind, Kind::Http(_)) { "send to" } else { "run" };
    put_before(&format!("{file} comes with this project.\nTo start {name} it would {would}:"));
    put_before(&full_command(entry));
    if !confirm("Start it, now and in future, as long as the file stays as it is?") {
        return Err(untrusted);
    }
    if let Err(why) = context.state.trust(&key, &file) {
        context.warn(&format!("the answer could not be kept: {why}"));
    }
    Ok(())
}

/// Whether the user has allowed it, or nobody needs to.
pub(crate) fn is_trusted(context: &Context, entry: &Entry) -> bool {
    let said = || context.state.is_trusted(&trust_key(entry), &file_shown(entry));
    !entry.origin.is_project() || context.common.trust || said()
}

fn file_shown(entry: &Entry) -> String {
    entry.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
}

fn trust_key(entry: &Entry) -> String {
    let file = entry.file.as_ref().map(|file| file.as_os_str().as_encoded_bytes()).unwrap_or_default();
    hex_hash(&[file, entry.file_hash.as_bytes(), entry.name.as_bytes()])
}

/// Everything that would be started, as it stands in the file.
fn full_command(entry: &Entry) -> String {
    // A line break inside of a word would let it pass for something else.
    let shown = |word: &str| escape::line(&quoted(word)).into_owned();
    if let Kind::Http(remote) = &entry.kind {
        let rules = entry.origin.rules();
        let mut text = format!("  {}", shown(&address_shown(&remote.url, rules)));
        for (name, value) in &remote.headers {
            text.push_str(&format!("\n  with {}: {}", shown(name), shown(&put_shown(value, rules))));
        }
        if let Some(name) = &remote.bearer_env {
            text.push_str(&format!("\n  with Authorization: 'Bearer ${{{}}}'", escape::line(name)));
        }
        for (what, said) in [
            ("showing the certificate", &remote.client_cert),
            ("trusting the authorities in", &remote.ca_file),
            ("by the proxy", &remote.proxy),
        ] {
            if let Some(said) = said {
                text.push_str(&format!("\n  {what} {}", shown(&crate::config::shown(said))));
            }
        }
        return text;
    }
    let Kind::Command { program, args, env, cwd } = &entry.kind else { return String::new() };
    let words: Vec<String> = std::iter::once(program).chain(args).map(|word| shown(word)).collect();
    let mut text = format!("  {}", words.join(" "));
    for (name, value) in env {
        text.push_str(&format!("\n  with {}={}", escape::line(name), shown(value)));
    }
    if let Some(cwd) = cwd {
        text.push_str(&format!("\n  in {}", shown(cwd)));
    }
    if entry.inherit == Some(Inherit::All) {
        text.push_str("\n  with all of your environment");
    }
    text
}

/// A word as a shell would want it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

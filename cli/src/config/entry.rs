//! One server of a configuration file, as it stands there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind};

use super::expand::Rules;
use crate::json::{member, text};
use crate::options::{EraChoice, Inherit, duration};

/// One server. Nothing in it is expanded yet.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
    /// The file it stands in.
    pub(crate) file: Option<PathBuf>,
    /// SHA-256 of that file, in hex.
    pub(crate) file_hash: String,
    pub(crate) disabled: bool,
    /// Not listed.
    pub(crate) hidden: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) era: Option<EraChoice>,
    pub(crate) inherit: Option<Inherit>,
}

/// What kind of server.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A program to start.
    Command { program: String, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    /// A server on the web, which cannot be spoken to yet.
    Http { url: String },
    /// The built-in one.
    Demo,
    /// It cannot be used, for this reason.
    Broken(String),
}

/// Whose file an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody's.
    BuiltIn,
    /// Ours: the user's, or one named on the command line.
    Own,
    /// Ours, in the project.
    OwnProject,
    /// Claude Code's, the user's.
    ClaudeCode,
    /// Claude Code's, in the project.
    ClaudeCodeProject,
    /// Claude Desktop's.
    ClaudeDesktop,
    /// Cursor's, the user's.
    Cursor,
    /// Cursor's, in the project.
    CursorProject,
}

impl Origin {
    /// A short name, to tell entries apart by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Own => "own",
            Self::OwnProject => "project",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeCodeProject => "claude-code-project",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::CursorProject => "cursor-project",
        }
    }

    /// Whether it is a file of ours, whose servers are meant when none is named.
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::BuiltIn | Self::Own | Self::OwnProject)
    }

    /// Whether it comes with a project, that is from strangers.
    pub(crate) const fn is_project(self) -> bool {
        matches!(self, Self::OwnProject | Self::ClaudeCodeProject | Self::CursorProject)
    }

    /// By whose rules variables are expanded.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            Self::BuiltIn | Self::ClaudeDesktop => Rules::None,
            Self::Own | Self::OwnProject => Rules::Own,
            Self::ClaudeCode | Self::ClaudeCodeProject => Rules::ClaudeCode,
            Self::Cursor | Self::CursorProject => Rules::Cursor,
        }
    }
}

impl Entry {
    /// The built-in server's name.
    pub(crate) const DEMO: &str = "demo";

    /// The built-in server.
    pub(crate) fn demo() -> Self {
        Self::new(Self::DEMO.into(), Kind::Demo, Origin::BuiltIn)
    }

    /// An entry without a file.
    pub(crate) const fn new(name: String, kind: Kind, origin: Origin) -> Self {
        Self {
            name,
            kind,
            origin,
            file: None,
            file_hash: String::new(),
            disabled: false,
            hidden: false,
            timeout: None,
            era: None,
            inherit: None,
        }
    }

    /// Reads an entry. What is wrong with it is told when it is wanted, so that it never hides the others.
    pub(crate) fn read(name: &str, value: JsonRef<'_>, origin: Origin, file: &Path, hash: &str) -> Self {
        let kind = read_kind(value).unwrap_or_else(Kind::Broken);
        let mut this = Self::new(name.into(), kind, origin);
        this.file = Some(file.into());
        this.file_hash = hash.into();
        // What is off in some way of writing it is not to be started.
        let flag = |name, default| {
            member(value, name).map_or(Ok(default), |flag| {
                flag.as_bool().ok_or_else(|| format!("{name} is {}, not true or false", flag.kind()))
            })
        };
        match (flag("disabled", false), flag("enabled", true)) {
            (Ok(disabled), Ok(enabled)) => this.disabled = disabled || !enabled,
            (Err(why), _) | (_, Err(why)) => this.kind = Kind::Broken(why),
        }
        if origin.is_own()
            && let Err(why) = this.read_settings(value)
        {
            this.kind = Kind::Broken(why);
        }
        this
    }

    fn read_settings(&mut self, value: JsonRef<'_>) -> Result<(), String> {
        if let Some(timeout) = member(value, "timeout") {
            let seconds = timeout.as_f64().unwrap_or(0.0);
            self.timeout = Some(duration(seconds).map_err(|why| format!("timeout is {why}"))?);
        }
        if let Some(era) = member(value, "era") {
            let named = era.str().and_then(|era| EraChoice::named(&era.decode()));
            self.era =
                Some(named.ok_or("era is not auto, legacy, modern or the date of a revision that is known")?);
        }
        if let Some(inherit) = member(value, "inherit_env") {
            self.inherit = Some(match text(value, "inherit_env").as_deref() {
                Some("all") => Inherit::All,
                Some("list" | "allow_list") => Inherit::List,
                _ => return Err(format!("inherit_env is {}, not \"all\" or \"list\"", inherit.kind())),
            });
        }
        Ok(())
    }

    /// Where it stands, for people.
    pub(crate) fn place(&self) -> String {
        match &self.file {
            Some(file) => format!("{} in {}", self.name, file.display()),
            None => self.name.clone(),
        }
    }
}

fn read_kind(value: JsonRef<'_>) -> Result<Kind, String> {
    if value.kind() != JsonKind::Object {
        return Err(format!("it is {}, not an object", value.kind()));
    }
    let url = ["url", "serverUrl", "httpUrl"].into_iter().find_map(|name| text(value, name));
    let Some(command) = member(value, "command") else {
        return url.map(|url| Kind::Http { url }).ok_or_else(|| "it has neither command nor url".into());
    };
    if url.is_some() {
        return Err("it has both command and url".into());
    }
    let mut words = match command.kind() {
        JsonKind::String => vec![text(value, "command").unwrap_or_default()],
        JsonKind::Array => strings(command, "command")?,
        other => return Err(format!("command is {other}, not a string or an array of strings")),
    };
    if let Some(args) = member(value, "args") {
        words.extend(strings(args, "args")?);
    }
    let mut words = words.into_iter();
    let program = words.next().filter(|program| !program.trim().is_empty()).ok_or("command is empty")?;
    let mut env = Vec::new();
    if let Some(variables) = member(value, "env") {
        if variables.kind() != JsonKind::Object {
            return Err(format!("env is {}, not an object", variables.kind()));
        }
        for (name, value) in variables.members() {
            let name = name.decode().into_owned();
            env.push((name.clone(), plain(value).ok_or_else(|| format!("env.{name} is {}", value.kind()))?));
        }
    }
    let cwd = member(value, "cwd").map(|cwd| cwd.str().ok_or("cwd is no string")).transpose()?;
    Ok(Kind::Command { program, args: words.collect(), env, cwd: cwd.map(|cwd| cwd.decode().into_owned()) })
}

/// A string, or a number or boolean as it is written.
fn plain(value: JsonRef<'_>) -> Option<String> {
    match value.kind() {
        JsonKind::String => value.str().map(|text| text.decode().into_owned()),
        JsonKind::Number | JsonKind::Bool => Some(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        JsonKind::Null | JsonKind::Array | JsonKind::Object => None,
    }
}

fn strings(value: JsonRef<'_>, name: &str) -> Result<Vec<String>, String> {
    if value.kind() != JsonKind::Array {
        return Err(format!("{name} is {}, not an array of strings", value.kind()));
    }
    let element = |(n, value)| plain(value).ok_or_else(|| format!("{name}[{n}] is {}", value.kind()));
    value.elements().enumerate().map(element).collect()
}

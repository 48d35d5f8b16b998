//! What can be said on the command line.

mod reports;
mod web;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sanswire::mcp::Revision;

use crate::demo::Demo;

pub(crate) use reports::ReportArgs;
pub(crate) use web::WebArgs;

/// List, inspect and call the tools of Model Context Protocol servers.
#[derive(Debug, Parser)]
#[command(name = "sanswire", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Targets: SERVER/TOOL, SERVER.TOOL or SERVER TOOL. For a server that is in no file, give the tool alone and the \
command behind --, or its address by --url, --tcp or --unix.
Exit status: 0 done; 1 wrong usage, or anything not below; 3 authorization needed; 4 unreachable or timed out; \
5 the tool failed, or was not found; 6 something was found; 10 it may not be called; 12 it was allowed, but is defined otherwise now; \
13 a limit was exceeded; 129, 130, 143 ended by a signal.";

/// Options of every verb.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Common {
    /// Print the MCP result as JSON and nothing else; errors as one line of JSON on standard error
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// No warnings, hints or progress
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// The longest that starting a server, or one request, may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, global = true, help_heading = "Global options")]
    pub(crate) timeout: Option<Duration>,
    /// How to speak: auto, legacy, modern, or the date of a revision
    #[arg(long, value_name = "ERA", value_parser = era, global = true, help_heading = "Global options")]
    pub(crate) era: Option<EraChoice>,
    /// Write every message to FILE, one line of JSON each, secrets of the configuration masked
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) trace: Option<PathBuf>,
    /// Write what the machines of this run are given and what they do to FILE, for `replay`; secrets are blotted out
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) record: Option<PathBuf>,
    /// Read the servers from FILE alone
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    /// Use no configured server in this run
    #[arg(long, global = true, conflicts_with = "config", help_heading = "Global options")]
    pub(crate) no_mcp: bool,
    /// Set a variable in the server's environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable, global = true,
        help_heading = "Global options")]
    pub(crate) env: Vec<(String, String)>,
    /// Hand the whole environment to the server, or a short list of harmless variables
    #[arg(long, value_name = "all|list", global = true, help_heading = "Global options")]
    pub(crate) inherit_env: Option<Inherit>,
    /// Start the server in DIR
    #[arg(long, value_name = "DIR", global = true, help_heading = "Global options")]
    pub(crate) cwd: Option<PathBuf>,
    /// Start servers from files inside the project without asking
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) trust: bool,
}

/// A server that is in no file.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Speak to a server that listens on HOST:PORT
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["unix", "url", "command"])]
    pub(crate) tcp: Option<String>,
    /// Speak to a server that listens on the socket PATH
    #[arg(long, value_name = "PATH", conflicts_with_all = ["url", "command"])]
    pub(crate) unix: Option<PathBuf>,
    /// Start this program, with these arguments, as they are
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) web: WebArgs,
}

impl Reach {
    /// Whether there is such a server.
    pub(crate) fn is_given(&self) -> bool {
        let web = self.web.url.is_some();
        web || self.tcp.is_some() || self.unix.is_some() || !self.command.is_empty()
    }
}

/// A server to be put into a file.
#[derive(Args, Clone, Debug)]
pub(crate) struct Addition {
    /// Letters, digits and hyphens
    pub(crate) name: Option<String>,
    /// What is to happen with its calls; ask, unless it is said
    #[arg(long, value_name = "ask|allow|deny")]
    pub(crate) approval: Option<ApprovalChoice>,
    /// Put it into the project's file, .sanswire.json
    #[arg(long, conflicts_with = "config")]
    pub(crate) project: bool,
    /// The program and its arguments, as they are
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) web: WebArgs,
}

/// What is to happen with a server's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalChoice {
    /// Somebody is asked before each
    Ask,
    /// They pass
    Allow,
    /// None passes
    Deny,
}

impl ApprovalChoice {
    /// As it stands in a file.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the servers of all configuration files
    #[command(visible_alias = "list")]
    Servers {
        /// These only
        names: Vec<String>,
        /// Start them, and say what each is and offers, and why it does not
        #[arg(long)]
        check: bool,
    },
    /// Forget how servers were spoken to, start them anew, and say what each is and offers
    Reconnect {
        /// These; without any, all in your own file
        names: Vec<String>,
    },
    /// List tools
    Tools {
        /// Of these servers; without any, of all in your own file
        servers: Vec<String>,
        /// What a model would be told of all of them together: under which names, one by one or not
        #[arg(long, conflicts_with_all = ["tcp", "unix", "url", "command"])]
        exposed: bool,
        #[command(flatten)]
        reach: Reach,
    },
    /// Show everything about one tool
    Inspect {
        /// SERVER/TOOL
        #[arg(required = true, num_args = 1..=2, value_name = "TARGET")]
        target: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Call a tool
    Call {
        /// SERVER/TOOL, then arguments: NAME=VALUE (typed as the tool says), NAME:=JSON, NAME=@FILE, NAME:=@FILE
        #[arg(required = true, value_name = "TARGET|ARGUMENT")]
        words: Vec<String>,
        /// All arguments as one JSON object; @FILE reads a file, - standard input
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        /// Save images, audio and other binary content as files in DIR
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Do not ask; what is denied stays denied
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        reach: Reach,
    },
    /// List resources and resource templates
    Resources {
        /// Of these servers; without any, of all in your own file
        servers: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Read a resource
    Read {
        /// SERVER URI
        #[arg(required = true, num_args = 1..=2, value_name = "TARGET")]
        target: Vec<String>,
        /// Save binary content as files in DIR
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        #[command(flatten)]
        reach: Reach,
    },
    /// List prompts
    Prompts {
        /// Of these servers; without any, of all in your own file
        servers: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Get a prompt, filled in
    Prompt {
        /// SERVER/PROMPT, then arguments NAME=VALUE or NAME=@FILE
        #[arg(required = true, value_name = "TARGET|ARGUMENT")]
        words: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Ask how an argument of a prompt, or a variable of a resource template, may go on
    Complete {
        /// SERVER/PROMPT or SERVER TEMPLATE, NAME=BEGINNING, then other arguments that are known
        #[arg(required = true, value_name = "TARGET|ARGUMENT")]
        words: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Start a server and report how it behaves
    Doctor {
        /// These servers; without any, all in your own file
        servers: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Check what a server or a client does over standard input and output against the specification, rule by rule
    ///
    /// It is started many times, and no tool is called but those that --call and --read-only-calls allow. Exit status 6: it
    /// breaks a rule that it must keep.
    ///
    /// With --client the command is a client: in its arguments {server} stands for the command line of the server that it
    /// has to start, {server-command} and {server-args} for its parts, {server-json} for both as JSON, and {config} for a
    /// file that names it "check".
    Check {
        /// This server; without it, the command behind --
        server: Option<String>,
        /// Only the checks whose name begins with this
        #[arg(long, value_name = "NAME")]
        only: Vec<String>,
        /// Call this tool, for the checks of what tools give: several times, and in each revision
        #[arg(long, value_name = "NAME")]
        call: Vec<String>,
        /// The arguments of that call as one JSON object, or of each if there are several; @FILE reads a file
        #[arg(long, value_name = "JSON", requires = "call")]
        args: Vec<String>,
        /// Call tools that say that they change nothing, if they need no argument or name a default
        #[arg(long)]
        read_only_calls: bool,
        /// The command is a client, and {server} in it what it has to start
        #[arg(long, conflicts_with = "server")]
        client: bool,
        /// List the checks, and start nothing
        #[arg(long, conflicts_with_all = ["only", "server", "command"])]
        list: bool,
        #[command(flatten)]
        reports: Box<ReportArgs>,
        /// Be what a client that is checked takes for its server
        #[arg(long, hide = true, value_name = "ADDRESS", conflicts_with_all = ["only", "client", "list", "server", "command"])]
        relay: Option<OsString>,
        /// Start this program, with these arguments, as they are
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Put a server into your file: NAME -- COMMAND ARGUMENT…, or NAME --url URL; without either, it asks
    ///
    /// --env, --inherit-env, --cwd, --timeout and --era are saved with it.
    #[command(visible_alias = "new")]
    Add(Addition),
    /// Take a server out of your file
    #[command(visible_alias = "rm")]
    Remove {
        /// As `servers` lists it
        name: String,
    },
    /// Switch a server of your file on
    Enable {
        /// As `servers` lists it
        name: String,
    },
    /// Switch a server of your file off
    Disable {
        /// As `servers` lists it
        name: String,
    },
    /// Copy servers of other programs into your file
    Import {
        /// A program (cursor, claude-code…), then names of servers; without any, all of the user's own
        #[arg(value_name = "PROGRAM|SERVER")]
        words: Vec<String>,
        /// Only say what would be copied
        #[arg(long)]
        dry_run: bool,
    },
    /// Tell what would come of a call, and show and take back what was allowed
    Policy {
        #[command(subcommand)]
        what: PolicyVerb,
    },
    /// Feed what --record wrote to fresh machines; status 6 if they do something else than was recorded
    ///
    /// Of a file of --trace, tells what its messages are.
    Replay {
        /// The file
        file: PathBuf,
    },
    /// Show every bound, and the most memory that they come to
    Limits,
    /// Serve the built-in demo tools, on standard input and output if nothing else is said
    DemoServer(Demo),
    /// Print a script that completes the command line in a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// A call that is not made.
#[derive(Args, Debug)]
pub(crate) struct Explained {
    /// SERVER/TOOL, then arguments as for `call`
    #[arg(required = true, value_name = "TARGET|ARGUMENT")]
    pub(crate) words: Vec<String>,
    /// All arguments as one JSON object; @FILE reads a file, - standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// As if it were planned only
    #[arg(long)]
    pub(crate) plan: bool,
    /// As with --yes
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// As if there were nobody to ask
    #[arg(long)]
    pub(crate) headless: bool,
    /// Without starting the server: what its tool says of itself is not known then
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// What to do about approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Tell step by step what would come of a call, and call nothing
    Explain(Box<Explained>),
    /// Compare the decisions that FILE expects with those that your files lead to; status 6 if they differ
    ///
    /// One JSON object a line, or an array of them: server, tool, expect (call, ask, deny, left_out); also plan, approver,
    /// granted, yes, nth, hints, reason.
    Test {
        /// The file; - is standard input
        file: PathBuf,
    },
    /// List the tools that may be called without a question because you said so
    Grants,
    /// Take back what you said of a tool: you are asked again
    Revoke {
        /// SERVER/TOOL
        tool: String,
    },
}

/// Which way of speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EraChoice {
    /// Find out.
    Auto,
    /// Open with `initialize`.
    Legacy,
    /// 2026-07-28.
    Modern,
    /// This one and no other.
    Date(Revision),
}

impl EraChoice {
    /// The choice of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "legacy" => Self::Legacy,
            "modern" => Self::Modern,
            date => Self::Date(Revision::from_date(date)?),
        })
    }
}

/// What of our own environment a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Inherit {
    /// Everything
    All,
    /// HOME, PATH, USER, LOGNAME, SHELL, TERM, LANG, TMPDIR
    List,
}

fn era(text: &str) -> Result<EraChoice, String> {
    EraChoice::named(text).ok_or_else(|| {
        let dates: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
        format!("not auto, legacy, modern or one of {}", dates.join(", "))
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    duration(text.parse().unwrap_or(0.0))
}

/// A number of seconds as a limit: more than nothing, at most 24 hours.
pub(crate) fn duration(seconds: f64) -> Result<Duration, String> {
    if (0.001..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("not a number of seconds from 0.001 to 86400".into())
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not NAME=VALUE".into()),
    }
}

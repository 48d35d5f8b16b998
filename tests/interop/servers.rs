//! The real servers: how each is started and what it is known to answer.
//!
//! Every row was read off the server itself, at the version pinned under `.ci/servers`. A row that stops being
//! true after a new pin is news about that server and is written down here.

use std::path::Path;

/// The folder of the installation that a server comes in; `.ci/install-servers` fills each on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Npm,
    Venv,
}

impl Lane {
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Venv => "venv",
        }
    }
}

/// What a server does with `server/discover` as its first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// It answers with this one version, and serves the modern era from there.
    Modern(&'static str),
    /// It answers with this error code and can still be initialized.
    Refused(i64),
    /// It ends without an answer.
    Dies,
}

/// What a server does with a call of a tool that it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownTool {
    /// An error reply with this code.
    Error(i64),
    /// A result with `isError`.
    Result,
}

/// What must lie in a server's folder before it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Setup {
    Nothing,
    /// A text file `a.txt`.
    File,
    /// A repository without commits.
    Repository,
}

/// A call that needs no network, and a piece of the text that comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    /// JSON; `{dir}` stands for the server's folder.
    arguments: &'static str,
    pub(crate) text: &'static str,
}

impl Call {
    /// The arguments as JSON text.
    pub(crate) fn arguments(&self, dir: &Path) -> String {
        fill(self.arguments, dir)
    }
}

/// One real server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// What it is built on.
    pub(crate) sdk: &'static str,
    pub(crate) lane: Lane,
    /// The program, below the lane's folder.
    pub(crate) program: &'static str,
    /// `{dir}` stands for the server's folder, here and in `env`.
    pub(crate) args: &'static [&'static str],
    pub(crate) env: &'static [(&'static str, &'static str)],
    pub(crate) setup: Setup,
    /// The one system and processor for which the package holds a binary.
    pub(crate) only_on: Option<(&'static str, &'static str)>,
    pub(crate) probe: Probe,
    /// Its answer to an `initialize` that offers 2025-11-25. An older offer it repeats.
    pub(crate) version: &'static str,
    /// `serverInfo`: name and version.
    pub(crate) identity: (&'static str, &'static str),
    /// How many tools a client without capabilities sees.
    pub(crate) tools: usize,
    pub(crate) unknown_tool: UnknownTool,
    /// None where every tool needs the network.
    pub(crate) call: Option<Call>,
}

impl Server {
    /// Whether it serves the new era too.
    pub(crate) fn is_modern(&self) -> bool {
        matches!(self.probe, Probe::Modern(_))
    }
}

/// All of them.
pub(crate) const SERVERS: &[Server] = &[
    Server {
        name: "everything",
        sdk: "TypeScript SDK 1",
        program: "node_modules/.bin/mcp-server-everything",
        identity: ("mcp-servers/everything", "2.0.0"),
        tools: 13,
        unknown_tool: UnknownTool::Result,
        call: Some(Call {
            tool: "echo",
            arguments: r#"{"message":"h\u00e9llo \ud83d\ude00"}"#,
            text: "h\u{e9}llo \u{1f600}",
        }),
        ..TYPESCRIPT
    },
    Server {
        name: "filesystem",
        sdk: "TypeScript SDK 1",
        program: "node_modules/.bin/mcp-server-filesystem",
        args: &["{dir}"],
        setup: Setup::File,
        identity: ("secure-filesystem-server", "0.2.0"),
        tools: 14,
        unknown_tool: UnknownTool::Result,
        call: Some(Call {
            tool: "read_text_file",
            arguments: r#"{"path":"{dir}/a.txt"}"#,
            text: "content of a file",
        }),
        ..TYPESCRIPT
    },
    Server {
        name: "memory",
        sdk: "TypeScript SDK 1",
        program: "node_modules/.bin/mcp-server-memory",
        env: &[("MEMORY_FILE_PATH", "{dir}/memory.json")],
        identity: ("memory-server", "0.6.3"),
        tools: 9,
        unknown_tool: UnknownTool::Result,
        call: Some(Call {
            tool: "create_entities",
            arguments: r#"{"entities":[{"name":"kettle","entityType":"thing","observations":["hot"]}]}"#,
            text: "kettle",
        }),
        ..TYPESCRIPT
    },
    Server {
        name: "sequential-thinking",
        sdk: "TypeScript SDK 1",
        program: "node_modules/.bin/mcp-server-sequential-thinking",
        identity: ("sequential-thinking-server", "2026.8.31"),
        tools: 1,
        unknown_tool: UnknownTool::Result,
        call: Some(Call {
            tool: "sequentialthinking",
            arguments: r#"{"thought":"one","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}"#,
            text: "thoughtHistoryLength",
        }),
        ..TYPESCRIPT
    },
    // The oldest one: it answers 2024-11-05 whatever is offered.
    Server {
        name: "github",
        sdk: "TypeScript SDK 1.0",
        program: "node_modules/.bin/mcp-server-github",
        env: &[("GITHUB_PERSONAL_ACCESS_TOKEN", "none")],
        version: "2024-11-05",
        identity: ("github-mcp-server", "0.6.2"),
        tools: 26,
        unknown_tool: UnknownTool::Error(-32603),
        ..TYPESCRIPT
    },
    Server {
        name: "context7",
        sdk: "TypeScript SDK 2",
        program: "node_modules/.bin/context7-mcp",
        probe: Probe::Modern("2026-07-28"),
        identity: ("Context7", "4.1.1"),
        tools: 2,
        unknown_tool: UnknownTool::Error(-32602),
        ..TYPESCRIPT
    },
    Server {
        name: "mcp-time",
        sdk: "mcp-go 0.33 (Go)",
        program: "node_modules/mcp-time-linux-x64/bin/mcp-time",
        only_on: Some(("linux", "x86_64")),
        version: "2025-03-26",
        identity: ("mcp-time", "v0.4.0"),
        tools: 5,
        unknown_tool: UnknownTool::Error(-32602),
        call: Some(Call {
            tool: "convert_timezone",
            arguments: r#"{"time":"2026-01-02T12:00:00Z","output_timezone":"Asia/Tokyo"}"#,
            text: "21:00",
        }),
        ..TYPESCRIPT
    },
    // Ends at once when the first message is anything but `initialize`.
    Server {
        name: "cortex",
        sdk: "rmcp 1.1 (Rust)",
        program: "node_modules/@temporal-cortex/cortex-mcp-linux-x64/bin/cortex-mcp",
        env: &[("TEMPORAL_CORTEX_TELEMETRY", "off"), ("TIMEZONE", "UTC")],
        only_on: Some(("linux", "x86_64")),
        probe: Probe::Dies,
        version: "2025-06-18",
        identity: ("temporal-cortex-mcp", "0.9.1"),
        tools: 18,
        unknown_tool: UnknownTool::Error(-32602),
        call: Some(Call {
            tool: "adjust_timestamp",
            arguments: r#"{"datetime":"2026-01-02T12:00:00Z","adjustment":"+2h","timezone":"UTC"}"#,
            text: "14:00",
        }),
        ..TYPESCRIPT
    },
    Server {
        name: "time",
        sdk: "Python SDK 2",
        program: "bin/mcp-server-time",
        args: &["--local-timezone", "UTC"],
        identity: ("mcp-time", "2026.10.19"),
        tools: 2,
        call: Some(Call {
            tool: "convert_time",
            arguments: r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#,
            text: "+9.0h",
        }),
        ..PYTHON
    },
    Server {
        name: "git",
        sdk: "Python SDK 2",
        program: "bin/mcp-server-git",
        setup: Setup::Repository,
        identity: ("mcp-git", "2026.10.19"),
        tools: 12,
        call: Some(Call {
            tool: "git_status",
            arguments: r#"{"repo_path":"{dir}"}"#,
            text: "No commits yet",
        }),
        ..PYTHON
    },
    // Its first reply is a line of 12 KB, an icon as a data URI.
    Server {
        name: "motherduck",
        sdk: "FastMCP 4 (Python)",
        program: "bin/mcp-server-motherduck",
        args: &["--db-path", ":memory:", "--read-write"],
        identity: ("mcp-server-motherduck", "1.1.0"),
        tools: 4,
        unknown_tool: UnknownTool::Result,
        call: Some(Call {
            tool: "execute_query",
            arguments: r#"{"sql":"select 40 + 2 as answer"}"#,
            text: "42",
        }),
        ..PYTHON
    },
];

const TYPESCRIPT: Server = Server {
    name: "",
    sdk: "",
    lane: Lane::Npm,
    program: "",
    args: &[],
    env: &[],
    setup: Setup::Nothing,
    only_on: None,
    probe: Probe::Refused(-32601),
    version: "2025-11-25",
    identity: ("", ""),
    tools: 0,
    unknown_tool: UnknownTool::Error(-32602),
    call: None,
};

const PYTHON: Server = Server { lane: Lane::Venv, probe: Probe::Modern("2026-07-28"), ..TYPESCRIPT };

/// Puts the server's folder where `{dir}` stands.
pub(crate) fn fill(text: &str, dir: &Path) -> String {
    text.replace("{dir}", &dir.to_string_lossy())
}

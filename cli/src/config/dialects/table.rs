//! The programs whose files are read, the one whose servers have their names first in front.

use super::{Base, Client, Place, codex, common, gemini, opencode, zed};
use crate::config::expand::Rules;

use Base::{Config, Home, HomeProjects, Machine, Project, System, Variable};

const fn at(base: Base, path: &'static str) -> Place {
    Place::new(base, path)
}

/// A program that has its servers under `mcpServers` in the words that most use.
const COMMON: Client = Client {
    name: "",
    project: "",
    title: "",
    container: "mcpServers",
    rules: Rules::None,
    read: common::read,
    whole: None,
    files: &[],
};

/// All of them.
pub(crate) static CLIENTS: [Client; 15] = [
    Client {
        name: "claude-code",
        project: "claude-code-project",
        title: "Claude Code",
        rules: Rules::ClaudeCode,
        read: common::milliseconds,
        files: &[at(HomeProjects, ".claude.json"), at(Home, ".claude.json"), at(Project, ".mcp.json")],
        ..COMMON
    },
    Client {
        name: "claude-desktop",
        project: "claude-desktop-project",
        title: "Claude Desktop",
        files: &[at(System, "Claude/claude_desktop_config.json")],
        ..COMMON
    },
    Client {
        name: "cursor",
        project: "cursor-project",
        title: "Cursor",
        rules: Rules::Editor,
        files: &[at(Project, ".cursor/mcp.json"), at(Home, ".cursor/mcp.json")],
        ..COMMON
    },
    Client {
        name: "vscode",
        project: "vscode-project",
        title: "VS Code",
        container: "servers",
        rules: Rules::Editor,
        files: &[at(Project, ".vscode/mcp.json"), at(System, "Code/User/mcp.json")],
        ..COMMON
    },
    Client {
        name: "copilot",
        project: "copilot-project",
        title: "Copilot CLI",
        rules: Rules::Portable,
        read: common::copilot,
        files: &[
            at(Project, ".github/mcp.json"),
            at(Variable("COPILOT_HOME"), "mcp-config.json"),
            at(Home, ".copilot/mcp-config.json"),
        ],
        ..COMMON
    },
    Client {
        name: "codex",
        project: "codex-project",
        title: "Codex",
        container: "mcp_servers",
        rules: Rules::Translated,
        read: codex::read,
        files: &[
            at(Project, ".codex/config.toml"),
            at(Variable("CODEX_HOME"), "config.toml"),
            at(Home, ".codex/config.toml"),
        ],
        ..COMMON
    },
    Client {
        name: "gemini",
        project: "gemini-project",
        title: "Gemini CLI",
        rules: Rules::Gemini,
        read: gemini::read,
        whole: Some(gemini::whole),
        files: &[
            at(Project, ".gemini/settings.json"),
            at(Home, ".gemini/settings.json"),
            at(Machine, "gemini-cli/settings.json"),
        ],
        ..COMMON
    },
    Client {
        name: "opencode",
        project: "opencode-project",
        title: "opencode",
        container: "mcp",
        rules: Rules::Opencode,
        read: opencode::read,
        files: &[
            at(Project, "opencode.json"),
            at(Project, "opencode.jsonc"),
            at(Project, ".opencode/opencode.json"),
            at(Project, ".opencode/opencode.jsonc"),
            at(Variable("OPENCODE_CONFIG"), ""),
            at(Variable("OPENCODE_CONFIG_DIR"), "opencode.json"),
            at(Variable("OPENCODE_CONFIG_DIR"), "opencode.jsonc"),
            at(Config, "opencode/opencode.json"),
            at(Config, "opencode/opencode.jsonc"),
        ],
        ..COMMON
    },
    Client {
        name: "zed",
        project: "zed-project",
        title: "Zed",
        container: "context_servers",
        read: zed::read,
        files: &[at(Project, ".zed/settings.json"), at(Config, "zed/settings.json")],
        ..COMMON
    },
    Client {
        name: "windsurf",
        project: "windsurf-project",
        title: "Windsurf",
        rules: Rules::Windsurf,
        read: common::windsurf,
        files: &[at(Home, ".codeium/windsurf/mcp_config.json")],
        ..COMMON
    },
    Client {
        name: "mcporter",
        project: "mcporter-project",
        title: "mcporter",
        rules: Rules::Mcporter,
        read: common::mcporter,
        files: &[
            at(Variable("MCPORTER_CONFIG"), ""),
            at(Project, "config/mcporter.json"),
            at(Home, ".mcporter/mcporter.json"),
            at(Home, ".mcporter/mcporter.jsonc"),
            at(Config, "mcporter/mcporter.json"),
            at(Config, "mcporter/mcporter.jsonc"),
        ],
        ..COMMON
    },
    Client {
        name: "mcp-cli",
        project: "mcp-cli-project",
        title: "mcp-cli",
        rules: Rules::Braced,
        read: common::mcp_cli,
        files: &[
            at(Variable("MCP_CONFIG_PATH"), ""),
            at(Project, "mcp_servers.json"),
            at(Home, ".mcp_servers.json"),
            at(Config, "mcp/mcp_servers.json"),
        ],
        ..COMMON
    },
    Client {
        name: "mcp",
        project: "mcp-project",
        title: "avelino/mcp",
        rules: Rules::Braced,
        files: &[at(Config, "mcp/servers.json")],
        ..COMMON
    },
    Client {
        name: "inspector",
        project: "inspector-project",
        title: "MCP Inspector",
        files: &[at(Variable("MCP_CATALOG_PATH"), ""), at(Home, ".mcp-inspector/mcp.json")],
        ..COMMON
    },
    Client {
        name: "home-manager",
        project: "home-manager-project",
        title: "home-manager",
        files: &[at(Config, "mcp/mcp.json")],
        ..COMMON
    },
];

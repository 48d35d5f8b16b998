use std::fmt::Write as _;

use super::*;
use crate::config::System;
use crate::config::remote::{Remote, Speaks};
use crate::config::tests::Folder;

/// Everything that an entry says, on one line.
fn described(entry: &Entry) -> String {
    let mut text = format!("{} {}:", entry.name, entry.origin.name());
    let mut say = |words: String| {
        let _ = write!(text, " {words}");
    };
    match &entry.kind {
        Kind::Command { program, args, env, cwd } => {
            say(format!("{program} {args:?}"));
            env.iter().for_each(|(name, value)| say(format!("{name}={value}")));
            cwd.iter().for_each(|cwd| say(format!("in {cwd}")));
        }
        Kind::Http(Remote { url, headers, speaks, .. }) => {
            say(format!("{} {url}", if *speaks == Speaks::Sse { "sse" } else { "http" }));
            headers.iter().for_each(|(name, value)| say(format!("{name}: {value}")));
        }
        Kind::Demo => say("demo".into()),
        Kind::Broken(why) => say(format!("broken, {why}")),
    }
    let access = &entry.access;
    access.filter.allowed_tools.iter().for_each(|list| say(format!("allowed {list:?}")));
    if !access.filter.blocked_tools.is_empty() {
        say(format!("blocked {:?}", access.filter.blocked_tools));
    }
    access.connect_timeout.iter().for_each(|time| say(format!("start {time:?}")));
    access.timeout.iter().for_each(|time| say(format!("request {time:?}")));
    if entry.disabled {
        say("disabled".into());
    }
    entry.odd.iter().for_each(|odd| say(format!("({odd})")));
    text
}

struct Sample {
    path: &'static str,
    text: &'static str,
    says: &'static [&'static str],
}

macro_rules! sample {
    ($path:literal, $file:literal, [$($says:literal),* $(,)?]) => {
        Sample {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/", $file)),
            says: &[$($says),*],
        }
    };
}

const SAMPLES: [Sample; 19] = [
    sample!(
        ".claude.json",
        "claude.json",
        [
            r#"local-db claude-code: ./db []"#,
            r#"github claude-code: http ${API_BASE:-https://api.githubcopilot.com}/mcp/ Authorization: Bearer ${GITHUB_TOKEN}"#,
            r#"airtable claude-code: npx ["-y", "airtable-mcp-server"] AIRTABLE_API_KEY=${AIRTABLE_API_KEY} request 90s"#,
            r#"asana claude-code: sse https://mcp.asana.com/sse"#,
        ]
    ),
    sample!(
        "work/.mcp.json",
        "claude-project.json",
        [r#"shared claude-code-project: /opt/server ["--root", "${CLAUDE_PROJECT_DIR:-.}"]"#,]
    ),
    sample!(
        "config/Claude/claude_desktop_config.json",
        "claude-desktop.json",
        [
            r#"filesystem claude-desktop: npx ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop", "${HOME}"] PLAIN=${NOT_EXPANDED}"#,
        ]
    ),
    sample!(
        "work/.cursor/mcp.json",
        "cursor.json",
        [
            r#"local cursor-project: python ["${workspaceFolder}/mcp_server.py"] API_KEY=${env:API_KEY} (envFile is not read: put its variables into env)"#,
            r#"remote cursor-project: http https://api.example.com/mcp Authorization: Bearer ${env:MY_SERVICE_TOKEN} (the header Content-Type belongs to the transport, which writes it itself; leave it out)"#,
        ]
    ),
    sample!(
        ".cursor/mcp.json",
        "plain.json",
        [
            r#"memory cursor: npx ["-y", "server-memory"] FILE=${X}"#,
            r#"web cursor: http http://127.0.0.1:3000/mcp"#,
        ]
    ),
    sample!(
        "work/.vscode/mcp.json",
        "vscode.json",
        [
            r#"perplexity vscode-project: npx ["-y", "server-perplexity-ask"] PERPLEXITY_API_KEY=${input:perplexity-key}"#,
            r#"github vscode-project: http https://api.githubcopilot.com/mcp/"#,
            r#"old vscode-project: sse https://example.com/sse X-Key: ${env:KEY}"#,
        ]
    ),
    sample!(
        "config/Code/User/mcp.json",
        "vscode.json",
        [
            r#"perplexity vscode: npx ["-y", "server-perplexity-ask"] PERPLEXITY_API_KEY=${input:perplexity-key}"#,
            r#"github vscode: http https://api.githubcopilot.com/mcp/"#,
            r#"old vscode: sse https://example.com/sse X-Key: ${env:KEY}"#,
        ]
    ),
    sample!(
        "work/.github/mcp.json",
        "plain.json",
        [
            r#"memory copilot-project: npx ["-y", "server-memory"] FILE=${X}"#,
            r#"web copilot-project: http http://127.0.0.1:3000/mcp"#,
        ]
    ),
    sample!(
        ".copilot/mcp-config.json",
        "copilot.json",
        [
            r#"playwright copilot: npx ["@playwright/mcp@latest"] TOKEN=${COPILOT_MCP_TOKEN} allowed ["*"]"#,
            r#"docs copilot: http https://mcp.example.com/mcp X: 1 allowed ["search", "fetch"]"#,
        ]
    ),
    sample!(
        ".codex/config.toml",
        "codex.toml",
        [
            r#"context7 codex: npx ["-y", "@upstash/context7-mcp", "$${LITERAL}"] MY_ENV_VAR=MY$VALUE HOME=${HOME} in /srv allowed ["resolve", "docs"] blocked ["docs"] start 20s request 45.5s"#,
            r#"figma codex: http https://mcp.figma.com/mcp X-Figma-Region: us-east-1 Authorization: Bearer ${FIGMA_OAUTH_TOKEN} X-Key: ${FIGMA_KEY} start 1.5s disabled"#,
            r#"inline codex: broken, it has bearer_token, which Codex refuses: name a variable in bearer_token_env_var"#,
            r#"mixed codex: broken, it has both command and http_headers, which do not go together"#,
        ]
    ),
    sample!(
        "work/.gemini/settings.json",
        "gemini.json",
        [
            r#"python gemini-project: python ["-m", "my_mcp_server", "--port", "8080"] DATABASE_URL=$DB_CONNECTION_STRING API_KEY=${EXTERNAL_API_KEY} in ./servers allowed ["safe_tool", "file_reader"] blocked ["dangerous_tool"] request 15s"#,
            r#"http gemini-project: http https://localhost:3000/mcp Authorization: Bearer $TOKEN"#,
            r#"sse gemini-project: sse http://localhost:8080/sse (timeout is no time and does not count)"#,
            r#"off gemini-project: x [] disabled"#,
            r#"unlisted gemini-project: x [] disabled"#,
        ]
    ),
    sample!(
        "config/opencode/opencode.jsonc",
        "opencode.jsonc",
        [
            r#"everything opencode: npx ["-y", "@modelcontextprotocol/server-everything"] MY_ENV_VAR=my_env_var_value start 8s"#,
            r#"context7 opencode: http https://mcp.context7.com/mcp CONTEXT7_API_KEY: {env:CONTEXT7_API_KEY} disabled"#,
            r#"untyped opencode: broken, it has no type, local or remote"#,
            r#"text opencode: broken, command is a string, not an array of strings"#,
        ]
    ),
    sample!(
        "config/zed/settings.json",
        "zed.json",
        [
            r#"local zed: some-command ["arg-1", "$HOME"] A=b"#,
            r#"remote zed: http https://x/mcp Authorization: Bearer <token>"#,
            r#"older zed: npx ["-y", "thing"] K=v"#,
            r#"extension zed: broken, it comes from an extension of Zed's, which says how it is started"#,
        ]
    ),
    sample!(
        ".codeium/windsurf/mcp_config.json",
        "windsurf.json",
        [
            r#"github windsurf: npx ["-y", "server-github"] TOKEN=${env:GITHUB_TOKEN} blocked ["delete_repo"] disabled"#,
            r#"remote windsurf: http https://x/mcp API_KEY: Bearer ${file:/home/me/key}"#,
            r#"silent windsurf: broken, it has neither command nor url"#,
        ]
    ),
    sample!(
        "work/config/mcporter.json",
        "mcporter.json",
        [
            r#"linear mcporter-project: http https://mcp.linear.app/mcp Authorization: Bearer ${LINEAR_API_KEY} allowed ["list"]"#,
            r#"signoz mcporter-project: npx -y signoz-mcp ["--flag"] KEY=$env:SIGNOZ_KEY in ../srv blocked ["rm"]"#,
            r#"token mcporter-project: http https://x/mcp Authorization: Bearer ${X_TOKEN}"#,
        ]
    ),
    sample!(
        ".mcp_servers.json",
        "mcp-cli.json",
        [
            r#"filesystem mcp-cli: npx ["-y", "server-filesystem", "${ROOT}"] in /path allowed ["read_*"] blocked ["read_secret"]"#,
            r#"deepwiki mcp-cli: http https://mcp.deepwiki.com/mcp Authorization: Bearer ${TOKEN}"#,
        ]
    ),
    sample!(
        "config/mcp/servers.json",
        "plain.json",
        [
            r#"memory mcp: npx ["-y", "server-memory"] FILE=${X}"#,
            r#"web mcp: http http://127.0.0.1:3000/mcp"#,
        ]
    ),
    sample!(
        ".mcp-inspector/mcp.json",
        "plain.json",
        [
            r#"memory inspector: npx ["-y", "server-memory"] FILE=${X}"#,
            r#"web inspector: http http://127.0.0.1:3000/mcp"#,
        ]
    ),
    sample!(
        "config/mcp/mcp.json",
        "plain.json",
        [
            r#"memory home-manager: npx ["-y", "server-memory"] FILE=${X}"#,
            r#"web home-manager: http http://127.0.0.1:3000/mcp"#,
        ]
    ),
];

fn loaded(places: &Places) -> Vec<Entry> {
    let mut found = Configuration::default();
    load(&mut found, places);
    assert_eq!(found.warnings, Vec::<String>::new());
    found.entries
}

#[test]
fn every_value_of_every_programs_file_is_read_in_its_own_dialect() {
    for sample in &SAMPLES {
        let folder = Folder::new("dialect");
        let work = folder.0.join("work").display().to_string();
        folder.write(sample.path, &sample.text.replace("WORK", &work));
        let found: Vec<String> = loaded(&folder.places()).iter().map(described).collect();
        assert_eq!(found, sample.says, "{}", sample.path);
    }
}

#[test]
fn all_at_once_come_in_the_order_of_their_programs() {
    let folder = Folder::new("order");
    for sample in &SAMPLES {
        folder.write(sample.path, sample.text);
    }
    let mut sources: Vec<&str> = loaded(&folder.places()).iter().map(|entry| entry.origin.name()).collect();
    sources.dedup();
    let expected = [
        "claude-code",
        "claude-code-project",
        "claude-desktop",
        "cursor-project",
        "cursor",
        "vscode-project",
        "vscode",
        "copilot-project",
        "copilot",
        "codex",
        "gemini-project",
        "opencode",
        "zed",
        "windsurf",
        "mcporter-project",
        "mcp-cli",
        "mcp",
        "inspector",
        "home-manager",
    ];
    assert_eq!(sources, expected);
}

#[test]
fn files_are_where_each_system_and_each_variable_puts_them() {
    let folder = Folder::new("systems");
    let plain = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/plain.json"));
    let toml = "[mcp_servers.memory]\ncommand = 'npx'\n";
    let first = |places: &Places| {
        let entries = loaded(places);
        let names: Vec<String> = entries
            .iter()
            .filter(|entry| entry.name == "memory")
            .map(|entry| entry.origin.name().into())
            .collect();
        names.join(" ")
    };
    for (system, path, name) in [
        (System::Other, "config/Claude/claude_desktop_config.json", "claude-desktop"),
        (System::MacOs, "Library/Application Support/Claude/claude_desktop_config.json", "claude-desktop"),
        (System::Windows, "roaming/Claude/claude_desktop_config.json", "claude-desktop"),
        (System::Other, "config/Code/User/mcp.json", "vscode"),
        (System::MacOs, "Library/Application Support/Code/User/mcp.json", "vscode"),
        (System::Windows, "roaming/Code/User/mcp.json", "vscode"),
    ] {
        let text = if name == "vscode" { plain.replace("mcpServers", "servers") } else { plain.into() };
        let file = folder.write(path, &text);
        for other in [System::Other, System::MacOs, System::Windows] {
            let places = Places { system: other, roaming: Some(folder.0.join("roaming")), ..folder.places() };
            assert_eq!(first(&places), if other == system { name } else { "" }, "{path} {other:?}");
        }
        let _ = std::fs::remove_file(file);
    }
    for (variable, value, file, name) in [
        ("CODEX_HOME", "named", "named/config.toml", "codex"),
        ("COPILOT_HOME", "named", "named/mcp-config.json", "copilot"),
        ("MCPORTER_CONFIG", "named/p.json", "named/p.json", "mcporter"),
        ("MCP_CATALOG_PATH", "named/c.json", "named/c.json", "inspector"),
        ("MCP_CONFIG_PATH", "named/m.json", "named/m.json", "mcp-cli"),
        ("OPENCODE_CONFIG", "named/o.json", "named/o.json", "opencode"),
        ("OPENCODE_CONFIG_DIR", "named", "named/opencode.jsonc", "opencode"),
    ] {
        let text = match name {
            "codex" => toml.into(),
            "opencode" => r#"{"mcp":{"memory":{"type":"local","command":["npx"]}}}"#.into(),
            _ => plain.to_owned(),
        };
        folder.write(file, &text);
        let mut places = folder.places();
        assert_eq!(first(&places), "", "{variable}");
        places.named.insert(variable, folder.0.join(value));
        assert_eq!(first(&places), name, "{variable}");
    }
    assert_eq!(NAMED.len(), 7);
}

#[test]
fn a_file_of_the_project_is_found_from_below_and_the_users_own_is_not_taken_for_one() {
    let folder = Folder::new("below");
    let text = r#"{"mcpServers":{"a":{"command":"x"}}}"#;
    folder.write("work/.gemini/settings.json", text);
    folder.write(".cursor/mcp.json", text);
    std::fs::create_dir_all(folder.0.join("work/deep/er")).expect("a folder");
    let places = Places { directory: folder.0.join("work/deep/er"), ..folder.places() };
    let sources: Vec<&str> = loaded(&places).iter().map(|entry| entry.origin.name()).collect();
    assert_eq!(sources, ["cursor", "gemini-project"]);
}

#[test]
fn what_cannot_be_read_is_told_and_stops_nothing() {
    let folder = Folder::new("unread");
    folder.write(".codex/config.toml", "[mcp_servers\n");
    folder.write("work/.vscode/mcp.json", "{");
    folder.write(".gemini/settings.json", r#"{"mcp":{"allowed":"x"},"mcpServers":{"g":{"command":"x"}}}"#);
    folder.write(".copilot/mcp-config.json", r#"{"mcpServers":{"c":{"command":"x","tools":"all"}}}"#);
    folder.write(".cursor/mcp.json", r#"{"mcpServers":[]}"#);
    let mut found = Configuration::default();
    load(&mut found, &folder.places());
    assert!(
        found.warnings.len() == 2 && found.warnings[0].contains("mcp.json:1:2: not JSON"),
        "{:?}",
        found.warnings
    );
    assert!(
        found.warnings[1].contains("config.toml:1:") && found.warnings[1].contains("not TOML"),
        "{:?}",
        found.warnings
    );
    // A list that cannot be read leaves nothing in, not everything.
    let told: Vec<String> = found.entries.iter().map(described).collect();
    assert_eq!(
        told,
        [
            "c copilot: broken, tools is a string, not an array of strings",
            "g gemini: broken, mcp.allowed is a string, not an array of strings",
        ]
    );
}

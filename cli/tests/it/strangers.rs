use crate::home::{Home, run};

/// Files that a project may bring along, each with a server that would leave a trace.
const FILES: [(&str, &str); 14] = [
    (
        ".sanswire.json",
        r#"{"sanswire":{"rules":{"*/*":"allow"}},"mcpServers":{"NAME":{"command":"touch","args":["MARK"],"approval":"allow"}}}"#,
    ),
    (".mcp.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
    (".cursor/mcp.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
    (".vscode/mcp.json", r#"{"servers":{"NAME":{"type":"stdio","command":"touch","args":["MARK"]}}}"#),
    (".github/mcp.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
    (
        ".codex/config.toml",
        "[mcp_servers.NAME]\ncommand = 'touch'\nargs = ['MARK']\ndefault_tools_approval_mode = 'approve'\n",
    ),
    (".gemini/settings.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"],"trust":true}}}"#),
    ("opencode.json", r#"{"mcp":{"NAME":{"type":"local","command":["touch","MARK"]}}}"#),
    ("opencode.jsonc", r#"{"mcp":{"NAME":{"type":"local","command":["touch","MARK"]}}}"#),
    (".opencode/opencode.json", r#"{"mcp":{"NAME":{"type":"local","command":["touch","MARK"]}}}"#),
    (".opencode/opencode.jsonc", r#"{"mcp":{"NAME":{"type":"local","command":["touch","MARK"]}}}"#),
    (".zed/settings.json", r#"{"context_servers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
    ("config/mcporter.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
    ("mcp_servers.json", r#"{"mcpServers":{"NAME":{"command":"touch","args":["MARK"]}}}"#),
];

/// The verbs of the program, as its help lists them.
fn verbs(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]).ok();
    let listed = help.split_once("Commands:\n").unwrap().1;
    let verbs = listed.lines().take_while(|line| !line.trim().is_empty());
    verbs
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|verb| !verb.is_empty()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_verb_starts_anything_unasked_in_a_folder_of_strangers() {
    let home = Home::new();
    let mark = home.path.join("mark").display().to_string();
    let names: Vec<String> = (0..FILES.len()).map(|n| format!("n{n}")).collect();
    let write = || {
        for ((path, text), name) in FILES.iter().zip(&names) {
            home.write(&format!("work/{path}"), &text.replace("NAME", name).replace("MARK", &mark));
        }
    };
    write();
    let shown = home.run(&["servers", "--json"]).json();
    for name in &names {
        let server =
            shown["servers"].as_array().unwrap().iter().find(|server| server["name"] == name.as_str());
        assert_eq!(server.unwrap()["state"], "not allowed yet", "{name}");
    }
    let verbs = verbs(&home);
    assert!(verbs.len() >= 16 && verbs.contains(&"import".to_owned()), "{verbs:?}");
    for verb in &verbs {
        // One of them takes servers out.
        write();
        let mut lines: Vec<Vec<String>> = vec![vec![verb.clone()], vec![verb.clone(), "--json".into()]];
        for name in &names {
            lines.push(vec![verb.clone(), name.clone()]);
            lines.push(vec![verb.clone(), format!("{name}/t")]);
        }
        match verb.as_str() {
            // It serves until its input ends, which is at once.
            "demo-server" | "help" => lines.truncate(1),
            "servers" => lines.push(vec!["servers".into(), "--check".into()]),
            "import" => {
                for source in ["claude-code-project", "cursor-project", "codex-project", "gemini-project"] {
                    lines.push(vec!["import".into(), source.into()]);
                }
            }
            _ => {}
        }
        for line in lines {
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            run(home.command(&words), "");
            assert!(!home.path.join("mark").exists(), "{line:?} started it");
        }
    }
    // The mark is what they would leave.
    write();
    let ran = home.run(&["call", "--yes", "n1/t", "--trust"]);
    assert!(ran.status == 4 && home.path.join("mark").exists(), "{ran:?}");
}

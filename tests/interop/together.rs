//! All servers at once in one file, beside four that do not work: the binary tells the truth about each.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::child::{self, Done};
use crate::equal;
use crate::installed::{Folder, Installation, Presence, clean};
use crate::servers::{SERVERS, Server};

/// What this is worth anything with.
pub(crate) const LEAST: usize = 6;

/// A server in the shell: `ON_CALL` is run before a call is answered; `TOOLS` is what it lists.
const SCRIPT: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  rest=${line#*'"id":'}; id=${rest%%[!0-9]*}
  case $line in
    *'"method":"initialize"'*) reply '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply "\"result\":{\"tools\":$TOOLS}" ;;
    *'"method":"tools/call"'*) eval "$ON_CALL"; reply '"result":{"content":[]}' ;;
    *'"id":'*) reply '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
"#;

/// Configured together, in a home of their own.
struct Together {
    binary: PathBuf,
    home: Folder,
    /// Whose folders these are, which go with it.
    servers: Vec<(&'static Server, Folder)>,
}

/// Runs it.
pub(crate) fn check(installation: &Installation) -> Result<(), Failed> {
    let together = Together::prepare(installation)?;
    let json = together.run(["servers", "--check", "--json"])?.document(4)?;
    let of = |name: &str| -> Result<&Value, Failed> {
        let mut all = json["servers"].as_array().into_iter().flatten();
        all.find(|server| server["name"] == name).ok_or_else(|| format!("no {name} in {json}").into())
    };
    for (server, _) in &together.servers {
        let shown = of(server.name)?;
        equal(&shown["state"], &json!("connected"), server.name)?;
        equal(&shown["offered"], &json!(server.tools), server.name)?;
        equal(&shown["listed"], &json!(server.tools), server.name)?;
    }
    equal(&of("dies")?["state"], &json!("connected"), "the one that dies when it is called")?;
    equal(&of("broken")?["offered"], &json!(1), "the one with a tool that is none")?;
    let outcomes: Vec<_> =
        of("broken")?["tools"].as_array().into_iter().flatten().map(|t| &t["outcome"]).collect();
    equal(&outcomes, &vec![&json!("registered"), &json!("skipped")], "the one with a tool that is none")?;
    for (name, says) in [("hangs", "connect"), ("missing", "no-such-program-at-all")] {
        let shown = of(name)?;
        equal(&shown["state"], &json!("failed"), name)?;
        if !shown["message"].as_str().unwrap_or_default().contains(says) {
            return Err(format!("{name}: {shown}").into());
        }
    }
    together.nothing_is_left()?;
    let died = together.run(["call", "--yes", "dies/t"])?;
    equal(&died.status, &Some(4), &format!("the status of a call whose server died: {died:?}"))?;
    for (server, folder) in &together.servers {
        let Some(call) = &server.call else { continue };
        let target = format!("{}/{}", server.name, call.tool);
        let done = together.run(["call", "--yes", &target, "--args", &call.arguments(folder.path())])?;
        if done.status != Some(0) || !done.stdout.contains(call.text) {
            return Err(format!("{target}: {done:?}").into());
        }
    }
    together.nothing_is_left()
}

impl Together {
    fn prepare(installation: &Installation) -> Result<Self, Failed> {
        let binary = installation.binary.clone().ok_or("not built: cargo build -p sanswire-cli")?;
        let home = Folder::empty("all", "together")?;
        let here = |server: &&Server| installation.presence(server) == Presence::Installed;
        let mut servers = Vec::new();
        let mut entries = serde_json::Map::new();
        for server in SERVERS.iter().filter(here) {
            let folder = Folder::make(server, "together")?;
            let launch = installation.launch(server, folder.path());
            let mut env = serde_json::Map::new();
            for (name, value) in &launch.env {
                env.insert(name.clone(), json!(value));
            }
            for name in ["HOME", "TMPDIR"] {
                env.insert(name.into(), json!(folder.path()));
            }
            let entry = json!({
                "command": launch.program, "args": launch.args, "env": env, "cwd": launch.dir,
                "inherit_env": "list", "timeout": 60, "connect_timeout": 60,
            });
            entries.insert(server.name.into(), entry);
            servers.push((server, folder));
        }
        if servers.len() < LEAST {
            return Err(format!("only {} servers are installed; {LEAST} are wanted", servers.len()).into());
        }
        let script = home.path().join("server.sh");
        fs::write(&script, SCRIPT)?;
        let shell = |tools: &str, on_call: &str| json!({"command": "sh", "args": [script], "cwd": home.path(), "env": {"TOOLS": tools, "ON_CALL": on_call}});
        entries.insert("dies".into(), shell(r#"[{"name":"t"}]"#, "exit 3"));
        entries.insert("broken".into(), shell(r#"[{"name":"good"},{"name":""}]"#, ""));
        let silent =
            json!({"command": "sh", "args": ["-c", "while :; do sleep 1; done"], "connect_timeout": 5});
        entries.insert("hangs".into(), silent);
        entries.insert("missing".into(), json!({"command": "no-such-program-at-all"}));
        fs::write(home.path().join("all.json"), json!({"mcpServers": entries}).to_string())?;
        Ok(Self { binary, home, servers })
    }

    fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Done, Failed> {
        let mut command = clean(Command::new(&self.binary), self.home.path());
        command.arg("--config").arg("all.json").args(words);
        child::run(command)
    }

    /// No process is at home in any of the folders, whoever's child it is. Looks where the system tells.
    fn nothing_is_left(&self) -> Result<(), Failed> {
        let folders: Vec<&Path> =
            self.servers.iter().map(|(_, folder)| folder.path()).chain([self.home.path()]).collect();
        let Ok(processes) = fs::read_dir("/proc") else { return Ok(()) };
        for process in processes.filter_map(Result::ok) {
            let Ok(cwd) = fs::read_link(process.path().join("cwd")) else { continue };
            if folders.iter().any(|folder| cwd.starts_with(folder)) {
                let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
                return Err(format!("left in {}: {}", cwd.display(), String::from_utf8_lossy(&words)).into());
            }
        }
        Ok(())
    }
}

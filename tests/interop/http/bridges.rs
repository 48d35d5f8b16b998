//! Programs that stand between HTTP and pipes, each with the library on one side and the demo server on the other.

use std::fs;
use std::process::Command;

use libtest_mimic::Failed;
use sanswire::client::{Outcome, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Revision;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::{Client, HttpTarget, InheritEnv};
use serde_json::json;

use crate::clients::GRANTED;
use crate::equal;
use crate::http::clients::Place;
use crate::http::listening::{Listening, free_port};
use crate::installed::{Folder, Installation, clean};
use crate::library::{names, options};

/// One of them, in one direction.
#[derive(Debug)]
pub(crate) struct Bridge {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    program: &'static str,
    args: &'static [&'static str],
    side: Side,
}

/// Which side the demo server is on.
#[derive(Debug)]
enum Side {
    /// It serves HTTP at `{url}`, and the bridge is a server on pipes, which is started so.
    Http(Start),
    /// It is started by the bridge, as `{command}` or as the file `{config}` says. The bridge listens on `{port}`, and
    /// serves this path.
    Pipes(&'static str),
}

/// All of them.
pub(crate) const BRIDGES: &[Bridge] = &[
    Bridge {
        name: "mcp-remote",
        place: Place::BRIDGES,
        program: "node_modules/.bin/mcp-remote",
        args: &["{url}", "--allow-http", "--transport", "http-only"],
        side: Side::Http(Start::Unknown),
    },
    // It opens a session of its own for whatever comes first, and cannot be asked what there is.
    Bridge {
        name: "supergateway-to-pipes",
        place: Place::BRIDGES,
        program: "node_modules/.bin/supergateway",
        args: &["--streamableHttp", "{url}", "--logLevel", "none"],
        side: Side::Http(Start::Pinned(Revision::V2025_11_25)),
    },
    Bridge {
        name: "supergateway-to-http",
        place: Place::BRIDGES,
        program: "node_modules/.bin/supergateway",
        args: &[
            "--stdio",
            "{command}",
            "--outputTransport",
            "streamableHttp",
            "--stateful",
            "--port",
            "{port}",
        ],
        side: Side::Pipes("/mcp"),
    },
    Bridge {
        name: "fastmcp-to-http",
        place: Place::Venv,
        program: "bin/fastmcp",
        args: &["run", "{config}", "--transport", "http", "--port", "{port}", "--no-banner"],
        side: Side::Pipes("/mcp"),
    },
    // The transport of 2024-11-05.
    Bridge {
        name: "fastmcp-to-sse",
        place: Place::Venv,
        program: "bin/fastmcp",
        args: &["run", "{config}", "--transport", "sse", "--port", "{port}", "--no-banner"],
        side: Side::Pipes("/sse"),
    },
];

/// Lists and calls through it.
pub(crate) fn check(bridge: &Bridge, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::empty(bridge.name, "http")?;
    let program = bridge.place.folder(installation).join(bridge.program);
    match &bridge.side {
        Side::Http(start) => {
            let demo = Listening::demo(installation, folder.path())?;
            let args = bridge.args.iter().map(|arg| arg.replace("{url}", &demo.url("/mcp")));
            let command = sanswire_std::Command::new(program)
                .args(args)
                .inherit_env(InheritEnv::AllowList)
                .env("HOME", folder.path())
                .current_dir(folder.path());
            through(&Client::connect(&command, options(start.clone()))?)?;
            demo.finish()
        }
        Side::Pipes(path) => {
            let port = free_port()?;
            let words = demo_words(installation)?;
            let (demo, config) = (words.join(" "), folder.path().join("demo.json"));
            let entry = json!({ "command": words.first(), "args": words.get(1..) });
            fs::write(&config, json!({ "mcpServers": { "demo": entry } }).to_string())?;
            let fill = |arg: &&str| {
                let arg = arg.replace("{command}", &demo).replace("{port}", &port.to_string());
                arg.replace("{config}", &config.to_string_lossy())
            };
            let mut command = clean(Command::new(program), folder.path());
            command.args(bridge.args.iter().map(fill));
            let listening = Listening::start(command, port)?;
            let target = HttpTarget::new(&listening.url(path)).map_err(|fault| fault.to_string())?;
            through(&Client::connect_http(&target, options(Start::Unknown))?)
        }
    }
}

/// The demo server's command line.
fn demo_words(installation: &Installation) -> Result<Vec<String>, Failed> {
    let binary = installation.binary.as_deref().ok_or("not built: cargo build -p sanswire-cli")?;
    let binary = binary.to_str().ok_or("a path that is no text")?;
    let granted = GRANTED.iter().flat_map(|tool| ["--allow", tool]);
    Ok([binary, "demo-server"].into_iter().chain(granted).map(str::to_owned).collect())
}

fn through(client: &Client) -> Result<(), Failed> {
    equal(&names(client)?.iter().any(|name| name == "echo"), &true, "whether echo is listed")?;
    let said = "gr\u{fc}\u{df}e \u{1f600}";
    let arguments = RawJson::serialize(&json!({ "text": said }))?;
    let outcome = client.call_tool("echo", Some(&arguments), &RequestOptions::default())?;
    let Outcome::Complete(result) = outcome else { return Err(format!("echo: got {outcome:?}").into()) };
    equal(&CallToolResult::new(result).text().contains(said), &true, "whether it came back")?;
    client.close();
    equal(&client.violations(), &Vec::new(), "violations")
}

//! Which client is to be checked, and how.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Revision;
use sanswire_system::Command;

/// Which client is to be checked, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientPlan {
    /// A client that connects to one server, does something, and exits. It is started many times. In its arguments these
    /// words stand for the server that it has to start:
    ///
    /// - `{server}`: its program and arguments, quoted as a POSIX shell has them; anywhere in an argument.
    /// - `{server-command}`: its program; anywhere in an argument. `{server-args}`: its arguments, each by itself; an
    ///   argument that is this and nothing else.
    /// - `{server-json}`: `{"command":"...","args":["..."]}`; anywhere in an argument.
    /// - `{config}`: the path of a file that names it `check`: `{"mcpServers":{"check":{"command":"...","args":[...]}}}`.
    pub command: Command,
    /// What the client has to start: a program that hands the argument behind these to [`relay`](crate::relay).
    pub relay: Command,
    /// The checks whose id begins with one of these. Default: all.
    pub only: Vec<String>,
    /// The revisions to answer in. Default: all.
    pub revisions: Vec<Revision>,
    /// The longest that the client may take for its work with a server that is as it should be. 30 s.
    pub start: Duration,
    /// How much longer it may take with one that is not. 10 s.
    pub patience: Duration,
    /// How many clients run at once. 4.
    pub jobs: usize,
}

impl ClientPlan {
    /// Everything about this client.
    #[must_use]
    pub fn new(command: Command, relay: Command) -> Self {
        Self {
            command,
            relay,
            only: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            start: Duration::from_secs(30),
            patience: Duration::from_secs(10),
            jobs: 4,
        }
    }

    /// Whether the command names the server anywhere.
    #[must_use]
    pub fn names_server(&self) -> bool {
        let words = std::iter::once(self.command.program());
        words.chain(self.command.arguments().iter().map(OsString::as_os_str)).any(|word| {
            let word = word.to_string_lossy();
            ["{server}", "{server-command}", "{server-args}", "{server-json}", "{config}"]
                .iter()
                .any(|place| word.contains(place))
        })
    }

    pub(crate) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| id.starts_with(only.as_str()))
    }

    /// The command for a relay at this address. `folder`: where files for it may lie.
    pub(crate) fn command_for(&self, address: &OsStr, folder: &Path) -> io::Result<Command> {
        let server = Server::new(&self.relay, address)?;
        let config = folder.join("servers.json");
        std::fs::write(&config, format!(r#"{{"mcpServers":{{"check":{}}}}}"#, server.json().as_str()))?;
        let config = config.to_str().ok_or_else(not_text)?;
        let fill = |word: &OsStr| -> OsString {
            let Some(word) = word.to_str() else { return word.to_owned() };
            word.replace("{server}", &server.shell())
                .replace("{server-command}", &server.program)
                .replace("{server-json}", server.json().as_str())
                .replace("{config}", config)
                .into()
        };
        let mut words = Vec::new();
        for word in self.command.arguments() {
            if word == "{server-args}" {
                words.extend(server.arguments.iter().map(OsString::from));
            } else {
                words.push(fill(word));
            }
        }
        Ok(self.command.clone().with_words(fill(self.command.program()), words))
    }
}

fn not_text() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "the path of this program, or that of temporary files, is not UTF-8",
    )
}

/// The server, as clients are told of it.
struct Server {
    program: String,
    arguments: Vec<String>,
}

impl Server {
    fn new(relay: &Command, address: &OsStr) -> io::Result<Self> {
        let text = |word: &OsStr| word.to_str().map(str::to_owned).ok_or_else(not_text);
        let arguments = relay.arguments().iter().map(OsString::as_os_str).chain([address]);
        Ok(Self {
            program: text(relay.program())?,
            arguments: arguments.map(text).collect::<io::Result<_>>()?,
        })
    }

    fn shell(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let quoted: Vec<_> = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        quoted.join(" ")
    }

    fn json(&self) -> RawJson {
        RawJson::object(|w| {
            w.string("command", &self.program);
            w.array_of_strings("args", self.arguments.iter().map(String::as_str));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_the_server_are_filled() {
        let relay = Command::new("/opt/it's here/relay").arg("--relay");
        let command = Command::new("client")
            .args(["{server}", "--stdio={server}", "{server-command}", "{server-args}", "{server-json}"])
            .arg("--config={config}");
        let plan = ClientPlan::new(command, relay);
        assert!(plan.names_server());
        let folder = crate::relay::Listener::new().unwrap();
        let filled = plan.command_for(OsStr::new("/tmp/x"), folder.folder()).unwrap();
        let shell = r"'/opt/it'\''s here/relay' '--relay' '/tmp/x'";
        let json = r#"{"command":"/opt/it's here/relay","args":["--relay","/tmp/x"]}"#;
        let config = folder.folder().join("servers.json");
        let words: Vec<_> = filled.arguments().iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words,
            [
                shell,
                &format!("--stdio={shell}"),
                "/opt/it's here/relay",
                "--relay",
                "/tmp/x",
                json,
                &format!("--config={}", config.display())
            ]
        );
        let file = std::fs::read_to_string(config).unwrap();
        assert_eq!(file, format!(r#"{{"mcpServers":{{"check":{json}}}}}"#));
    }

    #[test]
    fn a_command_without_a_place_for_the_server_is_told_apart() {
        let plan = ClientPlan::new(Command::new("client").arg("list"), Command::new("relay"));
        assert!(!plan.names_server());
    }
}

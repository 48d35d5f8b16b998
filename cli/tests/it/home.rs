//! A home folder of its own for each test, and a server that does as it is told.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long any run may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server in the shell: legacy, one tool `t` unless `TOOLS` says otherwise, whose answer is `CALL`. `ON_START`,
/// `ON_LIST` and `ON_CALL` are run before, and every line that comes in goes to the file `RECORD`.
const FAKE: &str = r#"
tools=${TOOLS:-'[{"name":"t","inputSchema":{"type":"object"}}]'}
call=${CALL:-'"result":{"content":[{"type":"text","text":"ok"}]}'}
reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
eval "$ON_START"
while IFS= read -r line; do
  [ -z "$RECORD" ] || printf '%s\n' "$line" >>"$RECORD"
  rest=${line#*'"id":'}; id=${rest%%[!0-9]*}
  case $line in
    *'"method":"initialize"'*) reply '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}' ;;
    *'"method":"tools/list"'*) eval "$ON_LIST"; reply "\"result\":{\"tools\":$tools}" ;;
    *'"method":"tools/call"'*) eval "$ON_CALL"; reply "$call" ;;
    *'"id":'*) reply '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
"#;

pub(crate) struct Home {
    pub(crate) path: PathBuf,
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(path.join("work")).unwrap();
        let this = Self { path };
        this.write("fake.sh", FAKE);
        this
    }

    /// A file, by its path from the home folder.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    /// Of our own configuration, the user's file.
    pub(crate) fn configure(&self, servers: &str) {
        self.write("config/sanswire/config.json", &format!("{{\"mcpServers\":{servers}}}"));
    }

    /// The words that start the shell server.
    pub(crate) fn fake(&self) -> String {
        format!("sh {}", self.path.join("fake.sh").display())
    }

    /// The program, in this home.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.prepare(Path::new(env!("CARGO_BIN_EXE_sanswire")));
        command.args(words);
        command
    }

    /// Any program, in this home.
    pub(crate) fn prepare(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.path)
            .env("XDG_CONFIG_HOME", self.path.join("config"))
            .env("XDG_STATE_HOME", self.path.join("state"));
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        run(self.command(words), "")
    }

    /// With the shell server behind `--`, under these variables.
    pub(crate) fn run_fake(&self, words: &[&str], variables: &[(&str, &str)]) -> Ran {
        let fake = self.path.join("fake.sh");
        let mut all = words.to_vec();
        all.extend(["--", "sh", fake.to_str().unwrap()]);
        let mut command = self.command(&all);
        command.envs(variables.iter().copied());
        run(command, "")
    }
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error that was written for programs.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let line = self.stderr.trim_end();
        assert!(!line.contains('\n'), "one line: {self:?}");
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))["error"]
            .clone()
    }
}

pub(crate) fn run(mut command: Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let (stdout, stderr) = (drain(child.stdout.take().unwrap()), drain(child.stderr.take().unwrap()));
    let status = wait(&mut child);
    Ran { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// The exit status; a signal counts as in a shell.
pub(crate) fn wait(child: &mut Child) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
        }
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn drain(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! Where the servers and the clients were installed, and how one of them is started; where the binary is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use sanswire_std::InheritEnv;

use crate::servers::{Server, Setup, fill};

/// Whether a server or a client can be run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Installed,
    /// Its package holds no binary for this machine, or its lane could not be installed.
    Unavailable,
    Missing,
}

impl Presence {
    /// Whether its trials are left out.
    pub(crate) fn skips(self, required: bool) -> bool {
        match self {
            Self::Installed => false,
            Self::Unavailable => true,
            Self::Missing => !required,
        }
    }

    /// Of `folder` in `place`, which an installer fills if `usable` says that all of it is there.
    fn of(place: &Path, folder: &str, usable: bool) -> Self {
        // The installer writes the stamp last, so a folder that is being filled does not count.
        if usable && place.join(folder).join(".stamp").exists() {
            return Self::Installed;
        }
        let failed = fs::read_to_string(place.join("failed")).unwrap_or_default();
        if failed.lines().any(|line| line == folder) { Self::Unavailable } else { Self::Missing }
    }
}

/// Where the servers were installed, and what was built.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    servers: PathBuf,
    clients: PathBuf,
    /// The command line, if it is there.
    pub(crate) binary: Option<PathBuf>,
}

impl Installation {
    /// The folder named by `SANSWIRE_INTEROP_DIR`, else the repository's `.ci-cache`. The program named by
    /// `SANSWIRE_BIN`, else what `cargo build -p sanswire-cli` put beside this one.
    pub(crate) fn locate() -> Self {
        let servers = match env::var_os("SANSWIRE_INTEROP_DIR") {
            Some(dir) => PathBuf::from(dir),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci-cache"),
        };
        let built = || Some(env::current_exe().ok()?.parent()?.parent()?.join("sanswire"));
        let binary = env::var_os("SANSWIRE_BIN").map(PathBuf::from).or_else(built);
        let clients = servers.join("clients");
        Self { servers, clients, binary: binary.filter(|binary| binary.is_file()) }
    }

    pub(crate) fn presence(&self, server: &Server) -> Presence {
        let presence = Presence::of(&self.servers, server.lane.folder(), self.program(server).exists());
        let elsewhere = server.only_on.is_some_and(|on| on != (env::consts::OS, env::consts::ARCH));
        if presence == Presence::Missing && elsewhere { Presence::Unavailable } else { presence }
    }

    /// Of the clients in this folder.
    pub(crate) fn presence_of_clients(&self, folder: &str) -> Presence {
        Presence::of(&self.clients, folder, true)
    }

    /// Of the servers in this folder.
    pub(crate) fn presence_of_servers(&self, folder: &str) -> Presence {
        Presence::of(&self.servers, folder, true)
    }

    /// Where the servers in this folder were installed.
    pub(crate) fn servers(&self, folder: &str) -> PathBuf {
        self.servers.join(folder)
    }

    /// Where the clients in this folder were installed.
    pub(crate) fn clients(&self, folder: &str) -> PathBuf {
        self.clients.join(folder)
    }

    fn program(&self, server: &Server) -> PathBuf {
        self.servers.join(server.lane.folder()).join(server.program)
    }

    /// How `server` is started in `dir`.
    pub(crate) fn launch(&self, server: &Server, dir: &Path) -> Launch {
        Launch {
            program: self.program(server),
            args: server.args.iter().map(|arg| fill(arg, dir)).collect(),
            env: server.env.iter().map(|(name, value)| ((*name).to_owned(), fill(value, dir))).collect(),
            dir: dir.to_owned(),
        }
    }
}

/// How a server is started: with everything else kept away from it, and its folder as its home.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) dir: PathBuf,
}

impl Launch {
    /// For std: an empty environment but for the search path, the home and what is declared.
    pub(crate) fn command(&self) -> Command {
        let mut command = clean(Command::new(&self.program), &self.dir);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// For the library, whose short list of the environment is as close as it comes to that.
    pub(crate) fn for_library(&self) -> sanswire_std::Command {
        let mut command = sanswire_std::Command::new(&self.program)
            .args(&self.args)
            .inherit_env(InheritEnv::AllowList)
            .env("HOME", &self.dir)
            .env("TMPDIR", &self.dir)
            .current_dir(&self.dir);
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        command
    }
}

/// `command` without this process's environment, at home in `dir`.
pub(crate) fn clean(mut command: Command, dir: &Path) -> Command {
    command
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("TMPDIR", dir)
        .current_dir(dir);
    command
}

/// A folder for one run of one server, removed afterwards.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder and puts into it what the server expects. `purpose` keeps trials of one server apart.
    pub(crate) fn make(server: &Server, purpose: &str) -> io::Result<Self> {
        let folder = Self::empty(server.name, purpose)?;
        match server.setup {
            Setup::Nothing => {}
            Setup::File => fs::write(folder.path().join("a.txt"), "content of a file\n")?,
            Setup::Repository => {
                let made = Command::new("git")
                    .args(["init", "--quiet"])
                    .arg(&folder.0)
                    .stdin(Stdio::null())
                    .status()?;
                if !made.success() {
                    return Err(io::Error::other("git init failed"));
                }
            }
        }
        Ok(folder)
    }

    /// An empty one.
    pub(crate) fn empty(owner: &str, purpose: &str) -> io::Result<Self> {
        let name = format!("interop-{owner}-{purpose}-{}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&dir)?;
        Ok(Self(dir.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Left behind in the build folder at worst.
        let _ = fs::remove_dir_all(&self.0);
    }
}

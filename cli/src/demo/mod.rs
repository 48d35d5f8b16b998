//! The built-in server: something to list, inspect and call before anything is configured.
//!
//! Small, and whole: both eras, tools that are quick, slow, failing, asking and changing what is listed, resources, a
//! template, a prompt, completion, progress, cancellation, log messages.

mod http;
mod resources;
mod tools;

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use clap::Args;
use sanswire::waist::{Bindings, Grant};
use sanswire_std::{BuildError, Server};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::{Failure, status};
use crate::output;

/// The name that it gives itself.
const NAME: &str = "sanswire-demo";

/// How the demo server is started.
#[derive(Args, Clone, Debug)]
pub(crate) struct Demo {
    /// Let this tool be called, and deny all that are not named so; may be repeated. They are listed all the same
    #[arg(long, value_name = "TOOL", value_parser = tools::NAMES)]
    allow: Vec<String>,
    /// Serve all who connect to this address instead
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["unix", "http"])]
    tcp: Option<String>,
    /// Serve all who connect to the Unix socket at PATH instead
    #[arg(long, value_name = "PATH", conflicts_with = "http")]
    unix: Option<PathBuf>,
    #[command(flatten)]
    web: http::Web,
}

impl Demo {
    /// Serves until standard input ends or, where it listens, until a signal comes.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let server = self.server().map_err(|error| failed(&error))?;
        end_on_signal(&server);
        if let Some(address) = &self.web.http {
            return self.web.serve(&server, address);
        }
        match (&self.tcp, &self.unix) {
            (Some(address), _) => {
                let listener = TcpListener::bind(address).map_err(|error| unbound(address, &error))?;
                let address = listener.local_addr().map_err(|error| unbound(address, &error))?;
                output::complain(&format!("listening on {address}"));
                server.serve_tcp(listener)
            }
            (None, Some(path)) => return serve_unix(&server, path),
            (None, None) => server.serve_stdio(),
        }
        .map_err(|error| failed(&error))
    }

    fn server(&self) -> Result<Server, BuildError> {
        let builder = Server::builder(NAME, env!("CARGO_PKG_VERSION")).logging();
        let mut bindings = Bindings::default();
        bindings.grant =
            (!self.allow.is_empty()).then(|| Grant::of(self.allow.iter().map(String::as_str)).into());
        resources::offer(tools::offer(builder.waist(bindings))).build()
    }
}

/// The first signal lets what is under way finish, the second does not. Without the thread they end the program at once.
fn end_on_signal(server: &Server) {
    let stopper = server.stopper();
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let stop = move || signals.forever().for_each(|_| stopper.stop());
    drop(std::thread::Builder::new().name("signals".into()).spawn(stop));
}

#[cfg(all(unix, not(sanswire_plain)))]
fn serve_unix(server: &Server, path: &Path) -> Result<(), Failure> {
    let shown = path.display().to_string();
    let listener = std::os::unix::net::UnixListener::bind(path).map_err(|error| unbound(&shown, &error))?;
    output::complain(&format!("listening on {shown}"));
    let served = server.serve_unix(listener).map_err(|error| failed(&error));
    // Whoever comes later is to find nobody, not a file.
    drop(std::fs::remove_file(path));
    served
}

#[cfg(not(all(unix, not(sanswire_plain))))]
fn serve_unix(_: &Server, _: &Path) -> Result<(), Failure> {
    Err(Failure::usage("this system has no Unix sockets").hint("use --tcp"))
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(status::OTHER, "demo", error.to_string())
}

fn unbound(address: &str, error: &std::io::Error) -> Failure {
    Failure::new(status::OTHER, "demo", format!("{address} cannot be listened on: {error}"))
        .hint("name another; with port 0 the system picks one that is free")
}

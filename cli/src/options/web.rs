//! A server on the web, on the command line.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;

use crate::config::Speaks;

/// Where a server is, what it is sent, and how to get there.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Servers on the web")]
pub(crate) struct WebArgs {
    /// Speak to the server at this address
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// Send this header with every request; may be repeated. ${NAME} stands for a variable
    #[arg(long, short = 'H', value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// Send what the variable NAME holds as a bearer token
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) bearer_env: Option<String>,
    /// Which way it speaks; without, that is found out
    #[arg(long, value_name = "auto|http|sse", requires = "url")]
    pub(crate) transport: Option<Speaks>,
    /// The older way, with a stream of events: --transport sse
    #[arg(long, requires = "url", conflicts_with = "transport")]
    pub(crate) sse: bool,
    /// Trust these authorities, too, for its certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Show it this certificate, chain included (PEM)
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The key of that certificate, if it does not stand in the same file (PEM)
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
    /// By this proxy, or by none; without, the variables that everybody uses say so
    #[arg(long, value_name = "URL|none", requires = "url")]
    pub(crate) proxy: Option<String>,
    /// Connect to addresses of the public network only
    #[arg(long, requires = "url")]
    pub(crate) public_only: bool,
}

impl WebArgs {
    /// Whether something of it is said that goes with an address.
    pub(crate) fn needs_url(&self) -> bool {
        let files = [&self.ca_file, &self.client_cert, &self.client_key];
        !self.header.is_empty()
            || self.bearer_env.is_some()
            || self.transport.is_some()
            || self.sse
            || files.into_iter().any(Option::is_some)
            || self.proxy.is_some()
            || self.public_only
    }

    /// Tells each option that was given, with its value; none for a flag.
    pub(crate) fn words(&self, tell: &mut dyn FnMut(&str, Option<&OsStr>)) {
        let Some(url) = &self.url else { return };
        tell("--url", Some(url.as_ref()));
        for header in &self.header {
            tell("--header", Some(header.as_ref()));
        }
        let transport = self.transport.and_then(Speaks::written);
        for (name, value) in [
            ("--bearer-env", self.bearer_env.as_ref().map(OsStr::new)),
            ("--transport", transport.map(OsStr::new)),
            ("--ca-file", self.ca_file.as_ref().map(|path| path.as_os_str())),
            ("--client-cert", self.client_cert.as_ref().map(|path| path.as_os_str())),
            ("--client-key", self.client_key.as_ref().map(|path| path.as_os_str())),
            ("--proxy", self.proxy.as_ref().map(OsStr::new)),
        ] {
            if value.is_some() {
                tell(name, value);
            }
        }
        for (name, given) in [("--sse", self.sse), ("--public-only", self.public_only)] {
            if given {
                tell(name, None);
            }
        }
    }
}

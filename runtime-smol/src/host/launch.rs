//! How the servers of a host are reached.

use sanswire::client::Config;
use sanswire_system::host::{Connecting, Way};
use sanswire_system::{ConnectError, StderrMode, StopLadder};

use crate::client::Client;
use crate::options::ConnectOptions;

/// How a server of a host is reached, each time that it is; see [`sanswire_system::host::Launch`]. A connection that has no
/// [`watch`](ConnectOptions::watch) of its own has the host's.
pub type Launch = sanswire_system::host::Launch<ConnectOptions>;

impl Connecting for ConnectOptions {
    fn config(&self) -> &Config {
        &self.config
    }

    fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    fn stop_mut(&mut self) -> &mut StopLadder {
        &mut self.stop
    }

    fn server_name_mut(&mut self) -> &mut Option<String> {
        &mut self.server_name
    }

    fn stderr(&self) -> &StderrMode {
        &self.stderr
    }
}

/// Opens a connection.
pub(super) async fn open(way: &Way, options: ConnectOptions) -> Result<Client, ConnectError> {
    match way {
        Way::Process(command) => Client::connect(command, options).await,
        Way::Tcp(address) => Client::connect_tcp(address.clone(), options).await,
        Way::Unix(path) => Client::connect_unix(path, options).await,
        Way::Http(target) => Client::connect_http(target, options).await,
    }
}

//! Why a host could not be made.

use std::fmt;
use std::sync::Arc;

use sanswire::error::ConfigError;

/// Why a host could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostError {
    /// A setting is out of bounds.
    Config(ConfigError),
    /// It is not said how this server is reached.
    NoLaunch(Arc<str>),
    /// There is a launch for a server that is not configured.
    NoServer(Arc<str>),
    /// The system has no thread left.
    System(std::io::Error),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "the configuration is not usable: {error}"),
            Self::NoLaunch(server) => {
                write!(f, "it is not said how the server {server:?} is reached; add a launch, or disable it")
            }
            Self::NoServer(server) => {
                write!(f, "there is a launch for {server:?}, which is not configured; check the name")
            }
            Self::System(error) => write!(f, "the system could not provide a thread ({error})"),
        }
    }
}

impl std::error::Error for HostError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Config(error) => Some(error),
            Self::System(error) => Some(error),
            Self::NoLaunch(_) | Self::NoServer(_) => None,
        }
    }
}

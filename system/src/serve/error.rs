//! Why a server could not serve.

use std::fmt;
use std::io;

use sanswire::error::ConfigError;

/// Why a server could not serve.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// A limit in the configuration is out of bounds.
    Config(ConfigError),
    /// The system gave no thread, descriptor or random bytes, or cannot wait for a descriptor.
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "the configuration is not usable: {error}"),
            Self::System(error) => write!(f, "the system could not provide what serving needs ({error})"),
        }
    }
}

impl std::error::Error for ServeError {}

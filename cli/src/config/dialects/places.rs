//! Where the files of other programs are.

use std::path::PathBuf;

use super::{Base, Place};
use crate::config::{Places, System};

/// The variables that name files or folders of theirs.
pub(in crate::config) const NAMED: [&str; 7] = [
    "CODEX_HOME",
    "COPILOT_HOME",
    "MCPORTER_CONFIG",
    "MCP_CATALOG_PATH",
    "MCP_CONFIG_PATH",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
];

impl Place {
    pub(super) const fn new(base: Base, path: &'static str) -> Self {
        Self { base, path }
    }

    /// Where it is here; `None` if it cannot be said. Only of a project's it is known that it is there.
    pub(super) fn path(&self, places: &Places) -> Option<PathBuf> {
        let folder = match self.base {
            Base::Project => {
                let paths = places.directory.ancestors().map(|folder| folder.join(self.path));
                return paths.into_iter().find(|path| path.is_file());
            }
            Base::Home | Base::HomeProjects => places.home.clone()?,
            Base::Config => places.config_home.clone()?,
            Base::System => match places.system {
                System::MacOs => places.home.as_ref()?.join("Library/Application Support"),
                System::Windows => places.roaming.clone()?,
                System::Other => places.config_home.clone()?,
            },
            Base::Variable(name) => {
                let named = places.named.get(name)?;
                return Some(if self.path.is_empty() { named.clone() } else { named.join(self.path) });
            }
            Base::Machine => match places.system {
                System::Other => PathBuf::from("/etc"),
                System::MacOs | System::Windows => return None,
            },
        };
        Some(folder.join(self.path))
    }
}

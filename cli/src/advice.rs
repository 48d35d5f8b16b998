//! Commands that a hint names: each works as it stands, for a server of a file and for one of no file.

use std::ffi::OsStr;

use crate::mask::Mask;
use crate::options::{Common, EraChoice, Inherit, Reach};
use crate::server::quoted;

/// `sanswire servers`, of the same files.
pub(crate) fn servers(common: &Common) -> String {
    let file = common.config.as_ref().map(|file| format!(" --config {}", quoted(&file.to_string_lossy())));
    format!("sanswire servers{}", file.unwrap_or_default())
}

/// How a server was given on the command line.
#[derive(Debug)]
pub(crate) enum Given {
    /// By its name in a file.
    Named(String),
    /// Itself.
    Itself(Box<Reach>),
}

impl Given {
    /// `sanswire VERB …` about this server, or about `item` of it, for a shell. What is secret in it is masked.
    pub(crate) fn command(&self, common: &Common, verb: &str, item: Option<&str>, mask: &Mask) -> String {
        let mut line = format!("sanswire {verb}");
        let mut add = |word: &OsStr| {
            line.push(' ');
            line.push_str(&quoted(&mask.apply(&word.to_string_lossy())));
        };
        let target = match (self, item) {
            (Self::Named(name), Some(item)) => Some(format!("{name}/{item}")),
            (Self::Named(name), None) => Some(name.clone()),
            (Self::Itself(_), item) => item.map(str::to_owned),
        };
        if let Some(target) = target {
            add(target.as_ref());
        }
        let mut option = |name: &str, value: &OsStr| {
            add(name.as_ref());
            add(value);
        };
        if let (Self::Named(_), Some(file)) = (self, &common.config) {
            option("--config", file.as_os_str());
        }
        for (name, value) in &common.env {
            option("--env", format!("{name}={value}").as_ref());
        }
        if let Some(inherit) = common.inherit_env {
            option("--inherit-env", if inherit == Inherit::All { "all" } else { "list" }.as_ref());
        }
        if let Some(folder) = &common.cwd {
            option("--cwd", folder.as_os_str());
        }
        match common.era {
            None | Some(EraChoice::Auto) => {}
            Some(EraChoice::Legacy) => option("--era", "legacy".as_ref()),
            Some(EraChoice::Modern) => option("--era", "modern".as_ref()),
            Some(EraChoice::Date(revision)) => option("--era", revision.as_str().as_ref()),
        }
        match self {
            Self::Named(_) if common.trust => add("--trust".as_ref()),
            Self::Named(_) => {}
            Self::Itself(reach) => {
                if let Some(address) = &reach.tcp {
                    option("--tcp", address.as_ref());
                }
                if let Some(path) = &reach.unix {
                    option("--unix", path.as_os_str());
                }
                reach.web.words(&mut |name, value| {
                    add(name.as_ref());
                    value.into_iter().for_each(&mut add);
                });
                if !reach.command.is_empty() {
                    add("--".as_ref());
                    reach.command.iter().for_each(|word| add(word));
                }
            }
        }
        line
    }
}

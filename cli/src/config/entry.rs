//! One server of a configuration file, as it stands there.

use std::path::{Path, PathBuf};

use sanswire::jsonrpc::JsonRef;

use super::access::{Access, odd_members};
use super::dialects::Client;
use super::expand::Rules;
use super::kind::{Kind, Words};
use crate::json::{member, text};
use crate::options::{EraChoice, Inherit};
use crate::output::escape;

/// One server. Nothing in it is expanded yet.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What it answers to.
    pub(crate) name: String,
    /// What its file calls it.
    pub(crate) key: String,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
    /// The file it stands in.
    pub(crate) file: Option<PathBuf>,
    /// SHA-256 of that file, in hex.
    pub(crate) file_hash: String,
    pub(crate) disabled: bool,
    /// Whether it is on if it does not say.
    pub(crate) on_by_default: bool,
    /// Not listed.
    pub(crate) hidden: bool,
    /// What may be done with it.
    pub(crate) access: Access,
    pub(crate) era: Option<EraChoice>,
    pub(crate) inherit: Option<Inherit>,
    /// What is odd about it and stops nothing.
    pub(crate) odd: Vec<String>,
}

/// Whose file an entry stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// Nobody's.
    BuiltIn,
    /// Ours: the user's, or one named on the command line.
    Own,
    /// Ours, in the project.
    OwnProject,
    /// Another program's, the user's.
    User(&'static Client),
    /// Another program's, in the project.
    Project(&'static Client),
}

impl Origin {
    /// A short name, to tell entries apart by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Own => "own",
            Self::OwnProject => "project",
            Self::User(client) => client.name,
            Self::Project(client) => client.project,
        }
    }

    /// Whose it is, for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::BuiltIn | Self::Own | Self::OwnProject => "sanswire",
            Self::User(client) | Self::Project(client) => client.title,
        }
    }

    /// Whether it is a file of ours, whose servers are meant when none is named.
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::BuiltIn | Self::Own | Self::OwnProject)
    }

    /// Whether it comes with a project, that is from strangers.
    pub(crate) const fn is_project(self) -> bool {
        matches!(self, Self::OwnProject | Self::Project(_))
    }

    /// By whose rules variables are expanded.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            Self::BuiltIn => Rules::None,
            Self::Own | Self::OwnProject => Rules::Own,
            Self::User(client) | Self::Project(client) => client.rules,
        }
    }
}

impl Entry {
    /// The built-in server's name.
    pub(crate) const DEMO: &str = "demo";

    /// The built-in server.
    pub(crate) fn demo() -> Self {
        Self::new(Self::DEMO.into(), Kind::Demo, Origin::BuiltIn)
    }

    /// An entry without a file.
    pub(crate) fn new(name: String, kind: Kind, origin: Origin) -> Self {
        Self {
            key: name.clone(),
            name,
            kind,
            origin,
            file: None,
            file_hash: String::new(),
            disabled: false,
            on_by_default: true,
            hidden: false,
            access: Access::default(),
            era: None,
            inherit: None,
            odd: Vec::new(),
        }
    }

    /// Reads an entry of a file of ours. What is wrong with it is told when it is wanted, so that it never hides the
    /// others. `enabled`: whether it is on if it does not say.
    pub(super) fn read_own(
        name: &str,
        value: JsonRef<'_>,
        origin: Origin,
        enabled: bool,
        file: &Path,
        hash: &str,
    ) -> Self {
        let mut this = Self::new(name.into(), Kind::Demo, origin);
        this.file = Some(file.into());
        this.file_hash = hash.into();
        this.on_by_default = enabled;
        this.kind = Kind::read(value, Words::OWN, &mut this.odd)
            .and_then(|kind| this.read_settings(value, enabled).map(|()| kind))
            .unwrap_or_else(Kind::Broken);
        this
    }

    fn read_settings(&mut self, value: JsonRef<'_>, enabled: bool) -> Result<(), String> {
        self.disabled = is_disabled(value, enabled)?;
        self.odd.extend(odd_members(value)?);
        self.access = Access::read(value, self.origin.is_project(), &mut self.odd)?;
        if let Some(era) = member(value, "era") {
            let named = era.str().and_then(|era| EraChoice::named(&era.decode()));
            self.era =
                Some(named.ok_or("era is not auto, legacy, modern or the date of a revision that is known")?);
        }
        if let Some(inherit) = member(value, "inherit_env") {
            self.inherit = Some(match text(value, "inherit_env").as_deref() {
                Some("all") => Inherit::All,
                Some("list" | "allow_list") => Inherit::List,
                _ => return Err(format!("inherit_env is {}, not \"all\" or \"list\"", inherit.kind())),
            });
        }
        Ok(())
    }

    /// Where it stands, for people.
    pub(crate) fn place(&self) -> String {
        let name = escape::line(&self.name);
        match &self.file {
            Some(file) => format!("{name} in {}", file.display()),
            None => name.into_owned(),
        }
    }
}

/// Whether an entry is off. What is off in some way of writing it is not to be started.
pub(super) fn is_disabled(value: JsonRef<'_>, enabled: bool) -> Result<bool, String> {
    let flag = |name, default| {
        member(value, name).map_or(Ok(default), |flag| {
            flag.as_bool().ok_or_else(|| format!("{name} is {}, not true or false", flag.kind()))
        })
    };
    // Whoever says `disabled: false` says that it is on.
    let disabled = flag("disabled", false)?;
    let on = flag("enabled", enabled || member(value, "disabled").is_some())?;
    Ok(disabled || !on)
}

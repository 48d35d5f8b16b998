//! Why a server could not be built.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::server::ListKind;

/// Why a server could not be built, or changed: all that is wrong, not the first thing only.
///
/// `Debug` says the same as `Display`, for that is what is printed where `main` returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    faults: Vec<String>,
}

impl BuildError {
    /// Each thing that is wrong, with what it is about: `tool "add": it is not JSON: …`.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    pub(super) const fn new(faults: Vec<String>) -> Self {
        Self { faults }
    }

    pub(super) fn into_faults(self) -> Vec<String> {
        self.faults
    }

    /// These things are wrong with the definition of `key`.
    pub(super) fn about(kind: ListKind, key: &str, mut faults: Vec<String>) -> Self {
        let kind = match kind {
            ListKind::Tools => "tool",
            ListKind::Resources => "resource",
            ListKind::Templates => "resource template",
            ListKind::Prompts => "prompt",
        };
        for why in &mut faults {
            *why = format!("{kind} {key:?}: {why}");
        }
        Self { faults }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server cannot be built: ")?;
        f.write_str(&self.faults.join("; "))
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for BuildError {}

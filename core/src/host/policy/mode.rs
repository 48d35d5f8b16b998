//! What is to happen with the calls of one server.

use alloc::string::String;
use core::fmt;

use crate::mcp::types::flaw::cut;

/// What is to happen with the calls of one server (its setting `approval`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerMode {
    /// Somebody is asked before a call. The default.
    #[default]
    Ask,
    /// Calls pass, except while planning.
    Allow,
    /// Nothing passes, and no tool is offered.
    Deny,
}

impl ServerMode {
    /// The mode of that name: `ask`, `allow` or `deny`. An empty one means `ask`.
    ///
    /// # Errors
    /// [`UnknownMode`], so that a mistyped mode is told and never lets anything through.
    pub fn named(name: &str) -> Result<Self, UnknownMode> {
        match name {
            "" | "ask" => Ok(Self::Ask),
            "allow" => Ok(Self::Allow),
            "deny" => Ok(Self::Deny),
            _ => Err(UnknownMode(cut(name, 64).into())),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A setting names a mode that does not exist. Its first 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode(pub String);

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "approval is {:?}; set it to ask, allow or deny", self.0)
    }
}

impl core::error::Error for UnknownMode {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_empty_mode_asks_and_an_unknown_one_is_an_error() {
        // H-036, H-037
        assert_eq!(ServerMode::named(""), Ok(ServerMode::Ask));
        assert_eq!(ServerMode::default(), ServerMode::Ask);
        for mode in [ServerMode::Ask, ServerMode::Allow, ServerMode::Deny] {
            assert_eq!(ServerMode::named(mode.as_str()), Ok(mode));
        }
        for wrong in ["Allow", "allow ", "yes", "allowed", "none"] {
            let error = ServerMode::named(wrong).unwrap_err();
            assert!(error.to_string().contains("ask, allow or deny"), "{error}");
        }
        assert_eq!(ServerMode::named(&"é".repeat(100)).unwrap_err().0.len(), 64);
    }
}

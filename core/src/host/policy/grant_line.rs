//! One thing that was allowed, and the line that says so.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt::{self, Write as _};

use super::binding::DefinitionHash;
use super::glob::{ArgumentGlob, GlobFault, Texts};
use crate::host::Provenance;

/// The longest name of a server or a tool, in bytes.
const MAX_NAME: usize = 1024;

/// What stands in front of a definition's hash.
const HASH: &str = "sha256:";

/// One thing that was allowed for longer than a session.
///
/// Its text is `SERVER/TOOL`, or `SERVER/*` for every tool of the server; behind it there may stand a pattern of the
/// arguments in parentheses ([`ArgumentGlob`]), and a blank, `sha256:` and a [`DefinitionHash`]. In names a `\` takes
/// the next character as it is: `\` itself, white space, `*`, `?` and `(` need one, as does a `/` in a server's name
/// and a `#` at its start. Names have no control characters. So two different ones never have the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedGrant {
    server: Arc<str>,
    /// `None`: every tool.
    tool: Option<Arc<str>>,
    arguments: Option<ArgumentGlob>,
    definition: Option<DefinitionHash>,
}

/// Why something cannot be kept as allowed, or a line does not say what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrantFault {
    /// It does not name a tool of a server.
    NoTool,
    /// A name has control characters.
    Control,
    /// A name is longer than 1,024 bytes.
    TooLong,
    /// A `*` or a `?` in a name stands for more than all tools of a server.
    Pattern,
    /// What stands behind the name is no pattern of arguments and no hash.
    Behind,
    /// The pattern of its arguments cannot be read.
    Arguments(GlobFault),
    /// A definition stands behind all tools of a server.
    AllDefined,
    /// It is about another server than the one whose grants are replaced.
    OtherServer,
    /// There would be more than 10,000 lines, or more than 4 MiB of them.
    TooMany,
}

impl fmt::Display for GrantFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTool => "it names no tool; write SERVER/TOOL or SERVER/*, with a backslash before blanks",
            Self::Control => "a name has a control character, and cannot be kept",
            Self::TooLong => "a name is longer than 1,024 bytes, and cannot be kept",
            Self::Pattern => {
                "names are no patterns; write SERVER/* for all tools, or a backslash before a * or ?"
            }
            Self::Behind => {
                "behind a name only a pattern of arguments in parentheses and sha256: with 64 lowercase \
                 hexadecimal digits can stand"
            }
            Self::Arguments(fault) => return fault.fmt(f),
            Self::AllDefined => "all tools of a server have no single definition; leave sha256: out",
            Self::OtherServer => "it is about another server",
            Self::TooMany => "more than 10,000 lines or 4 MiB of them cannot be kept; remove some",
        })
    }
}

impl core::error::Error for GrantFault {}

impl SavedGrant {
    /// A tool as it is defined, with any arguments.
    ///
    /// # Errors
    /// [`GrantFault`]: a name that cannot be kept.
    pub fn new(tool: &Provenance, definition: DefinitionHash) -> Result<Self, GrantFault> {
        let (server, tool) = (checked(&tool.server)?, checked(&tool.tool)?);
        Ok(Self { server, tool: Some(tool), arguments: None, definition: Some(definition) })
    }

    /// Every tool of a server, with any arguments.
    ///
    /// # Errors
    /// [`GrantFault`]: a name that cannot be kept.
    pub fn all_of(server: &str) -> Result<Self, GrantFault> {
        Ok(Self { server: checked(server)?, tool: None, arguments: None, definition: None })
    }

    /// The same, with these arguments only.
    #[must_use]
    pub fn with(self, arguments: ArgumentGlob) -> Self {
        Self { arguments: Some(arguments), ..self }
    }

    /// Reads its text.
    ///
    /// # Errors
    /// [`GrantFault`].
    pub fn read(text: &str) -> Result<Self, GrantFault> {
        let mut rest = text.trim_start();
        let (server, pattern) = name(&mut rest, |c| c == '/' || c == '(' || c.is_whitespace())?;
        rest = rest.strip_prefix('/').ok_or(GrantFault::NoTool)?;
        if pattern {
            return Err(GrantFault::Pattern);
        }
        let server = checked(&server)?;
        let (tool, pattern) = name(&mut rest, |c| c == '(' || c.is_whitespace())?;
        let tool = match (tool.as_str(), pattern) {
            ("*", true) => None,
            (_, true) => return Err(GrantFault::Pattern),
            (tool, false) => Some(checked(tool)?),
        };
        let arguments = match rest.strip_prefix('(') {
            Some(inside) => {
                let (pattern, behind) = inside.split_at_checked(end(inside)).unwrap_or((inside, ""));
                rest = behind.strip_prefix(')').ok_or(GrantFault::Behind)?;
                Some(ArgumentGlob::read(pattern).map_err(GrantFault::Arguments)?)
            }
            None => None,
        };
        let definition = match rest.trim() {
            "" => None,
            _ if !rest.starts_with(char::is_whitespace) => return Err(GrantFault::Behind),
            hash => Some(hash.strip_prefix(HASH).and_then(DefinitionHash::read).ok_or(GrantFault::Behind)?),
        };
        if tool.is_none() && definition.is_some() {
            return Err(GrantFault::AllDefined);
        }
        Ok(Self { server, tool, arguments, definition })
    }

    /// The server.
    #[must_use]
    pub const fn server(&self) -> &Arc<str> {
        &self.server
    }

    /// The tool, as its server calls it; `None`: every one.
    #[must_use]
    pub const fn tool(&self) -> Option<&Arc<str>> {
        self.tool.as_ref()
    }

    /// Which arguments; `None`: any.
    #[must_use]
    pub const fn arguments(&self) -> Option<&ArgumentGlob> {
        self.arguments.as_ref()
    }

    /// How the tool has to be defined; `None`: anyhow.
    #[must_use]
    pub const fn definition(&self) -> Option<DefinitionHash> {
        self.definition
    }

    pub(super) fn is_about(&self, tool: &Provenance) -> bool {
        self.server == tool.server && self.tool.as_ref().is_none_or(|name| *name == tool.tool)
    }

    pub(super) fn is_of_one(&self, tool: &Provenance) -> bool {
        self.tool.is_some() && self.is_about(tool)
    }

    pub(super) const fn is_of_all(&self) -> bool {
        self.tool.is_none() && self.arguments.is_none()
    }

    pub(super) fn allows(&self, tool: &Provenance, definition: DefinitionHash, texts: &Texts<'_>) -> bool {
        self.is_about(tool)
            && self.definition.is_none_or(|wanted| wanted == definition)
            && self.arguments.as_ref().is_none_or(|pattern| pattern.matches_texts(texts))
    }
}

impl fmt::Display for SavedGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.server.starts_with('#') {
            f.write_char('\\')?;
        }
        write_name(f, &self.server, "/")?;
        match &self.tool {
            Some(tool) => {
                f.write_char('/')?;
                write_name(f, tool, "")?;
            }
            None => f.write_str("/*")?,
        }
        if let Some(arguments) = &self.arguments {
            write!(f, "({})", arguments.as_str())?;
        }
        self.definition.map_or(Ok(()), |definition| write!(f, " {HASH}{definition}"))
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str, special: &str) -> fmt::Result {
    name.chars().try_for_each(|c| {
        if c.is_whitespace() || "\\*?(".contains(c) || special.contains(c) {
            f.write_char('\\')?;
        }
        f.write_char(c)
    })
}

fn checked(name: &str) -> Result<Arc<str>, GrantFault> {
    match name {
        "" => Err(GrantFault::NoTool),
        _ if name.contains(char::is_control) => Err(GrantFault::Control),
        _ if name.len() > MAX_NAME => Err(GrantFault::TooLong),
        _ => Ok(name.into()),
    }
}

/// Takes a name off: what it says, and whether a `*` or `?` in it stands for something else.
fn name(rest: &mut &str, stops: impl Fn(char) -> bool) -> Result<(String, bool), GrantFault> {
    let (mut name, mut pattern) = (String::new(), false);
    let mut chars = rest.chars();
    loop {
        let before = chars.as_str();
        match chars.next() {
            Some('\\') => name.push(chars.next().ok_or(GrantFault::NoTool)?),
            Some(c) if !stops(c) => {
                pattern |= matches!(c, '*' | '?');
                name.push(c);
            }
            _ => {
                *rest = before;
                return Ok((name, pattern));
            }
        }
    }
}

/// Where the parenthesis is closed.
fn end(text: &str) -> usize {
    let mut escaped = false;
    let closes = |(_, c): &(usize, char)| {
        let closes = *c == ')' && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    };
    text.char_indices().find(closes).map_or(text.len(), |(at, _)| at)
}

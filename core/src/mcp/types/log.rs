//! Log messages.

use alloc::borrow::Cow;
use core::fmt;

use super::flaw::{Flaw, required, text};
use crate::jsonrpc::{JsonRef, JsonStr};

/// Levels of log messages, lowest first. RFC 5424, section 6.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for developers.
    Debug,
    /// Ordinary events.
    Info,
    /// Normal but significant.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something failed.
    Error,
    /// A part failed.
    Critical,
    /// Act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// All levels, lowest first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of exactly this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The parameters of `notifications/message`, borrowed. Untrusted text: escape it before it is shown.
///
/// Spec: MCP server/utilities/logging; schema, `LoggingMessageNotificationParams`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogMessage<'a> {
    /// How serious it is; `None` for a level that does not exist.
    pub level: Option<LogLevel>,
    /// The level as it was written.
    pub level_text: JsonStr<'a>,
    /// Who logs.
    pub logger: Option<Cow<'a, str>>,
    /// What happened: any value, `null` included. `None`: the server left it out, though it must not.
    pub data: Option<JsonRef<'a>>,
}

impl<'a> LogMessage<'a> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// There is no level; drop the message.
    pub fn read(params: JsonRef<'a>) -> Result<Self, Flaw> {
        let level_text = required(params.get("level"), "level")?;
        Ok(Self {
            level: LogLevel::named(&level_text.decode()),
            level_text,
            logger: text(params, "logger"),
            data: params.get("data"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Kind, RawJson};

    #[test]
    fn levels_are_ordered_and_named_exactly() {
        assert!(LogLevel::ALL.is_sorted());
        for level in LogLevel::ALL {
            assert_eq!(LogLevel::named(level.as_str()), Some(level));
        }
        for name in ["", "Debug", "warn", "err", "info "] {
            assert_eq!(LogLevel::named(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_message_is_read_with_whatever_data_it_has() {
        let table = [
            (
                r#"{"level":"error","logger":"db","data":{"a":1}}"#,
                Some(LogLevel::Error),
                Some("db"),
                Some(Kind::Object),
            ),
            (r#"{"level":"info","logger":null,"data":null}"#, Some(LogLevel::Info), None, Some(Kind::Null)),
            (r#"{"level":"loud","data":"x"}"#, None, None, Some(Kind::String)),
            (r#"{"level":"debug"}"#, Some(LogLevel::Debug), None, None),
        ];
        for (text, level, logger, data) in table {
            let raw = RawJson::parse_str(text).expect(text);
            let message = LogMessage::read(raw.view()).expect(text);
            assert_eq!((message.level, message.logger.as_deref()), (level, logger), "{text}");
            assert_eq!(message.data.map(JsonRef::kind), data, "{text}");
        }
        for text in ["{}", r#"{"level":null,"data":1}"#, r#"{"level":3}"#, "[]"] {
            let raw = RawJson::parse_str(text).expect(text);
            assert!(LogMessage::read(raw.view()).is_err(), "{text}");
        }
    }
}

//! Log messages that belong to no request.

use alloc::vec::Vec;

use crate::error::ApiError;
use crate::jsonrpc::{JsonRef, RawJson};
use crate::mcp::Method;
use crate::mcp::types::log::LogLevel;
use crate::server::session::{Phase, Session};
use crate::server::subscription::notification;
use crate::time::Instant;

impl Session {
    /// Tells the client of the legacy session something that belongs to no request of its; about a request use
    /// [`notify`](Self::notify). Below the level that the client set it is dropped, and so is all of it where no
    /// such session is open: under 2026-07-28 log messages belong to the requests that asked for them.
    ///
    /// No secrets, personal data or internals. Say who logs by a name that stays the same.
    ///
    /// # Errors
    /// [`ApiError::BadParams`] if log messages were never offered; [`ApiError::TooLarge`] past the limit;
    /// [`ApiError::Closed`] at the end.
    ///
    /// Spec: MCP 2025-11-25 server/utilities/logging, "Log Message Notifications"; basic/lifecycle, "Initialization".
    pub fn log(
        &mut self,
        level: LogLevel,
        logger: Option<&str>,
        data: &RawJson,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.clock.advance(now);
        if matches!(self.phase, Phase::Closed(_)) {
            return Err(ApiError::Closed);
        }
        if !self.config.capabilities.logging {
            return Err(ApiError::BadParams("log messages were not offered"));
        }
        let Some(to) =
            self.legacy.as_ref().filter(|legacy| level >= legacy.log_level).map(|legacy| legacy.push_to)
        else {
            self.stats.unwanted_notices += 1;
            return Ok(());
        };
        let message = message(level, logger, data.view());
        self.check_length(message.len())?;
        self.send(to, message, false);
        Ok(())
    }
}

/// `notifications/message`.
pub(super) fn message(level: LogLevel, logger: Option<&str>, data: JsonRef<'_>) -> Vec<u8> {
    notification(&Method::LogMessage, None, |w| {
        w.string("level", level.as_str());
        if let Some(logger) = logger {
            w.string("logger", logger);
        }
        w.raw("data", data);
    })
}

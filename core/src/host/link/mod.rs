//! Whether a server can be called, and what is done about it if not.

mod reconnect;

pub use reconnect::{Effect, Gate, Reconnect, ReconnectSettings, SessionNumber, Status, loses_session};

//! Many servers behind one policy.
//!
//! [`Host`] is all of it as one state machine; a [`Fleet`] is a host together with its connections. The parts can be
//! used by themselves: each is a function of what it is given, or a table with a bound. What can be chosen stands in
//! small structs whose defaults are the ones to begin with.
//!
//! - [`catalog`]: which of a server's tools are let in ([`catalog::ToolFilter`]), what is offered of each
//!   ([`catalog::Definition`]), what it is called, and which tool a name stands for ([`catalog::Names`]).
//! - [`policy`]: what is to happen with a call, and what a person is shown of it ([`policy::preview`]).
//! - [`link`]: whether a server can be called, and what is done about it if not.
//! - [`results`]: what a model gets to see of a result, and the rest of it page by page.
//! - [`desk`]: what a runtime keeps beside it: who waits for which call, and what each connection's keeper is to do.
//! - [`executor`]: the calls of one turn of a model, which of them may run at once, and their ends in order.
//! - [`Instructions`]: what servers say of themselves, kept from passing for anything else.
//! - [`Mask`]: text of strangers made fit to be shown, and secrets kept out of it.
//!
//! Whatever a server says is untrusted here: its tools' names, their descriptions, their schemas, their results.

mod bounds;
mod calls;
pub mod catalog;
mod config;
pub mod desk;
mod event;
pub mod executor;
mod fleet;
mod instructions;
pub mod link;
mod machine;
mod manager;
mod mask;
mod message;
mod pattern;
pub mod policy;
mod provenance;
pub mod results;

pub use calls::{CallRefused, CallRequest, Target};
pub use config::{
    CONNECT_TIMEOUT, CallTimeouts, Carrier, HostConfig, ProbeSettings, Refresh, RefreshMode, Replay,
    ServerConfig, TimeoutFault,
};
pub use event::{
    CallEnd, CallHandle, CallOutcome, ClientHandle, Denial, Effect, Event, ProtocolFault, RequestKey,
    ToolResult, Warning,
};
pub use fleet::{Fleet, FleetEvent, Opening};
pub use instructions::Instructions;
pub use machine::Host;
pub use manager::ServerState;
pub use mask::Mask;
pub use provenance::Provenance;

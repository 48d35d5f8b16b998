//! Why a cell cannot exist: all reasons there are.

use sanswire::mcp::Revision;

use crate::axes::{Cell, Half, Runtime, Transport};
use crate::scenarios::HOSTED;

/// A reason, and which cells it is for.
type Reason = (&'static str, fn(&Cell) -> bool);

/// Scenarios about what only the system can do.
const PROCESSES: [&str; 2] = ["grandchildren end with it", "a server that ignores the end"];

pub(crate) const REASONS: [Reason; 11] = [
    ("a fleet's connections are streams of lines", |cell| {
        cell.runtime == Runtime::Pair && cell.is_http() && is_hosted(cell)
    }),
    ("a server of 2026-07-28 over HTTP has no connection that could be lost", |cell| {
        cell.is_http() && cell.is_modern() && cell.scenario == "reconnect up to a cap"
    }),
    ("over HTTP a session is opened anew by its client", |cell| {
        cell.is_http() && cell.scenario == "closed while it reconnects"
    }),
    ("there are no processes in a pair", |cell| {
        cell.runtime == Runtime::Pair && PROCESSES.contains(&cell.scenario)
    }),
    ("nothing is started where a server is reached over the network", |cell| {
        cell.transport != Transport::Stdio && PROCESSES.contains(&cell.scenario)
    }),
    ("there is no place in a pair where nobody is", |cell| {
        cell.runtime == Runtime::Pair && cell.scenario == "nobody is there"
    }),
    ("a machine runs no handlers", |cell| {
        cell.half == Half::Machines && cell.scenario == "a handler that panics"
    }),
    ("a form came with 2025-06-18", |cell| {
        cell.revision < Revision::V2025_06_18
            && ["input", "input of who cannot be asked"].contains(&cell.scenario)
    }),
    ("a server of 2026-07-28 asks nothing of its own accord", |cell| {
        cell.is_modern() && cell.scenario == "a ping of the server's"
    }),
    ("only HTTP has sessions that can be forgotten, up to 2025-11-25", |cell| {
        (!cell.is_http() || cell.is_modern()) && cell.scenario == "a session that is forgotten"
    }),
    ("an exchange of HTTP's ends with its answer, in both directions", |cell| {
        cell.is_http() && cell.scenario == "half-closed by the server"
    }),
];

fn is_hosted(cell: &Cell) -> bool {
    HOSTED.iter().any(|(scenario, _)| *scenario == cell.scenario)
}

/// The number of the reason why this cell cannot exist, if there is one.
pub(crate) fn reason(cell: &Cell) -> Option<usize> {
    REASONS.iter().position(|(_, is_for)| is_for(cell))
}

//! What an embedder may plug in.

use sanswire::host::Event;
use sanswire::host::policy::{Answer, ApprovalRequest};

/// Asks somebody whether a call may be made.
pub trait Approver: Send + Sync {
    /// Asks, on the thread that waits for the call, and may take its time: no other call waits for that. Of two
    /// answers to one question the first counts; a panic is [`Answer::Failed`].
    ///
    /// `None` leaves the question open: the call goes on waiting, for [`Host::answer`](super::Host::answer) or for the
    /// end of the time for an answer.
    fn ask(&self, request: &ApprovalRequest) -> Option<Answer>;
}

/// Sees what a host tells, in order: statuses, warnings, changes of what is offered, questions. What belongs to one
/// call alone (progress, input, its end) goes to whoever makes the call.
///
/// Runs on a thread of its own. It may call the host. What it cannot keep up with (1,024 events) is dropped, the oldest
/// first, and [`lost`](Self::lost) tells. A panic costs that event only.
pub trait HostObserver: Send + Sync {
    /// One event.
    fn event(&self, event: &Event);

    /// So many events were dropped before the next one.
    fn lost(&self, count: u64) {
        let _ = count;
    }
}

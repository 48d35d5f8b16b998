//! What an embedder may plug in.

use std::future::Future;
use std::pin::Pin;

use sanswire::host::Event;
use sanswire::host::policy::{Answer, ApprovalRequest};

/// An answer in the making.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Option<Answer>> + Send + 'a>>;

/// What an observer does about an event.
pub type Observing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Asks somebody whether a call may be made.
///
/// A closure that takes a request and gives a future is one:
///
/// ```
/// # use sanswire_smol::host::{Answer, ApprovalRequest, Host, HostConfig};
/// # let host = Host::builder(HostConfig::default());
/// host.approver(|_: ApprovalRequest| async { Some(Answer::Deny) });
/// ```
pub trait Approver: Send + Sync {
    /// Asks, within the future of the call, and may take its time: no other call waits for that. Of two answers to one
    /// question the first counts; a panic is [`Answer::Failed`]. The future is dropped as soon as the question needs no
    /// answer any more, or the call's own future is; then another call that is the same asks anew.
    ///
    /// `None` leaves the question open: the call goes on waiting, for [`Host::answer`](super::Host::answer) or for the
    /// end of the time for an answer.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> Asking<'a>;
}

impl<F, A> Approver for F
where
    F: Fn(ApprovalRequest) -> A + Send + Sync,
    A: Future<Output = Option<Answer>> + Send + 'static,
{
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> Asking<'a> {
        Box::pin(self(request.clone()))
    }
}

/// Sees what a host tells, in order: statuses, warnings, changes of what is offered, questions. What belongs to one
/// call alone (progress, input, its end) goes to whoever makes the call.
///
/// Runs within the [`Watch`](crate::Watch) of the host, one event after the other, and must not block it. It may use the
/// host. What it cannot keep up with (1,024 events) is dropped, the oldest first, and [`lost`](Self::lost) tells. A panic
/// costs that event only.
///
/// A closure that takes an event and gives a future is one.
pub trait HostObserver: Send + Sync {
    /// One event; the next is told when the future is ready.
    fn event<'a>(&'a self, event: &'a Event) -> Observing<'a>;

    /// So many events were dropped before the next one.
    fn lost(&self, count: u64) {
        let _ = count;
    }
}

impl<F, O> HostObserver for F
where
    F: Fn(Event) -> O + Send + Sync,
    O: Future<Output = ()> + Send + 'static,
{
    fn event<'a>(&'a self, event: &'a Event) -> Observing<'a> {
        Box::pin(self(event.clone()))
    }
}

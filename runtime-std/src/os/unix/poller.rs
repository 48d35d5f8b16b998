//! Waits for many connections at once.

#[cfg(target_os = "linux")]
mod alarm;
#[cfg(target_os = "linux")]
mod epoll;
#[cfg(any(not(target_os = "linux"), test))]
pub(super) mod list;

use std::os::fd::OwnedFd;
use std::sync::Arc;

#[cfg(target_os = "linux")]
pub(crate) use epoll::Poller;
#[cfg(not(target_os = "linux"))]
pub(crate) use list::Poller;

/// What a [`Poller`] can watch.
pub(crate) trait Pollable {
    fn descriptor(&self) -> &Arc<OwnedFd>;
}

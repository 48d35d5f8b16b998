//! The waist: the one dispatch that every effect goes through, a host's own calls and the tools it serves alike.
//!
//! # The order
//!
//! ```text
//! begin:  Before hooks → grant → containment → brakes → start record ─┐
//!                 any of them refuses → rejected record → After hooks │
//! the caller's work                                                   │
//! end:    end record → brakes are told → After hooks, last one first ─┘
//! ```
//!
//! - A [`Hook`] is entered when its `before` was called, whatever that answered. Hooks that were entered are left in
//!   reverse, each once, after a rejection too.
//! - A [`Grant`] names what may be done. None bound admits every action; an empty one denies every action. A call
//!   may bring a grant of its own, and is then admitted where both admit it.
//! - Containment: what is less trusted needs a stronger boundary ([`Tier`]). What was not declared counts as the
//!   weakest; a need that is not met refuses the call and is never lowered.
//! - Brakes ([`BrakeLimits`]) stop a run that has run away. A halt stays until [`Waist::reset`].
//!
//! # Open until something is bound
//!
//! A waist without bindings admits everything and keeps no records, so that a server works alone. As soon as a
//! grant, a hook, a brake or an identity is bound, to the waist or to the call, or records are wanted anyway, it fails
//! closed: trust and tier that were not declared count as none. With [`Bindings::open_without_policy`] off, calls are
//! refused while there is no policy: an identity alone is none.
//!
//! # What it holds
//!
//! At most [`Bindings::max_records`] records, [`BrakeLimits::max_runs`] buckets and the shared one, each of at most
//! [`BrakeLimits::max_calls`] instants and [`BrakeLimits::error_samples`] flags; names in them have at most
//! [`MAX_NAME_BYTES`] bytes. Calls that are under way are held by the caller, each in its [`Admitted`].
//!
//! ```
//! use sanswire::Instant;
//! use sanswire::waist::{Bindings, Call, End, Grant, RecordKind, Rejection, Scope, Tier, Trust, Waist};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut bindings = Bindings::default();
//! bindings.scope = Scope::run("run-7");
//! bindings.grant = Some(Grant::of(["read_file", "search"]).into());
//! bindings.brakes.max_repeats = 3;
//! let mut waist = Waist::new(bindings)?;
//!
//! let mut call = Call::new("read_file");
//! call.trust = Trust::SemiTrusted;
//! call.tier = Some(Tier::Kernel);
//! let admitted = waist.begin(&call, Instant::from_millis(1))?;
//! // … the work …
//! waist.end(admitted, End::ok(), Instant::from_millis(9));
//!
//! call.action = "delete_file".into();
//! assert_eq!(waist.begin(&call, Instant::from_millis(10)).unwrap_err(), Rejection::NotGranted);
//!
//! let kinds: Vec<_> = std::iter::from_fn(|| waist.poll_record()).map(|record| record.kind).collect();
//! assert_eq!(kinds, [RecordKind::Start, RecordKind::End, RecordKind::Rejected]);
//! # Ok(())
//! # }
//! ```

mod brakes;
mod call;
mod capability;
mod containment;
mod dispatch;
pub mod log;
mod record;
mod rejection;
#[cfg(test)]
mod tests;

pub use brakes::{Brake, BrakeLimits, Halt, Spend};
pub use call::{Call, End};
pub use capability::{Grant, narrow};
pub use containment::{Tier, Trust};
pub use dispatch::{Admitted, Bindings, Hook, Refusal, Waist};
pub use record::{ErrorClass, Record, RecordKind, Scope};
pub use rejection::Rejection;

/// The longest name of an action, a run or a goal, in bytes, so that what is remembered of a call is bounded. A
/// governed call with a longer one is refused.
pub const MAX_NAME_BYTES: usize = 1024;

//! Who decides about a call, and what that person is shown.
//!
//! [`decide`] says of a call that it is made, asked about or denied, and why; it is a function of a [`Policy`] and of
//! what is known of the call, and [`explain`] tells of each step on the way. What has to be asked about becomes a [`Question`] in [`Approvals`], which releases each
//! call at most once, as it was asked about. What somebody allows for longer goes into [`Grants`],
//! and for longer than a session into [`SavedGrants`]; [`Pins`] remember how
//! tools were defined.
//!
//! Everything here is about the resolved tool ([`Provenance`](crate::host::Provenance)), never about an exposed name
//! or about another tool that the call came through, and nothing that a model or a server writes can let a call pass
//! that was not trusted to.
//!
//! ```
//! use sanswire::Instant;
//! use sanswire::host::policy::{
//!     Answer, Approvals, ApprovalLimits, ArgumentsHash, Binding, CallContext, DefinitionHash, Policy, Question,
//!     Verdict, decide,
//! };
//! use sanswire::host::{Mask, Provenance};
//! use sanswire::jsonrpc::RawJson;
//! use sanswire::server::Principal;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (policy, now) = (Policy::default(), Instant::ZERO);
//! let tool = Provenance::new("files", "delete");
//! let definition = DefinitionHash([0; 32]); // in earnest: DefinitionHash::of(&tool)
//! let arguments = RawJson::parse_str(r#"{"path":"a.txt"}"#)?;
//!
//! let mut call = CallContext::new(&tool);
//! call.approver = true;
//! let decision = decide(&policy, &call);
//! assert_eq!(decision.verdict, Verdict::Ask);
//!
//! let mut approvals = Approvals::new(ApprovalLimits::default())?;
//! let question = Question {
//!     call: "call-1".into(),
//!     owner: Principal::anonymous(),
//!     tool: tool.clone(),
//!     definition,
//!     changed_from: None,
//!     arguments: Some(arguments.clone()),
//!     reason: decision.reason,
//! };
//! let handle = approvals.register(question, &Mask::default(), now)?;
//! let request = approvals.poll_request().ok_or("nothing to ask")?;
//! assert_eq!(request.preview, "path: a.txt");
//!
//! // … a person reads that, and answers:
//! approvals.answer(request.handle, Answer::AllowOnce, now);
//! let binding = Binding { tool, definition, arguments: ArgumentsHash::of(Some(arguments.view())) };
//! let released = approvals.release(handle, &binding, now)?;
//! assert_eq!(released.arguments, Some(arguments)); // send these, once
//! # Ok(())
//! # }
//! ```

mod approval;
mod binding;
mod decide;
mod explain;
mod glob;
mod grant_line;
mod grants;
mod mode;
mod pin;
mod pins;
mod preview;
mod question;
mod rules;
mod saved;

pub use approval::{ApprovalLimits, Approvals};
pub use binding::{ArgumentsHash, Binding, DefinitionHash};
pub use decide::{CallContext, DENIED_KIND, Decision, Hints, Policy, Reason, ServerPolicy, Verdict, decide};
pub use explain::{Step, explain};
pub use glob::{ArgumentGlob, GlobFault};
pub use grant_line::{GrantFault, SavedGrant};
pub use grants::{Grants, Turn};
pub(super) use grants::{MAX_CALLS, MAX_GRANTS};
pub use mode::{ServerMode, UnknownMode};
pub(super) use pin::Part;
pub use pin::Pin;
pub use pins::{DroppedPin, Pins};
pub use preview::{PreviewLimits, preview};
pub use question::{Answer, ApprovalHandle, ApprovalRequest, NotAsked, NotReleased, Question, Released};
pub use rules::{CallRules, DroppedRule, RuleDecision, RuleKey};
pub(super) use saved::MAX_SAVED;
pub use saved::{DroppedGrant, SavedGrants};

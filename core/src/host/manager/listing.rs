//! A server's listing: read page by page, judged, offered.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::slot::{Kind, Run, Shared, Slot, Stage};
use super::state::{shown, why_not};
use crate::client::listing::{Cut, Listed, Step};
use crate::client::{Listing, Outcome};
use crate::error::ApiError;
use crate::host::catalog::{Change, ListedTool, ServerTools};
use crate::host::config::{Carrier, RefreshMode};
use crate::host::event::{ClientHandle, Event, RequestKey, Warning};
use crate::host::link::loses_session;
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::time::Instant;

/// How a listing ended.
enum Heard {
    /// These are its pages; why they are not all, where a bound was reached.
    Pages(Vec<RawJson>, Option<String>),
    /// It failed after these.
    Failed(Vec<RawJson>, Failure),
}

enum Failure {
    /// Time ran out.
    Late,
    /// The server says that there is no such thing.
    Refused(String),
    Other(String),
}

impl Slot {
    /// Begins to read its listing.
    pub(super) fn list(&mut self, until: Instant, kind: Kind, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        let listing = Listing::new(Method::ToolsList, &shared.limits);
        let first = listing.first();
        client.run = Some(Run { listing, until, kind });
        if kind != Kind::Probe {
            (client.changed, client.list_at) = (false, None);
        }
        let handle = ClientHandle { slot: self.index, session: client.session };
        let limit = until.saturating_since(shared.now());
        shared.request(RequestKey::Listing(handle), handle, first, Some(limit));
    }

    /// Takes the outcome of a page of its present connection.
    pub(super) fn handle_page(&mut self, outcome: Result<Outcome, ApiError>, shared: &mut Shared) {
        self.tell_health(&outcome, shared);
        let Some(client) = &mut self.client else { return };
        let session = client.session;
        let Some(run) = &mut client.run else { return };
        // A connection that is being opened is of no use without its listing.
        let alone = self.carrier == Carrier::Exchanges && client.stage == Stage::Open;
        let ends_all = |outcome: &_| ends_all(outcome, alone);
        if matches!(run.kind, Kind::Probe | Kind::Dropped) && !ends_all(&outcome) {
            let probed = run.kind == Kind::Probe;
            client.run = None;
            return if probed { self.probed(shared) } else { self.rest(shared) };
        }
        let heard = match outcome {
            outcome if ends_all(&outcome) => return self.lost(shared),
            Ok(outcome) => match run.listing.next(outcome) {
                Step::Request(method, params) => {
                    let limit = run.until.saturating_since(shared.now());
                    if !limit.is_zero() {
                        let (handle, request) = (self.handle(session), (method, params));
                        return shared.request(RequestKey::Listing(handle), handle, request, Some(limit));
                    }
                    Heard::Failed(Vec::new(), Failure::Late)
                }
                Step::Done(listed) => heard(listed),
            },
            Err(ApiError::WrongEra { .. }) => Heard::Pages(Vec::new(), None),
            Err(error) => Heard::Failed(Vec::new(), Failure::Other(error.to_string())),
        };
        if client.run.take().is_some_and(|run| run.kind == Kind::Anew) {
            shared.relisting.release();
        }
        if client.stage == Stage::Listing {
            self.listed_first(heard, shared);
        } else {
            self.listed_anew(heard, shared);
            self.rest(shared);
        }
    }

    /// The time for connecting is over before the first listing is.
    pub(super) fn listing_late(&mut self, shared: &mut Shared) {
        if let Some(run) = self.client.as_mut().and_then(|client| client.run.as_mut()) {
            run.kind = Kind::Dropped;
        }
        self.listed_first(Heard::Failed(Vec::new(), Failure::Late), shared);
    }

    /// A server that cannot list its tools is connected all the same, with what could be read of them. If it never said
    /// that it has any, it has none; otherwise time that runs out ends the attempt.
    fn listed_first(&mut self, heard: Heard, shared: &mut Shared) {
        let declared = self.client.as_ref().is_some_and(|client| client.declared);
        match heard {
            Heard::Pages(pages, cut) => self.offer(&pages, cut, shared),
            Heard::Failed(_, Failure::Late) if declared => {
                let why = self.late("its tools were not listed");
                return self.ended(&why, shared);
            }
            Heard::Failed(pages, Failure::Late | Failure::Refused(_)) if !declared && pages.is_empty() => {
                self.offer(&[], None, shared);
            }
            Heard::Failed(pages, failure) => {
                if !pages.is_empty() {
                    self.offer(&pages, None, shared);
                }
                self.listing_fails(failure, shared);
            }
        }
        self.opened(shared);
    }

    /// A listing that fails changes nothing.
    fn listed_anew(&mut self, heard: Heard, shared: &mut Shared) {
        match heard {
            Heard::Pages(pages, cut) => {
                (self.error, self.listing_failed) = (None, false);
                self.offer(&pages, cut, shared);
            }
            Heard::Failed(_, failure) => self.listing_fails(failure, shared),
        }
    }

    fn listing_fails(&mut self, failure: Failure, shared: &mut Shared) {
        let why = match failure {
            Failure::Late => "no answer in time".into(),
            Failure::Refused(why) | Failure::Other(why) => why,
        };
        let error = shown(&shared.mask, &format!("its tools could not be listed: {why}"));
        if !core::mem::replace(&mut self.listing_failed, true) {
            let warning = Warning::ListingFailed { server: self.name.clone(), error: error.clone() };
            shared.events.push_back(Event::Warning(warning));
        }
        self.error = Some(error);
    }

    /// Judges a listing and offers what is left of it: the first one at once, a later one as is set up.
    fn offer(&mut self, pages: &[RawJson], cut: Option<String>, shared: &mut Shared) {
        let tools = ServerTools::read(&self.name, &self.settings, &shared.mask, pages);
        self.tell_cut(cut, &tools, shared);
        let (first, same) = {
            let present = shared.registry.server(&self.name);
            let staged = self.staged.as_ref();
            let known = staged.or(present).map_or(&[][..], |known| &known.warnings);
            for warning in tools.warnings.iter().filter(|warning| !known.contains(warning)) {
                let (server, warning) = (self.name.clone(), warning.clone());
                shared.events.push_back(Event::Warning(Warning::Filter { server, warning }));
            }
            if staged.is_some_and(|staged| are_alike(staged, &tools)) {
                return;
            }
            (present.is_none(), present.is_some_and(|present| are_alike(present, &tools)))
        };
        let at_once = first || shared.refresh.mode == RefreshMode::Live;
        if same {
            if self.staged.take().is_some() {
                self.tell_change(Change::default(), true, shared);
            }
        } else if at_once {
            self.staged = None;
            self.register(tools.into(), shared);
        } else {
            let tools = Arc::new(tools);
            let change = shared.registry.change_of(&self.name, tools.clone());
            let before = self.staged.replace(tools);
            if before.is_some() || !change.is_empty() {
                self.tell_change(change, true, shared);
            }
        }
    }

    /// What was staged is offered from now on.
    pub(super) fn begin_turn(&mut self, shared: &mut Shared) {
        if let Some(tools) = self.staged.take() {
            self.register(tools, shared);
        }
    }

    fn register(&mut self, tools: Arc<ServerTools>, shared: &mut Shared) {
        let change = shared.registry.set(&self.name, tools);
        if !change.is_empty() {
            self.tell_change(change, false, shared);
        }
    }

    fn tell_change(&self, change: Change, staged: bool, shared: &mut Shared) {
        shared.events.push_back(Event::Tools { server: self.name.clone(), change, staged });
    }

    /// Tells that a listing is not whole, unless the same was told of the one before it.
    fn tell_cut(&mut self, cut: Option<String>, tools: &ServerTools, shared: &mut Shared) {
        let cut = cut.or_else(|| {
            (tools.left_out > 0)
                .then(|| format!("{} tools were left out, or could not be named (max_tools)", tools.left_out))
        });
        if let Some(why) = cut.clone().filter(|_| cut != self.cut) {
            let warning = Warning::ListingCut { server: self.name.clone(), why };
            shared.events.push_back(Event::Warning(warning));
        }
        self.cut = cut;
    }
}

/// Whether a request ended because its connection did. `alone`: it had an exchange of its own.
const fn ends_all(outcome: &Result<Outcome, ApiError>, alone: bool) -> bool {
    match outcome {
        Ok(outcome) => !alone && loses_session(outcome),
        Err(error) => matches!(error, ApiError::Closed),
    }
}

fn heard(listed: Listed) -> Heard {
    let why = match listed.cut {
        None => None,
        Some(Cut::Pages(limit)) => Some(format!("it has more than {limit} pages (max_pages)")),
        Some(Cut::Items(limit)) => Some(format!("it has more than {limit} items (max_items)")),
        Some(Cut::Bytes(limit)) => Some(format!("it has more than {limit} bytes (max_list_bytes)")),
        Some(Cut::Failed(outcome)) => {
            let failure = if matches!(outcome, Outcome::TimedOut { .. }) {
                Failure::Late
            } else if matches!(outcome, Outcome::Error(_)) {
                Failure::Refused(why_not(&outcome))
            } else {
                Failure::Other(why_not(&outcome))
            };
            return Heard::Failed(listed.pages, failure);
        }
    };
    Heard::Pages(listed.pages, why)
}

/// Whether two listings say the same, in whatever order: the same tools, each defined as in the other or left out for
/// the same reason. A name that another server's tool takes does not count.
fn are_alike(one: &ServerTools, other: &ServerTools) -> bool {
    fn sorted(tools: &ServerTools) -> Vec<&ListedTool> {
        let mut all: Vec<_> = tools.tools.iter().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
    let same = |one: &ListedTool, other: &ListedTool| {
        one.name == other.name
            && match (&one.definition, &other.definition) {
                (Some(one), Some(other)) => one.hash == other.hash,
                (None, None) => one.outcome == other.outcome,
                _ => false,
            }
    };
    one.tools.len() == other.tools.len()
        && (one.left_out, &one.warnings, &one.page_warnings)
            == (other.left_out, &other.warnings, &other.page_warnings)
        && sorted(one).into_iter().zip(sorted(other)).all(|(one, other)| same(one, other))
}

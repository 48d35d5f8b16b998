//! Who is told when something changes: `subscriptions/listen` (2026-07-28), and the one session of a legacy client.
//!
//! Changes of a list are announced once things have been quiet for a moment after the first
//! ([`Limits::list_changed_debounce`](crate::limits::Limits::list_changed_debounce)); what changed meanwhile is in the
//! same announcement.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::ApiError;
use crate::exchange::{ExchangeHandle, Origin};
use crate::jsonrpc::{ObjectWriter, RequestId, finish_line, write_notification};
use crate::mcp::types::subscription::SubscriptionFilter;
use crate::mcp::{Method, Revision, codes, meta};
use crate::server::catalog::ListKind;
use crate::server::dispatch::Asked;
use crate::server::event::Principal;
use crate::server::session::{Phase, Session};
use crate::time::Instant;

/// The longest address that can be watched.
pub(super) const MAX_URI_BYTES: usize = 4096;

/// Where all clients share a session they may watch as many addresses as so many clients with one of their own.
pub(crate) const SHARES: usize = 64;
/// And no more than this.
pub(crate) const MAX_WATCHED: usize = 1 << 16;

/// A `subscriptions/listen` that is open.
#[derive(Debug)]
pub(super) struct Listen {
    pub(super) origin: Origin,
    pub(super) id: RequestId,
    pub(super) principal: Principal,
    /// What we agreed to.
    filter: SubscriptionFilter,
}

/// Lists that changed and when to say so.
#[derive(Debug, Default)]
pub(super) struct Changes {
    tools: bool,
    prompts: bool,
    resources: bool,
    at: Option<Instant>,
}

/// What clients are told about lists.
const ANNOUNCED: [Method; 3] =
    [Method::ToolsListChanged, Method::PromptsListChanged, Method::ResourcesListChanged];

impl Changes {
    fn have(&self, method: &Method) -> bool {
        match method {
            Method::ToolsListChanged => self.tools,
            Method::PromptsListChanged => self.prompts,
            _ => self.resources,
        }
    }
}

fn asks_for(filter: &SubscriptionFilter, method: &Method) -> bool {
    match method {
        Method::ToolsListChanged => filter.tools_list_changed,
        Method::PromptsListChanged => filter.prompts_list_changed,
        _ => filter.resources_list_changed,
    }
}

impl Session {
    /// A list is no longer what it was; clients are told in a moment, as far as they want to know.
    ///
    /// Spec: MCP server/tools, "List Changed Notification"; 2026-07-28 basic/patterns/subscriptions.
    pub fn list_changed(&mut self, kind: ListKind, now: Instant) {
        let now = self.clock.advance(now);
        if !self.config.capabilities.list_changed || !matches!(self.phase, Phase::Open) {
            return;
        }
        match kind {
            ListKind::Tools => self.changes.tools = true,
            ListKind::Prompts => self.changes.prompts = true,
            ListKind::Resources | ListKind::Templates => self.changes.resources = true,
        }
        let at = now.saturating_add(self.config.limits.list_changed_debounce);
        self.changes.at.get_or_insert(at);
        self.announce(now);
    }

    /// The tools changed; see [`list_changed`](Self::list_changed).
    pub fn tools_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Tools, now);
    }

    /// The prompts changed; see [`list_changed`](Self::list_changed).
    pub fn prompts_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Prompts, now);
    }

    /// The resources or templates changed; see [`list_changed`](Self::list_changed).
    pub fn resources_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Resources, now);
    }

    /// When changes are to be announced. Not while too much waits to be written: they will be, when there is room.
    pub(super) fn announce_at(&self) -> Option<Instant> {
        self.changes.at.filter(|_| !self.outbound_full())
    }

    /// Announces the changes whose time has come.
    pub(super) fn announce(&mut self, now: Instant) {
        if self.announce_at().is_none_or(|at| at > now) {
            return;
        }
        let changes = core::mem::take(&mut self.changes);
        let legacy = self.legacy.as_ref().filter(|legacy| legacy.initialized).map(|legacy| legacy.push_to);
        for method in ANNOUNCED.iter().filter(|method| changes.have(method)) {
            if let Some(to) = legacy {
                self.send(to, notification(method, None, |_| {}), false);
            }
            let told: Vec<_> = self
                .listens
                .iter()
                .filter(|listen| asks_for(&listen.filter, method))
                .map(|listen| (listen.origin, notification(method, Some(&listen.id), |_| {})))
                .collect();
            for (to, message) in told {
                self.send(to, message, false);
            }
        }
    }

    /// A resource changed: whoever watches it, or what it is a part of, is told at once.
    ///
    /// # Errors
    /// [`ApiError::BadParams`] if the address is too long to be watched; [`ApiError::Closed`] at the end.
    ///
    /// Spec: MCP server/resources, "Subscriptions".
    pub fn resource_updated(&mut self, uri: &str, now: Instant) -> Result<(), ApiError> {
        self.clock.advance(now);
        if matches!(self.phase, Phase::Closed(_)) {
            return Err(ApiError::Closed);
        }
        if uri.len() > MAX_URI_BYTES * 2 {
            return Err(ApiError::BadParams("the address is too long to be watched"));
        }
        let write = |w: &mut ObjectWriter<'_>| {
            w.string("uri", uri);
        };
        let legacy =
            self.legacy.as_ref().filter(|legacy| legacy.watched.iter().any(|watched| covers(watched, uri)));
        let mut told: Vec<_> = legacy
            .map(|legacy| (legacy.push_to, notification(&Method::ResourcesUpdated, None, write)))
            .into_iter()
            .collect();
        for listen in &self.listens {
            if listen.filter.resource_subscriptions.iter().any(|watched| covers(watched, uri)) {
                let message = notification(&Method::ResourcesUpdated, Some(&listen.id), write);
                told.push((listen.origin, message));
            }
        }
        for (to, message) in told {
            self.send(to, message, false);
        }
        Ok(())
    }

    /// Whether somebody watches this resource.
    #[must_use]
    pub fn is_watched(&self, uri: &str) -> bool {
        let watches = |watched: &String| covers(watched, uri);
        self.legacy.as_ref().is_some_and(|legacy| legacy.watched.iter().any(watches))
            || self.listens.iter().any(|listen| listen.filter.resource_subscriptions.iter().any(watches))
    }

    /// How many `subscriptions/listen` are open.
    #[must_use]
    pub fn listening(&self) -> usize {
        self.listens.len()
    }

    /// Addresses that are watched, all subscriptions together.
    pub(super) fn watched(&self) -> usize {
        let listens = self.listens.iter().map(|listen| listen.filter.resource_subscriptions.len());
        self.legacy.as_ref().map_or(0, |legacy| legacy.watched.len()) + listens.sum::<usize>()
    }

    /// How many more addresses one more subscription may watch. Where all clients share a session none of them gets all
    /// that there is.
    fn room_for_watched(&self) -> usize {
        let each = self.config.limits.max_resource_subscriptions;
        let all = if self.shared { each.saturating_mul(SHARES).min(MAX_WATCHED) } else { each };
        all.saturating_sub(self.watched()).min(each)
    }

    /// `subscriptions/listen`: agrees to what is offered, and says so before anything else.
    pub(super) fn listen(&mut self, asked: &Asked, revision: Revision) {
        let params = asked.params.view();
        // What is not watched is not copied: small addresses are many times longer as texts of their own.
        let offered = self.config.capabilities.subscribe && self.has_resources();
        let most = self.room_for_watched();
        let room = if offered { most } else { 0 };
        let mut seen = BTreeSet::new();
        let wanted = SubscriptionFilter::read_where(params, |uri| {
            seen.len() < room && uri.len() <= MAX_URI_BYTES && seen.insert(String::from(uri))
        });
        let Ok(wanted) = wanted else {
            return self.refuse(asked, codes::INVALID_PARAMS, "notifications must be an object", None);
        };
        if self.listens.len() >= self.config.limits.max_subscriptions {
            return self.refuse(asked, codes::INTERNAL_ERROR, "too many subscriptions are open", None);
        }
        let mut filter = self.agreed(wanted);
        filter.resource_subscriptions.shrink_to_fit();
        debug_assert!(revision.era() == crate::mcp::Era::Modern);
        let ack = notification(&Method::SubscriptionsAcknowledged, Some(&asked.id), |w| {
            w.object("notifications", |w| filter.write(w));
        });
        self.send(asked.from, ack, false);
        let (origin, id, principal) = (asked.from, asked.id.clone(), asked.principal.clone());
        self.listens.push(Listen { origin, id, principal, filter });
    }

    /// What of a filter is offered. Its addresses were chosen before.
    fn agreed(&self, wanted: SubscriptionFilter) -> SubscriptionFilter {
        let lists = self.config.capabilities.list_changed;
        let mut agreed = wanted;
        agreed.tools_list_changed &= lists && self.has_tools();
        agreed.prompts_list_changed &= lists && self.has_prompts();
        agreed.resources_list_changed &= lists && self.has_resources();
        agreed
    }

    /// The client gave a subscription up: nothing more is sent for it.
    pub(super) fn unlisten(&mut self, is_it: impl Fn(&Listen) -> bool) -> Option<Listen> {
        let place = self.listens.iter().position(is_it)?;
        Some(self.listens.remove(place))
    }

    /// Ends the subscription of this exchange in good order.
    pub(crate) fn end_subscription(&mut self, exchange: ExchangeHandle) {
        let origin = Origin::Exchange(exchange);
        if let Some(listen) = self.unlisten(|listen| listen.origin == origin) {
            let result = self.replies.end_of_listen(&listen.id);
            self.send(origin, result, true);
        }
    }

    /// Ends all subscriptions in good order: a result each, and on a stream that all share the notice as well.
    ///
    /// Spec: MCP 2026-07-28 basic/patterns/subscriptions; basic/patterns/cancellation.
    pub fn end_subscriptions(&mut self, now: Instant) {
        self.clock.advance(now);
        for listen in core::mem::take(&mut self.listens) {
            let result = self.replies.end_of_listen(&listen.id);
            let shared = listen.origin == Origin::Stream;
            self.send(listen.origin, result, !shared);
            if shared {
                let notice = notification(&Method::Cancelled, Some(&listen.id), |w| {
                    w.id("requestId", &listen.id);
                });
                self.send(listen.origin, notice, true);
            }
        }
    }
}

/// Whether a change of `uri` concerns whoever watches `watched`: the same, or a part of it.
fn covers(watched: &str, uri: &str) -> bool {
    uri.strip_prefix(watched)
        .is_some_and(|rest| rest.is_empty() || watched.ends_with('/') || rest.starts_with(['/', '#', '?']))
}

/// A notification; `listen` is the subscription it belongs to.
pub(super) fn notification(
    method: &Method,
    listen: Option<&RequestId>,
    params: impl Fn(&mut ObjectWriter<'_>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    write_notification(&mut out, method.as_str(), |w| {
        w.object(|w| {
            if let Some(id) = listen {
                w.object(meta::META, |w| {
                    w.id(meta::SUBSCRIPTION_ID, id);
                });
            }
            params(w);
        });
    });
    finish_line(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_watched_resource_is_watched() {
        for (watched, uri, covered) in [
            ("file:///a", "file:///a", true),
            ("file:///a", "file:///a/b", true),
            ("file:///a/", "file:///a/b", true),
            ("file:///a", "file:///ab", false),
            ("file:///a/b", "file:///a", false),
            ("x:y", "x:y#part", true),
        ] {
            assert_eq!(covers(watched, uri), covered, "{watched} {uri}");
        }
    }
}

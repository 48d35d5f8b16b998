//! What must never break, in one table.

use std::collections::BTreeMap;

use super::{Found, approvals, era, explore, listening, reconnect, serving};

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    /// A client that looks for the era of its server.
    Era,
    /// A host whose server is lost and tried anew.
    Reconnect,
    /// A host that asks about calls.
    Approvals,
    /// A server that is listened to, called and ended.
    Served,
    /// A client that listens, calls and is ended.
    Listening,
}

impl Model {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Era, Self::Reconnect, Self::Approvals, Self::Served, Self::Listening];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Era => "era",
            Self::Reconnect => "reconnect",
            Self::Approvals => "approvals",
            Self::Served => "served",
            Self::Listening => "listening",
        }
    }

    /// Explores it as deep as tests do, and so many steps further.
    ///
    /// # Errors
    /// The rule that broke, and the steps that lead there.
    pub fn explore(self, further: usize, rules: &mut Rules) -> Result<Found, String> {
        match self {
            Self::Era => explore::<era::Search>(4 + further, rules),
            Self::Reconnect => explore::<reconnect::Lost>(6 + further, rules),
            Self::Approvals => explore::<approvals::Asked>(4 + further, rules),
            Self::Served => explore::<serving::Served>(4 + further, rules),
            Self::Listening => explore::<listening::Listening>(4 + further, rules),
        }
    }
}

macro_rules! rules {
    ($($rule:ident, $model:ident, $says:literal;)*) => {
        /// A rule, and the model that it is held against.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $says] $rule,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)*];

            /// What it says.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self { $(Self::$rule => $says,)* }
            }

            /// What is explored for it.
            #[must_use]
            pub const fn model(self) -> Model {
                match self { $(Self::$rule => Model::$model,)* }
            }
        }
    };
}

rules! {
    EraReadyOnce, Era, "a connection is ready at most once, and not after its end";
    EraClosedLast, Era, "a connection is closed once, and tells nothing after that";
    EraNotBoth, Era, "once it is ready, or a handshake was accepted, nothing of the other era is spoken";
    EraHandshakeAlone, Era, "nothing is sent while a handshake is unanswered";
    EraProved, Era, "it is ready in a revision that the server has said it speaks";
    EraPinned, Era, "a pinned revision is the only one that is tried";
    EraTries, Era, "two processes at most, each asked for the era twice and to shake hands once at most";
    EraVerdict, Era, "what is to be remembered is what the server showed";
    EraModernRefusal, Era, "a server that refuses the probe as only a modern one can is never asked to shake hands";
    EraNoSpin, Era, "after everything was taken out, the next deadline lies ahead";
    EraOutcomes, Era, "each request that was accepted ends once";
    EraMuteEnds, Era, "a server that says nothing more keeps nobody longer than the limits say";
    EraCloseEnds, Era, "a client that is closed is over once what it has to say has left, or its time for that is up";
    EraEofEnds, Era, "a client whose server is gone is over at once";

    ReconnectOne, Reconnect, "a server never has two connections, opened or being opened";
    ReconnectBounded, Reconnect, "no more attempts fail in a row than the settings say";
    ReconnectUnavailable, Reconnect, "a server that is unavailable is tried anew only if somebody says so";
    ReconnectBackoff, Reconnect, "an attempt that nobody asked for comes no sooner after a failed one than the settings say";
    ReconnectNoReplay, Reconnect, "a call is not made again, or once if nothing of it left and the settings say so";
    ReconnectSentOnReady, Reconnect, "a call goes over a connection that is ready";
    ReconnectLostEnds, Reconnect, "a call whose connection is lost ends with it";
    ReconnectCallOnce, Reconnect, "each call ends once";
    ReconnectNoSpin, Reconnect, "after everything was taken out, the next deadline lies ahead";
    ReconnectMuteEnds, Reconnect, "a call ends within its limit whatever its server does";
    ReconnectCloseEnds, Reconnect, "a host that is closed has ended every call and shut every connection, and stays so";

    ApprovalOwn, Approvals, "a call that is asked about is made only by its own answer, or by what was always allowed of its definition";
    ApprovalSameCall, Approvals, "what is made is what was shown";
    ApprovalPassesOne, Approvals, "an answer lets one call pass";
    ApprovalRunsOnce, Approvals, "a call is made once, and not after it was given up";
    ApprovalFirstAnswer, Approvals, "the first answer to an open question counts, and no other";
    ApprovalNobody, Approvals, "no question is open while nobody is there to be asked";
    ApprovalQuestionEnds, Approvals, "a question is open exactly as long as a call waits for it";
    ApprovalCallOnce, Approvals, "each call ends once, and one that was denied was not made";
    ApprovalNoSpin, Approvals, "after everything was taken out, the next deadline lies ahead";
    ApprovalMuteEnds, Approvals, "nobody waits longer for an answer than the settings say";
    ApprovalCloseEnds, Approvals, "a host that is closed has ended every call and every question, and stays so";

    ListenAcknowledged, Served, "a subscription is acknowledged once, before anything else of it";
    ListenFilter, Served, "only what was asked for is told";
    ListenNothingAfter, Served, "nothing more is told of a subscription that is over";
    ServedOneReply, Served, "a request has one answer at most, and none after it was given up";
    ServedClosedLast, Served, "a connection is closed once, and tells nothing after that";
    ServedNoSpin, Served, "after everything was taken out, the next deadline lies ahead";
    ServedEnds, Served, "a server that is ended is over once, within the time for what is open and what is left to be written";

    HeardOwn, Listening, "what is told of a subscription was said of it, while it was open";
    HeardTold, Listening, "what is said of an open subscription, or of none, is told once, and else nothing is";
    HeardEndsOnce, Listening, "each request ends once, for what was said or asked, and a subscription never runs out of time";
    HeardClosedLast, Listening, "a connection is closed once, and tells nothing after that";
    HeardNoSpin, Listening, "after everything was taken out, the next deadline lies ahead";
    HeardMuteEnds, Listening, "a call ends within its limit whatever its server does";
    HeardOver, Listening, "a client that is closed, or whose server is gone, has ended every request and is closed once, in time";
}

/// How often each rule was held against something, and the first that broke.
#[derive(Debug, Default)]
pub struct Rules {
    held: BTreeMap<Rule, u64>,
    broken: Option<(Rule, String)>,
}

impl Rules {
    /// None was looked at yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `rule` was looked at: it holds, or this is what is wrong.
    pub fn hold(&mut self, rule: Rule, holds: bool, wrong: impl FnOnce() -> String) {
        *self.held.entry(rule).or_default() += 1;
        if !holds && self.broken.is_none() {
            self.broken = Some((rule, wrong()));
        }
    }

    /// How often a rule was looked at.
    #[must_use]
    pub fn held(&self, rule: Rule) -> u64 {
        self.held.get(&rule).copied().unwrap_or(0)
    }

    /// The first that broke since this was asked last.
    pub fn take_broken(&mut self) -> Option<(Rule, String)> {
        self.broken.take()
    }
}

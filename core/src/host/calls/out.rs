//! What the calls ask for and tell, until it is taken out.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

use crate::client::Progress;
use crate::host::event::{CallEnd, CallHandle, CallOutcome, Effect, Event, RequestKey};
use crate::jsonrpc::RawJson;

/// Effects and events, in order. Of a call's progress only the last is kept, and none behind its end.
#[derive(Debug, Default)]
pub(super) struct Out {
    effects: VecDeque<Effect>,
    events: VecDeque<Event>,
    progress: BTreeMap<CallHandle, Progress>,
    finished: usize,
}

impl Out {
    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    pub(super) fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(super) fn progress(&mut self, call: CallHandle, progress: Progress) {
        self.progress.insert(call, progress);
    }

    pub(super) fn finished(&mut self, call: CallHandle, end: CallEnd) {
        self.progress.remove(&call);
        self.finished += 1;
        self.events.push_back(Event::Finished { call, end: Box::new(end) });
    }

    /// How many ends were not taken out.
    pub(super) const fn untold(&self) -> usize {
        self.finished
    }

    /// Takes back a request that nobody has begun. False: it was taken out.
    pub(super) fn take_back(&mut self, call: CallHandle) -> bool {
        let before = self.effects.len();
        self.effects.retain(|effect| match effect {
            Effect::Request { key, .. } | Effect::Resume { key, .. } => *key != RequestKey::Call(call),
            Effect::Open { .. } | Effect::Shut { .. } | Effect::Cancel { .. } => true,
        });
        self.effects.len() < before
    }

    /// Takes back what a server asked, if nobody has heard of it.
    pub(super) fn forget_input(&mut self, call: CallHandle) {
        self.events.retain(|event| !matches!(event, Event::InputRequired { call: of, .. } if *of == call));
    }

    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if matches!(event, Event::Finished { .. }) {
            self.finished -= 1;
        }
        Some(event)
    }

    pub(super) fn poll_progress(&mut self) -> Option<Event> {
        self.progress.pop_first().map(|(call, progress)| Event::Progress { call, progress })
    }

    /// Bytes of arguments and results that wait here.
    pub(super) fn bytes(&self) -> usize {
        let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, RawJson::retained_len);
        let effects = self.effects.iter().map(|effect| match effect {
            Effect::Request { params, .. } => raw(params),
            Effect::Resume { from, .. } => from.retained_len(),
            Effect::Open { .. } | Effect::Shut { .. } | Effect::Cancel { .. } => 0,
        });
        let events = self.events.iter().map(|event| {
            if let Event::InputRequired { input, .. } = event {
                return input.retained_len();
            }
            let Event::Finished { end, .. } = event else { return 0 };
            let (CallOutcome::Completed(result) | CallOutcome::ToolError(result)) = &end.outcome else {
                return 0;
            };
            result.presented.text.len().saturating_add(raw(&result.raw))
        });
        effects.chain(events).fold(0, usize::saturating_add)
    }
}

//! The streams of one legacy session: what was sent on each, so that a client that lost its connection can go on behind
//! the last event that it saw.
//!
//! An event's id is `stream-place`: unique in the session, and it names the stream that alone is sent again. What is kept
//! is bounded for the session as a whole; the oldest goes first, whatever stream it is of.
//!
//! Spec: MCP 2025-11-25 basic/transports, "Resumability and Redelivery".

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use crate::time::{Instant, earliest};

/// How long a stream that is over can still be read again.
const KEPT: Duration = Duration::from_secs(60);
/// What an event costs beside its message: a place in each of two queues, which have room for as many again, and the
/// count of those who share it.
const OVERHEAD: usize = 128;
/// Streams past which the oldest is forgotten that is of no use but to be read again.
const MAX_LOGS: usize = 128;
/// Notices that wait for a stream to be pushed on.
const MAX_WAITING: usize = 256;
/// So many bytes of them may wait, however little is kept.
pub(super) const MIN_WAITING_BYTES: usize = 64 * 1024;

/// All streams of a session.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// Events have ids and are kept, so many bytes of them.
    max_bytes: usize,
    logs: BTreeMap<u64, Log>,
    /// What became of the exchanges of open requests, where they are no longer simply waiting for their answer.
    ways: BTreeMap<u64, Way>,
    /// Streams for notices that belong to no request, in the order they were opened in.
    pushes: Vec<u64>,
    /// Notices for which no such stream was open.
    waiting: VecDeque<Bytes>,
    /// Which stream each event is of that is kept, the oldest first. Some are of streams that are gone.
    order: VecDeque<u64>,
    /// How many events are kept, and their bytes.
    kept: usize,
    bytes: usize,
    last: u64,
    /// Open requests whose client is not there.
    away: usize,
}

/// Where the messages of an open request go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To this stream.
    Stream(u64),
    /// Nowhere: its client left before anything was sent.
    Lost,
}

/// One stream.
#[derive(Debug)]
struct Log {
    /// The exchange of the request it answers; `None`: it is for notices.
    request: Option<u64>,
    /// The exchange that carries it now.
    carrier: Option<u64>,
    /// The place of the first event that is kept.
    first: u64,
    events: VecDeque<Bytes>,
    /// Since when it is of no more use than to be read again: its answer was sent, or nobody reads notices on it.
    over: Option<Instant>,
}

impl Streams {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, ..Self::default() }
    }

    /// Whether events have ids.
    pub(super) const fn have_ids(&self) -> bool {
        self.max_bytes > 0
    }

    /// Open requests whose client is not there.
    pub(super) const fn away(&self) -> usize {
        self.away
    }

    /// A new stream on the exchange `carrier`, for the answer of `request` or for notices.
    pub(super) fn open(&mut self, request: Option<u64>, carrier: u64) -> u64 {
        if self.logs.len() >= MAX_LOGS {
            let over = self.logs.iter().find(|(_, log)| log.over.is_some() && log.carrier.is_none());
            if let Some(stream) = over.map(|(stream, _)| *stream) {
                self.forget(stream);
            }
        }
        self.last += 1;
        let log = Log { request, carrier: Some(carrier), first: 1, events: VecDeque::new(), over: None };
        self.logs.insert(self.last, log);
        match request {
            Some(request) => drop(self.ways.insert(request, Way::Stream(self.last))),
            None => self.pushes.push(self.last),
        }
        self.last
    }

    /// What became of the exchange of an open request. `None`: it waits for its answer.
    pub(super) fn way(&self, request: u64) -> Option<Way> {
        self.ways.get(&request).copied()
    }

    /// The exchange that carries a stream now.
    pub(super) fn carrier(&self, stream: u64) -> Option<u64> {
        self.logs.get(&stream)?.carrier
    }

    /// The newest stream for notices that a client reads, and its exchange.
    pub(super) fn newest_push(&self) -> Option<(u64, u64)> {
        self.pushes.iter().rev().find_map(|stream| Some((*stream, self.carrier(*stream)?)))
    }

    /// Puts an event on a stream; gives its id.
    pub(super) fn append(&mut self, stream: u64, message: &Bytes) -> Option<String> {
        if !self.have_ids() {
            return None;
        }
        let log = self.logs.get_mut(&stream)?;
        log.events.push_back(message.clone());
        let place = log.first + log.events.len() as u64 - 1;
        self.kept += 1;
        self.bytes += message.len() + OVERHEAD;
        self.order.push_back(stream);
        self.shrink();
        Some(id(stream, place))
    }

    /// Lets go of the oldest events until the rest is within the bound.
    fn shrink(&mut self) {
        while self.bytes > self.max_bytes {
            let Some(stream) = self.order.pop_front() else { break };
            let Some(log) = self.logs.get_mut(&stream) else { continue };
            if let Some(message) = log.events.pop_front() {
                log.first += 1;
                self.kept -= 1;
                self.bytes -= message.len() + OVERHEAD;
                // The places of one stream must not stay when those of the next are made.
                if log.events.capacity() > 4 * log.events.len() + 16 {
                    log.events.shrink_to(2 * log.events.len());
                }
            }
            if log.events.is_empty() && log.over.is_some() && log.carrier.is_none() {
                self.forget(stream);
            }
        }
        if self.order.len() > 64 + 2 * self.kept {
            let logs = &self.logs;
            self.order.retain(|stream| logs.contains_key(stream));
        }
    }

    /// The exchange `carrier` is gone, or ends while the stream goes on.
    pub(super) fn leave(&mut self, stream: u64, now: Instant) {
        let Some(log) = self.logs.get_mut(&stream) else { return };
        if log.carrier.take().is_none() {
            return;
        }
        match log.request {
            Some(_) if log.over.is_none() => self.away += 1,
            Some(_) => {}
            None => {
                log.over = Some(now);
                if !self.have_ids() {
                    self.forget(stream);
                }
            }
        }
    }

    /// The client of this request left before anything was sent.
    pub(super) fn lose(&mut self, request: u64) {
        self.ways.insert(request, Way::Lost);
        self.away += 1;
    }

    /// The request is over, and so is the stream it was answered on, if it was: the exchange that carries it, which does
    /// so no longer.
    pub(super) fn finish(&mut self, request: u64, now: Instant) -> Option<u64> {
        let Way::Stream(stream) = self.ways.remove(&request)? else {
            self.away -= 1;
            return None;
        };
        let log = self.logs.get_mut(&stream)?;
        log.over = Some(now);
        let carrier = log.carrier.take();
        if carrier.is_none() {
            self.away -= 1;
        }
        if !self.have_ids() {
            self.forget(stream);
        }
        carrier
    }

    /// The exchange `carrier` takes a stream up again. `None`: there is no such stream any more.
    pub(super) fn resume(&mut self, stream: u64, carrier: u64) -> Option<Resumed> {
        let log = self.logs.get_mut(&stream)?;
        let before = log.carrier.replace(carrier);
        let (request, ended) = (log.request, log.request.is_some() && log.over.is_some());
        if request.is_some() && before.is_none() && !ended {
            self.away -= 1;
        }
        if request.is_none() {
            log.over = None;
            self.pushes.retain(|push| *push != stream);
            self.pushes.push(stream);
        }
        Some(Resumed { before, pushes: request.is_none(), ended })
    }

    /// The events of a stream behind a place, with their ids.
    pub(super) fn behind(&self, stream: u64, place: u64) -> Vec<(String, Bytes)> {
        let Some(log) = self.logs.get(&stream) else { return Vec::new() };
        let seen = place.saturating_add(1).saturating_sub(log.first);
        let rest = log.events.iter().enumerate().skip(usize::try_from(seen).unwrap_or(usize::MAX));
        rest.map(|(n, message)| (id(stream, log.first + n as u64), message.clone())).collect()
    }

    /// A notice waits for somebody who reads it. Past the bounds the oldest are dropped.
    pub(super) fn wait(&mut self, message: Bytes) {
        self.waiting.push_back(message);
        let mut bytes: usize = self.waiting.iter().map(|message| message.len() + OVERHEAD).sum();
        while self.waiting.len() > MAX_WAITING || bytes > self.max_bytes.max(MIN_WAITING_BYTES) {
            let Some(message) = self.waiting.pop_front() else { break };
            bytes -= message.len() + OVERHEAD;
        }
    }

    /// A notice that waited.
    pub(super) fn next_waiting(&mut self) -> Option<Bytes> {
        self.waiting.pop_front()
    }

    /// The exchanges that carry streams for notices.
    pub(super) fn push_carriers(&self) -> Vec<u64> {
        self.pushes.iter().filter_map(|stream| self.carrier(*stream)).collect()
    }

    /// Lets go of what nobody can want any more.
    pub(super) fn expire(&mut self, now: Instant) {
        let over =
            |log: &Log| log.carrier.is_none() && log.over.is_some_and(|at| at.saturating_add(KEPT) <= now);
        let gone: Vec<u64> =
            self.logs.iter().filter(|(_, log)| over(log)).map(|(stream, _)| *stream).collect();
        for stream in gone {
            self.forget(stream);
        }
    }

    /// When [`expire`](Self::expire) has something to do.
    pub(super) fn expires_at(&self) -> Option<Instant> {
        let over = self.logs.values().filter(|log| log.carrier.is_none()).map(|log| log.over);
        over.fold(None, earliest).map(|at| at.saturating_add(KEPT))
    }

    fn forget(&mut self, stream: u64) {
        let Some(log) = self.logs.remove(&stream) else { return };
        self.kept -= log.events.len();
        self.bytes -= log.events.iter().map(|message| message.len() + OVERHEAD).sum::<usize>();
        self.pushes.retain(|push| *push != stream);
    }

    /// Bytes that are held.
    pub(super) fn retained_bytes(&self) -> usize {
        self.bytes + self.waiting.iter().map(Bytes::len).sum::<usize>()
    }
}

/// A stream that was taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resumed {
    /// The exchange that carried it until now.
    pub(super) before: Option<u64>,
    /// It is for notices.
    pub(super) pushes: bool,
    /// Nothing more comes on it.
    pub(super) ended: bool,
}

/// The id of the event at a place of a stream.
pub(super) fn id(stream: u64, place: u64) -> String {
    format!("{stream}-{place}")
}

/// The stream and the place that an id names.
pub(super) fn read_id(text: &str) -> Option<(u64, u64)> {
    let (stream, place) = text.split_once('-')?;
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    Some((number(stream)?, number(place)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_stream_that_was_left_and_pushed_out_nothing_stays() {
        let now = Instant::from_micros(0);
        let mut streams = Streams::new(1000);
        for carrier in 0..10 {
            let stream = streams.open(None, carrier);
            streams.append(stream, &Bytes::from_static(&[b'x'; 800]));
            streams.leave(stream, now);
        }
        assert_eq!((streams.logs.len(), streams.pushes.len(), streams.kept), (1, 1, 1));
    }
}

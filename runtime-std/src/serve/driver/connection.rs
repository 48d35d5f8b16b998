//! One connection: its machine, its ends, and the requests of it that are open.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use sanswire::error::ApiError;
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::codes;
use sanswire::server::kit::unsendable;
use sanswire::server::{Event, LineConnection, PeerOutcome, PeerRequestHandle, Reply, RequestHandle};
use sanswire::{Instant, Machine};

use crate::os::{Got, Want};
use crate::serve::call::{Cancel, Job, Origin};
use crate::serve::driver::hub::Ends;
use crate::serve::driver::places::Key;

/// Reads of one connection in one round, so that none starves the others.
const MAX_READS: usize = 8;
/// Buffers that a connection among others keeps while it has nothing to do.
const KEPT_BYTES: usize = 16 * 1024;
/// Tables that are empty keep room for so much.
const KEPT: usize = 16;

pub(super) struct Connection {
    pub(super) machine: LineConnection,
    pub(super) ends: Ends,
    /// What the hub was told to look for.
    pub(super) want: Want,
    input_open: bool,
    /// The last write left bytes behind.
    output_full: bool,
    /// The requests that are not answered, oldest first.
    open: VecDeque<(RequestHandle, Arc<Cancel>)>,
    /// Those that wait for a thread.
    pub(super) waiting: VecDeque<Job>,
    /// Bytes that those hold.
    waiting_bytes: usize,
    /// How many handlers are at work for it.
    pub(super) running: usize,
    /// Answers that found no room yet. One a thread at most, for no handler starts while there is none; and refusals.
    unsent: VecDeque<(RequestHandle, Reply)>,
    pub(super) asked: BTreeMap<PeerRequestHandle, Sender<PeerOutcome>>,
    /// It stands among those that want a thread.
    pub(super) is_ready: bool,
    /// It stands among those that have something to write or to tell.
    pub(super) is_dirty: bool,
    pub(super) closed: bool,
}

impl Connection {
    pub(super) fn new(machine: LineConnection, ends: Ends) -> Self {
        Self {
            machine,
            ends,
            want: Want::READ,
            input_open: true,
            output_full: false,
            open: VecDeque::new(),
            waiting: VecDeque::new(),
            running: 0,
            waiting_bytes: 0,
            unsent: VecDeque::new(),
            asked: BTreeMap::new(),
            is_ready: false,
            is_dirty: false,
            closed: false,
        }
    }

    /// Whether an answer would find room now.
    pub(super) fn has_room(&self) -> bool {
        self.machine.queued_out_bytes() < self.machine.session().config().limits.max_queued_out_bytes
    }

    /// Whether one of its requests waits and may run.
    pub(super) fn may_run(&self, max_running: usize) -> bool {
        !self.waiting.is_empty() && self.running < max_running && self.has_room()
    }

    /// Lets go of big buffers, if there is nothing to do.
    pub(super) fn rest(&mut self) {
        if self.open.is_empty() && self.machine.retained_bytes() > KEPT_BYTES {
            self.machine.release();
        }
    }

    /// What to wait for.
    pub(super) fn wants(&self) -> Want {
        Want { read: self.input_open && self.machine.wants_read(), write: self.output_full }
    }

    /// The output has room again, or a fault.
    pub(super) fn writable(&mut self) {
        self.output_full = false;
    }

    /// Reads what is there.
    pub(super) fn read(&mut self, key: Key, now: Instant) {
        for _ in 0..MAX_READS {
            if !self.input_open || !self.machine.wants_read() {
                return;
            }
            match self.ends.read(self.machine.read_buffer()) {
                Got::Bytes { full, .. } => {
                    self.machine.handle_read(now);
                    self.deliver(key, now);
                    if !full {
                        return;
                    }
                }
                Got::Nothing => return,
                Got::End { .. } => self.input_ended(key, now),
            }
        }
    }

    fn input_ended(&mut self, key: Key, now: Instant) {
        self.input_open = false;
        self.machine.handle_eof(now);
        self.deliver(key, now);
    }

    /// Nobody is at the other end. What came from there is read first.
    pub(super) fn gone(&mut self, key: Key, now: Instant) {
        if !self.input_open || matches!(self.ends, Ends::Stdio(_)) {
            self.machine.handle_write_closed(now);
            self.deliver(key, now);
        }
    }

    /// Writes what waits, as far as it goes without blocking, and hands out what comes of that.
    pub(super) fn flush(&mut self, key: Key, now: Instant) {
        loop {
            self.deliver(key, now);
            if self.output_full {
                return;
            }
            let bytes = self.machine.transmit();
            if bytes.is_empty() {
                if self.unsent.is_empty() {
                    return;
                }
                self.send_unsent(now);
                continue;
            }
            match self.ends.write(bytes) {
                Ok(len) => self.machine.handle_written(len, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.output_full = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.machine.handle_write_closed(now),
            }
        }
    }

    /// Answers a request, unless it is over. What finds no room waits for it.
    pub(super) fn respond(&mut self, request: RequestHandle, reply: Reply, now: Instant) {
        let Ok(at) = self.open.binary_search_by_key(&request, |(open, _)| *open) else { return };
        match self.machine.respond(request, &reply, now) {
            Err(ApiError::OutboundFull) => {
                self.unsent.push_back((request, reply));
                return;
            }
            Ok(()) | Err(ApiError::UnknownRequest | ApiError::Closed) => {}
            Err(error) => {
                let error = ErrorObject::new(codes::INTERNAL_ERROR, unsendable(&error));
                drop(self.machine.respond(request, &Reply::Error(error), now));
            }
        }
        self.open.remove(at);
        shrink(&mut self.open);
    }

    fn send_unsent(&mut self, now: Instant) {
        for _ in 0..self.unsent.len() {
            if !self.has_room() {
                return;
            }
            if let Some((request, reply)) = self.unsent.pop_front() {
                self.respond(request, reply, now);
            }
        }
        shrink(&mut self.unsent);
    }

    /// Hands every event to whom it belongs.
    pub(super) fn deliver(&mut self, key: Key, now: Instant) {
        // Handed out last: whose call was cancelled meanwhile has to find it so.
        let mut answered = Vec::new();
        while let Some(event) = self.machine.poll_event() {
            match event {
                Event::Request { request, method, params, context } => {
                    let cancel = Arc::new(Cancel::default());
                    self.open.push_back((request, Arc::clone(&cancel)));
                    let job =
                        Job { origin: Origin::Connection(key), request, method, params, context, cancel };
                    self.line_up(job, now);
                }
                Event::Cancelled { request, .. } => self.cancelled(request),
                Event::Answered { peer, outcome } => {
                    answered.extend(self.asked.remove(&peer).map(|waiter| (waiter, outcome)));
                }
                Event::Closed(_) => self.closed = true,
                _ => {}
            }
        }
        for (waiter, outcome) in answered {
            drop(waiter.send(outcome));
        }
    }

    /// Has a request wait for a thread. The client is read on even if none gets free, for its cancels and answers must get
    /// through: so what waits needs a bound of its own, that of the events which wait in the machine.
    fn line_up(&mut self, job: Job, now: Instant) {
        if self.waiting_bytes >= self.machine.session().config().limits.max_queued_event_bytes {
            let error =
                ErrorObject::new(codes::INTERNAL_ERROR, "requests of too many bytes wait; try again later");
            return self.respond(job.request, Reply::Error(error), now);
        }
        self.waiting_bytes += job.held();
        self.waiting.push_back(job);
    }

    fn cancelled(&mut self, request: RequestHandle) {
        let Ok(at) = self.open.binary_search_by_key(&request, |(open, _)| *open) else { return };
        if let Some((_, cancel)) = self.open.remove(at) {
            cancel.set();
        }
        // Or a client that asks and cancels without an end would fill it.
        if let Some(at) = self.waiting.iter().position(|job| job.request == request)
            && let Some(job) = self.waiting.remove(at)
        {
            self.waiting_bytes -= job.held();
        }
        self.unsent.retain(|(unsent, _)| *unsent != request);
    }

    /// Takes the request that has waited longest.
    pub(super) fn next(&mut self) -> Option<Job> {
        let job = self.waiting.pop_front()?;
        self.waiting_bytes -= job.held();
        self.running += 1;
        shrink(&mut self.waiting);
        Some(job)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.iter().for_each(|(_, cancel)| cancel.set());
        self.ends.close();
    }
}

fn shrink<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() && queue.capacity() > KEPT {
        *queue = VecDeque::new();
    }
}

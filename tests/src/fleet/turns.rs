//! What happens in a world, and when.

use std::time::Duration;

use sanswire::host::{Event, FleetEvent};
use sanswire::{Instant, Machine};

use super::{Run, Started, World, excerpt};
use crate::link::Link;
use crate::peer::LinePeer;

/// A run that takes more steps than this spins.
const MAX_STEPS: usize = 200_000;
/// How often one instant may be gone over before it counts as spinning.
const MAX_ROUNDS: usize = 1_000_000;

impl World {
    /// Does everything that can be done at this instant.
    ///
    /// # Panics
    /// If a rule is broken.
    pub fn settle(&mut self) {
        self.handle_timeout();
        for _ in 0..MAX_ROUNDS {
            if !self.turn() {
                self.handle_timeout();
                if !self.turn() {
                    let next = self.fleet.poll_timeout();
                    let written = self.fleet.clients().all(|client| self.fleet.transmit(client).is_empty());
                    assert!(
                        self.holding || !written || next.is_none_or(|next| next > self.now),
                        "drained, and the deadline is not ahead\n{}",
                        self.report()
                    );
                    return;
                }
            }
        }
        panic!("the world spins\n{}", self.report());
    }

    fn handle_timeout(&mut self) {
        self.fleet.handle_timeout(self.now);
        for run in self.runs.iter_mut().filter(|run| !run.peer_told_eof) {
            run.peer.handle_timeout(self.now);
        }
    }

    /// What can be done now. True: something was.
    fn turn(&mut self) -> bool {
        let mut busy = self.open_and_shut();
        if !self.holding {
            while let Some(event) = self.fleet.poll_event() {
                busy = true;
                self.heard(event);
            }
        }
        for index in 0..self.runs.len() {
            if self.runs[index].closed.is_none() {
                busy |= self.client_side(index);
            }
            if !self.runs[index].peer_told_eof {
                busy |= self.server_side(index);
            }
        }
        busy
    }

    fn open_and_shut(&mut self) -> bool {
        let mut busy = false;
        while let Some(opening) = self.fleet.poll_open() {
            busy = true;
            let server = String::from(&*opening.server);
            let count = self.starts.entry(server.clone()).or_default();
            let nth = *count;
            *count += 1;
            self.note(format!("{server} is started"));
            let program = self.programs.get_mut(&server).expect("a program of that name");
            match program(nth) {
                Started::Runs(peer) => {
                    let config = self.config.clone();
                    let seed = self.rng.number().to_le_bytes();
                    let mut whole = [0; 32];
                    whole[..8].copy_from_slice(&seed);
                    let wanted = self.fleet.attach(opening.client, config, whole, self.now).unwrap();
                    assert!(wanted, "it was asked for at this instant");
                    let [to_server, to_client] = (self.shapes)(&mut self.rng, self.now);
                    self.runs.push(Run {
                        server,
                        client: opening.client,
                        at: self.now,
                        peer: LinePeer::new(peer, self.now),
                        to_server: Link::new(to_server, self.rng.fork()),
                        to_client: Link::new(to_client, self.rng.fork()),
                        closed: None,
                        written: Vec::new(),
                        told_eof: false,
                        told_write_closed: false,
                        peer_told_eof: false,
                    });
                }
                Started::Missing => self.fleet.failed(opening.client, "no such program", self.now),
                Started::Hangs => {}
            }
        }
        while let Some(client) = self.fleet.poll_shut() {
            busy = true;
            if let Some(run) = self.runs.iter_mut().find(|run| run.client == client) {
                run.closed = Some(self.now);
                run.to_server.close(self.now);
            }
        }
        busy
    }

    fn client_side(&mut self, index: usize) -> bool {
        let (fleet, run, now) = (&mut self.fleet, &mut self.runs[index], self.now);
        let client = run.client;
        let mut busy = false;
        if fleet.wants_read(client) {
            if let Some(piece) = run.to_client.arrived(now) {
                let buffer = fleet.read_buffer(client).expect("it wants to read");
                let room = buffer.capacity() - buffer.len();
                let taken = piece.len().min(room);
                assert!(taken > 0, "it wants to read and has no room");
                buffer.extend_from_slice(&piece[..taken]);
                fleet.handle_read(client, now);
                run.to_client.take(taken);
                busy = true;
            } else if run.to_client.has_ended(now) && !run.told_eof {
                run.told_eof = true;
                fleet.handle_eof(client, now);
                busy = true;
            }
        }
        let most = self.small_writes.map_or(usize::MAX, |most| 1 + self.rng.below(most));
        let len = fleet.transmit(client).len().min(run.to_server.room()).min(most);
        if len > 0 {
            let bytes = fleet.transmit(client)[..len].to_vec();
            fleet.handle_written(client, len, now);
            run.to_server.send(&bytes, now);
            run.written.extend_from_slice(&bytes);
            let line = format!("to {}: {}", run.server, excerpt(&bytes));
            self.log.push((now, line));
            busy = true;
        }
        if run.to_server.is_cut() && !run.told_write_closed {
            run.told_write_closed = true;
            fleet.handle_write_closed(client, now);
            busy = true;
        }
        busy
    }

    fn server_side(&mut self, index: usize) -> bool {
        let (run, now) = (&mut self.runs[index], self.now);
        let mut busy = false;
        if run.peer.wants_read() {
            if let Some(piece) = run.to_server.arrived(now) {
                let piece = piece.to_vec();
                let taken = run.peer.handle_input(&piece, now);
                run.to_server.take(taken);
                busy = true;
            } else if run.to_server.has_ended(now) && !run.peer_told_eof {
                run.peer_told_eof = true;
                run.peer.handle_eof(now);
                busy = true;
            }
        }
        let len = run.peer.transmit().len().min(run.to_client.room());
        if len > 0 {
            let bytes = run.peer.transmit()[..len].to_vec();
            run.peer.handle_written(len, now);
            run.to_client.send(&bytes, now);
            let line = format!("from {}: {}", run.server, excerpt(&bytes));
            self.log.push((now, line));
            busy = true;
        }
        if run.closed.is_some() {
            // Nobody reads here any more.
            run.to_client.discard();
        }
        if run.peer.poll_event().is_some() {
            run.to_client.close(now);
            // Nobody reads here any more.
            run.to_server.discard();
            busy = true;
        }
        busy
    }

    fn heard(&mut self, event: FleetEvent) {
        if let FleetEvent::Host(Event::Finished { call, .. }) = &event {
            assert!(self.open.remove(call), "{call:?} ended but was not open\n{}", self.report());
        }
        self.note(format!("told {}", excerpt(format!("{event:?}").as_bytes())));
        self.events.push((self.now, event));
    }

    fn note(&mut self, line: String) {
        self.log.push((self.now, line));
    }

    /// When something happens next.
    fn next_at(&self) -> Option<Instant> {
        let open = self.runs.iter().filter(|run| run.closed.is_none() || !run.peer_told_eof);
        let of_runs = open.flat_map(|run| {
            let to_server = run.to_server.next_arrival(self.now).filter(|_| run.peer.wants_read());
            let to_client = run.to_client.next_arrival(self.now);
            [to_server, to_client.filter(|_| self.fleet.wants_read(run.client)), run.peer.poll_timeout()]
        });
        of_runs.flatten().chain(self.fleet.poll_timeout()).min()
    }

    /// Settles, then moves to the next thing that happens. False: nothing ever will.
    ///
    /// # Panics
    /// If time stands still.
    pub fn step(&mut self) -> bool {
        self.settle();
        let Some(next) = self.next_at() else { return false };
        assert!(next > self.now, "time stands still\n{}", self.report());
        self.now = next;
        self.settle();
        true
    }

    /// Lets everything happen for `time`.
    pub fn wait(&mut self, time: Duration) {
        let to = self.now.saturating_add(time);
        self.settle();
        while self.next_at().is_some_and(|next| next <= to) {
            self.step();
        }
        self.now = self.now.max(to);
        self.settle();
    }

    /// Waits milliseconds.
    pub fn wait_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis));
    }

    /// Steps until `done`.
    ///
    /// # Panics
    /// If that never comes, with what happened instead.
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        self.settle();
        for _ in 0..MAX_STEPS {
            if done(self) {
                return;
            }
            if !self.step() {
                break;
            }
        }
        assert!(done(self), "never {what}\n{}", self.report());
    }
}

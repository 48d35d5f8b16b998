//! One run: everybody at their ends, the pipes between them, and the clock.

use std::collections::VecDeque;
use std::time::Duration;

use sanswire::{Instant, Machine};

use super::bad_client::BadClient;
use super::client::Client;
use super::client_menu::CLIENT_MENU;
use super::coverage::Coverage;
use super::end::Cuts;
use super::menu::LINK_ACTS;
use super::peer::BadServer;
use super::script::{Script, Step, WAITS, Who, World};
use super::server::Server;
use super::setup::Setup;
use super::wire::Wire;

/// More turns than this at one instant is spinning.
const MAX_TURNS: usize = 300_000;
/// More instants than this in one wait is spinning.
const MAX_INSTANTS: usize = 20_000;

/// What a run came to. Two runs of one script come to the same.
#[derive(Debug, PartialEq)]
pub(super) struct Trace {
    client: Vec<(Instant, sanswire::client::Event)>,
    client_wrote: Vec<u8>,
    server: Vec<(Instant, sanswire::server::Event)>,
    server_wrote: Vec<u8>,
    /// Some machine did not read what was there: the cuts may matter.
    pub(super) was_full: bool,
}

/// Who asks.
#[derive(Debug)]
enum Asker {
    Client(Box<Client>),
    Bad(BadClient),
}

/// Who is asked.
#[derive(Debug)]
enum Other {
    Server(Box<Server>),
    Bad(BadServer),
}

struct Run<'a> {
    asker: Asker,
    other: Other,
    to_server: Wire,
    to_client: Wire,
    now: Instant,
    seen: &'a mut Coverage,
}

/// Runs a script.
pub(super) fn run(script: &Script, cuts: &Cuts, seen: &mut Coverage) -> Trace {
    let setup = Setup::of(script.setup);
    let [to_server, to_client] = setup.wires;
    let now = setup.now;
    let other = match script.world {
        World::Pair
        | World::BadClient
        | World::Http
        | World::BadHttpServer
        | World::BadHttpClient
        | World::Host => Other::Server(Box::new(Server::new(setup.server, setup.auto, cuts.clone(), now))),
        World::BadServer => {
            let of =
                |who| script.steps.iter().filter(move |step| step.who == who).map(|step| (step.act, step.n));
            let opening = of(Who::Opening).next().unwrap_or((0, 3));
            let answers: VecDeque<_> = of(Who::Answer).collect();
            Other::Bad(BadServer::new(opening, answers, setup.client.limits.max_message_bytes))
        }
    };
    let asker = match script.world {
        World::BadClient => Asker::Bad(BadClient::new(setup.modern, setup.client.limits.max_message_bytes)),
        World::Pair
        | World::BadServer
        | World::Http
        | World::BadHttpServer
        | World::BadHttpClient
        | World::Host => Asker::Client(Box::new(Client::new(setup.client, cuts.clone(), now))),
    };
    let mut run = Run { asker, other, to_server, to_client, now, seen };
    run.settle();
    run.pass(Duration::from_millis(if script.setup % 4 == 0 { 0 } else { 9000 }));
    for step in &script.steps {
        run.step(step);
    }
    run.wind_up();
    run.seen.met("world", script.world.name());
    run.trace()
}

impl Run<'_> {
    fn step(&mut self, step: &Step) {
        let Step { who, act, n } = *step;
        match who {
            Who::Client => {
                if let Asker::Client(client) = &mut self.asker {
                    client.act(act, n, self.now, self.seen);
                }
            }
            Who::Caller => {
                if let Asker::Bad(client) = &mut self.asker {
                    client.step(&CLIENT_MENU[act], n, self.now, self.seen);
                }
            }
            Who::Server => {
                if let Other::Server(server) = &mut self.other {
                    server.act(act, n, self.now, self.seen);
                }
            }
            Who::Peer => {
                if let Other::Bad(peer) = &mut self.other {
                    peer.step(act, n, self.now, self.seen);
                }
            }
            Who::Link => self.link(LINK_ACTS[act], n),
            Who::Wait => return self.pass(Duration::from_micros(u64::from(n) % WAITS[act].1)),
            _ => return,
        }
        // Some steps follow each other before anything else happens.
        if n % 8 != 0 {
            self.settle();
        }
    }

    fn link(&mut self, act: &'static str, n: u32) {
        let now = self.now;
        let until = now.saturating_add(Duration::from_millis(u64::from(n) % 8000));
        let soon = n as usize % 3000;
        let (one, other) = (&mut self.to_server, &mut self.to_client);
        // Most runs are about what comes after.
        if !act.starts_with("stall") && n % 3 != 0 {
            return;
        }
        self.seen.met("link", act);
        match act {
            "stall-to-server" => one.stall(until),
            "stall-to-client" => other.stall(until),
            "break-to-server" => one.break_after(0, now),
            "break-to-client" => other.break_after(0, now),
            "break-to-server-soon" => one.break_after(soon, now),
            "break-to-client-soon" => other.break_after(soon, now),
            "break-both" => {
                one.break_after(0, now);
                other.break_after(0, now);
            }
            "unread-by-server" => one.stop_reading(now),
            _ => other.stop_reading(now),
        }
    }

    /// Does all that can be done at this instant.
    fn settle(&mut self) {
        for _ in 0..MAX_TURNS {
            let (out, input) = (&mut self.to_server, &mut self.to_client);
            let mut busy = match &mut self.asker {
                Asker::Client(client) => client.turn(out, input, self.now, self.seen),
                Asker::Bad(client) => client.read(input, self.now) | client.mouth.write(out, self.now),
            };
            busy |= match &mut self.other {
                Other::Server(server) => server.turn(input, out, self.now, self.seen),
                Other::Bad(peer) => peer.read(out, self.now, self.seen) | peer.mouth.write(input, self.now),
            };
            if !busy {
                if let Asker::Client(client) = &self.asker {
                    client.check_rest(self.now);
                }
                if let Other::Server(server) = &self.other {
                    server.check_rest(self.now);
                }
                return;
            }
        }
        panic!("rule 4: it spins at {:?}", self.now);
    }

    fn next(&self) -> Option<Instant> {
        let other = match &self.other {
            Other::Server(server) => server.end.machine.poll_timeout(),
            Other::Bad(peer) => peer.mouth.next(),
        };
        let own = match &self.asker {
            Asker::Client(client) => client.end.machine.poll_timeout(),
            Asker::Bad(client) => client.mouth.next(),
        };
        let arrivals = [self.to_server.next_arrival(self.now), self.to_client.next_arrival(self.now)];
        arrivals.into_iter().chain([own, other]).flatten().filter(|at| *at > self.now).min()
    }

    /// Lets time pass.
    fn pass(&mut self, time: Duration) {
        // Nobody waits before what there is to do is done.
        self.settle();
        let to = self.now.saturating_add(time);
        for _ in 0..MAX_INSTANTS {
            let Some(at) = self.next().filter(|at| *at <= to) else {
                self.now = to;
                return self.settle();
            };
            self.now = at;
            self.settle();
        }
        panic!("rule 4: too many deadlines before {to:?}");
    }

    /// Ends everything.
    fn wind_up(&mut self) {
        if let Asker::Client(client) = &mut self.asker {
            client.holding = false;
        }
        if let Other::Server(server) = &mut self.other {
            server.holding = false;
        }
        self.settle();
        match &mut self.asker {
            Asker::Client(client) => client.close(self.now),
            Asker::Bad(client) => client.mouth.give_up(self.now),
        }
        self.settle();
        // What one said may still be on its way through a small pipe.
        for _ in 0..20 {
            if !matches!(&self.other, Other::Server(server) if !server.end.closed) {
                break;
            }
            self.pass(Duration::from_secs(120));
        }
        self.pass(Duration::from_secs(60));
        if let Asker::Client(client) = &self.asker {
            assert!(client.end.closed, "rule 1: the client is not closed");
            assert_eq!(client.model.open(), 0, "rule 1: calls never ended");
        }
        if let Other::Server(server) = &mut self.other {
            assert!(server.end.closed, "the server is not closed");
        }
    }

    fn trace(self) -> Trace {
        let mut was_full = false;
        let (client, client_wrote) = match self.asker {
            Asker::Client(client) => {
                was_full |= client.end.was_full;
                (client.events, client.wrote)
            }
            Asker::Bad(_) => (Vec::new(), Vec::new()),
        };
        let (server, server_wrote) = match self.other {
            Other::Server(server) => {
                was_full |= server.end.was_full;
                (server.events, server.wrote)
            }
            Other::Bad(_) => (Vec::new(), Vec::new()),
        };
        Trace { client, client_wrote, server, server_wrote, was_full }
    }
}

impl Trace {
    /// Where two traces first differ, in words.
    pub(super) fn differs(&self, other: &Self) -> String {
        fn first<T: PartialEq + std::fmt::Debug>(what: &str, one: &[T], two: &[T]) -> Option<String> {
            let at = one.iter().zip(two).take_while(|(one, two)| one == two).count();
            let differ = at < one.len() || at < two.len();
            differ.then(|| format!("{what} {at}: {:?} and {:?}", one.get(at), two.get(at)))
        }
        first("client event", &self.client, &other.client)
            .or_else(|| first("server event", &self.server, &other.server))
            .or_else(|| first("byte of the client", &self.client_wrote, &other.client_wrote))
            .or_else(|| first("byte of the server", &self.server_wrote, &other.server_wrote))
            .unwrap_or_default()
    }
}

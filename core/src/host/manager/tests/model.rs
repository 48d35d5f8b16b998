//! Whatever happens in whatever order: the servers do what a small table says.

use proptest::prelude::*;

use super::table::{At, CONNECT, EARLY, MAX_ATTEMPTS, Model, NAMES};
use super::*;

#[derive(Clone, Copy, Debug)]
enum Do {
    Ready,
    Listed,
    ListingFails,
    NotOpened,
    Closed,
    /// Of a connection that was replaced or shut before.
    Late,
    Call,
    CallLost,
    Reconnect,
    Changed,
    Refresh,
    Health,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Of(usize, Do),
    Wait(u64),
    Turn,
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    let all = prop::sample::select(vec![
        Do::Ready,
        Do::Ready,
        Do::Listed,
        Do::Listed,
        Do::ListingFails,
        Do::NotOpened,
        Do::Closed,
        Do::Late,
        Do::Call,
        Do::CallLost,
        Do::Reconnect,
        Do::Changed,
        Do::Refresh,
        Do::Health,
    ]);
    prop_oneof![
        20 => (0..NAMES.len(), all).prop_map(|(server, what)| Step::Of(server, what)),
        3 => (1..120u64).prop_map(Step::Wait),
        1 => Just(Step::Wait(EARLY)),
        1 => Just(Step::Turn),
        1 => prop::bool::weighted(0.1).prop_map(|close| if close { Step::Close } else { Step::Turn }),
    ]
}

/// Does it to both, if it can be done.
fn take(step: Step, world: &mut World, model: &mut Model, turn: usize) {
    match step {
        Step::Wait(millis) => {
            world.wait(millis);
            model.wait(millis);
        }
        Step::Turn => world.begin_turn(),
        Step::Close => {
            world.manager.close(world.now);
            model.close();
        }
        Step::Of(index, what) => take_one(index, what, world, model, turn),
    }
    world.drain();
    model.admit();
}

fn take_one(index: usize, what: Do, world: &mut World, model: &mut Model, turn: usize) {
    let name = NAMES[index];
    let at = model.servers[index].at;
    match (what, at) {
        (Do::Ready, At::Opening(until)) => {
            world.ready(name);
            if model.servers[index].listed {
                model.opened(index);
            } else {
                model.servers[index].at = At::Listing(until);
            }
        }
        (Do::Listed, At::Listing(_)) => {
            world.page(name, &page(&["t"]));
            model.servers[index].listed = true;
            model.opened(index);
        }
        (Do::ListingFails, At::Listing(_)) => {
            world.outcome(name, error(1, "no"));
            model.opened(index);
        }
        // A listing that is read anew is nothing to a status.
        (Do::Listed, At::Open) if world.is_asked(name) => {
            let run = world.manager.slots[index].client.as_ref().and_then(|client| client.run.as_ref());
            let probe = run.is_some_and(|run| run.kind == slot::Kind::Probe);
            world.page(name, &page(&["t", &format!("t{turn}")]));
            model.servers[index].listed |= !probe;
        }
        (Do::ListingFails, At::Open) if world.is_asked(name) => world.outcome(name, error(1, "no")),
        (Do::NotOpened, At::Opening(_) | At::Listing(_)) => {
            world.manager.handle_not_opened(world.client(name), "no", world.now);
            model.ends(index);
        }
        (Do::Closed, At::Opening(_) | At::Listing(_) | At::Open) => {
            world.lose(name);
            model.ends(index);
        }
        (Do::CallLost, At::Open) => {
            world.manager.lost(world.client(name), world.now);
            model.ends(index);
        }
        (Do::Late, _) => {
            let gone = world.opened.iter().filter(|client| !world.open.contains_key(client));
            let gone: Vec<_> = gone.copied().collect();
            for client in gone {
                let page = RawJson::parse_str(&page(&["late"])).unwrap();
                world.manager.handle_outcome(client, Ok(Outcome::Complete(page)), world.now);
                world.manager.handle_not_opened(client, "late", world.now);
                world.manager.lost(client, world.now);
                world.event(client, client::Event::Ready(peer(Revision::V2025_11_25, "{}").into()));
                world.event(client, client::Event::Closed(CloseReason::Eof));
            }
        }
        (Do::Call, _) => {
            let told = world.way(name);
            assert_eq!(told.split(':').next(), Some(model.call(index)), "{name}");
        }
        (Do::Reconnect, _) => {
            assert_eq!(world.manager.reconnect(name, world.now), !model.closed);
            if !model.closed {
                model.reconnect(index);
            }
        }
        (Do::Changed, At::Listing(_) | At::Open) => world.changed(name),
        (Do::Health, _) => {
            let open = model.servers.iter().filter(|server| server.at == At::Open);
            assert_eq!(world.manager.check_health(world.now), open.count());
        }
        (Do::Refresh, _) => assert_eq!(world.manager.refresh(name, world.now), at == At::Open),
        (
            Do::Ready
            | Do::Listed
            | Do::ListingFails
            | Do::NotOpened
            | Do::Closed
            | Do::CallLost
            | Do::Changed,
            _,
        ) => {}
    }
}

fn agree(world: &mut World, model: &mut Model) {
    assert!(world.manager.shared.starting.taken() <= model.places);
    assert!(world.manager.shared.relisting.taken() <= model.places);
    for (index, name) in NAMES.into_iter().enumerate() {
        let server = &model.servers[index];
        assert_eq!(world.state(name).status, server.status, "{name} {server:?}");
        assert_eq!(world.manager.registry().server(name).is_some(), server.listed, "{name} {server:?}");
        let there = matches!(server.at, At::Opening(_) | At::Listing(_) | At::Open);
        assert_eq!(world.is_open(name), there, "{name} {server:?}");
        if let At::Opening(until) | At::Listing(until) = server.at {
            assert_eq!(world.until(name), Instant::from_millis(until), "{name}");
        }
    }
    let mut settled = core::mem::take(&mut model.settled);
    while let Some(name) = world.manager.poll_settled() {
        let index = NAMES.iter().position(|known| **known == *name).unwrap();
        let place = settled.iter().position(|other| *other == index);
        settled.swap_remove(place.expect("nothing was settled"));
        // Each of them goes on, once, whichever way.
        for _ in 0..core::mem::take(&mut model.servers[index].waiting) {
            assert_ne!(world.way(&name), "wait", "{name} {:?}", model.servers[index]);
            model.servers[index].used = true;
        }
    }
    assert_eq!(settled, [0usize; 0], "their calls still wait");
    let forgotten = model.servers.iter().filter(|server| {
        server.waiting > 0 && !matches!(server.status, Status::Connecting | Status::Reconnecting)
    });
    assert_eq!(forgotten.count(), 0);
}

proptest! {
    #[test]
    fn servers_do_what_the_table_says(
        steps in prop::collection::vec(step(), 0..120),
        places in 1usize..4,
        backoff in prop::sample::select(vec![0u64, 30]),
        mode in prop::sample::select(vec![RefreshMode::Frozen, RefreshMode::Staged, RefreshMode::Live]),
    ) {
        // H-095, H-107, H-108, H-109, H-111, H-215
        let mut world = World::new(&NAMES, |config| {
            config.max_starting = places;
            config.reconnect.backoff = Duration::from_millis(backoff);
            config.reconnect.max_attempts = MAX_ATTEMPTS;
            config.refresh.mode = mode;
            for server in config.servers.values_mut() {
                server.connect_timeout = Some(Duration::from_millis(CONNECT));
            }
        });
        let mut model = Model::new(places, backoff);
        agree(&mut world, &mut model);
        let mut status = [Status::Connecting; NAMES.len()].map(Status::as_str);
        for (turn, step) in steps.into_iter().enumerate() {
            let opened = world.opened.len();
            let closed = model.closed;
            take(step, &mut world, &mut model, turn);
            agree(&mut world, &mut model);
            prop_assert!(!closed || world.opened.len() == opened, "nothing is opened after the end");
            // What was told is what is: each change once, in order.
            for told in world.told() {
                for (name, status) in NAMES.into_iter().zip(&mut status) {
                    for other in ["connecting", "connected", "failed", "reconnecting", "unavailable"] {
                        if told == format!("{name} {other}") {
                            prop_assert_ne!(*status, other, "{} is told twice", told);
                            *status = other;
                        }
                    }
                }
            }
            prop_assert_eq!(&world.statuses()[..], &status[..]);
        }
        if model.closed {
            prop_assert_eq!(world.opens(), [""; 0]);
        }
    }
}

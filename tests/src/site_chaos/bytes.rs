//! A site as a fuzzer drives it.

use sanswire::Machine as _;
use sanswire::server::ListKind;

use super::{World, run};
use crate::properties::stream::Tape;
use crate::seed::Rng;

/// In an input of [`check_http_site`], what happens; these bytes are in no UTF-8 text. All others are sent.
const TELL: u8 = 0xf9;
const WRITE: u8 = 0xfa;
const END: u8 = 0xfb;
const WAIT: u8 = 0xfc;
const ANSWER: u8 = 0xfd;
const OTHER: u8 = 0xfe;

/// Takes every choice of [`run`] from `data`, if it begins with an even byte, and else the bytes that two connections
/// bring, with what happens meanwhile.
///
/// # Panics
/// If a rule is broken.
pub fn check_http_site(data: &[u8]) {
    match data.split_first() {
        Some((first, rest)) if first % 2 == 0 => {
            run(&mut Rng::tape(rest), (rest.len() / 3).min(200));
        }
        Some((_, rest)) => any_bytes(rest),
        None => {}
    }
}

fn any_bytes(data: &[u8]) {
    let (mut rng, mut sum, mut place, mut tape) = (Rng::new(0), 0, 0, Tape::new(100_000));
    let mut world = World::new(&mut rng, false);
    for byte in data {
        while world.clients.len() < 2 {
            world.connect();
            // What it is answered is not compared with what it asked.
            world.clients.iter_mut().for_each(|client| client.spoilt = true);
        }
        let Some(act) = tape.take(*byte, &mut world.clients[place].sent) else { continue };
        match act {
            OTHER => {
                world.read(place, true, 0);
                place = 1 - place;
            }
            act => {
                world.read(place, true, 0);
                world.take_requests(4);
                match act {
                    ANSWER => world.answer(&mut rng),
                    WAIT => world.pass(16_000),
                    END => {
                        if let Some(mut connection) = world.site.connection(world.clients[place].key) {
                            connection.handle_eof(world.now);
                        }
                    }
                    WRITE => world.write(place, usize::MAX, true, &mut sum),
                    TELL => world.tell(&mut rng),
                    _ => world.site.list_changed(ListKind::Tools, world.now),
                }
            }
        }
        world.take_requests(4);
        world.hear();
        world.bury();
        world.check();
    }
    for place in 0..world.clients.len() {
        world.read(place, true, 0);
    }
    world.check();
    world.wind_up(&mut rng, &mut sum);
}

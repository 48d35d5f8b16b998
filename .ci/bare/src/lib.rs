//! A client and a server of the core in a program without the standard library: its own memory, its own panic handler, and
//! bytes that one hands to the other. Built, not run.
#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

use sanswire::client::{self, Event};
use sanswire::{Instant, Machine, server};

/// Memory that is given out from its start and never taken back.
struct Arena;

const SIZE: usize = 1 << 20;
static mut MEMORY: [u8; SIZE] = [0; SIZE];
static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: what was given out is moved past at once and never given out again, so no two pieces lie over each other.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = (&raw mut MEMORY).cast::<u8>();
        let place = |used: usize| (memory.addr() + used).next_multiple_of(layout.align()) - memory.addr();
        let taken = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            place(used).checked_add(layout.size()).filter(|end| *end <= SIZE)
        });
        // SAFETY: `place` and what is asked for lie within the block, which was just seen.
        taken.map_or(null_mut(), |used| unsafe { memory.add(place(used)) })
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ARENA: Arena = Arena;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Whether a client and a server come to know each other.
#[unsafe(no_mangle)]
pub extern "C" fn sanswire_bare() -> bool {
    let now = Instant::ZERO;
    let client = client::LineConnection::new(client::Config::new("bare", "1"), [1; 32], now);
    let server = server::LineConnection::new(server::Config::new("bare", "1"), [2; 32], now);
    let (Ok(mut client), Ok(mut server)) = (client, server) else { return false };
    for _ in 0..8 {
        let taken = server.handle_input(client.transmit(), now);
        client.handle_written(taken, now);
        while server.poll_event().is_some() {}
        let taken = client.handle_input(server.transmit(), now);
        server.handle_written(taken, now);
        while let Some(event) = client.poll_event() {
            if matches!(event, Event::Ready(_)) {
                return true;
            }
        }
    }
    false
}

//! The threads that run the embedder's answers to what a server of the older revisions asks. Made on demand,
//! four at most; an idle one goes after a while.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sanswire::client::PeerRequestHandle;
use sanswire::error::ApiError;
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::codes::INTERNAL_ERROR;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};

use crate::shared::{Locked, Shared, State};

const MAX_HANDLERS: u32 = 4;
const IDLE: Duration = Duration::from_secs(10);
/// How long to wait before looking for room in a full outbox again.
const ROOM: Duration = Duration::from_millis(10);
/// Embedder code runs here; only what it touches becomes memory.
const STACK: usize = 512 * 1024;

/// How many handlers there are.
#[derive(Debug, Default)]
pub(crate) struct Count {
    all: u32,
    idle: u32,
}

/// Queues a request for a handler. False: there is none, and none can be made.
pub(crate) fn submit(
    shared: &Shared,
    state: &mut State,
    handle: PeerRequestHandle,
    request: InputRequest,
) -> bool {
    let waiting = u32::try_from(state.jobs.len()).unwrap_or(u32::MAX);
    if state.handlers.idle <= waiting && state.handlers.all < MAX_HANDLERS {
        let Some(shared) = shared.me.upgrade() else { return false };
        let thread = std::thread::Builder::new().name("sanswire-handler".into()).stack_size(STACK);
        match thread.spawn(move || handle_jobs(&shared)) {
            Ok(_) => state.handlers.all += 1,
            Err(_) if state.handlers.all == 0 => return false,
            Err(_) => {}
        }
    }
    state.jobs.push_back((handle, request));
    shared.job.notify_one();
    true
}

fn handle_jobs(shared: &Arc<Shared>) {
    let mut state = shared.lock();
    loop {
        let Some((handle, request)) = state.jobs.pop_front() else {
            let mut over = state.closed.is_some();
            if !over {
                state.handlers.idle += 1;
                let (locked, waited) =
                    shared.job.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
                state = locked;
                state.handlers.idle -= 1;
                over = waited.timed_out() && state.jobs.is_empty();
            }
            if over {
                state.handlers.all -= 1;
                return;
            }
            continue;
        };
        drop(state);
        let answer = answer(shared, &request);
        state = send(shared, handle, answer);
        let now = shared.clock.now();
        shared.flush(&mut state, now);
        shared.deliver(&mut state, now);
        shared.kick(&mut state);
        shared.unlock(state);
        state = shared.lock();
    }
}

/// Hands the answer in. What cannot be sent is told, so that the server does not wait for it; while too much waits
/// to be written, the answer waits too.
fn send(shared: &Shared, handle: PeerRequestHandle, mut answer: InputAnswer) -> Locked<'_> {
    let mut state = shared.lock();
    loop {
        let why = match state.machine.asked().answer(handle, &answer, shared.clock.now()) {
            Err(ApiError::OutboundFull) if state.closed.is_none() => {
                state = shared.changed.wait_timeout(state, ROOM).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            Err(ApiError::BadParams(_)) => "the answer is no object",
            Err(ApiError::TooLarge { .. }) => "the answer is too long",
            _ => return state,
        };
        if matches!(&answer, InputAnswer::Error(error) if error.message == why) {
            return state;
        }
        answer = failure(why);
    }
}

/// The embedder's answer; a panic in it costs the answer and nothing else.
fn answer(shared: &Shared, request: &InputRequest) -> InputAnswer {
    let Some(responder) = &shared.responder else { return InputAnswer::Cancel };
    catch_unwind(AssertUnwindSafe(|| responder.respond(request)))
        .unwrap_or_else(|_| failure("the client's handler failed"))
}

fn failure(message: &str) -> InputAnswer {
    InputAnswer::Error(ErrorObject { code: INTERNAL_ERROR, message: message.into(), data: None })
}

//! The built-in server: something to list, inspect and call before anything is configured.
//!
//! Small, and whole: both eras on one stream, tools that are quick, slow, failing and asking, resources, a
//! template, a prompt, completion, progress, cancellation. Standard input and output are the wire.

mod ask;
mod catalog;
mod exchange;
mod requests;
mod running;
mod tools;
mod wire;

use std::io::{self, Read as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use sanswire::frame::{Frame, LineDecoder};
use sanswire::jsonrpc::{self, Message};
use sanswire::mcp::{Revision, codes};

use running::Running;
use wire::Wire;

/// The longest line that is taken.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// How deep JSON may nest.
const MAX_DEPTH: u16 = 128;
/// How long calls may go on once the input is over.
const DRAIN: Duration = Duration::from_millis(1500);

/// The name and version that it gives itself.
const NAME: &str = "sanswire-demo";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One conversation.
struct Server {
    wire: Wire,
    running: Running,
    session: Mutex<Session>,
}

/// What `initialize` leaves behind; a modern request never reads it.
#[derive(Clone, Copy, Default)]
struct Session {
    revision: Option<Revision>,
    elicitation: bool,
}

impl Server {
    fn session(&self) -> Session {
        *self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn set_session(&self, session: Session) {
        *self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = session;
    }
}

/// Serves until standard input ends or nobody reads standard output any more.
pub(crate) fn run() {
    let server = Arc::new(Server {
        wire: Wire::default(),
        running: Running::default(),
        session: Mutex::new(Session::default()),
    });
    let mut decoder = LineDecoder::new(MAX_MESSAGE_BYTES);
    let mut input = io::stdin().lock();
    let mut block = vec![0; 16 * 1024];
    while !server.wire.is_broken() {
        let n = match input.read(&mut block) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        let mut rest = block.get(..n).unwrap_or_default();
        while !rest.is_empty() {
            let buffer = decoder.read_buffer();
            let room = (buffer.capacity() - buffer.len()).min(rest.len());
            let (now, later) = rest.split_at(room);
            buffer.extend_from_slice(now);
            rest = later;
            decoder.handle_read();
            take_frames(&server, &mut decoder);
        }
        if n == 0 {
            decoder.handle_eof();
            take_frames(&server, &mut decoder);
            break;
        }
    }
    server.running.drain(DRAIN);
}

fn take_frames(server: &Arc<Server>, decoder: &mut LineDecoder) {
    while let Some(frame) = decoder.poll_frame() {
        match frame {
            Frame::Message(line) => take_line(server, line),
            Frame::TooLong { id, has_method: true, .. } => server.wire.send(|out| {
                jsonrpc::write_error(
                    out,
                    id.as_ref(),
                    codes::INVALID_REQUEST,
                    "the message is longer than 16 MiB",
                    None,
                );
            }),
            Frame::TooLong { .. } => {}
        }
    }
}

fn take_line(server: &Arc<Server>, line: Bytes) {
    match jsonrpc::parse(line, MAX_DEPTH) {
        Ok(Message::Request { id, method, params }) => {
            requests::take(server, id, method.as_str(), params);
        }
        Ok(Message::Notification { method, params }) => {
            if method == *"notifications/cancelled"
                && let Some(id) = params.as_ref().and_then(|params| params.view().get("requestId"))
                && let Ok(id) = jsonrpc::RequestId::parse(id)
            {
                server.running.cancel(&id);
            }
        }
        Ok(Message::Result { id, result }) => server.running.answer(&id, Ok(result)),
        Ok(Message::Error { id: Some(id), error }) => server.running.answer(&id, Err(error)),
        Ok(Message::Error { id: None, .. }) => {}
        // A broken notification is never answered; neither is a broken answer.
        Err(fault) if fault.has_method && !fault.has_id => {}
        Err(fault) => {
            let code = match fault.kind {
                jsonrpc::FaultKind::NotUtf8
                | jsonrpc::FaultKind::TooDeep
                | jsonrpc::FaultKind::NotJson(_) => codes::PARSE_ERROR,
                _ => codes::INVALID_REQUEST,
            };
            server.wire.send(|out| {
                jsonrpc::write_error(out, fault.id.as_ref(), code, &fault.to_string(), None);
            });
        }
    }
}

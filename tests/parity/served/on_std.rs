//! Served by blocking threads.

use std::net::TcpListener;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sanswire::mcp::Era;
use sanswire::server::{ListKind, Reply};
use sanswire_std::{Application, AskError, Call, HttpOptions, Server};

use super::{Book, Job, catalog, config, form, grow, job};
use crate::axes::Transport;
use crate::live::Record;

struct Tools {
    book: Book,
    server: OnceLock<Server>,
}

struct Shared(Arc<Tools>);

impl Application for Shared {
    fn handle(&self, call: &Call<'_>) -> Reply {
        let (name, job) = job(call.params());
        let number = self.0.book.begins(&name);
        // Whether it is still waited for after so long.
        let sleeps = |time: Duration| {
            let cancelled = call.sleep(time);
            if cancelled {
                self.0.book.is_given_up(number);
            }
            !cancelled
        };
        let server = || self.0.server.get().unwrap();
        match job {
            Job::Say(text) => Reply::text(&text),
            Job::Fail(text) => Reply::tool_error(&text),
            Job::Hold => {
                while sleeps(Duration::from_secs(1)) {}
                Reply::text("given up")
            }
            Job::Sleep(time) => {
                sleeps(time);
                Reply::text("slept")
            }
            Job::Steps(n, time) => {
                for step in 1..=n {
                    if !sleeps(time) {
                        break;
                    }
                    call.progress(step as f64, None, None);
                }
                Reply::text("done")
            }
            Job::Change => {
                server().update(ListKind::Tools, grow);
                Reply::text("changed")
            }
            Job::Ask => match call.ask("k", &form()) {
                Ok(answer) => {
                    if call.context().era() == Era::Legacy {
                        self.0.book.is_answered();
                    }
                    Reply::text(answer.as_str())
                }
                Err(AskError::Suspended) => call.suspend(),
                Err(error) => Reply::tool_error(&error.to_string()),
            },
            // Without a word on stderr, of which there would be many.
            Job::Panic => std::panic::resume_unwind(Box::new("as it was asked to")),
            Job::Stop => {
                server().stopper().stop();
                Reply::text("stopped")
            }
        }
    }
}

fn server(record: Record) -> Server {
    let tools = Arc::new(Tools { book: Book::new(record), server: OnceLock::new() });
    let server = Server::new(config(), catalog(), Shared(Arc::clone(&tools)));
    let _ = tools.server.set(server.clone());
    server
}

pub(super) fn stdio(record: Record) {
    server(record).serve_stdio().unwrap();
}

/// Serves; gives what ends that.
pub(super) fn listen(
    transport: Transport,
    listener: TcpListener,
    record: Record,
) -> Box<dyn FnOnce() + Send> {
    let server = server(record);
    let stopper = server.stopper();
    let serving = std::thread::spawn(move || match transport {
        Transport::Http => server.serve_http(listener, HttpOptions::default()).unwrap(),
        Transport::Tcp | Transport::Stdio => server.serve_tcp(listener).unwrap(),
    });
    Box::new(move || {
        stopper.stop_now();
        let _ = serving.join();
    })
}

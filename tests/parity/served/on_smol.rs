//! Served by futures.

use std::future::Future;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_io::{Timer, block_on};
use sanswire::mcp::Era;
use sanswire::server::{ListKind, Reply};
use sanswire_smol::{Application, AskError, Call, HttpOptions, Server};

use super::{Book, Job, catalog, config, form, grow, job};
use crate::axes::Transport;
use crate::live::Record;

struct Tools(Arc<Book>);

impl Application for Tools {
    fn handle(&self, call: Call) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        let book = Arc::clone(&self.0);
        Box::pin(handle(book, call))
    }
}

async fn handle(book: Arc<Book>, call: Call) -> Reply {
    let (name, job) = job(call.params());
    let number = book.begins(&name);
    // Whether it is still waited for after so long.
    let sleeps = async |time: Duration| {
        let cancelled = async {
            call.cancelled().await;
            true
        };
        let over = async {
            Timer::after(time).await;
            false
        };
        let cancelled = futures_lite::future::or(cancelled, over).await;
        if cancelled {
            book.is_given_up(number);
        }
        !cancelled
    };
    match job {
        Job::Say(text) => Reply::text(&text),
        Job::Fail(text) => Reply::tool_error(&text),
        Job::Hold => {
            while sleeps(Duration::from_secs(1)).await {}
            Reply::text("given up")
        }
        Job::Sleep(time) => {
            sleeps(time).await;
            Reply::text("slept")
        }
        Job::Steps(n, time) => {
            for step in 1..=n {
                if !sleeps(time).await {
                    break;
                }
                call.progress(step as f64, None, None);
            }
            Reply::text("done")
        }
        Job::Change => {
            call.server().update(ListKind::Tools, grow);
            Reply::text("changed")
        }
        Job::Ask => match call.ask("k", &form()).await {
            Ok(answer) => {
                if call.context().era() == Era::Legacy {
                    book.is_answered();
                }
                Reply::text(answer.as_str())
            }
            Err(AskError::Suspended) => call.suspend(),
            Err(error) => Reply::tool_error(&error.to_string()),
        },
        // Without a word on stderr, of which there would be many.
        Job::Panic => std::panic::resume_unwind(Box::new("as it was asked to")),
        Job::Stop => {
            call.server().stopper().stop();
            Reply::text("stopped")
        }
    }
}

fn server(record: Record) -> Server {
    Server::new(config(), catalog(), Tools(Arc::new(Book::new(record))))
}

pub(super) fn stdio(record: Record) {
    block_on(server(record).serve_stdio()).unwrap();
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
        Transport::Http => block_on(server.serve_http(listener, HttpOptions::default())).unwrap(),
        Transport::Tcp | Transport::Stdio => block_on(server.serve_tcp(listener)).unwrap(),
    });
    Box::new(move || {
        stopper.stop_now();
        let _ = serving.join();
    })
}

//! What an application asks of a machine, written down.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sanswire::Instant;
use sanswire::client::{
    InputAnswers, InputRequired, LineConnection, Link, PeerRequestHandle, RequestHandle, RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::http;
use sanswire::jsonrpc::{ObjectWriter, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;

use super::config::write_options;
use super::log::{Log, Then};
use super::pen::Pen;

/// A machine that an application asks.
pub(super) trait Asked: Link {
    /// What it waits for.
    fn then(&self) -> Then;
}

impl Asked for LineConnection {
    fn then(&self) -> Then {
        Then::of(self)
    }
}

impl Asked for http::Client {
    fn then(&self) -> Then {
        Then::of_http(self)
    }
}

/// The record of one connection, for all who write in it.
#[derive(Clone, Debug)]
pub(super) struct Book(Arc<Mutex<Log>>);

impl Book {
    pub(super) fn new(log: Log) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A machine whose calls are written down.
pub(super) struct Calls<'a> {
    pub(super) machine: &'a mut dyn Asked,
    pub(super) log: &'a Book,
}

impl Calls<'_> {
    /// A request that was made, or refused.
    fn asked(
        &mut self,
        kind: &str,
        asked: Result<RequestHandle, ApiError>,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) -> Result<RequestHandle, ApiError> {
        let then = self.machine.then();
        let mut log = self.log.open();
        let number = asked.as_ref().ok().map(|request| log.names.requests.give(*request));
        log.called(kind, now, |w, pen| {
            write(w, pen);
            if let Some(number) = number {
                w.u64("gave", number);
            }
            write_refusal(w, pen, asked.as_ref().err());
            then.write(w);
        });
        asked
    }

    /// Another call, which was done, or refused.
    fn did(
        &mut self,
        kind: &str,
        done: Result<(), ApiError>,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) -> Result<(), ApiError> {
        let then = self.machine.then();
        let mut log = self.log.open();
        log.called(kind, now, |w, pen| {
            write(w, pen);
            write_refusal(w, pen, done.as_ref().err());
            then.write(w);
        });
        done
    }

    pub(super) fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let asked = self.machine.request(method.clone(), params.clone(), options, now);
        self.asked("request", asked, now, |w, pen| {
            pen.text(w, "method", method.as_str());
            pen.raw_or_null(w, "params", params.as_ref());
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    pub(super) fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let asked = self.machine.call_tool(name, arguments, options, now);
        self.asked("call_tool", asked, now, |w, pen| {
            pen.text(w, "tool", name);
            pen.raw_or_null(w, "arguments", arguments);
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    pub(super) fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let asked = self.machine.resume(from, answers, options, now);
        let of = self.log.open().names.waiting_number(from);
        let Some(of) = of else {
            self.log.open().end("a call went on whose questions are not known here");
            return asked;
        };
        self.asked("resume", asked, now, |w, pen| {
            w.u64("of", of);
            w.object("answers", |w| {
                for (key, answer) in answers.iter() {
                    w.object(&pen.name(key), |w| write_answer(w, pen, answer));
                }
            });
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    pub(super) fn notify(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        now: Instant,
    ) -> Result<(), ApiError> {
        let done = self.machine.notify(method.clone(), params.clone(), now);
        self.did("notify", done, now, |w, pen| {
            pen.text(w, "method", method.as_str());
            pen.raw_or_null(w, "params", params.as_ref());
        })
    }

    pub(super) fn cancel(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
        now: Instant,
    ) -> Result<(), ApiError> {
        let done = self.machine.cancel(request, reason, now);
        let number = self.log.open().names.requests.number(request);
        self.did("cancel", done, now, |w, pen| {
            if let Some(number) = number {
                w.u64("request", number);
            }
            if let Some(reason) = reason {
                pen.text(w, "reason", reason);
            }
        })
    }

    pub(super) fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        let done = self.machine.answer(peer, answer, now);
        let number = self.log.open().names.peers.number(peer);
        let over = done.is_ok();
        let done = self.did("answer", done, now, |w, pen| {
            if let Some(number) = number {
                w.u64("peer", number);
            }
            w.object("answer", |w| write_answer(w, pen, answer));
        });
        if over {
            self.log.open().names.peers.end(peer);
        }
        done
    }

    pub(super) fn close(&mut self, now: Instant) {
        self.machine.close(now);
        let then = self.machine.then();
        self.log.open().called("close", now, |w, _| then.write(w));
    }
}

/// Why a call was refused.
pub(super) fn write_refusal(w: &mut ObjectWriter<'_>, pen: Pen<'_>, error: Option<&ApiError>) {
    if let Some(error) = error {
        pen.text(w, "refused", &error.to_string());
    }
}

fn write_answer(w: &mut ObjectWriter<'_>, pen: Pen<'_>, answer: &InputAnswer) {
    match answer {
        InputAnswer::Result(result) => pen.raw(w, "result", result.view()),
        InputAnswer::Error(error) => pen.error(w, "error", error),
        refusal => {
            let name = match refusal {
                InputAnswer::Decline => "decline",
                InputAnswer::Cancel => "cancel",
                _ => "another",
            };
            w.string("refusal", name);
        }
    }
}

/// The calls of a link, each by itself: to the machine alone, or written down as well where there is a record. The function
/// behind `parts` gives both.
macro_rules! recorded_calls {
    ($recorded:ty, $parts:expr; $($call:ident($($name:ident: $of:ty),*) $(-> $gives:ty)?;)+) => {
        impl sanswire::client::Link for $recorded {
            fn linked(&mut self) -> sanswire::client::Linked<'_> {
                $parts(self).0.linked()
            }

            $(fn $call(&mut self, $($name: $of,)* now: sanswire::Instant) $(-> $gives)? {
                match $parts(self) {
                    (machine, None) => machine.$call($($name,)* now),
                    (machine, Some(log)) => $crate::recording::calls::Calls { machine, log }.$call($($name,)* now),
                }
            })+
        }
    };
    ($recorded:ty, $parts:expr) => {
        $crate::recording::calls::recorded_calls! { $recorded, $parts;
            request(method: sanswire::mcp::Method, params: Option<sanswire::jsonrpc::RawJson>, options: &sanswire::client::RequestOptions) -> Result<sanswire::client::RequestHandle, sanswire::error::ApiError>;
            call_tool(name: &str, arguments: Option<&sanswire::jsonrpc::RawJson>, options: &sanswire::client::RequestOptions) -> Result<sanswire::client::RequestHandle, sanswire::error::ApiError>;
            resume(from: &sanswire::client::InputRequired, answers: &sanswire::client::InputAnswers, options: &sanswire::client::RequestOptions) -> Result<sanswire::client::RequestHandle, sanswire::error::ApiError>;
            notify(method: sanswire::mcp::Method, params: Option<sanswire::jsonrpc::RawJson>) -> Result<(), sanswire::error::ApiError>;
            cancel(request: sanswire::client::RequestHandle, reason: Option<&str>) -> Result<(), sanswire::error::ApiError>;
            answer(peer: sanswire::client::PeerRequestHandle, answer: &sanswire::mcp::types::input::InputAnswer) -> Result<(), sanswire::error::ApiError>;
            close();
        }
    };
}
pub(super) use recorded_calls;

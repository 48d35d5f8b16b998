//! The tools.

use std::time::Duration;

use sanswire::jsonrpc::{self, ArrayWriter, JsonRef, RawJson};
use sanswire::mcp::codes;

use super::exchange::Exchange;
use super::running::Refused;
use super::{ask, catalog};
use crate::json::{member, object, text};

/// Answers `tools/call`: quick tools at once, slow ones from a thread of their own.
pub(super) fn call(call: Exchange) {
    let none = RawJson::empty_object();
    let arguments = member(call.params.view(), "arguments").unwrap_or_else(|| none.view());
    match call.text("name").as_deref() {
        Some("echo") => match text(arguments, "text") {
            Some(text) => say(&call, &text, false),
            None => say(&call, "text is missing, or no text", true),
        },
        Some("add") => add(&call, arguments),
        Some("image") => call.result(|w| {
            w.array("content", |w| {
                w.object(|w| {
                    w.string("type", "image")
                        .string("mimeType", "image/png")
                        .string("data", catalog::DISC_PNG);
                });
            });
        }),
        Some("fail") => {
            let message = text(arguments, "message");
            say(&call, message.as_deref().unwrap_or("This tool always fails."), true);
        }
        Some("slow") => beside(call, slow),
        Some("ask") => ask::begin(call),
        _ => call.error(codes::INVALID_PARAMS, "no such tool", None),
    }
}

/// A result of one text.
pub(super) fn say(call: &Exchange, text: &str, failed: bool) {
    call.result(|w| {
        w.array("content", |w| text_block(w, text));
        if failed {
            w.bool("isError", true);
        }
    });
}

fn text_block(w: &mut ArrayWriter<'_>, text: &str) {
    w.object(|w| {
        w.string("type", "text").string("text", text);
    });
}

fn add(call: &Exchange, arguments: JsonRef<'_>) {
    let number = |name| arguments.get(name).filter(|number| number.as_f64().is_some());
    let (Some(a), Some(b)) = (number("a"), number("b")) else {
        return say(call, "a and b must be numbers", true);
    };
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b));
    let sum = object(|w| {
        match whole {
            Some(sum) => w.i64("sum", sum),
            None => w.f64("sum", a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()),
        };
    });
    call.result(|w| {
        w.array("content", |w| text_block(w, sum.as_str()));
        w.raw("structuredContent", sum.view());
    });
}

/// Runs a call on a thread of its own. Whether it is answered at the end is decided by whether it was cancelled.
pub(super) fn beside(call: Exchange, work: fn(&Exchange) -> Option<String>) {
    match call.server.running.begin(&call.id) {
        Ok(()) => {}
        Err(Refused::IdInUse) => {
            return call.error(codes::INVALID_REQUEST, "a request with this id is open", None);
        }
        Err(Refused::TooMany) => return call.error(codes::INTERNAL_ERROR, "too many calls at once", None),
    }
    // Whoever gets no thread is served in line.
    let call = std::sync::Arc::new(call);
    let own = std::sync::Arc::clone(&call);
    let run = move |call: &Exchange| {
        let said = work(call);
        call.server.running.end(&call.id, || {
            if let Some(said) = said {
                say(call, &said, false);
            }
        });
    };
    if std::thread::Builder::new().spawn(move || run(&own)).is_err() {
        run(&call);
    }
}

fn slow(call: &Exchange) -> Option<String> {
    let arguments = member(call.params.view(), "arguments");
    let number = |name| arguments.and_then(|arguments| arguments.get(name)).and_then(JsonRef::as_f64);
    let seconds = number("seconds").unwrap_or(1.0).clamp(0.0, 3600.0);
    let steps = arguments
        .and_then(|arguments| arguments.get("steps"))
        .and_then(JsonRef::as_u64)
        .unwrap_or(10)
        .clamp(1, 1000);
    let token = call.progress_token();
    let step = Duration::from_secs_f64(seconds / steps as f64);
    for done in 1..=steps {
        if call.server.running.sleep(&call.id, step) {
            return None;
        }
        let Some(token) = token.as_ref().filter(|_| done < steps) else { continue };
        call.server.wire.send(|out| {
            jsonrpc::write_notification(out, "notifications/progress", |params| {
                params.object(|w| {
                    w.id("progressToken", token)
                        .u64("progress", done)
                        .u64("total", steps)
                        .string("message", &format!("step {done} of {steps}"));
                });
            });
        });
    }
    Some(format!("Took {seconds} s in {steps} steps."))
}

/// What the client answered to a form: the name, or what to say instead.
pub(super) fn greeting(answer: &RawJson) -> String {
    let answer = answer.view();
    match text(answer, "action").as_deref() {
        Some("accept") => {
            let name = member(answer, "content").and_then(|content| text(content, "name"));
            format!("Hello, {}!", name.as_deref().unwrap_or("whoever you are"))
        }
        Some("decline") => "You would rather not say.".into(),
        _ => "You did not answer.".into(),
    }
}

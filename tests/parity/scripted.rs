//! The peer of the scenarios: it shares no code with the library, answers by a script, and puts on record what it got.
//!
//! Flags: `stall` (never answers what opens the session), `refuse` (answers it with an error), `die-at-once` (ends when it
//! comes), `ignore-end` (goes on when its input has ended); with `again=` before them they hold from the second start on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sanswire::mcp::{Era, Revision};
use sanswire_tests::peer::{End, Out, Server, discover_result, initialize_result};
use serde_json::{Value, json};

/// The tools, in the order of their pages.
pub(crate) const TOOLS: [&str; 17] = [
    "echo",
    "boom",
    "hold",
    "sleep",
    "progress",
    "big",
    "die",
    "break",
    "half-close",
    "change",
    "ask",
    "ping",
    "junk",
    "twice",
    "deaf",
    "forget",
    "grandchild",
];
const PAGE: usize = 8;

/// What a handler wants of whatever drives its peer.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    /// Read nothing any more.
    pub(crate) deaf: Cell<bool>,
    /// End the output, and read on.
    pub(crate) half_close: Cell<bool>,
    /// Forget all sessions.
    pub(crate) forget: Cell<bool>,
}

/// What holds of a start.
#[derive(Clone, Copy)]
pub(crate) struct Flags<'a> {
    flags: &'a [String],
    again: bool,
}

impl<'a> Flags<'a> {
    /// Of the `nth` start, from 0.
    pub(crate) const fn of(flags: &'a [String], nth: usize) -> Self {
        Self { flags, again: nth > 0 }
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        let holds =
            |given: &String| given == flag || self.again && given.strip_prefix("again=") == Some(flag);
        self.flags.iter().any(holds)
    }
}

/// The server of one start.
pub(crate) fn server(revision: Revision, flags: Flags<'_>, controls: &Rc<Controls>) -> Server {
    let modern = revision.era() == Era::Modern;
    let opening = if modern { "server/discover" } else { "initialize" };
    let tools = Rc::new(Tools { modern, controls: Rc::clone(controls), ..Tools::default() });
    let [lists, calls, answers, listens] = [(); 4].map(|()| Rc::clone(&tools));
    let date = revision.to_string();
    let server = Server::mute()
        .refusing("*", -32601)
        .with("ping", |request, out| out.result(request, json!({})))
        .with("tools/list", move |request, out| lists.list(request, out))
        .with("tools/call", move |request, out| calls.call(request, out))
        .with("response", move |answer, out| answers.answered(answer, out))
        .with("subscriptions/listen", move |request, out| listens.listen(request, out));
    if flags.has("stall") {
        return server.silent_on(opening);
    }
    if flags.has("refuse") {
        return server.refusing(opening, -32603);
    }
    if flags.has("die-at-once") {
        return server.with(opening, |_, out| out.close());
    }
    server.with(opening, move |request, out| {
        let mut result = if modern { discover_result(&[&date]) } else { initialize_result(&date) };
        result["capabilities"]["tools"]["listChanged"] = json!(true);
        out.result(request, result);
    })
}

#[derive(Default)]
struct Tools {
    modern: bool,
    controls: Rc<Controls>,
    /// What was asked of the client, and the call that waits for it.
    asked: RefCell<Vec<(String, Value, Option<u64>)>>,
    /// It lists one tool more, the last.
    grown: Cell<bool>,
    /// Who is told of changes.
    listening: RefCell<Option<(Value, Option<u64>)>>,
}

impl Tools {
    fn content(&self, text: &str) -> Value {
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if self.modern {
            result["resultType"] = json!("complete");
        }
        result
    }

    fn say(&self, request: &Value, out: &mut Out<'_>, text: &str) {
        out.result(request, self.content(text));
    }

    fn list(&self, request: &Value, out: &mut Out<'_>) {
        let cursor = request["params"]["cursor"].as_str();
        let from: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let named = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let mut tools: Vec<Value> = TOOLS.iter().skip(from).take(PAGE).map(|name| named(name)).collect();
        let is_last = from + PAGE >= TOOLS.len();
        if is_last && self.grown.get() {
            tools.push(named("grown"));
        }
        let mut result = json!({"tools": tools});
        if self.modern {
            result["resultType"] = json!("complete");
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        if !is_last {
            result["nextCursor"] = json!((from + PAGE).to_string());
        }
        out.result(request, result);
    }

    fn call(&self, request: &Value, out: &mut Out<'_>) {
        let arguments = &request["params"]["arguments"];
        let number = |name: &str| arguments[name].as_u64().unwrap_or(0);
        let time = Duration::from_millis(number("ms"));
        match request["params"]["name"].as_str().unwrap_or_default() {
            "echo" => self.say(request, out, arguments["text"].as_str().unwrap_or_default()),
            "boom" => {
                let mut result = self.content("boom");
                result["isError"] = json!(true);
                out.result(request, result);
            }
            "hold" => {}
            "sleep" => self.say(request, &mut out.after(time), "slept"),
            "progress" => {
                for n in 1..=u32::try_from(number("n")).unwrap_or(0) {
                    out.after(time * n).progress(request, n.into());
                }
                self.say(request, &mut out.after(time * u32::try_from(number("n")).unwrap_or(0)), "done");
            }
            "big" => {
                let bytes = usize::try_from(number("bytes")).unwrap_or(0);
                self.say(request, out, &"x".repeat(bytes));
            }
            "die" => out.close(),
            "break" => out.end(End::Broken),
            "half-close" => self.controls.half_close.set(true),
            "change" => {
                self.grown.set(true);
                self.tell_of_change(out);
                self.say(request, out, "changed");
            }
            "ask" => self.ask(request, out),
            "ping" => {
                self.wait_for(request, out, "ping");
                out.request(json!("ping"), "ping", json!({}));
            }
            "junk" => {
                out.raw(*b"no json\n");
                self.say(request, out, "said");
            }
            "twice" => {
                self.say(request, out, "once");
                self.say(request, out, "twice");
            }
            "deaf" => {
                self.controls.deaf.set(true);
                self.say(request, out, "deaf");
            }
            "forget" => {
                self.controls.forget.set(true);
                self.say(request, out, "forgotten");
            }
            "grandchild" => {
                let pid = grandchild();
                self.say(request, out, &pid.to_string());
            }
            other => out.error(request, -32602, &format!("unknown tool {other}")),
        }
    }

    fn listen(&self, request: &Value, out: &mut Out<'_>) {
        *self.listening.borrow_mut() = Some((request["id"].clone(), out.stream()));
        out.notify(
            "notifications/subscriptions/acknowledged",
            json!({"notifications": request["params"]["notifications"], "_meta": subscription(&request["id"])}),
        );
    }

    fn tell_of_change(&self, out: &mut Out<'_>) {
        const CHANGED: &str = "notifications/tools/list_changed";
        match &*self.listening.borrow() {
            Some((id, stream)) => out.on(*stream).notify(CHANGED, json!({"_meta": subscription(id)})),
            None if self.modern => {}
            None => out.push().notify(CHANGED, json!({})),
        }
    }

    fn ask(&self, request: &Value, out: &mut Out<'_>) {
        let form = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}});
        if !self.modern {
            self.wait_for(request, out, "ask");
            return out.request(json!("ask"), "elicitation/create", form);
        }
        match request["params"].get("inputResponses") {
            Some(answers) => self.say(request, out, &answers.to_string()),
            None => {
                let asked = json!({"k": {"method": "elicitation/create", "params": form}});
                let result =
                    json!({"resultType": "input_required", "requestState": "s", "inputRequests": asked});
                out.result(request, result);
            }
        }
    }

    fn wait_for(&self, request: &Value, out: &Out<'_>, key: &str) {
        self.asked.borrow_mut().push((key.to_owned(), request.clone(), out.stream()));
    }

    fn answered(&self, answer: &Value, out: &mut Out<'_>) {
        let mut asked = self.asked.borrow_mut();
        let Some(place) = asked.iter().position(|(key, ..)| answer["id"] == **key) else { return };
        let (_, request, stream) = asked.swap_remove(place);
        self.say(&request, &mut out.on(stream), &answer["result"].to_string());
    }
}

fn subscription(id: &Value) -> Value {
    json!({"io.modelcontextprotocol/subscriptionId": id})
}

/// A process of the server's that ignores what asks it to end; its number.
fn grandchild() -> u32 {
    let script = "trap '' TERM; while :; do sleep 1; done";
    let started =
        std::process::Command::new("/bin/sh").args(["-c", script]).stdin(std::process::Stdio::null()).spawn();
    started.unwrap().id()
}

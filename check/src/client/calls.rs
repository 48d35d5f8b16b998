//! Calls of tools, where the client calls any.

use sanswire::jsonrpc::Kind;

use super::requests::is_pinged;
use super::work::on_first;
use super::{ALONE, SHARED};
use crate::check::{Check, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::stage::{Ending, Message, Stage};

const CALL: &str = "tools/call";
const CALLING: Source = Source::Spec("server/tools#calling-tools");
const RESULT: Source = Source::Spec("server/tools#tool-result");
const ERRORS: Source = Source::Spec("server/tools#error-handling");
const PROGRESS: Source = Source::Spec("basic/utilities/progress#behavior-requirements");

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-calls-arguments",
        title: "a call names a tool, and its arguments are an object",
        source: CALLING,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[CALL],
        explain: "name is a string. arguments is an object, or absent where there are none: never null, an array or text.",
        script: Script::Client(arguments),
        ..SHARED
    },
    Check {
        id: "client-calls-progress-token",
        title: "a progress token is a string or an integer",
        source: Source::Eras(
            "basic/utilities/progress#progress-flow",
            "basic/patterns/progress#progress-flow",
        ),
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "Servers send the token back with each notification, as it is. Choose a string or an integer that no other active request has.",
        script: Script::Client(progress_token),
        ..SHARED
    },
    Check {
        id: "client-calls-progress",
        title: "progress before the result does no harm",
        source: PROGRESS,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "A server may tell of progress for a request that holds a token, with or without a total and a message.",
        script: Script::Client(|stage| progress(stage, true)),
        ..ALONE
    },
    Check {
        id: "client-calls-late-progress",
        title: "progress behind the result does no harm",
        source: PROGRESS,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "It may have been on its way. Drop it: the token is of a request that is over.",
        script: Script::Client(|stage| progress(stage, false)),
        ..ALONE
    },
    Check {
        id: "client-calls-ping",
        title: "ping is answered while a call runs",
        source: Source::Spec("basic/utilities/ping#behavior-requirements"),
        strength: Strength::Must,
        needs: &[CALL],
        explain: "A call may take long, and the server may ask meanwhile whether its client is still there. Read on while you wait.",
        script: Script::Client(|stage| {
            on_first(stage, is_call, NONE, |stage, request| is_pinged(stage, request.launch).map(|()| false))
        }),
        ..ALONE
    },
    Check {
        id: "client-calls-failed",
        title: "a result with isError ends the client in time",
        source: ERRORS,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "isError says that the tool failed: the content says why. Show it, and go on.",
        script: Script::Client(|stage| {
            ended(stage, r#""content":[{"type":"text","text":"no"}],"isError":true"#)
        }),
        ..ALONE
    },
    Check {
        id: "client-calls-refused",
        title: "an error in place of a result ends the client in time",
        source: ERRORS,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "An unknown tool or a wrong argument may be told by a JSON-RPC error. Show it, and go on.",
        script: Script::Client(refused),
        ..ALONE
    },
    Check {
        id: "client-calls-unknown-content",
        title: "content of an unknown type ends the client in time",
        needs: &[CALL],
        explain: "Newer servers send types of content that you do not know. Show the rest, and say that something was left out.",
        script: Script::Client(|stage| {
            ended(stage, r#""content":[{"type":"hologram","depth":3},{"type":"text","text":"done"}]"#)
        }),
        ..ALONE
    },
    Check {
        id: "client-calls-empty-content",
        title: "a result without content is one",
        source: RESULT,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "content may be an empty array: a tool need not say anything.",
        script: Script::Client(|stage| called(stage, r#""content":[]"#)),
        ..ALONE
    },
    Check {
        id: "client-calls-structured",
        title: "structured content beside the text is taken",
        source: Source::Spec("server/tools#structured-content"),
        strength: Strength::Should,
        needs: &[CALL],
        explain: "A result may hold structuredContent, also of a tool that declares no schema for it.",
        script: Script::Client(|stage| {
            called(stage, r#""content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}"#)
        }),
        ..ALONE
    },
    Check {
        id: "client-calls-rich-content",
        title: "every type of content is taken",
        source: RESULT,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "Images, audio, links to resources and resources themselves are content as text is.",
        script: Script::Client(|stage| {
            called(
                stage,
                concat!(
                    r#""content":[{"type":"text","text":"one","annotations":{"audience":["user"],"priority":0.5}},"#,
                    r#"{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"AAAA","mimeType":"audio/wav"},"#,
                    r#"{"type":"resource_link","uri":"memo:one","name":"one"},"#,
                    r#"{"type":"resource","resource":{"uri":"memo:one","mimeType":"text/plain","text":"one"}}]"#
                ),
            )
        }),
        ..ALONE
    },
    Check {
        id: "client-calls-large",
        title: "a result of a mebibyte is taken",
        source: RESULT,
        strength: Strength::Should,
        needs: &[CALL],
        explain: "Nothing bounds what a tool says. Take it up to a bound of your own, and let that be generous.",
        script: Script::Client(|stage| {
            let text = "0123456789abcdef".repeat(1 << 16);
            called(stage, &format!(r#""content":[{{"type":"text","text":"{text}"}}]"#))
        }),
        ..ALONE
    },
];

const NONE: &str = "the client calls no tool";

fn is_call(message: &Message) -> bool {
    message.is(CALL)
}

fn arguments(stage: &mut Stage) -> Result<(), Finding> {
    for call in stage.messages.iter().filter(|it| is_call(it)) {
        let named = call.param("name").is_some_and(|it| it.kind() == Kind::String);
        let shaped = call.param("arguments").is_none_or(|it| it.kind() == Kind::Object);
        if !named || !shaped {
            return Err(Finding::new("a name, and arguments that are an object", call.text()));
        }
    }
    Ok(())
}

fn progress_token(stage: &mut Stage) -> Result<(), Finding> {
    let mut given = false;
    for request in stage.messages.iter().filter(|it| it.is_request()) {
        let Some(token) = request.meta("progressToken") else { continue };
        if token.kind() != Kind::String && token.as_i64().is_none() {
            return Err(Finding::new("a string or an integer as the token", request.text()));
        }
        given = true;
    }
    if given { Ok(()) } else { stage.not_tried("the client gives no progress token") }
}

fn progress(stage: &mut Stage, before: bool) -> Result<(), Finding> {
    let mut without = false;
    on_first(stage, is_call, NONE, |stage, request| {
        let token = request.meta("progressToken");
        let Some(token) = token.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()) else {
            without = true;
            return Ok(false);
        };
        if !before {
            stage.answer(request);
        }
        for members in ["0.5", r#"1,"total":3"#, r#"2.25,"total":3.5,"message":"nearly""#] {
            let params = format!(r#"{{"progressToken":{token},"progress":{members}}}"#);
            let line = format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
            stage.say_line(request.launch, &line);
        }
        Ok(!before)
    })?;
    if without { stage.not_tried("the client gives no progress token with its call") } else { Ok(()) }
}

/// The result of the call is this, and the client goes on as usual.
fn called(stage: &mut Stage, members: &str) -> Result<(), Finding> {
    on_first(stage, is_call, NONE, |stage, request| {
        stage.result(request, members);
        Ok(true)
    })
}

/// The result of all calls is this, and the client ends, in whatever way.
fn ended(stage: &mut Stage, members: &str) -> Result<(), Finding> {
    let ending: Ending = stage.play(|stage, request| {
        if is_call(request) {
            stage.result(request, members);
        }
        is_call(request)
    });
    ending.in_time().map(|_| ())
}

fn refused(stage: &mut Stage) -> Result<(), Finding> {
    let ending = stage.play(|stage, request| {
        if is_call(request) {
            stage.refuse(request, -32602, "there is no such tool", None);
        }
        is_call(request)
    });
    ending.in_time().map(|_| ())
}

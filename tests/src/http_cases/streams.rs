//! Streams of events.

use sanswire::client::Outcome;
use sanswire::error::Violation;
use sanswire::mcp::Method;

use super::{Answer, Then, To, complete, file};

const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
const LOST: Outcome = Outcome::Lost { maybe_ran: true };
const LIST: To = To::Legacy("tools/list", 2);
const CALL: To = To::Legacy("tools/call", 2);
const MODERN_CALL: To = To::Modern("tools/call", 2);

/// A stream in chunks, cut into them anywhere.
fn chunked(chunks: &[&str], end: &str) -> String {
    let mut all = String::from(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    for chunk in chunks {
        all += &format!("{:X}\r\n{chunk}\r\n", chunk.len());
    }
    all + end
}

/// A stream that the end of the connection ends.
fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}")
}

pub(super) fn rows() -> Vec<Answer> {
    [line_ends(), data(), priming(), ends(), order()].concat()
}

fn line_ends() -> Vec<Answer> {
    let row = |what, bytes: String| Answer::new("b_67", what, LIST, bytes).gives(complete(TOOLS));
    let reply = format!(r#"data: {{"jsonrpc":"2.0","id":2,"result":{TOOLS}}}"#);
    let (one, two) = reply.split_at(30);
    vec![
        Answer::new("b_67", "the report", LIST, *file!("b-67.bin")).gives(complete(TOOLS)),
        row("CR alone", stream(&format!(": ping\revent: message\rid: 1\r{reply}\r\r"))),
        row("all three", stream(&format!(": ping\nevent: message\r\nid: 1\r{reply}\n\r"))),
        row(
            "a mark, and chunks",
            chunked(&["\u{feff}: p", "ing\r", "\n", one, two, "\r", "\n\r\n"], "0\r\n\r\n"),
        ),
    ]
}

fn data() -> Vec<Answer> {
    let text = r#"{"content": [{"type": "text", "text": "ok"}]}"#;
    let bad = |what, events: &str| {
        let unanswered = Violation::Unanswered { method: Method::ToolsCall };
        let malformed =
            sanswire::jsonrpc::parse(events.replace("data: ", "").trim_end().to_owned().into(), 128);
        let malformed = Violation::Malformed(malformed.unwrap_err());
        Answer::new("b_69", what, CALL, chunked(&[events], "0\r\n\r\n"))
            .gives(LOST)
            .tells(malformed)
            .tells(unanswered)
    };
    vec![
        Answer::new("b_69", "the report", CALL, *file!("b-69.bin")).gives(complete(text)),
        bad("no JSON in two lines", "data: {\ndata: nonsense\n\n"),
        bad("half of it", "data: {\"jsonrpc\":\"2.0\",\n\n"),
    ]
}

fn priming() -> Vec<Answer> {
    let again = "id: 0\nretry: 1\ndata: \n\n: keep-alive\n\nevent: ping\ndata: {}\n\n";
    vec![
        Answer::new("b_71", "the report", LIST, *file!("b-71.bin")).gives(complete(TOOLS)),
        Answer::new("b_71", "its id is where to go on", LIST, chunked(&[again], "0\r\n\r\n"))
            .asks(&["GET /mcp"]),
    ]
}

fn ends() -> Vec<Answer> {
    let unanswered = || Violation::Unanswered { method: Method::ToolsCall };
    let progress = concat!(
        r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
        "\n\n"
    );
    let half = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n";
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n";
    let short = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"jsonrpc\":\"2.0\",";
    let mut rows = Vec::new();
    for to in [CALL, MODERN_CALL] {
        let row = |what, bytes: &[u8], then| Answer::new("b_73", what, to, bytes).then(then).gives(LOST);
        rows.extend([
            row("the report", file!("b-73.bin"), Then::Ends).tells(unanswered()),
            row("chunks that end", chunked(&[": hello\n"], "0\r\n\r\n").as_bytes(), Then::Stays)
                .tells(unanswered()),
            row("progress, and the end", chunked(&[progress], "0\r\n\r\n").as_bytes(), Then::Stays)
                .tells(unanswered())
                .delivers(&[], 1),
            row("an event that is not over", stream(half).as_bytes(), Then::Ends).tells(unanswered()),
            row("JSON that is none", json.as_bytes(), Then::Stays).tells(unanswered()),
            // What breaks off is no end.
            row("inside a chunk", chunked(&[": hello\n"], "63\r\ndata: {\"js").as_bytes(), Then::Ends),
            row("between two chunks", chunked(&[": hello\n"], "").as_bytes(), Then::Ends),
            row("inside the content", short.as_bytes(), Then::Ends),
            row("inside the head", b"HTTP/1.1 200 OK\r\nContent-Type: text/ev", Then::Ends),
            row("in place of the head", b"", Then::Ends),
            row("reset", stream(": hello\n").as_bytes(), Then::Breaks),
            row("reset inside an event", stream(half).as_bytes(), Then::Breaks),
            row(
                "reset inside a chunk",
                chunked(&[": hello\n"], "63\r\ndata: {\"js").as_bytes(),
                Then::Breaks,
            ),
        ]);
    }
    let primed = |what, end: &str, then| {
        let bytes = chunked(&["id: 7\nretry: 1\ndata:\n\n"], end);
        Answer::new("b_73", what, LIST, bytes).then(then).asks(&["GET /mcp"])
    };
    rows.extend([
        primed("a legacy stream with an id", "0\r\n\r\n", Then::Stays),
        primed("one that broke", "", Then::Ends),
        primed("one that was reset", "", Then::Breaks),
    ]);
    rows
}

fn order() -> Vec<Answer> {
    let report = Answer::new("b_85", "the report", To::Legacy("tools/call", 5), *file!("b-85.bin"))
        .gives(complete(r#"{"content":[{"type":"text","text":"the result"}]}"#))
        .tells(Violation::UnknownResponseId { id: 99_u64.into(), type_differs: false })
        .delivers(&["notifications/message"], 1)
        .asks(&["POST /mcp response 5"]);
    vec![report]
}

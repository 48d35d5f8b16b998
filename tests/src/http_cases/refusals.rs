//! Answers by their status: sessions that are gone, streams that are not there, whoever may not come.

use sanswire::client::Outcome;
use sanswire::error::{CloseReason, Violation};
use sanswire::exchange::Challenge;
use sanswire::mcp::Method;

use super::{Answer, To, file};

const CALL: To = To::Legacy("tools/call", 2);
const GONE: Outcome = Outcome::SessionGone { maybe_ran: false };

/// An answer of this status with this content.
fn answer(status: u16, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} .\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len())
}

const JSON: &str = "Content-Type: application/json\r\n";

pub(super) fn rows() -> Vec<Answer> {
    [probe(), notification(), session(), get(), credentials()].concat()
}

/// A server that refuses `server/discover` is asked to shake hands.
fn probe() -> Vec<Answer> {
    let row = |what, bytes: &[u8]| {
        Answer::new("b_31", what, To::Probe, bytes).asks(&[
            "GET /mcp",
            "POST /mcp initialize 2",
            "POST /mcp notifications/initialized",
            "POST /mcp tools/list 3",
        ])
    };
    vec![
        row("the report", file!("b-31.bin")),
        row("nothing said", answer(400, "", "").as_bytes()),
        row("a page", answer(400, "Content-Type: text/html\r\n", "<html>").as_bytes()),
        row("not found", answer(404, "", "").as_bytes()),
        row("not allowed", answer(405, "", "").as_bytes()),
    ]
}

fn notification() -> Vec<Answer> {
    let after = ["GET /mcp", "POST /mcp tools/list 2"];
    let row = |what, bytes: &[u8]| Answer::new("b_65", what, To::Initialized, bytes).asks(&after);
    let refused = |what, status| {
        let method = Some(Method::Initialized);
        row(what, answer(status, JSON, "{}").as_bytes()).tells(Violation::NotTaken { method, status })
    };
    let reply = r#"{"jsonrpc":"2.0","id":null,"result":{}}"#;
    let fault = sanswire::jsonrpc::parse(reply.into(), 128).unwrap_err();
    vec![
        row("the report", file!("b-65.bin")),
        row("a type and nothing of it", answer(200, JSON, "").as_bytes()),
        row("an object", answer(200, JSON, "{}").as_bytes()),
        row("no content", b"HTTP/1.1 204 No Content\r\n\r\n"),
        row("text", answer(202, "Content-Type: text/plain\r\n", "Accepted").as_bytes()),
        row("a result", answer(200, JSON, reply).as_bytes()).tells(Violation::Malformed(fault)),
        refused("400", 400),
        refused("404", 404),
        refused("500", 500),
    ]
}

fn session() -> Vec<Answer> {
    // The list and the call that come back did not run.
    let renewed = ["POST /mcp initialize 3", "POST /mcp notifications/initialized", "POST /mcp tools/list 4"];
    vec![
        Answer::new("b_75", "the report", To::Legacy("tools/list", 2), *file!("b-75.bin")).asks(&renewed),
        Answer::new("b_75", "a call is not made again", CALL, *file!("b-75.bin"))
            .gives(GONE)
            .asks(&renewed[..2]),
        Answer::new(
            "b_75",
            "the new session is gone as well",
            To::Legacy("tools/list", 2),
            *file!("b-75.bin"),
        )
        .always()
        .closes(Some(GONE), CloseReason::SessionGone)
        .asks(&renewed),
    ]
}

fn get() -> Vec<Answer> {
    let row = |what, bytes: &[u8]| {
        Answer::new("b_77", what, To::Get, bytes).always().asks(&["POST /mcp tools/list 2"])
    };
    let mut rows = vec![row("the report", file!("b-77.bin"))];
    for (what, status) in [("400", 400), ("403", 403), ("405", 405), ("406", 406), ("500", 500), ("501", 501)]
    {
        rows.push(row(what, answer(status, "Content-Type: text/plain\r\n", "Cannot GET /mcp\n").as_bytes()));
    }
    rows
}

fn credentials() -> Vec<Answer> {
    let challenge = |status, field: Option<&str>, message: &str| {
        let mut challenge = Challenge::new(status, field.map(str::to_owned));
        challenge.message = (!message.is_empty()).then(|| message.into());
        challenge
    };
    let said = "Unauthorized: Authentication required";
    let bearer = r#"Bearer resource_metadata="https://auth.example/.well-known/oauth-protected-resource""#;
    let scope = r#"Bearer error="insufficient_scope", scope="a b""#;
    let mut rows = Vec::new();
    for to in [CALL, To::Modern("tools/call", 2)] {
        let row = |what, bytes: &[u8], challenge| {
            Answer::new("b_89", what, to, bytes).gives(Outcome::Challenged(challenge))
        };
        rows.extend([
            row("the report, later", file!("b-89.bin"), challenge(401, None, said)),
            row(
                "metadata elsewhere",
                answer(401, &format!("WWW-Authenticate: {bearer}\r\n"), "").as_bytes(),
                challenge(401, Some(bearer), ""),
            ),
            row(
                "too little scope",
                answer(403, &format!("WWW-Authenticate: {scope}\r\n"), "more, please").as_bytes(),
                challenge(403, Some(scope), "more, please"),
            ),
        ]);
    }
    let closes = |what, bytes: &[u8], challenge| {
        Answer::new("b_89", what, To::Probe, bytes).closes(None, CloseReason::Challenged(Box::new(challenge)))
    };
    rows.extend([
        closes("the report", file!("b-89.bin"), challenge(401, None, said)),
        closes("forbidden", answer(403, "", "").as_bytes(), challenge(403, None, "")),
    ]);
    rows
}

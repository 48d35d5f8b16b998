//! A client and a server with nothing around them: no socket, no clock, no thread, no file. So it runs wherever code does,
//! in a page or a plug-in for example, as wasm32 that imports nothing.
//!
//! It takes no arguments, and panics if what it shows does not hold.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "it shows what holds, and panics where it does not"
)]

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{self, Deadline, Outcome, RequestOptions};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::types::request::CallTool;
use sanswire::server::{self, Event, LineConnection, Reply};
use sanswire_pair::{Pair, Served, Shape};

/// What the server does with its requests: it gives text back, and leaves all else unanswered.
fn answer(server: &mut LineConnection, event: &Event, now: Instant) {
    let Event::Request { request, params, .. } = event else { return };
    let call = CallTool::read(params).expect("a session hands out only such as can be read");
    if call.name == "echo" {
        let text = call.arguments.view().get("text").and_then(|text| text.str());
        let reply =
            text.map_or(Reply::tool_error("text must be a string"), |text| Reply::text(&text.decode()));
        // Refused if it was cancelled meanwhile.
        let _ = server.respond(*request, &reply, now);
    }
}

fn main() {
    // The embedder's clock says what time it is: here, none but the pair.
    let now = Instant::ZERO;
    let client =
        client::LineConnection::new(client::Config::new("anywhere", "1"), [1; 32], now).expect("a client");
    let mut server =
        LineConnection::new(server::Config::new("anywhere", "1"), [2; 32], now).expect("a server");
    for tool in [r#"{"name":"echo"}"#, r#"{"name":"silent"}"#] {
        server.catalog_mut().tool(&RawJson::parse_str(tool).expect("JSON")).expect("a tool");
    }
    // A slow line in one direction, and one that cuts all it carries into pieces in the other.
    let shapes = [Shape::any(7), Shape::any(8)];
    let mut pair = Pair::new(client, Served::new(server, answer), shapes, 7, now);
    let peer = pair.ready();

    let arguments = RawJson::parse_str(r#"{"text":"wherever"}"#).expect("JSON");
    let call = pair.call_tool("echo", Some(&arguments), &RequestOptions::default()).expect("accepted");
    let Outcome::Complete(result) = pair.outcome(call) else { panic!("{}", pair.report()) };
    assert_eq!(CallToolResult::new(result).text(), "wherever");

    // Nobody waits for the half minute that an unanswered call has.
    let before = pair.now();
    let call = pair.call_tool("silent", None, &RequestOptions::default()).expect("accepted");
    let outcome = pair.outcome(call);
    assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Idle, .. }), "{outcome:?}");
    assert_eq!(pair.now().saturating_since(before), Duration::from_secs(30));

    println!("{} answered, and was waited for, at revision {}", peer.server.name, peer.revision);
}

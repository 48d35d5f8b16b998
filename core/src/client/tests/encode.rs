//! What a client writes, to the byte.

use alloc::string::String;

use crate::client::config::{Config, LogLevel, RequestOptions};
use crate::client::encode::{self, Body};
use crate::jsonrpc::{RawJson, RequestId};
use crate::mcp::types::lifecycle::{ClientCapabilities, Implementation};
use crate::mcp::{Method, Revision};

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

fn text(message: &[u8]) -> String {
    String::from_utf8(message.to_vec()).unwrap()
}

#[test]
fn a_request_is_one_line_with_its_id_as_progress_token() {
    // P-001, P-003, P-115, P-277, P-278
    let params = json("{\"a\":\n1,\r\n \"b\": \"x\\ny\"}");
    let (message, at) = encode::request(7, &Method::ToolsList, Body::Object(&params), b"", None);
    let expected = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"progressToken\":7},\
                    \"a\":1, \"b\": \"x\\ny\"}}\n";
    assert_eq!(text(&message), expected);
    assert_eq!(text(&message[at]), "{\"_meta\":{\"progressToken\":7},\"a\":1, \"b\": \"x\\ny\"}");
}

#[test]
fn empty_parameters_leave_the_meta_alone() {
    for body in [Body::Empty, Body::Object(&json("{ }")), Body::Object(&json("{}"))] {
        let (message, _) = encode::request(1, &Method::Other("x/\"y".into()), body, b"", Some(&json("{ }")));
        assert_eq!(
            text(&message),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/\\\"y\",\"params\":{\"_meta\":{\"progressToken\":1}}}\n"
        );
    }
}

#[test]
fn a_modern_request_says_who_asks_in_which_version_with_which_capabilities() {
    // P-039, P-040
    let mut config = Config::new("c", "1");
    config.capabilities = ClientCapabilities { elicitation_form: true, ..ClientCapabilities::default() };
    config.log_level = Some(LogLevel::Warning);
    let prefix = encode::modern_prefix(Revision::V2026_07_28, &config, &RequestOptions::default());
    let body = Body::CallTool("t\"", Some(&json(r#"{"k":1}"#)));
    let (message, _) = encode::request(2, &Method::ToolsCall, body, &prefix, Some(&json(r#"{"x.y/z":3}"#)));
    assert_eq!(
        text(&message),
        concat!(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"#,
            r#""io.modelcontextprotocol/logLevel":"warning","progressToken":2,"x.y/z":3},"#,
            r#""name":"t\"","arguments":{"k":1}}}"#,
            "\n"
        )
    );
}

#[test]
fn who_asks_is_as_it_was_set_up_unless_a_request_says_otherwise() {
    // H-205
    let mut config = Config::new("c", "1");
    let plain = r#"lientInfo":{"name":"c","version":"1"}"#;
    let said = |config: &Config, options: &RequestOptions| {
        [
            text(&encode::initialize(1, Revision::V2025_11_25, config)),
            text(&encode::discover(1, Revision::V2026_07_28, config)),
            text(&encode::modern_prefix(Revision::V2026_07_28, config, options)),
        ]
    };
    let mut options = RequestOptions::default();
    assert!(said(&config, &options).iter().all(|said| said.contains(plain)), "{:?}", said(&config, &options));
    config.client.name = "d".into();
    config.client.title = Some("The D".into());
    let changed = r#"lientInfo":{"name":"d","title":"The D","version":"1"}"#;
    assert!(
        said(&config, &options).iter().all(|said| said.contains(changed)),
        "{:?}",
        said(&config, &options)
    );
    options.client = Some(Implementation::new("e", "2"));
    let [.., request] = said(&config, &options);
    assert!(request.contains(r#"lientInfo":{"name":"e","version":"2"}"#), "{request}");
}

#[test]
fn capabilities_list_only_what_is_declared() {
    let mut config = Config::new("c", "1");
    let none = text(&encode::initialize(1, Revision::V2025_11_25, &config));
    assert!(none.contains(r#""capabilities":{},"#), "{none}");
    config.capabilities.roots = true;
    config.capabilities.roots_list_changed = true;
    config.capabilities.sampling = true;
    config.capabilities.sampling_tools = true;
    config.capabilities.elicitation_url = true;
    let all = text(&encode::initialize(1, Revision::V2025_11_25, &config));
    // P-364, P-383, P-399, P-479
    assert!(
        all.contains(r#""capabilities":{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"url":{}}},"#),
        "{all}"
    );
}

#[test]
fn an_answer_repeats_the_id_with_its_type_and_digits() {
    // P-007
    for id in [RequestId::from("2"), RequestId::from(2_i64), RequestId::from("a\"b")] {
        let answer = text(&encode::answer(&id, Ok(&RawJson::empty_object())));
        let mut expected = alloc::vec::Vec::new();
        id.write_json(&mut expected);
        assert_eq!(
            answer,
            alloc::format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", text(&expected))
        );
    }
}

#[test]
fn a_cancel_names_the_request() {
    // P-476, P-012: a notification has no id.
    assert_eq!(
        text(&encode::cancelled(9, Some("no\nneed"))),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9,\"reason\":\"no\\nneed\"}}\n"
    );
}

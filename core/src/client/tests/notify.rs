//! What the application says: notifications, and a request by its name.

use alloc::string::String;

use crate::client::config::{Config, RequestOptions, Start};
use crate::client::{LineConnection, Link as _, Session};
use crate::error::ApiError;
use crate::machine::Machine;
use crate::mcp::{Method, Revision};
use crate::time::Instant;

fn ready(roots_list_changed: bool) -> LineConnection {
    let mut config = Config::new("c", "1");
    config.start = Start::Pinned(Revision::V2025_11_25);
    config.capabilities.roots = true;
    config.capabilities.roots_list_changed = roots_list_changed;
    let mut client = LineConnection::new(config, [0; 32], Instant::ZERO).unwrap();
    let reply = concat!(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"#,
        r#""serverInfo":{"name":"s","version":"1"}}}"#,
        "\n"
    );
    assert_eq!(client.handle_input(reply.as_bytes(), Instant::ZERO), reply.len());
    assert_eq!(client.session().revision(), Some(Revision::V2025_11_25));
    client.handle_written(client.transmit().len(), Instant::ZERO);
    client
}

#[test]
fn a_change_of_roots_is_told_where_that_was_declared() {
    // P-400, P-089
    let mut client = ready(true);
    client.notify(Method::RootsListChanged, None, Instant::ZERO).unwrap();
    let sent = String::from_utf8(client.transmit().to_vec()).unwrap();
    assert_eq!(sent, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n");
    let mut client = ready(false);
    let refused = client.notify(Method::RootsListChanged, None, Instant::ZERO);
    assert!(matches!(refused, Err(ApiError::BadParams(_))), "{refused:?}");
    assert!(client.transmit().is_empty());
}

#[test]
fn a_page_of_tools_is_asked_for_by_its_cursor() {
    for cursor in [Some("next"), None] {
        let mut client = ready(false);
        client.list_tools(cursor, &RequestOptions::default(), Instant::ZERO).unwrap();
        let sent = String::from_utf8(client.transmit().to_vec()).unwrap();
        assert!(sent.contains(r#""method":"tools/list""#), "{sent}");
        assert_eq!(sent.contains(r#""cursor":"next""#), cursor.is_some(), "{sent}");
    }
}

#[test]
fn what_the_session_says_itself_is_not_the_applications_to_say() {
    let mut client = ready(true);
    for method in [Method::Initialized, Method::Cancelled, Method::ToolsList, Method::ToolsListChanged] {
        assert!(client.notify(method.clone(), None, Instant::ZERO).is_err(), "{method}");
    }
    client.notify(Method::Other("notifications/com.example/x".into()), None, Instant::ZERO).unwrap();
    let early = Session::new(Config::new("c", "1"), [0; 32], Instant::ZERO).unwrap().notify(
        Method::RootsListChanged,
        None,
        Instant::ZERO,
    );
    assert_eq!(early, Err(ApiError::NotReady));
}

//! Subscriptions to what changes.

use serde_json::{Value, json};

use crate::{Answer, Request, Server};

/// `subscriptions/listen`.
pub(crate) fn listen(server: &Server, request: &Request<'_>) -> Answer {
    let filter = &request.params["notifications"];
    if !filter.is_object() && !server.fault("no-filter-needed") {
        return Answer::error(-32602, "notifications are required");
    }
    let mut id: Value = serde_json::from_str(&request.id).unwrap_or_default();
    if server.fault("subscriptions-by-number")
        && let Some(number) = id.as_str().and_then(|text| text.parse::<i64>().ok())
    {
        id = json!(number);
    }
    let mut honoured = filter.as_object().cloned().unwrap_or_default();
    honoured.retain(|name, _| name != "promptsListChanged");
    if server.fault("acknowledges-all") {
        honoured.insert("promptsListChanged".into(), json!(true));
    }
    if server.fault("change-first") {
        tell(server, "notifications/tools/list_changed", &id, json!({}));
    }
    let acknowledged = json!({"notifications": honoured});
    tell(server, "notifications/subscriptions/acknowledged", &id, acknowledged);
    server.state().listening.push(id);
    Answer::Later
}

/// What is told to each subscription, wanted or not.
pub(crate) fn tell_all(server: &Server) {
    let listening = server.state().listening.clone();
    for id in &listening {
        tell(server, "notifications/tools/list_changed", id, json!({}));
    }
}

/// Whether a cancellation was of a subscription, which is over then.
pub(crate) fn end(server: &Server, id: &Value) -> bool {
    let mut state = server.state();
    let before = state.listening.len();
    state.listening.retain(|listening| listening != id);
    let ended = state.listening.len() < before;
    drop(state);
    if ended && server.fault("answers-cancelled-listen") {
        server
            .out
            .line(&json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete"}}).to_string());
    }
    ended
}

fn tell(server: &Server, method: &str, id: &Value, mut params: Value) {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    server.notify(method, params);
}

/// `resources/subscribe` and `resources/unsubscribe`.
pub(crate) fn subscribe(server: &Server, request: &Request<'_>) -> Answer {
    let uri = request.params["uri"].clone();
    let known = &mut server.state().subscribed;
    if request.method == "resources/subscribe" {
        known.push(uri);
    } else if server.fault("no-unsubscribe") {
        return Answer::error(-32601, "no such method");
    } else if server.fault("silent-unsubscribe") && !known.contains(&uri) {
        return Answer::Later;
    } else {
        known.retain(|known| *known != uri);
    }
    Answer::Result(json!({}))
}

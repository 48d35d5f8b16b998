//! The steps. One JSON line on standard output for each, with what the SDK made of the server's answer. What the
//! answers should be is the test's business.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams, LoggingLevel,
    ReadResourceRequestParams, RequestMetaObject, ServerNotification, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{ServiceError, Subscription};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{Client, Failure, Told};

const COUNTER: &str = "demo://counter";

pub(crate) async fn run(client: &Client, mut told: Told) -> Result<(), Failure> {
    let peer = client.peer_info().ok_or("nothing is known of the server")?;
    let revision = peer.protocol_version.as_str();
    say("connect", json!({ "revision": revision, "server": peer.server_info }))?;
    say("tools", client.list_tools(None).await?)?;
    say("echo", call(client, "echo", json!({ "text": "gr\u{fc}\u{df}e \u{1f600} \u{2028}" })).await?)?;
    say("add", call(client, "add", json!({ "a": 2, "b": 40 })).await?)?;

    while told.reports.try_recv().is_ok() {}
    let slow = call(client, "slow", json!({ "seconds": 0.4, "steps": 4 })).await?;
    let progress: Vec<_> = std::iter::from_fn(|| told.reports.try_recv().ok()).collect();
    print(&json!({ "step": "slow", "result": slow, "progress": progress }))?;

    say("denied", call(client, "image", json!({})).await?)?;
    say("failed", call(client, "fail", json!({ "message": "on purpose" })).await?)?;
    if revision >= "2025-06-18" {
        say("ask", call(client, "ask", json!({ "question": "Who is there?" })).await?)?;
    }

    // Dropped, which cancels it, at the first report: the call is under way, and far from its end.
    let outcome = tokio::select! {
        _ = call(client, "slow", json!({ "seconds": 60, "steps": 600 })) => "a result",
        _ = told.reports.recv() => "no result",
    };
    say("cancel", json!({ "outcome": outcome }))?;
    say("after", call(client, "echo", json!({ "text": "still here" })).await?)?;
    // Long enough for a few more reports of the call that should be over.
    call(client, "slow", json!({ "seconds": 0.3, "steps": 1 })).await?;
    if revision < "2026" {
        let pong = client.send_request(ClientRequest::PingRequest(Default::default())).await?;
        say("ping", pong)?;
    }

    say("resource", client.read_resource(ReadResourceRequestParams::new("demo://readme")).await?)?;
    say("template", client.read_resource(ReadResourceRequestParams::new("demo://greeting/Ada")).await?)?;
    let mut greet = GetPromptRequestParams::new("greet");
    greet.arguments = json!({ "name": "Ada", "tone": "formal" }).as_object().cloned();
    say("prompt", client.get_prompt(greet).await?)?;
    let completion = client.complete_prompt_argument("greet", "name", "a", None).await?;
    say("complete", json!({ "completion": completion }))?;
    if revision < "2026" { legacy(client, told.heard).await } else { modern(client, told.heard).await }
}

/// What the server tells without being asked each time, in a session.
async fn legacy(client: &Client, mut heard: UnboundedReceiver<String>) -> Result<(), Failure> {
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await?;
    say("log", call(client, "log", json!({ "level": "warning", "message": "look here" })).await?)?;
    hearing(&mut heard, &["look here"]).await?;

    client.subscribe(SubscribeRequestParams::new(COUNTER)).await?;
    call(client, "toggle", json!({})).await?;
    call(client, "count", json!({})).await?;
    hearing(&mut heard, &["tools", COUNTER]).await?;
    say("changed", client.list_tools(None).await?)?;
    client.unsubscribe(UnsubscribeRequestParams::new(COUNTER)).await?;
    // A change that it should hear nothing of; the last call is long enough for what comes late.
    call(client, "count", json!({})).await?;
    call(client, "slow", json!({ "seconds": 0.1, "steps": 1 })).await?;
    Ok(())
}

/// The same where the level comes with the request, and changes are subscribed to.
async fn modern(client: &Client, mut heard: UnboundedReceiver<String>) -> Result<(), Failure> {
    let mut meta = RequestMetaObject::new();
    meta.set_log_level(LoggingLevel::Info);
    let mut log = CallToolRequestParams::new("log");
    log.arguments = json!({ "level": "warning", "message": "look here" }).as_object().cloned();
    log.meta = Some(meta);
    say("log", client.call_tool(log).await?)?;
    hearing(&mut heard, &["look here"]).await?;

    let wanted = SubscriptionFilter::builder().tools_list_changed().resource_subscription(COUNTER).build();
    let mut subscription = client.listen(wanted).await?;
    call(client, "toggle", json!({})).await?;
    call(client, "count", json!({})).await?;
    let mut missing = vec!["tools".to_owned(), COUNTER.to_owned()];
    while !missing.is_empty() {
        let change = next(&mut subscription).await?;
        missing.retain(|what| *what != change);
    }
    say("changed", client.list_tools(None).await?)?;
    subscription.cancel().await?;
    // Changes that it should hear nothing of; the last call is long enough for what comes late.
    call(client, "count", json!({})).await?;
    call(client, "toggle", json!({})).await?;
    call(client, "slow", json!({ "seconds": 0.1, "steps": 1 })).await?;
    Ok(())
}

async fn hearing(heard: &mut UnboundedReceiver<String>, expected: &[&str]) -> Result<(), Failure> {
    let mut missing = expected.to_vec();
    while !missing.is_empty() {
        let what = heard.recv().await.ok_or("nothing is told any more")?;
        missing.retain(|expected| *expected != what);
    }
    Ok(())
}

async fn next(subscription: &mut Subscription) -> Result<String, Failure> {
    match subscription.next().await?.ok_or("the subscription ended")? {
        ServerNotification::ToolListChangedNotification(_) => Ok("tools".to_owned()),
        ServerNotification::ResourceUpdatedNotification(updated) => Ok(updated.params.uri),
        other => Err(format!("not subscribed to: {other:?}").into()),
    }
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    client.call_tool(params).await
}

pub(crate) fn say(step: &str, result: impl Serialize) -> Result<(), Failure> {
    print(&json!({ "step": step, "result": serde_json::to_value(result)? }))
}

fn print(line: &Value) -> Result<(), Failure> {
    println!("{line}");
    Ok(())
}

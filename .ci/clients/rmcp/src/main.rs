//! The Rust SDK runs the script of the clients: `rmcp-client default|auto|REVISION -- SERVER...`
//!
//! One JSON line on standard output for each step, with what the SDK made of the server's answer. What the answers
//! should be is the test's business.

use std::error::Error;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorData,
    GetPromptRequestParams, Implementation, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext, RunningService,
    ServiceError,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Client = RunningService<RoleClient, Handler>;
type Failure = Box<dyn Error>;

/// What the client offers, and where reports of progress go.
struct Handler {
    version: Option<ProtocolVersion>,
    reports: UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(Default::default()));
        let info = ClientConfig::new(capabilities, Implementation::new("rmcp-client", "0"));
        match &self.version {
            Some(version) => info.with_protocol_version(version.clone()),
            None => info,
        }
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.reports.send(report);
    }

    /// What a user would have typed.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Err(ErrorData::invalid_params("no form", None));
        };
        let content = json!({ "name": format!("whoever hears \"{message}\"") });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, _, program, arguments @ ..] = words.as_slice() else {
        return Err("rmcp-client MODE -- SERVER...".into());
    };
    let mut command = Command::new(program);
    command.args(arguments);
    // A step that hangs must not keep the server.
    tokio::time::timeout(Duration::from_secs(60), run(mode, TokioChildProcess::new(command)?)).await?
}

async fn run(mode: &str, server: TokioChildProcess) -> Result<(), Failure> {
    let (reports, mut reported) = unbounded_channel();
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == mode).cloned();
    let handler = Handler { version: known.clone(), reports };
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let mut client: Client = match (mode, known) {
        ("default", _) => handler.serve(server).await?,
        ("auto", _) => {
            let auto = ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None };
            handler.serve_with_lifecycle(server, auto).await?
        }
        (_, Some(version)) if version.has_initialize() => handler.serve(server).await?,
        (_, Some(version)) => {
            let discover = ClientLifecycleMode::Discover { preferred_versions: vec![version] };
            handler.serve_with_lifecycle(server, discover).await?
        }
        (_, None) => return Err(format!("no mode {mode}").into()),
    };
    steps(&client, &mut reported).await?;
    client.close().await?;
    say("end", json!({}))
}

async fn steps(
    client: &Client,
    reported: &mut UnboundedReceiver<ProgressNotificationParam>,
) -> Result<(), Failure> {
    let peer = client.peer_info().ok_or("nothing is known of the server")?;
    let revision = peer.protocol_version.as_str();
    say("connect", json!({ "revision": revision, "server": peer.server_info }))?;
    say("tools", client.list_tools(None).await?)?;
    say("echo", call(client, "echo", json!({ "text": "gr\u{fc}\u{df}e \u{1f600} \u{2028}" })).await?)?;
    say("add", call(client, "add", json!({ "a": 2, "b": 40 })).await?)?;

    while reported.try_recv().is_ok() {}
    let slow = call(client, "slow", json!({ "seconds": 0.4, "steps": 4 })).await?;
    let progress: Vec<_> = std::iter::from_fn(|| reported.try_recv().ok()).collect();
    print(&json!({ "step": "slow", "result": slow, "progress": progress }))?;

    say("denied", call(client, "image", json!({})).await?)?;
    say("failed", call(client, "fail", json!({ "message": "on purpose" })).await?)?;
    if revision >= "2025-06-18" {
        say("ask", call(client, "ask", json!({ "question": "Who is there?" })).await?)?;
    }

    // Dropped, which cancels it, at the first report: the call is under way, and far from its end.
    let outcome = tokio::select! {
        _ = call(client, "slow", json!({ "seconds": 60, "steps": 600 })) => "a result",
        _ = reported.recv() => "no result",
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
    say("prompt", client.get_prompt(greet).await?)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    client.call_tool(params).await
}

fn say(step: &str, result: impl Serialize) -> Result<(), Failure> {
    print(&json!({ "step": step, "result": serde_json::to_value(result)? }))
}

fn print(line: &Value) -> Result<(), Failure> {
    println!("{line}");
    Ok(())
}

//! The Rust SDK runs the script of the clients: `rmcp-client default|auto|REVISION -- SERVER...`

#![expect(deprecated, reason = "the old revisions still have what the SDK marks as on its way out")]

mod steps;

use std::error::Error;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, Implementation, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext, RunningService,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::json;
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Client = RunningService<RoleClient, Handler>;
type Failure = Box<dyn Error>;

/// What the client offers, and where what it is told goes.
struct Handler {
    version: Option<ProtocolVersion>,
    reports: UnboundedSender<ProgressNotificationParam>,
    heard: UnboundedSender<String>,
}

/// What the server told without being asked each time.
struct Told {
    /// Of progress.
    reports: UnboundedReceiver<ProgressNotificationParam>,
    /// Log messages, and what has changed.
    heard: UnboundedReceiver<String>,
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

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.heard.send(message.data.as_str().unwrap_or_default().to_owned());
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.heard.send(updated.uri);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.heard.send("tools".to_owned());
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
    let (reports, reported) = unbounded_channel();
    let (heard, told) = unbounded_channel();
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == mode).cloned();
    let handler = Handler { version: known.clone(), reports, heard };
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
    steps::run(&client, Told { reports: reported, heard: told }).await?;
    client.close().await?;
    steps::say("end", json!({}))
}

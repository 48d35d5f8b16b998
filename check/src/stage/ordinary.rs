//! A server as it should be: what a check changes is changed against this.

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::{Era, Revision};

use super::{Message, Stage};

/// What is said to a request: the members of a result without the braces, or an error.
pub(crate) type Said = Result<String, (i64, &'static str)>;

/// The only tool: it takes whatever clients are told to give it, and does nothing.
pub(crate) const TOOL: &str = concat!(
    r#"{"name":"echo","description":"Says what it was told.","inputSchema":{"type":"object","properties":"#,
    r#"{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true}}"#
);

impl Stage {
    /// Answers as it should be.
    pub(crate) fn answer(&mut self, request: &Message) {
        if !request.is_request() {
            return;
        }
        if request.is("initialize") && self.is_modern() {
            let requested = request.param("protocolVersion");
            let requested = requested.map_or("\"\"".into(), |it| String::from_utf8_lossy(it.as_bytes()));
            let data = format!(r#"{{"supported":["{}"],"requested":{requested}}}"#, self.revision);
            return self.refuse(request, -32022, "this server speaks 2026-07-28", Some(&data));
        }
        match self.ordinary(request) {
            Ok(members) => self.result(request, &members),
            Err((code, message)) => self.refuse(request, code, message, None),
        }
    }

    /// What is said to it as it should be.
    pub(crate) fn ordinary(&self, request: &Message) -> Said {
        let named = |name: &str| {
            let is =
                |given: Option<JsonRef<'_>>| given.and_then(JsonRef::str).is_some_and(|it| it.eq_str(name));
            is(request.param("name")) || is(request.param("uri"))
        };
        let modern = self.is_modern();
        match request.method().as_str() {
            "initialize" => Ok(self.initialize()),
            "server/discover" if modern => Ok(discover(self.revision)),
            "server/discover" => Err((-32601, "there is no such method")),
            _ if modern && request.meta("io.modelcontextprotocol/protocolVersion").is_none() => {
                Err((-32602, "the metadata of the request are missing"))
            }
            _ if !modern && !self.is_opened(request.launch) && !request.is("ping") => {
                Err((-32600, "initialize has to come first"))
            }
            "ping" if !modern => Ok(String::new()),
            "tools/list" => Ok(format!(r#""tools":[{TOOL}]"#)),
            "tools/call" if named("echo") => Ok(r#""content":[{"type":"text","text":"done"}]"#.into()),
            "tools/call" => Err((-32602, "there is no such tool")),
            "resources/list" => {
                Ok(r#""resources":[{"uri":"memo:one","name":"one","mimeType":"text/plain"}]"#.into())
            }
            "resources/templates/list" => Ok(r#""resourceTemplates":[]"#.into()),
            "resources/read" if named("memo:one") => {
                Ok(r#""contents":[{"uri":"memo:one","mimeType":"text/plain","text":"one"}]"#.into())
            }
            "resources/read" => Err((if modern { -32602 } else { -32002 }, "there is no such resource")),
            "prompts/list" => Ok(r#""prompts":[{"name":"greet","description":"A greeting."}]"#.into()),
            "prompts/get" if named("greet") => {
                Ok(r#""messages":[{"role":"user","content":{"type":"text","text":"Hello."}}]"#.into())
            }
            "prompts/get" => Err((-32602, "there is no such prompt")),
            "logging/setLevel" if !modern => Ok(String::new()),
            _ => Err((-32601, "there is no such method")),
        }
    }

    /// The answer to `initialize`.
    pub(crate) fn initialize(&self) -> String {
        opening(self.revision.as_str(), CAPABILITIES)
    }

    /// Says a result: what every result has in the revision is added.
    pub(crate) fn result(&mut self, request: &Message, members: &str) {
        let kind = if self.is_modern() { r#""resultType":"complete""# } else { "" };
        self.result_of_kind(request, kind, members);
    }

    /// Says a result with this in the place of its `resultType`.
    pub(crate) fn result_of_kind(&mut self, request: &Message, kind: &str, members: &str) {
        let caches = self.is_modern() && caches(&request.method());
        let hints = if caches { r#""ttlMs":0,"cacheScope":"private""# } else { "" };
        let all: Vec<_> = [kind, hints, members].into_iter().filter(|it| !it.is_empty()).collect();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{}}}}}"#, request.id(), all.join(","));
        self.say_line(request.launch, &line);
    }

    /// Says an error.
    pub(crate) fn refuse(&mut self, request: &Message, code: i64, message: &str, data: Option<&str>) {
        let data = data.map(|data| format!(r#","data":{data}"#)).unwrap_or_default();
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"{message}"{data}}}}}"#,
            request.id()
        );
        self.say_line(request.launch, &line);
    }

    pub(crate) const fn is_modern(&self) -> bool {
        matches!(self.revision.era(), Era::Modern)
    }
}

/// What the server offers. Where a check changes nothing, no list changes and nothing is logged.
pub(crate) const CAPABILITIES: &str =
    r#"{"tools":{"listChanged":true},"resources":{},"prompts":{},"logging":{}}"#;

/// The members of the answer to `initialize`.
pub(crate) fn opening(version: &str, capabilities: &str) -> String {
    format!(
        r#""protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{{"name":"sanswire check","version":"1"}}"#
    )
}

fn discover(revision: Revision) -> String {
    format!(
        concat!(
            r#""supportedVersions":["{}"],"capabilities":{{"tools":{{}},"resources":{{}},"prompts":{{}}}},"#,
            r#""_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"sanswire check","version":"1"}}}}"#
        ),
        revision
    )
}

/// Whether its result may be kept for a while.
fn caches(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// A text as it stands in JSON.
pub(crate) fn quoted(text: &str) -> String {
    let object = RawJson::object(|w| {
        w.string("t", text);
    });
    object.view().get("t").map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()).unwrap_or_default()
}
